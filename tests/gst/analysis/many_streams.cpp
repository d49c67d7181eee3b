/// Elements that share one model: batches over streams, fair shares, and streams that stall, fail,
/// come and go without holding up others.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/gst/element_rig.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using std::chrono::milliseconds;

constexpr char kManyStreamsCaps[] = "video/x-raw,format=BGR,width=64,height=48,framerate=25/1";

std::string shared(const std::string& more = "") {
  return detector_properties() + " device=SCRIPTED model-instance-id=all " + more;
}

/// A stream that pushes as fast as it may, on a thread of its own.
class Stream {
 public:
  explicit Stream(const std::string& properties) : rig_("heterodetect", properties) {
    rig_.on_buffer = [this](GstBuffer*) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !stalled_; });
      ++count_;
      return flow_;
    };
    started_ = rig_.start(kManyStreamsCaps);
  }
  ~Stream() { stop(); }
  bool started() const { return started_; }
  void begin() {
    thread_ = std::thread([this] {
      for (int i = 0; rig_.push(rig_.frame(i, i)) == GST_FLOW_OK; ++i) continue;
    });
  }
  void stop() {
    stall(false);
    rig_.stop();
    if (thread_.joinable()) thread_.join();
  }
  void stall(bool stalled) {
    {
      std::lock_guard lock(mutex_);
      stalled_ = stalled;
    }
    changed_.notify_all();
  }
  void fail() {
    std::lock_guard lock(mutex_);
    flow_ = GST_FLOW_ERROR;
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }
  ElementRig& rig() { return rig_; }

 private:
  ElementRig rig_;
  bool started_ = false;
  std::mutex mutex_;  ///< protects the three below
  std::condition_variable changed_;
  bool stalled_ = false;
  GstFlowReturn flow_ = GST_FLOW_OK;
  int count_ = 0;
  std::thread thread_;
};

using Streams = std::vector<std::unique_ptr<Stream>>;

Streams make_streams(size_t count, const std::string& more = "") {
  Streams streams;
  for (size_t i = 0; i < count; ++i) streams.push_back(std::make_unique<Stream>(shared(more)));
  for (auto& stream : streams) EXPECT_TRUE(stream->started());
  for (auto& stream : streams) stream->begin();
  return streams;
}

