#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "inference/base/log.h"
#include "inference/decoders/descriptors/model_metadata.h"

namespace het {
namespace {

namespace fs = std::filesystem;

class Modelinfo : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel, std::string_view text) { warnings_.emplace_back(text); },
                 LogLevel::Warning);
  }
  void TearDown() override { set_log_sink({}, LogLevel::Warning); }

  static void add_input(Model& model, const Shape& shape, ElementType type = ElementType::Float32) {
    model.add_input("images", {type, shape});
  }
  static void add_output(Model& model, const std::string& name, const Shape& shape) {
    Value* const source = model.inputs().front().value;
    Value* const made = model.add_node(name, "Unknown", "", {source}, {name})->output();
    model.set_desc(made, {ElementType::Float32, shape});
    model.add_output(name, made);
  }
  /// One picture and outputs "output0" and "output1" of YOLO with masks.
  static Model yolo(const Shape& picture = {1, 3, 64, 64}) {
    Model model("yolo");
    add_input(model, picture);
    add_output(model, "output0", {1, 116, 84});
    add_output(model, "output1", {1, 32, 16, 16});
    return model;
  }
  static std::string file(const std::string& sections, const std::string& group = "") {
    return "[modelinfo]\nversion=1.0\n" + (group.empty() ? "" : "group-id=" + group + "\n") +
           sections;
  }
  static ModelMetadata read(const std::string& text, const Model& model = yolo()) {
    auto metadata = read_modelinfo(text, "m.modelinfo", model);
    EXPECT_TRUE(metadata) << metadata.error().message();
    return metadata ? *metadata : ModelMetadata{};
  }
  /// What a pixel becomes in a channel.
  static float value(const ModelMetadata& metadata, size_t channel, float pixel) {
    const PreprocessDesc& desc = metadata.input->preprocess;
    return (pixel - desc.mean[channel]) / desc.std[channel];
  }
  void expect_warning(const std::string& part) {
    const bool told = std::ranges::any_of(
        warnings_, [&](const std::string& text) { return text.find(part) != std::string::npos; });
    EXPECT_TRUE(told) << "no warning has '" << part
                      << "'; the last: " << (warnings_.empty() ? "none" : warnings_.back());
    warnings_.clear();
  }

  std::vector<std::string> warnings_;
};

TEST_F(Modelinfo, RangesOfEachChannelOrOfAll) {
  const ModelMetadata each =
      read(file("[images]\ntype=float32\ndims=1,3,64,64\ndir=input\nranges=-1.0,1.0;0.0,1.0; "
                "0.0,255.0\n"));
  EXPECT_EQ(each.source, "m.modelinfo");
  ASSERT_TRUE(each.input.has_value());
  EXPECT_EQ(each.input->layer_name, "images");
  EXPECT_EQ(each.input->preprocess.color_order, ColorOrder::RGB);
  EXPECT_TRUE(each.is_resize_open);
  EXPECT_NEAR(value(each, 0, 0), -1.0f, 1e-6f);
  EXPECT_NEAR(value(each, 0, 255), 1.0f, 1e-6f);
  EXPECT_NEAR(value(each, 1, 255), 1.0f, 1e-6f);
  EXPECT_NEAR(value(each, 2, 255), 255.0f, 1e-4f);
  const ModelMetadata all = read(file("[images]\ndir=input\nranges=16,235\n"));
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(value(all, c, 0), 16.0f, 1e-4f);
    EXPECT_NEAR(value(all, c, 255), 235.0f, 1e-4f);
  }
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_F(Modelinfo, GreyPicturesAndBytes) {
  for (const Shape& shape : {Shape{1, 1, 28, 28}, Shape{1, 28, 28, 1}}) {
    const ModelMetadata grey =
        read(file("[images]\ndir=input\nranges=0,1\nreverse_input_channels=NO\n"), yolo(shape));
    ASSERT_TRUE(grey.input.has_value());
    EXPECT_FALSE(grey.input->color_given) << "so that it is read as grey";
    EXPECT_NEAR(value(grey, 0, 255), 1.0f, 1e-6f);
  }
  EXPECT_FALSE(read(file("[images]\ndir=input\nranges=0,1;0,1;0,1\n"), yolo({1, 1, 28, 28}))
                   .input.has_value());
  expect_warning("ranges of 'images'");
  Model bytes("bytes");
  add_input(bytes, {kUnknownDim, 64, 64, 3}, ElementType::UInt8);
  add_output(bytes, "scores", {1, 10});
  const ModelMetadata read_bytes =
      read(file("[images]\ntype=uint8\ndims=-1,64,64,3\ndir=input\nranges=0.0,255.0\n"), bytes);
  ASSERT_TRUE(read_bytes.input.has_value());
  EXPECT_EQ(read_bytes.input->preprocess.std[0], 1.0f);
  EXPECT_EQ(read_bytes.input->preprocess.mean[0], 0.0f);
}

