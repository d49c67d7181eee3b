/// Order of frames, events and queries around requests in flight, and how flows travel. On a device
/// whose requests end out of order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using std::chrono::milliseconds;

constexpr char kInOrderCaps[] = "video/x-raw,format=BGR,width=64,height=48,framerate=25/1";

std::string in_order_on_scripted(const std::string& more = "") {
  return detector_properties() + " device=SCRIPTED " + more;
}

/// Its start came before the element did, as when a pipeline is started in the middle of a seek.
TEST(InOrder, AFlushThatBeganElsewhereDropsWhatIsInFlight) {
  ScriptedDevice device;
  device.set_delay(milliseconds(5));
  for (int round = 0; round < 10; ++round) {
    ElementRig rig("heterodetect", in_order_on_scripted("nireq=4"));
    ASSERT_TRUE(rig.start(kInOrderCaps)) << rig.errors().front();
    ASSERT_TRUE(rig.wait_for("segment"));
    for (int i = 0; i < 3; ++i) ASSERT_EQ(rig.push(rig.frame(i, i)), GST_FLOW_OK);
    rig.event(gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig.event(gst_event_new_segment(&segment));
    for (int i = 10; i < 12; ++i) ASSERT_EQ(rig.push(rig.frame(i, i)), GST_FLOW_OK);
    rig.event(gst_event_new_eos());
    ASSERT_TRUE(rig.wait_for("eos"));
    const std::vector<std::string> arrived = rig.arrived();
    const auto flushed = std::find(arrived.begin(), arrived.end(), "flush-stop");
    EXPECT_EQ((std::vector<std::string>(flushed, arrived.end())),
              (std::vector<std::string>{"flush-stop", "segment", "buffer 10", "buffer 11", "eos"}));
  }
}

TEST(InOrder, FramesAndEventsLeaveAsTheyCame) {
  for (const int nireq : {1, 4, 16}) {
    ScriptedDevice device;
    device.set_delay(milliseconds(3));
    ElementRig rig("heterodetect", in_order_on_scripted("nireq=" + std::to_string(nireq)));
    ASSERT_TRUE(rig.start(kInOrderCaps)) << rig.errors().front();
    std::vector<std::string> expected{"stream-start", "caps 64x48 BGR", "segment"};
    for (int i = 0; i < 40; ++i) {
      if (i % 7 == 3) {
        rig.marker(i);
        expected.push_back("marker " + std::to_string(i));
      }
      if (i == 20) {
        rig.event(gst_event_new_gap(i * 40 * GST_MSECOND, 40 * GST_MSECOND));
        rig.event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "title", nullptr)));
        expected.insert(expected.end(), {"gap", "tag"});
      }
      ASSERT_EQ(rig.push(rig.frame(i, i)), GST_FLOW_OK);
      expected.push_back("buffer " + std::to_string(i));
    }
    rig.event(gst_event_new_eos());
    expected.push_back("eos");
    ASSERT_TRUE(rig.wait_for("eos"));
    EXPECT_EQ(rig.arrived(), expected) << "nireq " << nireq;
    EXPECT_EQ(device.executions(), 40);
    EXPECT_TRUE(rig.errors().empty());
  }
}

TEST(InOrder, SegmentsAndStreamsBeginBetweenFramesInFlight) {
  ScriptedDevice device;
  device.set_delay(milliseconds(30));
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=4"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  std::vector<std::string> expected{"stream-start", "caps 64x48 BGR", "segment"};
  const auto push = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      ASSERT_EQ(rig.push(rig.frame(i)), GST_FLOW_OK);
      expected.push_back("buffer " + std::to_string(i));
    }
  };
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push(0, 3);
  segment.start = 3 * 40 * GST_MSECOND;
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  expected.push_back("segment");
  push(3, 6);
  EXPECT_TRUE(rig.event(gst_event_new_stream_start("another")));
  EXPECT_TRUE(rig.set_caps("video/x-raw,format=RGB,width=32,height=32,framerate=25/1"));
  segment.start = 0;
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  expected.insert(expected.end(), {"stream-start", "caps 32x32 RGB", "segment"});
  push(6, 9);
  rig.event(gst_event_new_eos());
  expected.push_back("eos");
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(rig.arrived(), expected);
  EXPECT_TRUE(rig.errors().empty());
}

TEST(InOrder, AReconfigureEventReachesTheSource) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  ASSERT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  gst_pad_check_reconfigure(rig.source());  // what the start has left
  ASSERT_FALSE(gst_pad_check_reconfigure(rig.source()));
  GstPad* const pad = gst_element_get_static_pad(rig.element(), "src");
  EXPECT_TRUE(gst_pad_send_event(pad, gst_event_new_reconfigure()));
  gst_object_unref(pad);
  EXPECT_TRUE(gst_pad_check_reconfigure(rig.source()));
}

