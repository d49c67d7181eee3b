/// Batches: what is kept from frame to frame is kept of each stream.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/gst/batch_rig.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"
#include "tests/readers/openvino_ir/ir_file.h"

namespace het::gst_test {
namespace {

TEST(BatchStreams, EachStreamHasItsInterval) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams streams({kBatchBgr, kBatchNv12});
  ElementRig rig("heterodetect", batches_on_scripted("inference-interval=3 carry-results=true"));
  LeavingBatches leaving(rig, 2);
  ASSERT_TRUE(rig.start(streams.caps()));
  // The second stream has two frames for each one of the first.
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(rig.push(streams.batch(i, {{streams.frame(0, i, 10 + i)},
                                         {streams.frame(1, 2 * i, 100 + 2 * i),
                                          streams.frame(1, 2 * i + 1, 101 + 2 * i)}})),
              GST_FLOW_OK);
  }
  finish_batches(rig);
  EXPECT_EQ(device.executions(), 2 + 3);
  Texts of_streams[2];
  for (const std::vector<Texts>& batch : leaving.batches)
    for (size_t i = 0; i < 2; ++i)
      of_streams[i].insert(of_streams[i].end(), batch[i].begin(), batch[i].end());
  ASSERT_EQ(of_streams[0].size(), 4u);
  ASSERT_EQ(of_streams[1].size(), 8u);
  const auto carried = [](const std::string& found, int number, int age) {
    return "frame " + std::to_string(number) + found.substr(found.find(' ', 6)) + " age " +
           std::to_string(age);
  };
  for (int i = 0; i < 4; ++i) {
    const int analysed = i / 3 * 3;
    const std::string found = found_alone(kBatchBgr, analysed, 10 + analysed);
    EXPECT_EQ(of_streams[0][static_cast<size_t>(i)],
              i == analysed ? found : carried(found, i, i - analysed));
  }
  for (int i = 0; i < 8; ++i) {
    const int analysed = i / 3 * 3;
    const std::string found = found_alone(kBatchNv12, analysed, 100 + analysed);
    EXPECT_EQ(of_streams[1][static_cast<size_t>(i)],
              i == analysed ? found : carried(found, i, i - analysed));
  }
}

TEST(BatchStreams, ASegmentBeginsAnewInItsStream) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  BatchStreams streams({kBatchBgr, kBatchBgr});
  ElementRig rig("heterodetect", batches_on_scripted("inference-interval=10 carry-results=true"));
  LeavingBatches leaving(rig, 2);
  ASSERT_TRUE(rig.start(streams.caps()));
  const auto push = [&](int number, GstEvent* between) {
    std::vector<std::vector<GstMiniObject*>> objects{{streams.frame(0, number, 10 + number)},
                                                     {streams.frame(1, number, 60 + number)}};
    if (between != nullptr) objects[0].insert(objects[0].begin(), GST_MINI_OBJECT_CAST(between));
    ASSERT_EQ(rig.push(streams.batch(number, objects)), GST_FLOW_OK);
  };
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 40 * GST_MSECOND;
  push(0, nullptr);
  push(1, nullptr);
  push(2, gst_event_new_segment(&segment));
  streams.set_sticky(0, gst_event_new_segment(&segment));  // says the same again
  push(3, nullptr);
  streams.set_sticky(1, gst_event_new_stream_start("another"));
  push(4, nullptr);
  finish_batches(rig);
  std::vector<std::vector<bool>> carried(2);
  for (const std::vector<Texts>& batch : leaving.batches)
    for (size_t i = 0; i < 2; ++i)
      carried[i].push_back(batch[i].back().find("age") != std::string::npos);
  EXPECT_EQ(carried[0], (std::vector<bool>{false, true, false, true, true}));
  EXPECT_EQ(carried[1], (std::vector<bool>{false, true, true, true, false}));
  EXPECT_EQ(device.executions(), 4);
}

GstMiniObject* with_tracked_car(GstMiniObject* frame) {
  auto* region =
      gst_buffer_add_video_region_of_interest_meta(GST_BUFFER_CAST(frame), "car", 4, 4, 16, 16);
  gst_video_region_of_interest_meta_add_param(
      region, gst_structure_new("object_id", "id", G_TYPE_INT, 1, nullptr));
  return frame;
}

