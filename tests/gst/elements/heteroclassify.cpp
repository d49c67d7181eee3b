#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "inference/writers/onnx_writer.h"
#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using std::chrono::milliseconds;

constexpr char kClassifyCaps[] = "video/x-raw,format=BGR,width=64,height=48,framerate=25/1";

std::string classify_on_scripted(const std::string& more = "") {
  return "model=" + classifier_model() + " model-proc=" + classifier_proc() + " device=SCRIPTED " +
         kRegionsOfInterest + more;
}

/// Types of the regions that carry an attribute, and of those that do not, in order.
struct RegionTypes {
  std::vector<std::string> with;
  std::vector<std::string> without;
};

RegionTypes regions_of(GstBuffer* buffer) {
  RegionTypes types;
  gpointer state = nullptr;
  GstMeta* meta = nullptr;
  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != nullptr) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const GstStructure* params =
        gst_video_region_of_interest_meta_get_param(region, "classification");
    (params ? types.with : types.without).push_back(g_quark_to_string(region->roi_type));
  }
  return types;
}

GstBuffer* frame_with_regions(const ElementRig& rig, const std::vector<std::string>& types) {
  GstBuffer* buffer = rig.frame(0, 90);
  guint x = 0;
  for (const std::string& type : types) {
    gst_buffer_add_video_region_of_interest_meta(buffer, type.c_str(), x, 4, 6, 8);
    x += 5;
  }
  return buffer;
}

TEST(HeteroClassify, EveryRegionGetsItsAttribute) {
  // More regions than requests: they are taken in turns.
  for (const char* nireq : {"nireq=1", "nireq=2", "nireq=16"}) {
    ScriptedDevice device;
    device.set_delay(milliseconds(1));
    ElementRig rig("heteroclassify", classify_on_scripted(nireq));
    ASSERT_TRUE(rig.start(kClassifyCaps));
    RegionTypes types;
    rig.on_buffer = [&](GstBuffer* buffer) {
      types = regions_of(buffer);
      return GST_FLOW_OK;
    };
    const std::vector<std::string> regions{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    ASSERT_EQ(rig.push(frame_with_regions(rig, regions)), GST_FLOW_OK);
    rig.event(gst_event_new_eos());
    ASSERT_TRUE(rig.wait_for("eos"));
    EXPECT_EQ(types.with, regions) << nireq;
    EXPECT_TRUE(types.without.empty());
    EXPECT_EQ(device.executions(), 10);
  }
}

TEST(HeteroClassify, ObjectClassChoosesTheRegions) {
  ScriptedDevice device;
  ElementRig rig("heteroclassify", classify_on_scripted("object-class=\"car, truck\""));
  ASSERT_TRUE(rig.start(kClassifyCaps));
  RegionTypes types;
  rig.on_buffer = [&](GstBuffer* buffer) {
    types = regions_of(buffer);
    return GST_FLOW_OK;
  };
  ASSERT_EQ(rig.push(frame_with_regions(rig, {"person", "car", "cart", "truck", ""})), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(types.with, (std::vector<std::string>{"car", "truck"}));
  EXPECT_EQ(types.without, (std::vector<std::string>{"person", "cart", ""}));
}

/// A reader of lines 8 pixels high and of any width: each column is as bright as its class.
std::string reader_of_any_width(const std::string& file) {
  Model model("reader");
  Value* picture = model.add_input("x", {ElementType::Float32, {1, 3, 8, kUnknownDim}});
  Value* axes = model.add_constant("axes", Tensor::from<int64_t>({1}, {2}));
  Attributes mean;
  mean.set("keepdims", int64_t{0});
  Value* columns = model.add_node("m", "ReduceMean", "", {picture, axes}, {"m"}, mean)->output();
  Attributes steps;
  steps.set("perm", std::vector<int64_t>{0, 2, 1});
  model.add_output("p", model.add_node("t", "Transpose", "", {columns}, {"p"}, steps)->output());
  EXPECT_TRUE(write_onnx(model, file).ok());
  return file;
}

TEST(HeteroClassify, RegionsOfAllWidthsGoThroughTheirModels) {
  const ScratchFolder folder;
  write_text(folder.file("reader.json"), R"({"json_schema_version": "2.2.0", "input_preproc": [
      {"format": "image", "params": {"resize": "aspect-ratio-pad", "widths": [8, 16, 64]}}],
      "output_postproc": [{"converter": "paddle_ocr_ctc", "labels": ["a", "b"],
      "blank_class": 2}]})");
  for (const char* nireq : {"nireq=1", "nireq=3"}) {
    ElementRig rig("heteroclassify", "model=" + reader_of_any_width(folder.file("reader.onnx")) +
                                         " model-proc=" + folder.file("reader.json") +
                                         kRegionsOfInterest + nireq);
    ASSERT_TRUE(rig.start(kClassifyCaps));
    size_t read = 0;
    rig.on_buffer = [&](GstBuffer* buffer) {
      read += regions_of(buffer).with.size();
      return GST_FLOW_OK;
    };
    for (int frame = 0; frame < 20; ++frame) {
      GstBuffer* buffer = rig.frame(frame, 90);
      for (const guint width : {6u, 8u, 15u, 40u, 64u})
        gst_buffer_add_video_region_of_interest_meta(buffer, "line", 0, 4, width, 8);
      ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
    }
    rig.event(gst_event_new_eos());
    ASSERT_TRUE(rig.wait_for("eos"));
    EXPECT_EQ(read, 100u) << nireq;
  }
}

