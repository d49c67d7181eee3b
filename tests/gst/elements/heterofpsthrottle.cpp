#include <gst/gst.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"

namespace het::gst_test {
namespace {

constexpr char kThrottledCaps[] = "video/x-raw,format=GRAY8,width=32,height=32,framerate=25/1";

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(HeteroFpsThrottle, FramesPassAtMostAtTheRate) {
  ElementRig rig("heterofpsthrottle", "target-fps=50");
  ASSERT_TRUE(rig.start(kThrottledCaps));
  const double seconds = seconds_of([&] {
    for (int number = 0; number < 26; ++number) EXPECT_EQ(rig.push(rig.frame(number)), GST_FLOW_OK);
  });
  // 25 waits; what a wait takes too long, the next does not take.
  EXPECT_GE(seconds, 0.49);
  EXPECT_LE(seconds, 0.75);
  int frames = 0;
  for (const std::string& entry : rig.arrived()) frames += entry.rfind("buffer ", 0) == 0 ? 1 : 0;
  EXPECT_EQ(frames, 26) << "none is dropped";
  rig.stop();
}

TEST(HeteroFpsThrottle, ZeroIsNoLimitAndSlowFramesDoNotWait) {
  ElementRig rig("heterofpsthrottle", "");
  ASSERT_TRUE(rig.start(kThrottledCaps));
  const auto push_some = [&](int count) {
    for (int number = 0; number < count; ++number)
      EXPECT_EQ(rig.push(rig.frame(number)), GST_FLOW_OK);
  };
  EXPECT_LE(seconds_of([&] { push_some(500); }), 1.0);
  g_object_set(rig.element(), "target-fps", 20.0, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LE(seconds_of([&] { push_some(1); }), 0.04) << "late frames pass at once";
  EXPECT_GE(seconds_of([&] { push_some(1); }), 0.04) << "and give no credit";
  rig.stop();
}

TEST(HeteroFpsThrottle, AFlushEndsTheWait) {
  ElementRig rig("heterofpsthrottle", "target-fps=0.01");
  ASSERT_TRUE(rig.start(kThrottledCaps));
  EXPECT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  auto waiting = std::async(std::launch::async, [&] { return rig.push(rig.frame(1)); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_TRUE(rig.event(gst_event_new_flush_start()));
  ASSERT_EQ(waiting.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(waiting.get(), GST_FLOW_FLUSHING);
  EXPECT_TRUE(rig.event(gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  EXPECT_LE(seconds_of([&] { EXPECT_EQ(rig.push(rig.frame(2)), GST_FLOW_OK); }), 5.0);
  rig.stop();
}

TEST(HeteroFpsThrottle, AStopEndsTheWait) {
  PipelineRun run("videotestsrc ! heterofpsthrottle target-fps=0.01 name=limit ! fakesink");
  gst_element_set_state(run.pipeline(), GST_STATE_PLAYING);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LE(seconds_of([&] { gst_element_set_state(run.pipeline(), GST_STATE_NULL); }), 5.0);
}

TEST(HeteroFpsThrottle, ANewRateHoldsForTheFrameThatWaits) {
  ElementRig rig("heterofpsthrottle", "target-fps=0.01");
  ASSERT_TRUE(rig.start(kThrottledCaps));
  EXPECT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  auto waiting = std::async(std::launch::async, [&] { return rig.push(rig.frame(1)); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  g_object_set(rig.element(), "target-fps", 100.0, nullptr);
  ASSERT_EQ(waiting.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(waiting.get(), GST_FLOW_OK);
  rig.stop();
}

GstClockTime least_latency(const std::string& limit) {
  PipelineRun run("videotestsrc is-live=true ! video/x-raw,width=32,height=32,framerate=25/1 ! " +
                  limit + " name=limit ! fakesink");
  gst_element_set_state(run.pipeline(), GST_STATE_PLAYING);
  gst_element_get_state(run.pipeline(), nullptr, nullptr, 10 * GST_SECOND);
  GstPad* pad = gst_element_get_static_pad(run.element("limit"), "src");
  GstQuery* query = gst_query_new_latency();
  GstClockTime least = 0;
  gboolean live = FALSE;
  EXPECT_TRUE(gst_pad_query(pad, query));
  gst_query_parse_latency(query, &live, &least, nullptr);
  EXPECT_TRUE(live);
  gst_query_unref(query);
  gst_object_unref(pad);
  gst_element_set_state(run.pipeline(), GST_STATE_NULL);
  return least;
}

TEST(HeteroFpsThrottle, TheLongestWaitIsLatency) {
  const GstClockTime without = least_latency("heterofpsthrottle");
  EXPECT_EQ(least_latency("heterofpsthrottle target-fps=50"), without + 20 * GST_MSECOND);
}

TEST(HeteroFpsThrottle, QosEndsHereWhileFramesWait) {
  int heard = 0;
  ElementRig rig("heterofpsthrottle", "target-fps=100");
  gst_pad_add_probe(
      rig.source(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      [](GstPad*, GstPadProbeInfo* probe, gpointer count) {
        if (GST_EVENT_TYPE(gst_pad_probe_info_get_event(probe)) == GST_EVENT_QOS)
          ++*static_cast<int*>(count);
        return GST_PAD_PROBE_OK;
      },
      &heard, nullptr);
  ASSERT_TRUE(rig.start(kThrottledCaps));
  GstPad* pad = gst_element_get_static_pad(rig.element(), "src");
  const auto tell = [&] {
    gst_pad_send_event(pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 1000, 0));
  };
  EXPECT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  tell();
  EXPECT_EQ(heard, 1) << "the first frame does not wait";
  EXPECT_EQ(rig.push(rig.frame(1)), GST_FLOW_OK);
  tell();
  EXPECT_EQ(heard, 1) << "frames wait";
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(rig.push(rig.frame(2)), GST_FLOW_OK);
  tell();
  EXPECT_EQ(heard, 2) << "frames do not wait any more";
  gst_object_unref(pad);
  rig.stop();
}

}  // namespace
}  // namespace het::gst_test