/// What the only region of the first frame of a stream is said to be.
std::string first_label(GstBuffer* batch, size_t stream) {
  const std::vector<GstMiniObject*> objects = batch_objects(batch, stream);
  auto* region = gst_buffer_get_video_region_of_interest_meta(GST_BUFFER_CAST(objects.at(0)));
  const GstStructure* params =
      gst_video_region_of_interest_meta_get_param(region, "classification");
  const char* label = params != nullptr ? gst_structure_get_string(params, "label") : nullptr;
  return label != nullptr ? label : "";
}

TEST(BatchStreams, ObjectsOfOneIdAreOthersInEachStream) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  BatchStreams streams({kBatchBgr, kBatchBgr, kBatchBgr, kBatchBgr});
  ElementRig rig("heteroclassify", "model=" + classifier_model() +
                                       " model-proc=" + classifier_proc() + " device=SCRIPTED " +
                                       kRegionsOfInterest + " reclassify-interval=0");
  std::vector<Texts> labels;
  rig.on_buffer = [&](GstBuffer* batch) {
    labels.emplace_back();
    for (size_t i = 0; i < 4; ++i) labels.back().push_back(first_label(batch, i));
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(streams.caps()));
  const int values[] = {20, 90, 150, 201};
  for (int batch = 0; batch < 3; ++batch) {
    if (batch == 2) streams.set_sticky(1, gst_event_new_stream_start("another"));
    std::vector<std::vector<GstMiniObject*>> objects;
    for (size_t i = 0; i < 4; ++i)
      objects.push_back({with_tracked_car(streams.frame(i, batch, values[i]))});
    ASSERT_EQ(rig.push(streams.batch(batch, objects)), GST_FLOW_OK);
  }
  finish_batches(rig);
  EXPECT_EQ(device.executions(), 5) << "each object once, and that of the new stream";
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_NE(labels[0], Texts(4, labels[0][0])) << "pictures that all look alike";
  for (const std::string& label : labels[0]) EXPECT_NE(label, "");
  EXPECT_EQ(labels[1], labels[0]);
  EXPECT_EQ(labels[2], labels[0]);
}

/// A model that adds up the means of the pictures that it has seen.
std::string write_summing_model(const ScratchFolder& folder) {
  test::IrFile file;
  const test::IrPort picture = file.parameter("picture", "f32", {1, 3, 24, 32});
  const test::IrPort mean =
      file.layer("ReduceMean", "opset1", "keep_dims=\"true\"", {picture, file.integers({1, 2, 3})},
                 {{"FP32", {1, 1, 1, 1}}}, "mean");
  const test::IrPort read = file.layer(
      "ReadValue", "opset6", "variable_id=\"sum\" variable_type=\"f32\" variable_shape=\"1,1,1,1\"",
      {file.floats({1, 1, 1, 1}, {0})}, {{"FP32", {1, 1, 1, 1}}}, "read");
  const test::IrPort sum =
      file.layer("Add", "opset1", "", {mean, read}, {{"FP32", {1, 1, 1, 1}}}, "total");
  file.layer("Assign", "opset6", "variable_id=\"sum\"", {sum}, {}, "save");
  file.result(sum);
  write_text(folder.file("sum.xml"), file.xml());
  write_text(folder.file("sum.bin"), file.weights());
  return folder.file("sum.xml");
}

