#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr char kInferenceCaps[] = "video/x-raw,format=BGR,width=64,height=48,framerate=25/1";

/// A model whose outputs are its picture, 1x3x24x32 BGR, and the mean of each channel.
std::string write_model(const ScratchFolder& folder) {
  test::Graph graph;
  graph.input("picture", std::vector<int64_t>{1, 3, 24, 32})
      .node("Identity", {"picture"}, {"same"})
      .node("GlobalAveragePool", {"picture"}, {"mean"})
      .output("same")
      .output("mean");
  write_text(folder.file("channels.onnx"), test::model_file(graph.bytes()));
  return folder.file("channels.onnx");
}

json run_red_frame(const ScratchFolder& folder, const std::string& properties,
                   const std::string& warning = "") {
  PipelineRun run(
      "videotestsrc num-buffers=1 pattern=red ! video/x-raw,format=BGR,width=64,height=48 ! "
      "heteroinference model=" +
      write_model(folder) + " " + properties +
      " ! heterometaconvert add-tensor-data=true add-empty-results=true ! heterometapublish "
      "file-path=" +
      folder.file("out.json") + " ! fakesink");
  const Outcome outcome = run.play();
  EXPECT_EQ(outcome.problem(), "");
  EXPECT_EQ(outcome.warnings.size(), warning.empty() ? 0u : 1u);
  for (const PostedError& posted : outcome.warnings)
    EXPECT_NE(posted.text.find(warning), std::string::npos) << posted.text;
  return json::parse(read_text(folder.file("out.json"))).at(0);
}

/// The float tensors of a region's params.
std::vector<std::vector<float>> tensors_of(GstVideoRegionOfInterestMeta* region) {
  std::vector<std::vector<float>> tensors;
  for (GList* link = region->params; link; link = link->next) {
    const auto* params = static_cast<const GstStructure*>(link->data);
    const GValue* data = gst_structure_get_value(params, "data_buffer");
    if (!gst_structure_has_name(params, "tensor") || !data) continue;
    gsize size = 0;
    const gconstpointer bytes =
        g_variant_get_fixed_array(g_value_get_variant(data), &size, sizeof(guint8));
    std::vector<float>& values = tensors.emplace_back(size / sizeof(float));
    std::memcpy(values.data(), bytes, size);
  }
  return tensors;
}

TEST(HeteroInference, EveryOutputOfTheModelIsATensorOfTheFrame) {
  const ScratchFolder folder;
  const json message = run_red_frame(folder, "");
  EXPECT_FALSE(message.contains("objects")) << message;
  ASSERT_EQ(message["tensors"].size(), 2u);
  const json& same = message["tensors"][0];
  EXPECT_EQ(same["layer_name"], "same");
  EXPECT_EQ(same["dims"], (json{1, 3, 24, 32}));
  EXPECT_EQ(same["data"].size(), 3u * 24u * 32u);
  const json& mean = message["tensors"][1];
  EXPECT_EQ(mean["layer_name"], "mean");
  EXPECT_EQ(mean["precision"], "FP32");
  EXPECT_EQ(mean["data"], (json{0, 0, 255}));
}

TEST(HeteroInference, ADescriptorNamesTheOutputsThatAreWanted) {
  const ScratchFolder folder;
  write_text(folder.file("mean.json"), R"({
    "json_schema_version": "2.2.0",
    "input_preproc": [],
    "output_postproc": [
      {"converter": "label", "layer_name": "mean", "attribute_name": "channels",
       "labels": ["b", "g", "r"]}
    ]})");
  const json message = run_red_frame(folder, "model-proc=" + folder.file("mean.json"),
                                     "converter 'label' of model-proc");
  ASSERT_EQ(message["tensors"].size(), 1u) << "the other output is not wanted";
  EXPECT_EQ(message["tensors"][0]["name"], "channels");
  EXPECT_EQ(message["tensors"][0]["data"], (json{0, 0, 255}));
  EXPECT_FALSE(message.contains("objects")) << "it was not read as a label";
}

TEST(HeteroInference, EveryRegionGetsTheTensorsOfItsPixels) {
  const ScratchFolder folder;
  ElementRig rig("heteroinference",
                 "inference-region=roi-list object-class=thing model=" + write_model(folder));
  ASSERT_TRUE(rig.start(kInferenceCaps));
  std::vector<std::vector<std::vector<float>>> found;
  rig.on_buffer = [&](GstBuffer* buffer) {
    gpointer state = nullptr;
    while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
               buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      found.push_back(tensors_of(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)));
    }
    return GST_FLOW_OK;
  };
  // The upper half is 40, the lower one 200.
  GstBuffer* buffer = rig.frame(0, 40);
  gst_buffer_memset(buffer, 64 * 3 * 24, 200, 64 * 3 * 24);
  gst_buffer_add_video_region_of_interest_meta(buffer, "thing", 8, 0, 16, 16);
  gst_buffer_add_video_region_of_interest_meta(buffer, "other", 8, 0, 16, 16);
  gst_buffer_add_video_region_of_interest_meta(buffer, "thing", 8, 32, 16, 16);
  ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  ASSERT_EQ(found.size(), 3u);
  ASSERT_EQ(found[0].size(), 2u);
  EXPECT_TRUE(found[1].empty());
  ASSERT_EQ(found[2].size(), 2u);
  EXPECT_EQ(found[0][1], (std::vector<float>{40, 40, 40}));
  EXPECT_EQ(found[2][1], (std::vector<float>{200, 200, 200}));
}

TEST(HeteroInference, AModelIsNotSharedWithAnElementThatReadsItsResults) {
  const ScratchFolder folder;
  PipelineRun run(
      "videotestsrc num-buffers=2 ! video/x-raw,width=64,height=48 ! heteroinference "
      "model-instance-id=one ! heteroclassify inference-region=full-frame model-instance-id=one "
      "model=" +
      classifier_model() + " ! fakesink");
  const Outcome outcome = run.play();
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_NE(outcome.errors[0].text.find("by an element of another kind"), std::string::npos)
      << outcome.errors[0].text;
}

}  // namespace
}  // namespace het::gst_test
