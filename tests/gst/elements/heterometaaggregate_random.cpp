#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

/// heterometaaggregate with two to four branches, each a thread that pushes frames, GAP events,
/// other caps, flushes and its end in random order and at random moments.
namespace het::gst_test {
namespace {

constexpr GstClockTime kRandomFrameTime = 10 * GST_MSECOND;
constexpr int kRandomFrames = 30;
constexpr auto kRandomWatchdog = std::chrono::seconds(30);

GstStaticPadTemplate random_pad =
    GST_STATIC_PAD_TEMPLATE("random-sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed) {
    is_live_ = seed % 2 == 1;
    flushes_ = seed % 5 == 4;
    pipeline_ = gst_pipeline_new(nullptr);
    element_ = gst_element_factory_make("heterometaaggregate", nullptr);
    gst_bin_add(GST_BIN(pipeline_), element_);
    sink_ = gst_pad_new_from_static_template(&random_pad, "random-sink");
    gst_pad_set_element_private(sink_, this);
    gst_pad_set_chain_function(sink_, chain);
    gst_pad_set_event_function(sink_, event);
    gst_pad_set_active(sink_, TRUE);
    GstPad* out = gst_element_get_static_pad(element_, "src");
    gst_pad_link(out, sink_);
    gst_object_unref(out);
    const int branches = 2 + static_cast<int>(seed % 3);
    for (int i = 0; i < branches; ++i) {
      GstPad* pad = gst_pad_new(nullptr, GST_PAD_SRC);
      gst_pad_set_element_private(pad, this);
      gst_pad_set_query_function(pad, query);
      gst_pad_set_active(pad, TRUE);
      GstPad* in = gst_element_request_pad_simple(element_, "sink_%u");
      gst_pad_link(pad, in);
      gst_object_unref(in);
      pads_.push_back(pad);
    }
  }
  ~RandomRun() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    for (GstPad* pad : pads_) {
      gst_pad_set_active(pad, FALSE);
      gst_object_unref(pad);
    }
    gst_object_unref(pipeline_);
    gst_pad_set_active(sink_, FALSE);
    gst_object_unref(sink_);
  }
  RandomRun(const RandomRun&) = delete;
  RandomRun& operator=(const RandomRun&) = delete;

