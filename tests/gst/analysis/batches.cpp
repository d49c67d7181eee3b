/// Batches of frames from several streams (GStreamer 1.28): every frame gets its results in its
/// place.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/gst/batch_rig.h"
#include "tests/gst/scripted_device.h"

namespace het::gst_test {
namespace {

using std::chrono::milliseconds;

TEST(Batches, EveryFrameGetsItsResultsInItsPlace) {
  HET_NEEDS_BATCHES();
  for (const char* requests : {"nireq=1", "nireq=4", "nireq=16"}) {
    ScriptedDevice device;
    device.set_delay(milliseconds(2));
    const BatchStreams streams({kBatchBgr, kBatchNv12, kBatchI420});
    ElementRig rig("heterodetect", batches_on_scripted(requests));
    LeavingBatches leaving(rig, 3);
    ASSERT_TRUE(rig.start(streams.caps())) << rig.errors().front();
    ASSERT_EQ(rig.push(streams.batch(0, {{streams.frame(0, 0, 20)},
                                         {batch_marker(1), streams.frame(1, 0, 90), batch_marker(2),
                                          streams.frame(1, 1, 120)},
                                         {}})),
              GST_FLOW_OK);
    ASSERT_EQ(rig.push(streams.batch(1, {{streams.frame(0, 1, 200)},
                                         {streams.frame(1, 2, 33), streams.frame(1, 3, 34)},
                                         {batch_marker(3), streams.frame(2, 1, 150)}})),
              GST_FLOW_OK);
    rig.marker(7);
    finish_batches(rig);
    EXPECT_EQ(rig.arrived(), (Texts{"stream-start", "caps multistream/x-analytics-batch", "segment",
                                    "buffer 0", "buffer 1", "marker 7", "eos"}));
    ASSERT_EQ(leaving.batches.size(), 2u);
    EXPECT_EQ(leaving.batches[0], (std::vector<Texts>{{found_alone(kBatchBgr, 0, 20)},
                                                      {"marker 1", found_alone(kBatchNv12, 0, 90),
                                                       "marker 2", found_alone(kBatchNv12, 1, 120)},
                                                      {}}));
    EXPECT_EQ(leaving.batches[1],
              (std::vector<Texts>{{found_alone(kBatchBgr, 1, 200)},
                                  {found_alone(kBatchNv12, 2, 33), found_alone(kBatchNv12, 3, 34)},
                                  {"marker 3", found_alone(kBatchI420, 1, 150)}}));
  }
}

TEST(Batches, FramesOfABatchRunAtTheSameTime) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  device.set_delay(milliseconds(300));
  const BatchStreams streams({kBatchBgr, kBatchNv12, kBatchI420});
  ElementRig rig("heterodetect", batches_on_scripted("nireq=4"));
  ASSERT_TRUE(rig.start(streams.caps()));
  std::atomic<bool> has_left = false;
  rig.on_buffer = [&](GstBuffer*) {
    has_left = true;
    return GST_FLOW_OK;
  };
  const auto before = std::chrono::steady_clock::now();
  ASSERT_EQ(rig.push(streams.batch(
                0, {{streams.frame(0, 0, 1)}, {streams.frame(1, 0, 2)}, {streams.frame(2, 0, 3)}})),
            GST_FLOW_OK);
  while (device.executions() < 3 && !has_left) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_FALSE(has_left);
  // The first execution takes 600 ms, the others 300: one after the other they begin after that.
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds(600));
  finish_batches(rig);
}

TEST(Batches, ABatchMayBeLargerThanTheQueue) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr, kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted("nireq=1"));
  LeavingBatches leaving(rig, 2);
  ASSERT_TRUE(rig.start(streams.caps()));
  for (int batch = 0; batch < 3; ++batch) {
    std::vector<std::vector<GstMiniObject*>> objects(2);
    for (int i = 0; i < 40; ++i)
      objects[static_cast<size_t>(i % 2)].push_back(streams.frame(0, i, i));
    ASSERT_EQ(rig.push(streams.batch(batch, objects)), GST_FLOW_OK);
  }
  finish_batches(rig);
  ASSERT_EQ(leaving.batches.size(), 3u);
  for (const std::vector<Texts>& batch : leaving.batches) EXPECT_EQ(batch[1].size(), 20u);
  EXPECT_EQ(device.executions(), 120);
}

