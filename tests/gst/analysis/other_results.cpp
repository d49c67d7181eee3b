/// Results other than boxes, from a model's outputs to JSON and pixels.

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

/// A model whose outputs are its picture, 1x3x24x32 BGR, and the mean of each channel.
std::string write_other_model(const ScratchFolder& folder) {
  test::Graph graph;
  graph.input("picture", std::vector<int64_t>{1, 3, 24, 32})
      .node("Identity", {"picture"}, {"same"})
      .node("GlobalAveragePool", {"picture"}, {"mean"})
      .output("same")
      .output("mean");
  write_text(folder.file("channels.onnx"), test::model_file(graph.bytes()));
  return folder.file("channels.onnx");
}

/// The strongest channel as class, the place of each channel's maximum, the means as text and as an
/// embedding, and the picture itself.
std::string write_descriptor(const ScratchFolder& folder) {
  write_text(folder.file("channels.json"), R"({
    "json_schema_version": "2.2.0",
    "input_preproc": [],
    "output_postproc": [
      {"converter": "semantic_segmentation", "layer_name": "same", "attribute_name": "colour",
       "labels": ["blue", "green", "red"]},
      {"converter": "keypoints_hrnet", "layer_name": "same", "format": "channels",
       "point_names": ["b", "g", "r"], "point_connections": ["g", "r"]},
      {"converter": "text", "layer_name": "mean", "text_precision": 0},
      {"layer_name": "mean", "format": "cosine_distance"},
      {"converter": "picture", "layer_name": "same", "range": [0, 255], "layout": "NCHW"}
    ]})");
  return folder.file("channels.json");
}