  /// False when it hangs; then nothing can be taken down any more.
  bool run() {
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    // As pipelines do: the base class learns here whether it is live.
    GstQuery* latency = gst_query_new_latency();
    gst_element_query(element_, latency);
    gst_query_unref(latency);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < pads_.size(); ++i) {
      threads.emplace_back([this, i, seed = random_()] { push_branch(i, seed); });
    }
    std::unique_lock lock(mutex_);
    const bool has_ended =
        ended_.wait_for(lock, kRandomWatchdog, [&] { return is_eos_ && done_ == pads_.size(); });
    lock.unlock();
    for (std::thread& thread : threads) {
      if (has_ended) {
        thread.join();
      } else {
        thread.detach();
      }
    }
    return has_ended;
  }

  void check() const {
    EXPECT_EQ(empty_frames_, 0) << "GAP events became frames";
    EXPECT_TRUE(std::ranges::is_sorted(left_)) << "frames changed their order";
    EXPECT_TRUE(std::ranges::adjacent_find(left_) == left_.end()) << "a frame left twice";
    if (flushes_) return;
    EXPECT_EQ(left_, pushed_) << "frames of the first pad got lost";
  }

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
    auto* self = static_cast<RandomRun*>(gst_pad_get_element_private(pad));
    const std::lock_guard lock(self->mutex_);
    if (gst_buffer_get_size(buffer) == 0) ++self->empty_frames_;
    self->left_.push_back(GST_BUFFER_OFFSET(buffer));
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  }
  static gboolean event(GstPad* pad, GstObject*, GstEvent* event) {
    auto* self = static_cast<RandomRun*>(gst_pad_get_element_private(pad));
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
      const std::lock_guard lock(self->mutex_);
      self->is_eos_ = true;
      self->ended_.notify_all();
    }
    gst_event_unref(event);
    return TRUE;
  }
  static gboolean query(GstPad* pad, GstObject* parent, GstQuery* query) {
    auto* self = static_cast<RandomRun*>(gst_pad_get_element_private(pad));
    if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
      return gst_pad_query_default(pad, parent, query);
    gst_query_set_latency(query, self->is_live_, 0, GST_CLOCK_TIME_NONE);
    return TRUE;
  }

  void set_caps(GstPad* pad, int width) {
    GstCaps* caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
                                        G_TYPE_INT, width, "height", G_TYPE_INT, 16, "framerate",
                                        GST_TYPE_FRACTION, 100, 1, nullptr);
    gst_pad_push_event(pad, gst_event_new_caps(caps));
    // As elements that look for a pool.
    GstQuery* query = gst_query_new_allocation(caps, TRUE);
    gst_pad_peer_query(pad, query);
    gst_query_unref(query);
    gst_caps_unref(caps);
  }
  static void push_segment(GstPad* pad) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(pad, gst_event_new_segment(&segment));
  }

  void push_branch(size_t index, unsigned seed) {
    std::mt19937 random(seed);
    const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
    GstPad* pad = pads_[index];
    gst_pad_push_event(pad, gst_event_new_stream_start(("branch" + std::to_string(index)).c_str()));
    int width = 32;
    set_caps(pad, width);
    push_segment(pad);
    // A branch may stop long before the others, without its end being told before the first one's.
    const int last =
        index > 0 && chance(30) ? static_cast<int>(random() % kRandomFrames) : kRandomFrames;
    for (int k = 0; k < last; ++k) {
      const GstClockTime time = static_cast<GstClockTime>(k) * kRandomFrameTime;
      if (chance(20)) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 6));
      if (is_live_) wait_until(time);
      if (chance(5)) set_caps(pad, width = 16 + 8 * static_cast<int>(random() % 5));
      if (flushes_ && chance(3)) {
        gst_pad_push_event(pad, gst_event_new_flush_start());
        gst_pad_push_event(pad, gst_event_new_flush_stop(FALSE));
        push_segment(pad);
      }
      if (chance(10)) {
        gst_pad_push_event(pad, gst_event_new_gap(time, kRandomFrameTime));
        continue;
      }
      if (index > 0 && chance(20)) continue;
      GstBuffer* frame = gst_buffer_new_allocate(nullptr, static_cast<gsize>(width) * 16, nullptr);
      GST_BUFFER_PTS(frame) = chance(8) ? GST_CLOCK_TIME_NONE : time;
      GST_BUFFER_DURATION(frame) = kRandomFrameTime;
      GST_BUFFER_OFFSET(frame) = static_cast<guint64>(k);
      if (index == 0) {
        const std::lock_guard lock(mutex_);
        pushed_.push_back(static_cast<guint64>(k));
      }
      gst_pad_push(pad, frame);
    }
    // Without its end a branch that is not live would hold the others up, as in every muxer.
    if (index == 0) first_has_ended_ = true;
    while (is_live_ && last < kRandomFrames && !first_has_ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    gst_pad_push_event(pad, gst_event_new_eos());
    const std::lock_guard lock(mutex_);
    ++done_;
    ended_.notify_all();
  }

  void wait_until(GstClockTime running_time) const {
    GstClock* clock = gst_element_get_clock(element_);
    if (!clock) return;
    const GstClockTime now = gst_clock_get_time(clock) - gst_element_get_base_time(element_);
    gst_object_unref(clock);
    if (running_time > now)
      std::this_thread::sleep_for(std::chrono::nanoseconds(running_time - now));
  }

  std::mt19937 random_;
  bool is_live_ = false;
  bool flushes_ = false;
  GstElement* pipeline_ = nullptr;
  GstElement* element_ = nullptr;
  GstPad* sink_ = nullptr;
  std::vector<GstPad*> pads_;
  std::atomic<bool> first_has_ended_ = false;
  std::mutex mutex_;  ///< protects what follows
  std::condition_variable ended_;
  std::vector<guint64> pushed_;
  std::vector<guint64> left_;
  int empty_frames_ = 0;
  bool is_eos_ = false;
  size_t done_ = 0;
};

TEST(HeteroMetaAggregate, FramesOfTheFirstPadLeaveWhateverComesWhen) {
  const char* text = std::getenv("HET_RANDOM_SEEDS");
  const unsigned seeds = text ? static_cast<unsigned>(std::atoi(text)) : 20;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    auto run = std::make_unique<RandomRun>(seed);
    if (!run->run()) {
      run.release();  // its threads are still in there
      FAIL() << "it hangs";
    }
    run->check();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace het::gst_test