TEST(InOrder, FramesBetweenAnalysedOnesKeepTheirPlace) {
  ScriptedDevice device;
  device.set_delay(milliseconds(5));
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2 inference-interval=3"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  std::vector<bool> with_object;
  rig.on_buffer = [&](GstBuffer* buffer) {
    with_object.push_back(gst_buffer_get_video_region_of_interest_meta(buffer) != nullptr);
    return GST_FLOW_OK;
  };
  for (int i = 0; i < 9; ++i) ASSERT_EQ(rig.push(rig.frame(i, 10 * i)), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(device.executions(), 3);
  ASSERT_EQ(with_object.size(), 9u);
  for (const size_t i : {1, 2, 4, 5, 7, 8}) EXPECT_FALSE(with_object[i]) << i;
}

TEST(InOrder, ANewSizeAndFormatDoNotCompileAgain) {
  ScriptedDevice device;
  device.set_delay(milliseconds(3));
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=4"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  std::vector<std::string> expected{"stream-start", "caps 64x48 BGR", "segment"};
  const std::vector<std::string> formats{"BGR",  "NV12", "I420", "RGB",  "RGBx", "BGRx",
                                         "RGBA", "BGRA", "RGBP", "BGRP", "GRAY8"};
  int number = 0;
  for (const std::string& format : formats) {
    for (const char* size : {"64x48", "321x199"}) {
      const int width = std::atoi(size);
      const int height = std::atoi(std::strchr(size, 'x') + 1);
      if (number > 0) {
        ASSERT_TRUE(rig.set_caps("video/x-raw,format=" + format +
                                 ",width=" + std::to_string(width) +
                                 ",height=" + std::to_string(height) + ",framerate=25/1"));
        expected.push_back(std::string("caps ") + size + " " + format);
      }
      for (int i = 0; i < 3; ++i, ++number) {
        ASSERT_EQ(rig.push(rig.frame(number, number)), GST_FLOW_OK) << format << " " << size;
        expected.push_back("buffer " + std::to_string(number));
      }
    }
  }
  rig.event(gst_event_new_eos());
  expected.push_back("eos");
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(rig.arrived(), expected);
  EXPECT_EQ(device.compiles(), 1);
  EXPECT_TRUE(rig.errors().empty());
}

TEST(InOrder, AFlushDiscardsWhatIsInFlight) {
  ScriptedDevice device;
  device.set_delay(milliseconds(2000));
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  ASSERT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  // This thread is blocked when all requests are busy; the flush has to free it.
  GstFlowReturn last = GST_FLOW_OK;
  std::thread streaming([&] {
    for (int i = 1; i < 20 && last == GST_FLOW_OK; ++i) last = rig.push(rig.frame(i));
  });
  std::this_thread::sleep_for(milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(rig.event(gst_event_new_flush_start()));
  streaming.join();
  EXPECT_EQ(last, GST_FLOW_FLUSHING);
  EXPECT_TRUE(rig.event(gst_event_new_flush_stop(TRUE)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1500)) << "requests not aborted";

  device.set_delay(milliseconds(1));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  for (int i = 100; i < 110; ++i) EXPECT_EQ(rig.push(rig.frame(i)), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  std::vector<std::string> buffers;
  for (const std::string& entry : rig.arrived()) {
    if (entry.rfind("buffer", 0) == 0) buffers.push_back(entry);
  }
  ASSERT_EQ(buffers.size(), 10u);
  EXPECT_EQ(buffers.front(), "buffer 100");
  EXPECT_TRUE(rig.errors().empty());
}

/// On its way while another thread begins a flush: GStreamer has let it pass already. As an error
/// it would end the source.
TEST(InOrder, AnEventThatMeetsAFlushIsNoError) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  ASSERT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  EXPECT_TRUE(rig.event(gst_event_new_flush_start()));
  GstPad* const pad = gst_pad_get_peer(rig.source());
  GstCaps* const caps = gst_caps_from_string(kInOrderCaps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (GstEvent* event : {gst_event_new_caps(caps), gst_event_new_segment(&segment)}) {
    EXPECT_EQ(GST_PAD_EVENTFULLFUNC(pad)(pad, GST_OBJECT(rig.element()), event), GST_FLOW_FLUSHING);
  }
  gst_caps_unref(caps);
  gst_object_unref(pad);
  EXPECT_TRUE(rig.event(gst_event_new_flush_stop(TRUE)));
  EXPECT_TRUE(rig.errors().empty());
}

TEST(InOrder, StickyEventsSurviveAFlush) {
  ScriptedDevice device;
  device.set_delay(milliseconds(500));
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  ASSERT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  // Waits behind the frame when the flush comes.
  ASSERT_TRUE(rig.event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "kept", nullptr))));
  EXPECT_TRUE(rig.event(gst_event_new_flush_start()));
  EXPECT_TRUE(rig.event(gst_event_new_flush_stop(TRUE)));
  device.set_delay(milliseconds(0));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
  ASSERT_EQ(rig.push(rig.frame(1)), GST_FLOW_OK);
  EXPECT_TRUE(rig.wait_for("tag"));
  EXPECT_TRUE(rig.wait_for("buffer 1"));
}