/// Plays one red frame through heteroclassify; the one message that comes out.
json run_other_frame(const ScratchFolder& folder, const std::string& metaconvert) {
  PipelineRun run(
      "videotestsrc num-buffers=1 pattern=red ! "
      "video/x-raw,format=BGR,width=64,height=48 ! heteroclassify "
      "inference-region=full-frame model=" +
      write_other_model(folder) + " model-proc=" + write_descriptor(folder) +
      " ! heterowatermark ! heterometaconvert " + metaconvert +
      " ! heterometapublish file-path=" + folder.file("out.json") + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  return json::parse(read_text(folder.file("out.json"))).at(0);
}

TEST(OtherResults, ReachTheJson) {
  const ScratchFolder folder;
  const json message = run_other_frame(folder, "");
  ASSERT_EQ(message["objects"].size(), 1u);
  const json& object = message["objects"][0];
  EXPECT_FALSE(message.contains("tensors"));
  EXPECT_EQ(object["w"], 64);
  EXPECT_EQ(object["mean"]["label"], "0, 0, 255");
  EXPECT_FALSE(object["mean"].contains("label_id"));
  const json& colour = object["segmentations"][0];
  EXPECT_EQ(colour["width"], 32);
  EXPECT_EQ(colour["classes"].dump(), R"([{"label":"red","label_id":2,"pixels":768}])");
  const json& points = object["keypoints"][0]["points"];
  EXPECT_EQ(object["keypoints"][0]["format"], "channels");
  EXPECT_EQ(points[0]["confidence"], 0.0);
  EXPECT_EQ(points[2]["name"], "r");
  EXPECT_EQ(points[2]["confidence"], 1.0);
  EXPECT_EQ(points[2]["x"], 0.0);
  EXPECT_EQ(object["pictures"][0]["format"], "BGR");
}

TEST(OtherResults, TensorsComeWithTheirValues) {
  const ScratchFolder folder;
  const json message = run_other_frame(folder, "add-tensor-data=true");
  ASSERT_EQ(message["tensors"].size(), 3u);
  EXPECT_EQ(message["tensors"][0]["format"], "cosine_distance");
  EXPECT_EQ(message["tensors"][0]["data"].dump(), "[0.0,0.0,255.0]");
  EXPECT_EQ(message["tensors"][1]["dims"].dump(), "[3,2]");
  EXPECT_EQ(message["tensors"][2]["data"].size(), 768u);
}

TEST(OtherResults, ADecoderOfOnesOwn) {
  const ScratchFolder folder;
  const std::string head =
      "videotestsrc num-buffers=1 pattern=red ! video/x-raw,format=BGR,width=64,height=48 ! "
      "heteroclassify name=custom inference-region=full-frame model=" +
      write_other_model(folder);
  const std::string tail =
      " ! heterometaconvert ! heterometapublish file-path=" + folder.file("out.json") +
      " ! fakesink";
  PipelineRun run(head + " custom-postproc-lib=" + std::getenv("HET_EXAMPLE_DECODER") + tail);
  EXPECT_EQ(run.play().problem(), "");
  const json message = json::parse(read_text(folder.file("out.json"))).at(0);
  // The first output is the picture; the best value is the first one of the red plane.
  EXPECT_EQ(message["objects"][0]["top_class"]["label_id"], 2 * 24 * 32);
  EXPECT_EQ(message["objects"][0]["top_class"]["confidence"], 255.0);

  PipelineRun missing(head + " custom-postproc-lib=/nowhere/x.so" + tail);
  EXPECT_NE(missing.play().problem().find("'/nowhere/x.so' does not exist"), std::string::npos);
  PipelineRun unused(
      head + " custom-postproc-lib=/nowhere/x.so model-proc=" + write_descriptor(folder) + tail);
  EXPECT_NE(unused.play().problem().find("has nothing to read"), std::string::npos);
}

TEST(OtherResults, PreprocessingOfOnesOwn) {
  const ScratchFolder folder;
  const auto run_with = [&](const std::string& more) {
    PipelineRun run(
        "videotestsrc num-buffers=1 pattern=solid-color foreground-color=0xff804040 ! "
        "video/x-raw,format=BGR,width=64,height=48 ! heteroclassify name=custom "
        "inference-region=full-frame custom-postproc-lib=" +
        std::string(std::getenv("HET_EXAMPLE_DECODER")) + " model=" + write_other_model(folder) +
        more + " ! heterometaconvert ! heterometapublish file-path=" + folder.file("own.json") +
        " ! fakesink");
    return run.play().problem();
  };
  const auto red = [&] {
    const json message = json::parse(read_text(folder.file("own.json"))).at(0);
    EXPECT_EQ(message["objects"][0]["top_class"]["label_id"], 2 * 24 * 32);
    return message["objects"][0]["top_class"]["confidence"].get<double>();
  };
  const std::string library = " custom-preproc-lib=";
  const std::string example = std::getenv("HET_EXAMPLE_PREPROCESSOR");
  EXPECT_EQ(run_with(""), "");
  EXPECT_EQ(red(), 128.0);
  for (const char* device :
       {"", " device=HETERO:CPU,REF", " device=BATCH:CPU(2) batch-timeout=10"}) {
    EXPECT_EQ(run_with(library + example + device), "");
    EXPECT_EQ(red(), 255.0) << device;
  }
  EXPECT_NE(run_with(library + "/nowhere/x.so").find("'/nowhere/x.so' does not exist"),
            std::string::npos);
  EXPECT_NE(run_with(library + example + " pre-process-backend=va")
                .find("pre-process-backend=va and custom-preproc-lib both say"),
            std::string::npos);
}

TEST(OtherResults, RawTensorsCanBeSkipped) {
  const ScratchFolder folder;
  for (const auto& [properties, embeddings] :
       {std::pair{"", 1}, std::pair{"skip-raw-tensors=true", 0}}) {
    PipelineRun run(
        "videotestsrc num-buffers=1 pattern=red ! video/x-raw,format=BGR,width=64,height=48 ! "
        "heteroclassify inference-region=full-frame model=" +
        write_other_model(folder) + " model-proc=" + write_descriptor(folder) + " " + properties +
        " ! heterometaconvert add-tensor-data=true ! heterometapublish file-path=" +
        folder.file("skip.json") + " ! fakesink");
    EXPECT_EQ(run.play().problem(), "");
    const json message = json::parse(read_text(folder.file("skip.json"))).at(0);
    int found = 0;
    for (const json& tensor : message["tensors"])
      found += tensor.value("format", "") == "cosine_distance" ? 1 : 0;
    EXPECT_EQ(found, embeddings) << properties;
    EXPECT_EQ(message["objects"][0]["mean"]["label"], "0, 0, 255") << "what was read stays";
  }
}

}  // namespace
}  // namespace het::gst_test