TEST(Batches, BatchesWithoutFramesPass) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  ElementRig rig("heterodetect", batches_on_scripted("nireq=2"));
  LeavingBatches leaving(rig, 2);
  ASSERT_TRUE(rig.start(streams.caps()));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(rig.push(streams.batch(i, {{}, {}})), GST_FLOW_OK);
  ASSERT_EQ(rig.push(streams.batch(50, {{batch_marker(1)}, {}})), GST_FLOW_OK);
  finish_batches(rig);
  ASSERT_EQ(leaving.batches.size(), 51u);
  EXPECT_EQ(leaving.batches[50], (std::vector<Texts>{{"marker 1"}, {}}));
  EXPECT_EQ(device.executions(), 0);
}

/// The source task is in a push: batches without frames fill the queue nevertheless.
TEST(Batches, BatchesWithoutFramesWaitForDownstream) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted("nireq=2"));
  std::mutex held;
  held.lock();
  rig.on_buffer = [&](GstBuffer*) {
    std::lock_guard wait(held);
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(streams.caps()));
  std::atomic<int> pushed = 0;
  std::thread streaming([&] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(rig.push(streams.batch(i, {{}})), GST_FLOW_OK);
      ++pushed;
    }
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(pushed, 5);
  held.unlock();
  streaming.join();
  finish_batches(rig);
}

TEST(Batches, FramesInBufferListsAreAnalysed) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted());
  LeavingBatches leaving(rig, 1);
  ASSERT_TRUE(rig.start(streams.caps()));
  GstBufferList* list = gst_buffer_list_new();
  for (int i = 0; i < 2; ++i)
    gst_buffer_list_add(list, GST_BUFFER_CAST(streams.frame(0, i, 20 + i)));
  ASSERT_EQ(rig.push(streams.batch(
                0, {{batch_marker(1), GST_MINI_OBJECT_CAST(list), streams.frame(0, 2, 22),
                     GST_MINI_OBJECT_CAST(gst_buffer_list_new())}})),
            GST_FLOW_OK);
  finish_batches(rig);
  ASSERT_EQ(leaving.batches.size(), 1u);
  EXPECT_EQ(leaving.batches[0][0], (Texts{"marker 1",
                                          "list(" + found_alone(kBatchBgr, 0, 20) + ", " +
                                              found_alone(kBatchBgr, 1, 21) + ")",
                                          found_alone(kBatchBgr, 2, 22), "list()"}));
}

TEST(Batches, ABatchThatOthersHoldStaysAsItIs) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted());
  LeavingBatches leaving(rig, 1);
  ASSERT_TRUE(rig.start(streams.caps()));
  GstBuffer* shared = streams.batch(0, {{streams.frame(0, 0, 20)}});
  ASSERT_EQ(rig.push(gst_buffer_ref(shared)), GST_FLOW_OK);
  finish_batches(rig);
  EXPECT_EQ(batch_texts(shared, 0), (Texts{"frame 0"}));
  gst_buffer_unref(shared);
  ASSERT_EQ(leaving.batches.size(), 1u);
  EXPECT_EQ(leaving.batches[0][0], (Texts{found_alone(kBatchBgr, 0, 20)}));
}