TEST(InOrder, DownstreamFlowsReachUpstream) {
  for (const GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR,
                                   GST_FLOW_NOT_NEGOTIATED, GST_FLOW_CUSTOM_ERROR}) {
    ScriptedDevice device;
    device.set_delay(milliseconds(2));
    ElementRig rig("heterodetect", in_order_on_scripted("nireq=4"));
    ASSERT_TRUE(rig.start(kInOrderCaps));
    rig.on_buffer = [&](GstBuffer* buffer) {
      return GST_BUFFER_PTS(buffer) == 3 * 40 * GST_MSECOND ? flow : GST_FLOW_OK;
    };
    GstFlowReturn last = GST_FLOW_OK;
    int pushed = 0;
    while (last == GST_FLOW_OK && pushed < 200) last = rig.push(rig.frame(pushed++));
    EXPECT_EQ(last, flow);
    EXPECT_LT(pushed, 30);
    EXPECT_TRUE(rig.errors().empty()) << "whoever returned the flow reports it";
  }
}

TEST(InOrder, ABadFlowAfterTheLastBufferIsReported) {
  ScriptedDevice device;
  device.set_delay(milliseconds(50));
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=4"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  rig.on_buffer = [](GstBuffer*) { return GST_FLOW_NOT_LINKED; };
  ASSERT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(rig.errors().size(), 1u);
}

TEST(InOrder, AnotherSegmentAfterEosFromDownstreamPlays) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  std::atomic<bool> over = true;
  rig.on_buffer = [&](GstBuffer*) { return over ? GST_FLOW_EOS : GST_FLOW_OK; };
  GstFlowReturn last = GST_FLOW_OK;
  for (int i = 0; i < 50 && last == GST_FLOW_OK; ++i) last = rig.push(rig.frame(i));
  ASSERT_EQ(last, GST_FLOW_EOS);
  over = false;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  EXPECT_EQ(rig.push(rig.frame(77)), GST_FLOW_OK);
  EXPECT_TRUE(rig.wait_for("buffer 77"));
}

TEST(InOrder, AnUnlinkedBranchPlaysOnceItIsLinkedAgain) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  std::atomic<bool> linked = false;
  rig.on_buffer = [&](GstBuffer*) { return linked ? GST_FLOW_OK : GST_FLOW_NOT_LINKED; };
  GstFlowReturn last = GST_FLOW_OK;
  for (int i = 0; i < 50 && last == GST_FLOW_OK; ++i) last = rig.push(rig.frame(i));
  ASSERT_EQ(last, GST_FLOW_NOT_LINKED);
  linked = true;
  GstPad* src = gst_element_get_static_pad(rig.element(), "src");
  gst_pad_send_event(src, gst_event_new_reconfigure());
  gst_object_unref(src);
  EXPECT_EQ(rig.push(rig.frame(60)), GST_FLOW_OK);
  EXPECT_TRUE(rig.wait_for("buffer 60"));
}

TEST(InOrder, FramesAreNotCopied) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", in_order_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(kInOrderCaps));
  std::vector<GstMemory*> in;
  std::vector<GstMemory*> out;
  std::vector<bool> shared;
  rig.on_buffer = [&](GstBuffer* buffer) {
    out.push_back(gst_buffer_peek_memory(buffer, 0));
    shared.push_back(!gst_buffer_is_writable(buffer));
    return GST_FLOW_OK;
  };
  std::vector<GstBuffer*> kept;
  for (int i = 0; i < 4; ++i) {
    GstBuffer* buffer = rig.frame(i, 50 * i);
    in.push_back(gst_buffer_peek_memory(buffer, 0));
    if (i % 2 == 1) kept.push_back(gst_buffer_ref(buffer));  // somebody else reads it too
    ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  }
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(in, out);
  EXPECT_EQ(shared, std::vector<bool>(4, false)) << "metadata needs a writable buffer";
  for (GstBuffer* buffer : kept) {
    EXPECT_EQ(gst_buffer_get_video_region_of_interest_meta(buffer), nullptr)
        << "another owner's buffer was changed";
    gst_buffer_unref(buffer);
  }
}

}  // namespace
}  // namespace het::gst_test