/// The first value of the only tensor of a frame.
float tensor_value(GstMiniObject* frame) {
  auto* region = gst_buffer_get_video_region_of_interest_meta(GST_BUFFER_CAST(frame));
  for (GList* link = region != nullptr ? region->params : nullptr; link; link = link->next) {
    const GValue* data =
        gst_structure_get_value(static_cast<const GstStructure*>(link->data), "data_buffer");
    if (data == nullptr) continue;
    gsize size = 0;
    const gconstpointer bytes =
        g_variant_get_fixed_array(g_value_get_variant(data), &size, sizeof(guint8));
    float value = 0;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  return -1.0f;
}

TEST(BatchStreams, EachStreamHasItsStateOfTheModel) {
  HET_NEEDS_BATCHES();
  const ScratchFolder folder;
  const BatchStreams streams({kBatchBgr, kBatchBgr});
  ElementRig rig("heteroinference",
                 "metadata-form=roi nireq=4 model=" + write_summing_model(folder));
  std::vector<float> sums[2];
  rig.on_buffer = [&](GstBuffer* batch) {
    for (size_t i = 0; i < 2; ++i)
      for (GstMiniObject* object : batch_objects(batch, i))
        if (GST_IS_BUFFER(object)) sums[i].push_back(tensor_value(object));
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(streams.caps())) << rig.errors().front();
  for (int i = 0; i < 3; ++i) {
    GstMiniObject* first = streams.frame(0, i, 10);
    if (i == 2) GST_BUFFER_FLAG_SET(GST_BUFFER_CAST(first), GST_BUFFER_FLAG_DISCONT);
    ASSERT_EQ(
        rig.push(streams.batch(i, {{first, streams.frame(0, i, 10)}, {streams.frame(1, i, 100)}})),
        GST_FLOW_OK);
  }
  ASSERT_EQ(rig.push(streams.batch(3, {{streams.frame(0, 3, 10)},
                                       {GST_MINI_OBJECT_CAST(gst_event_new_flush_stop(TRUE)),
                                        streams.frame(1, 3, 100)}})),
            GST_FLOW_OK);
  finish_batches(rig);
  EXPECT_EQ(sums[0], (std::vector<float>{10, 20, 30, 40, 10, 20, 30}));
  EXPECT_EQ(sums[1], (std::vector<float>{100, 200, 300, 100}));
}

TEST(BatchStreams, CapsMayChangeInAStreamAndToFramesOfOneStream) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  BatchStreams streams({kBatchBgr, kBatchNv12});
  const BatchStreams changed({kBatchI420, kBatchNv12});
  ElementRig rig("heterodetect", batches_on_scripted());
  std::vector<Texts> texts;
  rig.on_buffer = [&](GstBuffer* buffer) {
    texts.push_back(gst_buffer_n_memory(buffer) == 0 ? batch_texts(buffer, 0)
                                                     : Texts{frame_text(buffer)});
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(streams.caps()));
  GstCaps* caps = gst_caps_from_string(kBatchI420);
  ASSERT_EQ(rig.push(streams.batch(
                0, {{streams.frame(0, 0, 20), GST_MINI_OBJECT_CAST(gst_event_new_caps(caps)),
                     changed.frame(0, 1, 21)},
                    {}})),
            GST_FLOW_OK);
  gst_caps_unref(caps);
  ASSERT_TRUE(rig.set_caps(changed.caps()));
  ASSERT_EQ(rig.push(changed.batch(2, {{changed.frame(0, 2, 22)}, {}})), GST_FLOW_OK);
  ASSERT_TRUE(rig.set_caps(kBatchBgr));
  ASSERT_EQ(rig.push(rig.frame(3, 23)), GST_FLOW_OK);
  ASSERT_TRUE(rig.set_caps(streams.caps()));
  ASSERT_EQ(rig.push(streams.batch(4, {{streams.frame(0, 4, 24)}, {}})), GST_FLOW_OK);
  finish_batches(rig);
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[0],
            (Texts{found_alone(kBatchBgr, 0, 20), "caps", found_alone(kBatchI420, 1, 21)}));
  EXPECT_EQ(texts[1], (Texts{found_alone(kBatchI420, 2, 22)}));
  EXPECT_EQ(texts[2], (Texts{found_alone(kBatchBgr, 3, 23)}));
  EXPECT_EQ(texts[3], (Texts{found_alone(kBatchBgr, 4, 24)}));
}

TEST(BatchStreams, AStreamMayComeLater) {
  HET_NEEDS_BATCHES();
  ScriptedDevice device;
  const BatchStreams early({kBatchBgr, "application/unknown"});
  BatchStreams later({kBatchBgr, kBatchNv12});
  {
    ElementRig rig("heterodetect", batches_on_scripted());
    LeavingBatches leaving(rig, 2);
    ASSERT_TRUE(rig.start(early.caps())) << rig.errors().front();
    // Its events are those of the later one.
    ASSERT_EQ(rig.push(later.batch(0, {{later.frame(0, 0, 20)}, {}})), GST_FLOW_OK);
    ASSERT_TRUE(rig.set_caps(later.caps()));
    ASSERT_EQ(rig.push(later.batch(1, {{}, {later.frame(1, 1, 30)}})), GST_FLOW_OK);
    finish_batches(rig);
    ASSERT_EQ(leaving.batches.size(), 2u);
    EXPECT_EQ(leaving.batches[1][1], (Texts{found_alone(kBatchNv12, 1, 30)}));
  }
}

}  // namespace
}  // namespace het::gst_test