TEST(Batches, AFlushThrowsTheBatchAway) {
  HET_NEEDS_BATCHES();
  const NoComplaints none;
  ScriptedDevice device;
  device.set_delay(milliseconds(20));
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  for (int round = 0; round < 8; ++round) {
    ElementRig rig("heterodetect", batches_on_scripted("nireq=2"));
    LeavingBatches leaving(rig, 2);
    ASSERT_TRUE(rig.start(streams.caps()));
    GstFlowReturn flow = GST_FLOW_OK;
    std::thread streaming([&] {
      for (int i = 0; i < 3 && flow == GST_FLOW_OK; ++i) {
        std::vector<std::vector<GstMiniObject*>> objects(2);
        for (int k = 0; k < 12; ++k) {
          const auto stream = static_cast<size_t>(k % 2);
          objects[stream].push_back(streams.frame(stream, k, k));
        }
        GstBufferList* list = gst_buffer_list_new();
        gst_buffer_list_add(list, GST_BUFFER_CAST(streams.frame(0, 12, 12)));
        objects[0].push_back(GST_MINI_OBJECT_CAST(list));
        flow = rig.push(streams.batch(i, objects));
      }
    });
    std::this_thread::sleep_for(milliseconds(5 + 15 * round));
    rig.event(gst_event_new_flush_start());
    streaming.join();
    EXPECT_EQ(flow, GST_FLOW_FLUSHING);
    rig.event(gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig.event(gst_event_new_segment(&segment));
    ASSERT_EQ(rig.push(streams.batch(9, {{streams.frame(0, 9, 20)}, {}})), GST_FLOW_OK);
    finish_batches(rig);
    ASSERT_FALSE(leaving.batches.empty());
    EXPECT_EQ(leaving.batches.back()[0], (Texts{found_alone(kBatchBgr, 9, 20)}));
  }
}

TEST(Batches, AStopInTheMiddleLeavesNothing) {
  HET_NEEDS_BATCHES();
  const NoComplaints none;
  ScriptedDevice device;
  device.set_delay(milliseconds(30));
  const BatchStreams streams({kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted("nireq=2"));
  ASSERT_TRUE(rig.start(streams.caps()));
  std::thread streaming([&] {
    std::vector<GstMiniObject*> frames;
    for (int k = 0; k < 20; ++k) frames.push_back(streams.frame(0, k, k));
    EXPECT_EQ(rig.push(streams.batch(0, {frames})), GST_FLOW_FLUSHING);
  });
  std::this_thread::sleep_for(milliseconds(40));
  gst_element_set_state(rig.element(), GST_STATE_NULL);
  streaming.join();
  EXPECT_LT(device.executions(), 20);
}

TEST(Batches, AFailedExecutionIsAnError) {
  HET_NEEDS_BATCHES();
  const NoComplaints none;
  ScriptedDevice device;
  device.fail_from(3);
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  ElementRig rig("heterodetect", batches_on_scripted());
  ASSERT_TRUE(rig.start(streams.caps()));
  GstFlowReturn flow = GST_FLOW_OK;
  int batches = 0;
  while (flow == GST_FLOW_OK && ++batches < 100) {
    flow = rig.push(streams.batch(batches, {{streams.frame(0, 0, 1), streams.frame(0, 1, 2)},
                                            {streams.frame(1, 0, 1), streams.frame(1, 1, 2)}}));
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(flow, GST_FLOW_ERROR);
  const Texts errors = rig.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("fails as the script says"), std::string::npos) << errors[0];
  for (const std::string& entry : rig.arrived())
    EXPECT_EQ(entry.rfind("buffer", 0), std::string::npos) << "a batch that is not complete";
}

TEST(Batches, DownstreamMayEnd) {
  HET_NEEDS_BATCHES();
  const NoComplaints none;
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted());
  ASSERT_TRUE(rig.start(streams.caps()));
  rig.on_buffer = [](GstBuffer*) { return GST_FLOW_EOS; };
  GstFlowReturn flow = GST_FLOW_OK;
  for (int i = 0; i < 100 && flow == GST_FLOW_OK; ++i) {
    flow = rig.push(streams.batch(i, {{streams.frame(0, i, i), streams.frame(0, i, i)}}));
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(flow, GST_FLOW_EOS);
  EXPECT_EQ(rig.errors(), Texts());
}

/// Each counts once, and a batch is no frame.
TEST(Batches, FramesAreCounted) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  ElementRig rig("heterodetect", batches_on_scripted());
  ASSERT_TRUE(rig.start(streams.caps()));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(rig.push(streams.batch(
                  i, {{streams.frame(0, i, i)}, {streams.frame(1, i, i), streams.frame(1, i, i)}})),
              GST_FLOW_OK);
  }
  finish_batches(rig);
  GstStructure* stats = nullptr;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  guint64 frames = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, "frames", &frames));
  EXPECT_EQ(frames, 9u);
  gst_structure_free(stats);
}

}  // namespace
}  // namespace het::gst_test
