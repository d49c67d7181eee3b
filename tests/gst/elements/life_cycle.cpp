/// Start, stop, sharing, queries and failures of the inference elements.

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using std::chrono::milliseconds;

constexpr char kLifeCycleCaps[] = "video/x-raw,format=I420,width=64,height=48,framerate=25/1";

std::string life_cycle_on_scripted(const std::string& more = "") {
  return detector_properties() + " device=SCRIPTED " + more;
}

int thread_count() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "Threads:") {
      int count = 0;
      status >> count;
      return count;
    }
  }
  return 0;
}

TEST(LifeCycle, TwentyTimesToPlayingAndBack) {
  ScriptedDevice device;
  device.set_delay(milliseconds(4));
  PipelineRun run("videotestsrc ! video/x-raw,width=64,height=48 ! heterodetect name=detect " +
                  life_cycle_on_scripted("nireq=4") + " ! fakesink name=sink sync=false");
  std::atomic<int> buffers = 0;
  run.on_buffer("sink", [&](GstBuffer*) { ++buffers; });
  int threads = 0;
  for (int i = 0; i < 20; ++i) {
    buffers = 0;
    ASSERT_NE(gst_element_set_state(run.pipeline(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
    while (buffers < 5) std::this_thread::sleep_for(milliseconds(2));
    // Straight from PLAYING, with requests in flight.
    ASSERT_EQ(gst_element_set_state(run.pipeline(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(GST_OBJECT_REFCOUNT_VALUE(run.element("detect")), 1);
    // GStreamer's own pool of threads may still grow in the first rounds.
    if (i == 3) threads = thread_count();
  }
  EXPECT_LE(thread_count(), threads) << "threads were left behind";
  EXPECT_EQ(device.compiles(), 20);
}

TEST(LifeCycle, NoBufferIsLostInCycles) {
  ScriptedDevice device;
  device.set_delay(milliseconds(20));
  std::atomic<int> alive = 0;
  for (int i = 0; i < 20; ++i) {
    ElementRig rig("heterodetect", life_cycle_on_scripted("nireq=4"));
    ASSERT_TRUE(rig.start(kLifeCycleCaps));
    for (int k = 0; k < 6; ++k) {
      GstBuffer* buffer = rig.frame(k);
      ++alive;
      gst_mini_object_weak_ref(
          GST_MINI_OBJECT(buffer),
          [](gpointer count, GstMiniObject*) { --*static_cast<std::atomic<int>*>(count); }, &alive);
      ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
    }
    rig.stop();
  }
  EXPECT_EQ(alive, 0);
}

TEST(LifeCycle, PauseKeepsFramesAndPlayGoesOn) {
  ScriptedDevice device;
  device.set_delay(milliseconds(4));
  PipelineRun run("videotestsrc num-buffers=50 ! video/x-raw,width=64,height=48 ! heterodetect " +
                  life_cycle_on_scripted() + " ! fakesink name=sink sync=false");
  int buffers = 0;
  run.on_buffer("sink", [&](GstBuffer*) { ++buffers; });
  for (int i = 0; i < 5; ++i) {
    // Each change is waited for: a change that meets another one under way is sometimes lost in
    // GStreamer 1.22 itself (with its queue in our place too, on starved cores).
    for (const GstState state : {GST_STATE_PLAYING, GST_STATE_PAUSED}) {
      gst_element_set_state(run.pipeline(), state);
      ASSERT_EQ(gst_element_get_state(run.pipeline(), nullptr, nullptr, GST_CLOCK_TIME_NONE),
                GST_STATE_CHANGE_SUCCESS);
      std::this_thread::sleep_for(milliseconds(3));
    }
  }
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(buffers, 50);
}

TEST(LifeCycle, ElementsWithOneIdShareTheModel) {
  ScriptedDevice device;
  {
    PipelineRun run(
        "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=48 ! tee name=t "
        "t. ! queue ! heterodetect model-instance-id=a " +
        life_cycle_on_scripted() +
        " ! fakesink "
        "t. ! queue ! heterodetect model-instance-id=a " +
        life_cycle_on_scripted() + " ! fakesink");
    EXPECT_EQ(run.play().problem(), "");
    EXPECT_EQ(device.compiles(), 1);
    EXPECT_EQ(device.executions(), 20);
  }
  // The model is given to one of them, wherever it stands: the last one starts first.
  for (const bool is_first : {true, false}) {
    const std::string with = "heterodetect model-instance-id=a " + life_cycle_on_scripted();
    const std::string without = "heterodetect model-instance-id=a";
    PipelineRun run(
        "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=48 ! tee name=t t. ! queue ! " +
        (is_first ? with : without) + " ! fakesink t. ! queue ! " + (is_first ? without : with) +
        " ! fakesink");
    EXPECT_EQ(run.play().problem(), "");
  }
  EXPECT_EQ(device.compiles(), 3);
  // The model went with its last user.
  PipelineRun again("videotestsrc num-buffers=1 ! heterodetect model-instance-id=a " +
                    life_cycle_on_scripted() + " ! fakesink");
  EXPECT_EQ(again.play().problem(), "");
  EXPECT_EQ(device.compiles(), 4);
}

TEST(LifeCycle, OneIdWithTwoModelsIsAnError) {
  ScriptedDevice device;
  ElementRig first("heterodetect", life_cycle_on_scripted("model-instance-id=a"));
  ASSERT_TRUE(first.start(kLifeCycleCaps));
  ElementRig second("heterodetect",
                    life_cycle_on_scripted("model-instance-id=a reshape-width=160"));
  EXPECT_FALSE(second.start(kLifeCycleCaps));
  const std::vector<std::string> errors = second.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("reshape-width"), std::string::npos) << errors[0];
  ElementRig third("heterodetect", "model-instance-id=a");
  EXPECT_TRUE(third.start(kLifeCycleCaps)) << "the settings of the first element count";
}

TEST(LifeCycle, AFailingRequestIsOneError) {
  ScriptedDevice device;
  device.fail_from(3);
  PipelineRun run(
      "videotestsrc num-buffers=100 ! video/x-raw,width=64,height=48 ! heterodetect "
      "name=detect " +
      life_cycle_on_scripted("nireq=4") + " ! fakesink name=sink");
  int buffers = 0;
  run.on_buffer("sink", [&](GstBuffer*) { ++buffers; });
  const Outcome outcome = run.play();
  EXPECT_FALSE(outcome.eos);
  const auto errors = outcome.errors_of("detect");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].text.find("execution"), std::string::npos) << errors[0].text;
  EXPECT_LE(buffers, 3);
}

TEST(LifeCycle, LatencyIsThatOfTheRequestsInFlight) {
  ScriptedDevice device;
  PipelineRun run(
      "videotestsrc is-live=true num-buffers=20 ! "
      "video/x-raw,width=64,height=48,framerate=25/1 ! heterodetect name=detect " +
      life_cycle_on_scripted("nireq=3") + " ! fakesink name=sink sync=true");
  gst_element_set_state(run.pipeline(), GST_STATE_PLAYING);
  gst_element_get_state(run.pipeline(), nullptr, nullptr, 10 * GST_SECOND);
  GstElement* sink = run.element("sink");
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  GstQuery* query = gst_query_new_latency();
  ASSERT_TRUE(gst_pad_peer_query(pad, query));
  gboolean live = FALSE;
  GstClockTime min = 0;
  GstClockTime max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  EXPECT_TRUE(live);
  // videotestsrc itself has one frame.
  EXPECT_EQ(min, 4 * 40 * GST_MSECOND);
  EXPECT_GE(max, min);
  gst_query_unref(query);
  gst_object_unref(pad);
  EXPECT_EQ(run.play().problem(), "");
}

TEST(LifeCycle, AllocationAsksForEnoughFramesWithVideoMeta) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", life_cycle_on_scripted("nireq=5"));
  ASSERT_TRUE(rig.start(kLifeCycleCaps));
  GstCaps* caps = gst_caps_from_string(kLifeCycleCaps);
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  gst_caps_unref(caps);
  ASSERT_TRUE(gst_pad_peer_query(rig.source(), query));
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  ASSERT_GE(gst_query_get_n_allocation_pools(query), 1u);
  guint min = 0;
  gst_query_parse_nth_allocation_pool(query, 0, nullptr, nullptr, &min, nullptr);
  EXPECT_GE(min, 6u) << "five in flight and one that upstream fills";
  gst_query_unref(query);
}

TEST(LifeCycle, PaddedRowsArePlainForWhoCannotReadThem) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", life_cycle_on_scripted());
  ASSERT_TRUE(rig.start("video/x-raw,format=GRAY8,width=6,height=2,framerate=25/1"));
  GstCaps* caps = gst_caps_from_string("video/x-raw,format=GRAY8,width=6,height=2");
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  gst_caps_unref(caps);
  ASSERT_TRUE(gst_pad_peer_query(rig.source(), query));  // the rig's sink does not answer
  gst_query_unref(query);

  std::string bytes = "abcdef..........ghijkl..........";
  GstBuffer* buffer = gst_buffer_new_memdup(bytes.data(), bytes.size());
  gsize offset[] = {0, 0, 0, 0};
  gint stride[] = {16, 0, 0, 0};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 6, 2, 1,
                                 offset, stride);
  std::string got;
  rig.on_buffer = [&](GstBuffer* out) {
    GstMapInfo map;
    gst_buffer_map(out, &map, GST_MAP_READ);
    got.assign(reinterpret_cast<const char*>(map.data), map.size);
    gst_buffer_unmap(out, &map);
    EXPECT_EQ(gst_buffer_get_video_meta(out), nullptr);
    return GST_FLOW_OK;
  };
  ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  ASSERT_EQ(got.size(), 16u) << "rows of GRAY8 are padded to four bytes";
  EXPECT_EQ(got.substr(0, 6) + got.substr(8, 6), "abcdefghijkl");
}

TEST(LifeCycle, StatsCountFramesAndObjects) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", life_cycle_on_scripted("nireq=3 threshold=0.1"));
  ASSERT_TRUE(rig.start("video/x-raw,format=BGR,width=320,height=192,framerate=25/1"));
  for (int i = 0; i < 8; ++i) ASSERT_EQ(rig.push(rig.frame(i, 128)), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  GstStructure* stats = nullptr;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  ASSERT_NE(stats, nullptr);
  guint64 frames = 0, analysed = 0, objects = 0, requests = 0, mean = 0;
  ASSERT_TRUE(gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "frames-analysed",
                                G_TYPE_UINT64, &analysed, "objects", G_TYPE_UINT64, &objects,
                                "requests", G_TYPE_UINT64, &requests, "inference-time-mean",
                                G_TYPE_UINT64, &mean, nullptr));
  EXPECT_EQ(frames, 8u);
  EXPECT_EQ(analysed, 8u);
  EXPECT_EQ(objects, 8u) << "the scripted device finds one object a frame";
  EXPECT_EQ(requests, 3u);
  EXPECT_GT(mean, 0u);
  gst_structure_free(stats);
}

}  // namespace
}  // namespace het::gst_test