TEST_F(Modelinfo, RangesWithoutSenseAreLeftOut) {
  for (const char* ranges : {"1,0", "a,b", "0,1;0,1", "0,nan", "0", "0,1;", ";0,1", "0,1,2",
                             "0,1;0,1;0,1;0,1", "0,0", "0 1 2 3 4 5"}) {
    EXPECT_FALSE(read(file(std::string("[images]\ndir=input\nranges=") + ranges)).input) << ranges;
    expect_warning("ranges of 'images' float32[1,3,64,64] are '" + std::string(ranges) + "'");
  }
  Model vector("vector");
  add_input(vector, {1, 10});
  add_output(vector, "scores", {1, 10});
  EXPECT_FALSE(read(file("[images]\ndir=input\nranges=0,1\n"), vector).input);
  expect_warning("float32[1,10]");
}

TEST_F(Modelinfo, KeysOfOursSayWhatGStreamerCannot) {
  const ModelMetadata metadata =
      read(file("[images]\ndir=input\nranges=0,255\nresize_type=fit_to_window_letterbox\n"
                "pad_value=114\nreverse_input_channels=NO\n"));
  ASSERT_TRUE(metadata.input.has_value());
  EXPECT_FALSE(metadata.is_resize_open);
  EXPECT_EQ(metadata.input->preprocess.resize, ResizeMode::LetterboxCentre);
  EXPECT_EQ(metadata.input->preprocess.pad_value[1], 114.0f);
  EXPECT_EQ(metadata.input->preprocess.color_order, ColorOrder::BGR);
  EXPECT_TRUE(read(file("[images]\ndir=input\nranges=0,255\nresize_type=odd\n")).is_resize_open);
  expect_warning("resize_type");
}

TEST_F(Modelinfo, IdsNameTheReader) {
  const auto reader = [&](const std::string& first, const std::string& second = "") {
    return read(file("[output0]\ndir=output\nid=" + first + "\n" +
                     (second.empty() ? "" : "[output1]\ndir=output\nid=" + second + "\n")))
        .output;
  };
  EXPECT_EQ(
      reader("yolo-v8-segmentation-out-detections", "yolo-v8-segmentation-out-protos").converter,
      "yolo_v8_seg");
  EXPECT_EQ(reader("yolo-v8-out").converter, "yolo_v8");
  EXPECT_EQ(reader("yolo-v8-out").layer_names, std::vector<std::string>{"output0"});
  EXPECT_EQ(reader("yolo-v8-obb-out").converter, "yolo_v8_obb");
  EXPECT_EQ(reader("yolo-v8-pose-out").converter, "yolo_v8_pose");
  EXPECT_EQ(reader("yolo-26-end2end-out").converter, "yolo_v26");
  EXPECT_EQ(reader("classification-generic-out").method, "softmax");
  EXPECT_EQ(reader("classification-generic-softmaxed-out").method, "max");
  EXPECT_EQ(reader("classification-generic-softmaxed-out", "x-softmaxed-out").converter, "label");
  // The text of another id or remark decides nothing.
  EXPECT_EQ(reader("classification-generic-out", "x-softmaxed-out").method, "softmax");
  EXPECT_EQ(reader("classification-generic-out", "classification-generic-softmaxed-out").converter,
            "");
  EXPECT_EQ(reader("mine", "theirs").converter, "");
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
  EXPECT_EQ(reader("yolo-v8-out-normalized").converter, "");
  expect_warning("boxes of YOLO in 0..1");
}