TEST(HeteroClassify, FramesWithoutRegionsPass) {
  ScriptedDevice device;
  ElementRig rig("heteroclassify", classify_on_scripted());
  ASSERT_TRUE(rig.start(kClassifyCaps));
  for (int i = 0; i < 30; ++i) ASSERT_EQ(rig.push(rig.frame(i)), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(device.executions(), 0);
}

TEST(HeteroClassify, AFlushFreesAFrameWithManyRegions) {
  ScriptedDevice device;
  device.set_delay(milliseconds(300));
  ElementRig rig("heteroclassify", classify_on_scripted("nireq=1"));
  ASSERT_TRUE(rig.start(kClassifyCaps));
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread streaming(
      [&] { flow = rig.push(frame_with_regions(rig, std::vector<std::string>(100, "thing"))); });
  std::this_thread::sleep_for(milliseconds(50));
  rig.event(gst_event_new_flush_start());
  streaming.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  rig.event(gst_event_new_flush_stop(TRUE));
  EXPECT_LT(device.executions(), 5);
  for (const std::string& entry : rig.arrived())
    EXPECT_EQ(entry.rfind("buffer", 0), std::string::npos);
}

/// Pushes frames with one region; which of them carried a colour, and its model runs.
struct Carried {
  std::vector<bool> has_color;
  int executions = 0;
};

Carried classify_tracked(const std::string& properties, const std::vector<int>& ids) {
  Carried carried;
  ScriptedDevice device;
  ElementRig rig("heteroclassify", classify_on_scripted(properties));
  EXPECT_TRUE(rig.start(kClassifyCaps));
  rig.on_buffer = [&](GstBuffer* buffer) {
    carried.has_color.push_back(!regions_of(buffer).with.empty());
    return GST_FLOW_OK;
  };
  int number = 0;
  for (int id : ids) {
    GstBuffer* buffer = rig.frame(number, 90);
    auto* region = gst_buffer_add_video_region_of_interest_meta(
        buffer, "car", static_cast<guint>(number++), 4, 6, 8);
    if (id > 0)
      gst_video_region_of_interest_meta_add_param(
          region, gst_structure_new("object_id", "id", G_TYPE_INT, id, nullptr));
    EXPECT_EQ(rig.push(buffer), GST_FLOW_OK);
  }
  rig.event(gst_event_new_eos());
  EXPECT_TRUE(rig.wait_for("eos"));
  carried.executions = device.executions();
  return carried;
}

TEST(HeteroClassify, TrackedObjectsKeepTheirResultsBetweenReclassifications) {
  const std::vector<int> same(9, 7);
  for (const auto& [properties, executions] :
       {std::pair{"", 9}, std::pair{"reclassify-interval=3", 3},
        std::pair{"reclassify-interval=4", 3}, std::pair{"reclassify-interval=0", 1}}) {
    const Carried carried = classify_tracked(properties, same);
    EXPECT_EQ(carried.executions, executions) << properties;
    EXPECT_EQ(carried.has_color, std::vector<bool>(9, true)) << properties;
  }
  EXPECT_EQ(classify_tracked("reclassify-interval=0", {1, 2, 1, 3, 2}).executions, 3)
      << "each object on its own";
  EXPECT_EQ(classify_tracked("reclassify-interval=0", {0, 0, 0}).executions, 3)
      << "objects that nobody tracks are analysed each time";
}

TEST(HeteroClassify, AFlushForgetsWhoWasClassified) {
  ScriptedDevice device;
  ElementRig rig("heteroclassify", classify_on_scripted("reclassify-interval=0"));
  ASSERT_TRUE(rig.start(kClassifyCaps));
  const auto push = [&] {
    GstBuffer* buffer = rig.frame(0, 90);
    gst_video_region_of_interest_meta_add_param(
        gst_buffer_add_video_region_of_interest_meta(buffer, "car", 1, 4, 6, 8),
        gst_structure_new("object_id", "id", G_TYPE_INT, 1, nullptr));
    EXPECT_EQ(rig.push(buffer), GST_FLOW_OK);
  };
  push();
  rig.event(gst_event_new_flush_start());
  rig.event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
  const int before = device.executions();
  push();
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(device.executions(), before + 1);
}

TEST(HeteroClassify, TheWholePictureCanBeClassified) {
  ScriptedDevice device;
  ElementRig rig("heteroclassify", classify_on_scripted("inference-region=full-frame"));
  ASSERT_TRUE(rig.start(kClassifyCaps));
  std::vector<std::string> labels;
  rig.on_buffer = [&](GstBuffer* buffer) {
    auto* region = gst_buffer_get_video_region_of_interest_meta(buffer);
    EXPECT_NE(region, nullptr);
    if (!region) return GST_FLOW_OK;
    EXPECT_EQ(region->w, 64u);
    EXPECT_EQ(region->h, 48u);
    const GstStructure* params =
        gst_video_region_of_interest_meta_get_param(region, "classification");
    EXPECT_STREQ(gst_structure_get_string(params, "attribute_name"), "color");
    labels.emplace_back(gst_structure_get_string(params, "label"));
    return GST_FLOW_OK;
  };
  for (int i = 0; i < 3; ++i) ASSERT_EQ(rig.push(rig.frame(i, 40 * i)), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(labels.size(), 3u);
}

TEST(HeteroClassify, AfterDetectionInOnePipeline) {
  ScriptedDevice device;
  const ScratchFolder folder;
  PipelineRun run(
      "videotestsrc num-buffers=10 pattern=ball ! video/x-raw,width=320,height=192 ! "
      "heterodetect " +
      detector_properties() + " device=SCRIPTED ! heteroclassify " + classify_on_scripted() +
      " ! heterometaconvert ! heterometapublish file-path=" + folder.file("out.json") +
      " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  const std::string text = read_text(folder.file("out.json"));
  size_t colors = 0;
  for (size_t at = text.find("\"color\""); at != std::string::npos;
       at = text.find("\"color\"", at + 1))
    ++colors;
  EXPECT_EQ(colors, 10u) << text;
}

}  // namespace
}  // namespace het::gst_test