/// Waits until the stream has `count` frames more than now.
void wait_for_frames(Stream& stream, int count) {
  const int wanted = stream.count() + count;
  for (int i = 0; i < 30000 && stream.count() < wanted; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_GE(stream.count(), wanted) << "the stream is held up";
}

std::vector<int> counts(const Streams& streams) {
  std::vector<int> all;
  for (const auto& stream : streams) all.push_back(stream->count());
  return all;
}

TEST(ManyStreams, SixteenGetEqualShares) {
  ScriptedDevice device;
  device.set_delay(milliseconds(1));
  Streams streams = make_streams(16, "nireq=2");
  for (auto& stream : streams) wait_for_frames(*stream, 3);
  const std::vector<int> before = counts(streams);
  wait_for_frames(*streams[0], 80);
  const std::vector<int> after = counts(streams);
  EXPECT_EQ(device.compiles(), 1);
  std::vector<int> frames;
  for (size_t i = 0; i < after.size(); ++i) frames.push_back(after[i] - before[i]);
  const auto [slowest, fastest] = std::minmax_element(frames.begin(), frames.end());
  RecordProperty("slowest_over_fastest", std::to_string(1.0 * *slowest / *fastest));
  EXPECT_GE(*slowest, 0.9 * *fastest) << *slowest << " and " << *fastest;
}

TEST(ManyStreams, SharesFollowWeights) {
  ScriptedDevice device;
  device.set_delay(milliseconds(2));
  Streams streams;
  for (const char* weight : {"1", "1", "3"}) {
    streams.push_back(
        std::make_unique<Stream>(shared(std::string("nireq=8 stream-weight=") + weight)));
    ASSERT_TRUE(streams.back()->started());
  }
  for (auto& stream : streams) stream->begin();
  for (auto& stream : streams) wait_for_frames(*stream, 5);
  const std::vector<int> before = counts(streams);
  wait_for_frames(*streams[0], 60);
  const std::vector<int> after = counts(streams);
  const double one = after[0] - before[0];
  EXPECT_NEAR((after[1] - before[1]) / one, 1.0, 0.3);
  EXPECT_NEAR((after[2] - before[2]) / one, 3.0, 0.8) << "1 without weights";
}

TEST(ManyStreams, LatencyServesTheEarliestFrameFirst) {
  ScriptedDevice device;
  device.set_delay(milliseconds(2));
  Streams streams;
  // With shares the third would be some 400 frames ahead at the end.
  for (const char* more :
       {"stream-weight=1 scheduling-policy=latency", "stream-weight=1", "stream-weight=8"}) {
    streams.push_back(std::make_unique<Stream>(shared(std::string("nireq=8 ") + more)));
    ASSERT_TRUE(streams.back()->started());
  }
  for (auto& stream : streams) stream->begin();
  wait_for_frames(*streams[0], 60);
  const std::vector<int> frames = counts(streams);
  const auto [slowest, fastest] = std::minmax_element(frames.begin(), frames.end());
  EXPECT_LE(*fastest - *slowest, 60);
}

TEST(ManyStreams, AStalledAndAFailingStreamHoldUpNobody) {
  ScriptedDevice device;
  device.set_delay(milliseconds(1));
  Streams streams = make_streams(4, "nireq=2");
  for (auto& stream : streams) wait_for_frames(*stream, 3);
  streams[0]->stall(true);
  streams[1]->fail();
  wait_for_frames(*streams[2], 100);
  wait_for_frames(*streams[3], 20);
  EXPECT_TRUE(streams[2]->rig().errors().empty());
  streams[0]->stall(false);
  wait_for_frames(*streams[0], 20);
}

TEST(ManyStreams, AFrameThatCannotBeReadEndsItsOwnStreamOnly) {
  ScriptedDevice device;
  device.set_delay(milliseconds(1));
  Streams streams = make_streams(2, "nireq=2");
  ElementRig bad("heterodetect", shared("nireq=2"));
  ASSERT_TRUE(bad.start(kManyStreamsCaps)) << bad.errors().front();
  for (auto& stream : streams) wait_for_frames(*stream, 3);
  (void)bad.push(gst_buffer_new_allocate(nullptr, 16, nullptr));
  EXPECT_EQ(bad.push(bad.frame(1)), GST_FLOW_ERROR);
  EXPECT_EQ(bad.errors().size(), 1u);
  for (auto& stream : streams) {
    wait_for_frames(*stream, 50);
    EXPECT_TRUE(stream->rig().errors().empty());
  }
}

TEST(ManyStreams, AFlushOfOneIsNoneOfTheOthers) {
  ScriptedDevice device;
  device.set_delay(milliseconds(1));
  Streams streams = make_streams(3, "nireq=2");
  for (auto& stream : streams) wait_for_frames(*stream, 3);
  EXPECT_TRUE(streams[0]->rig().event(gst_event_new_flush_start()));
  wait_for_frames(*streams[1], 50);
  wait_for_frames(*streams[2], 20);
}

TEST(ManyStreams, StreamsComeAndGo) {
  ScriptedDevice device;
  device.set_delay(milliseconds(1));
  Streams streams = make_streams(3, "nireq=2");
  for (int round = 0; round < 5; ++round) {
    streams[0].reset();
    wait_for_frames(*streams[1], 10);
    streams[0] = std::make_unique<Stream>(shared("nireq=2"));
    ASSERT_TRUE(streams[0]->started());
    streams[0]->begin();
    wait_for_frames(*streams[0], 10);
    std::swap(streams[0], streams[2]);
  }
  EXPECT_EQ(device.compiles(), 1);
}

TEST(ManyStreams, BatchesAreMadeOfFramesOfAllStreams) {
  ScriptedDevice device;
  const std::string settings = shared("batch-size=4 batch-timeout=600000 nireq=1");
  ElementRig first("heterodetect", settings);
  ElementRig second("heterodetect", settings);
  ASSERT_TRUE(first.start(kManyStreamsCaps)) << first.errors().front();
  ASSERT_TRUE(second.start(kManyStreamsCaps)) << second.errors().front();
  const int before = device.executions();  // BATCH has tried random items
  for (ElementRig* rig : {&first, &second}) {
    for (int i = 0; i < 2; ++i) ASSERT_EQ(rig->push(rig->frame(i, i)), GST_FLOW_OK);
  }
  EXPECT_TRUE(first.wait_for("buffer 1"));
  EXPECT_TRUE(second.wait_for("buffer 1"));
  EXPECT_EQ(device.executions() - before, 1) << "four frames of two streams";
}

TEST(ManyStreams, BatchesAreMadeOnDevicesOfDevicesToo) {
  for (const char* device : {"HETERO:CPU", "MULTI:CPU", "AUTO:CPU"}) {
    ElementRig rig("heterodetect", detector_properties() + " device=" + device +
                                       " batch-size=2 batch-timeout=600000 nireq=2");
    ASSERT_TRUE(rig.start(kManyStreamsCaps)) << device << ": " << rig.errors().front();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(rig.push(rig.frame(i, i)), GST_FLOW_OK);
    EXPECT_TRUE(rig.wait_for("buffer 1")) << device;
    GstStructure* stats = nullptr;
    g_object_get(rig.element(), "stats", &stats, nullptr);
    guint64 frames = 0;
    gst_structure_get_uint64(stats, "frames", &frames);
    gst_structure_free(stats);
    EXPECT_EQ(frames, 2u) << device << ": the third waits for a fourth";
    ASSERT_EQ(rig.push(rig.frame(3, 3)), GST_FLOW_OK);
    EXPECT_TRUE(rig.wait_for("buffer 3")) << device;
  }
}

TEST(ManyStreams, ABatchWaitsNoLongerThanOneStreamsLatencyBudget) {
  ScriptedDevice device;
  const std::string settings = shared("batch-size=8 batch-timeout=600000 nireq=1");
  ElementRig patient("heterodetect", settings);
  ElementRig hasty("heterodetect", settings + " latency-budget=30");
  ASSERT_TRUE(patient.start(kManyStreamsCaps)) << patient.errors().front();
  ASSERT_TRUE(hasty.start(kManyStreamsCaps)) << hasty.errors().front();
  ASSERT_EQ(patient.push(patient.frame(0, 0)), GST_FLOW_OK);
  ASSERT_EQ(hasty.push(hasty.frame(0, 0)), GST_FLOW_OK);
  EXPECT_TRUE(hasty.wait_for("buffer 0"));
  EXPECT_TRUE(patient.wait_for("buffer 0")) << "it was in the same batch";
}

TEST(ManyStreams, AFrameWaitsNoLongerThanTheBatchTimeout) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", shared("batch-size=8 batch-timeout=20"));
  ASSERT_TRUE(rig.start(kManyStreamsCaps)) << rig.errors().front();
  const int before = device.executions();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(rig.push(rig.frame(i, i)), GST_FLOW_OK);
  EXPECT_TRUE(rig.wait_for("buffer 2"));
  EXPECT_EQ(device.executions() - before, 3) << "each alone";
}

}  // namespace
}  // namespace het::gst_test