TEST_F(Modelinfo, TheGroupNamesTheReaderWhereIdsDoNot) {
  const std::string sections = "[output0]\ndir=output\nid=mine\n";
  EXPECT_EQ(read(file(sections, "yolo-v8-segmentation-out")).output.converter, "yolo_v8_seg");
  EXPECT_TRUE(read(file(sections, "yolo-v8-segmentation-out")).output.layer_names.empty());
  EXPECT_EQ(read(file(sections, "ssd-mobilenet-v1-variant-1-out")).output.converter,
            "tf_detection");
  EXPECT_EQ(read(file(sections, "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out"))
                .output.background_class,
            0);
  EXPECT_EQ(read(file(sections, "classification-generic-out")).output.method, "softmax");
  EXPECT_EQ(read(file(sections, "mine-out")).output.converter, "");
  EXPECT_EQ(read(file("[output0]\ndir=output\nid=yolo-v8-out\n", "classification-generic-out"))
                .output.converter,
            "yolo_v8");
}

TEST_F(Modelinfo, IdsAndTheirOrderOfDims) {
  const ModelMetadata metadata =
      read(file("[output0]\ndir=output\nid=a\ndims-order=col-major\n[output1]\nid=b\\sc\n", "g"));
  EXPECT_EQ(metadata.group_id, "g");
  ASSERT_EQ(metadata.tensor_ids.size(), 2u);
  EXPECT_EQ(metadata.tensor_ids.at("output0").id, "a");
  EXPECT_TRUE(metadata.tensor_ids.at("output0").column_major);
  EXPECT_EQ(metadata.tensor_ids.at("output1").id, "b c") << "a section without dir";
  EXPECT_FALSE(metadata.tensor_ids.at("output1").column_major);
}

TEST_F(Modelinfo, SectionsOfOtherNamesAreMatchedByTypeAndDims) {
  const ModelMetadata metadata =
      read(file("[in:0]\ntype=float32\ndims=-1,3,64,64\ndir=input\nranges=0,1\n"
                "[protos]\nid=p\ntype=float32\ndims=1,32,16,16\ndir=output\n"
                "[rows]\nid=r\ntype=float32\ndims=1,116,-1\ndir=output\n"));
  ASSERT_TRUE(metadata.input.has_value());
  EXPECT_EQ(metadata.input->layer_name, "images");
  EXPECT_EQ(metadata.tensor_ids.at("output0").id, "r");
  EXPECT_EQ(metadata.tensor_ids.at("output1").id, "p");
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
  // Equal outputs get one each, in their order.
  Model twins("twins");
  add_input(twins, {1, 3, 64, 64});
  add_output(twins, "x", {1, 10});
  add_output(twins, "y", {1, 10});
  const ModelMetadata both = read(file("[a]\nid=first\ntype=float32\ndims=1,10\ndir=output\n"
                                       "[b]\nid=second\ntype=float32\ndims=1,10\ndir=output\n"),
                                  twins);
  EXPECT_EQ(both.tensor_ids.at("x").id, "first");
  EXPECT_EQ(both.tensor_ids.at("y").id, "second");
  // Another type, other dims, none.
  for (const char* other : {"type=float16\ndims=1,116,84", "type=float32\ndims=1,117,84",
                            "type=float32\ndims=1,116", "type=float32", "dims=1,116,84"}) {
    const ModelMetadata none = read(file(std::string("[rows]\nid=r\ndir=output\n") + other + "\n"));
    EXPECT_TRUE(none.tensor_ids.empty()) << other;
    expect_warning("no output 'rows'");
  }
}

TEST_F(Modelinfo, ASectionOfAnotherModelIsLeftOut) {
  for (const char* dims : {"1,85,84", "1,116", "1,116,84,1", "1,x,84", "1,,84"}) {
    EXPECT_TRUE(read(file(std::string("[output0]\nid=a\ndir=output\ndims=") + dims + "\n"))
                    .tensor_ids.empty())
        << dims;
    expect_warning("dims of 'output0' are '" + std::string(dims) + "'");
  }
  // A converted model has another type.
  EXPECT_EQ(read(file("[output0]\nid=a\ndir=output\ntype=float16\ndims=1,116,84\n"))
                .tensor_ids.at("output0")
                .id,
            "a");
  EXPECT_TRUE(read(file("[output0]\nid=a\ndir=input\n")).tensor_ids.empty());
  expect_warning("no input 'output0'");
}

TEST_F(Modelinfo, WhatNobodyFilledInIsLeftOut) {
  const ModelMetadata metadata =
      read(file("[images]\ndir=input\nranges=PLACEHOLDER_RANGES\n"
                "[output0]\ndir=output\nid=PLACEHOLDER: fill\n",
                "PLACEHOLDER_GROUP"));
  EXPECT_EQ(metadata.group_id, "");
  EXPECT_TRUE(metadata.tensor_ids.empty());
  EXPECT_FALSE(metadata.input.has_value());
  ASSERT_EQ(warnings_.size(), 3u);
  expect_warning("group-id of 'modelinfo' is 'PLACEHOLDER_GROUP'");
}

TEST_F(Modelinfo, VersionsAreOnePointSomething) {
  const auto refused = [&](const std::string& text) {
    const auto metadata = read_modelinfo(text, "m", yolo());
    return metadata ? "" : metadata.error().message();
  };
  for (const char* version : {"2.0", "0.9", "1", "1.", ".0", "1.0.0", "x", "1.x", ""}) {
    const std::string told = refused("[modelinfo]\nversion=" + std::string(version) + "\n");
    EXPECT_NE(told.find("version"), std::string::npos) << version;
  }
  EXPECT_NE(refused("[modelinfo]\nversion=2.0\n").find("versions 1.x are read"), std::string::npos);
  EXPECT_NE(refused("[modelinfo]\n").find("version ''"), std::string::npos);
  EXPECT_NE(refused("[output0]\nid=a\n").find("no section [modelinfo]"), std::string::npos);
  EXPECT_NE(refused("[modelinfo]\nversion=1.0\nodd\n").find("line 3"), std::string::npos);
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(refused("[modelinfo]\nversion=1.7\n"), "");
  expect_warning("what came after 1.0 is not read");
}

/// Files beside a model that does not exist: only its folder counts.
class ModelinfoFiles : public Modelinfo {
 protected:
  void SetUp() override {
    Modelinfo::SetUp();
    std::string name = fs::temp_directory_path() / "modelinfo_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    fs::remove_all(folder_);
    Modelinfo::TearDown();
  }
  void write(const std::string& name, const std::string& group) const {
    std::ofstream(folder_ / name) << file("", group);
  }
  std::string group(const std::string& model_file, const Model& model = yolo()) const {
    return read_model_metadata(model, folder_ / model_file).group_id;
  }

  fs::path folder_;
};

TEST_F(ModelinfoFiles, TheLongerNameWins) {
  EXPECT_EQ(group("m.onnx"), "");
  write("m.modelinfo", "short");
  EXPECT_EQ(group("m.onnx"), "short");
  EXPECT_EQ(group("m.xml"), "short");
  write("m.onnx.modelinfo", "long");
  EXPECT_EQ(group("m.onnx"), "long");
  EXPECT_EQ(group("m.xml"), "short");
  EXPECT_TRUE(warnings_.empty());
  // What cannot be read makes room for the other one, what another version wrote does not.
  std::ofstream(folder_ / "m.onnx.modelinfo") << "odd\n";
  EXPECT_EQ(group("m.onnx"), "short");
  expect_warning("line 1 is 'odd'");
  std::ofstream(folder_ / "m.onnx.modelinfo") << "[modelinfo]\nversion=2.0\n";
  EXPECT_EQ(group("m.onnx"), "");
  expect_warning("'m.onnx.modelinfo' beside model");
}

TEST_F(ModelinfoFiles, OtherSourcesSayTheRest) {
  std::ofstream(folder_ / "m.onnx.modelinfo")
      << file("[images]\ndir=input\nranges=0,255\n[output0]\ndir=output\nid=yolo-v8-out\n", "g");
  Model model = yolo();
  model.metadata()["names"] = "{0: 'a'}";
  model.metadata()["stride"] = "32";
  model.metadata()["task"] = "segment";
  const ModelMetadata exported = read_model_metadata(model, folder_ / "m.onnx");
  EXPECT_TRUE(exported.ultralytics);
  EXPECT_EQ(exported.group_id, "g");
  EXPECT_EQ(exported.tensor_ids.at("output0").id, "yolo-v8-out");
  EXPECT_EQ(exported.output.converter, "");
  EXPECT_EQ(exported.input->preprocess.range_high, 1.0f) << "its own, not the file's ranges";
  Model labelled = yolo();
  labelled.metadata()["model_info/labels"] = "a b";
  const ModelMetadata helped = read_model_metadata(labelled, folder_ / "m.onnx");
  EXPECT_EQ(helped.output.converter, "yolo_v8");
  EXPECT_EQ(helped.output.labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(helped.source.find("m.onnx.modelinfo"), std::string::npos);
}

}  // namespace
}  // namespace het
