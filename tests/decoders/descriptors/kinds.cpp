#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/model_inputs.h"
#include "inference/decoders/model_proc.h"
#include "inference/tensors/element_type.h"

namespace het {
namespace {

// Ordered: the inputs and outputs of a model stand in the order of the table.
using KindJson = nlohmann::ordered_json;

constexpr float kBoxTolerance = 0.02f;  // the table has six digits
constexpr float kScoreTolerance = 1e-5f;

std::filesystem::path kinds_folder() {
  const char* root = std::getenv("HET_SOURCE_ROOT");
  return std::filesystem::path(root == nullptr ? "." : root) / "tests/decoders/descriptors/kinds";
}

/// Every entry of the table's files; what each field means is said in the folder's README.
std::vector<KindJson> kinds() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(kinds_folder())) {
    if (file.path().extension() == ".json") files.push_back(file.path());
  }
  std::ranges::sort(files);
  std::vector<KindJson> entries;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file);
    for (KindJson& entry : KindJson::parse(stream)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string name_of_kind(const KindJson& kind) {
  return kind["stands_for"].empty() ? kind["descriptor"].dump() : kind["stands_for"].dump();
}

Shape kind_shape(const KindJson& values) {
  return values.get<Shape>();
}

template <class T>
void fill_output(Tensor& tensor, const KindJson& output) {
  const auto values = tensor.values<T>();
  std::ranges::fill(values, static_cast<T>(output.value("fill", 0.0)));
  const Shape seen = output.contains("seen_as") ? kind_shape(output["seen_as"]) : tensor.shape();
  for (const KindJson& part : output.value("set", KindJson::array())) {
    const auto axis = part.value("along", seen.size() - 1);
    size_t place = 0;
    size_t step = 1;
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto side = static_cast<size_t>(seen[i]);
      place = place * side + part["at"][i].get<size_t>();
      if (i > axis) step *= side;
    }
    for (const KindJson& value : part["values"].flatten()) {
      ASSERT_LT(place, values.size()) << part;
      values[place] = static_cast<T>(value.get<double>());
      place += step;
    }
  }
}

Tensor output_tensor(const KindJson& output) {
  const auto type = parse_element_type(output.value("type", "FP32"));
  EXPECT_TRUE(type) << output;
  Tensor tensor = Tensor::allocate({type.value_or(ElementType::Float32),  //
                                    kind_shape(output["shape"])})
                      .value();
  if (tensor.type() == ElementType::Int64) {
    fill_output<int64_t>(tensor, output);
  } else if (tensor.type() == ElementType::Int32) {
    fill_output<int32_t>(tensor, output);
  } else {
    fill_output<float>(tensor, output);
  }
  return tensor;
}

void expect_sides(const KindJson& wanted, const char* key, const std::array<float, 3>& found) {
  if (!wanted.contains(key)) return;
  for (size_t c = 0; c < 3; ++c) EXPECT_FLOAT_EQ(found[c], wanted[key][c].get<float>()) << key;
}

std::string_view name_of(ResizeMode mode) {
  constexpr std::string_view kNames[] = {"stretch", "letterbox", "letterbox-top-left", "crop"};
  return kNames[static_cast<size_t>(mode)];
}

std::string_view name_of(ColorOrder order) {
  constexpr std::string_view kNames[] = {"BGR", "RGB", "GRAY"};
  return kNames[static_cast<size_t>(order)];
}

void expect_prepared(const KindJson& wanted, const InputPreproc& found) {
  EXPECT_EQ(found.format, wanted["format"].get<std::string>());
  EXPECT_EQ(found.layer_name, wanted.value("layer", ""));
  const PreprocessDesc& desc = found.preprocess;
  if (wanted.contains("resize")) {
    EXPECT_EQ(name_of(desc.resize), wanted["resize"].get<std::string>());
  }
  if (wanted.contains("color")) {
    EXPECT_EQ(name_of(desc.color_order), wanted["color"].get<std::string>());
  }
  if (wanted.contains("range")) {
    EXPECT_EQ(desc.range_low, wanted["range"][0].get<float>());
    EXPECT_EQ(desc.range_high, wanted["range"][1].get<float>());
  }
  const KindJson border = wanted.value("border", KindJson::array({0, 0}));
  EXPECT_EQ(desc.border_x, border[0].get<int>());
  EXPECT_EQ(desc.border_y, border[1].get<int>());
  if (wanted.contains("bytes")) {
    EXPECT_EQ(found.is_bytes, wanted["bytes"].get<bool>());
  }
  if (wanted.contains("scale")) {
    EXPECT_EQ(found.scale, wanted["scale"].get<float>());
  }
  expect_sides(wanted, "mean", desc.mean);
  expect_sides(wanted, "std", desc.std);
}

void expect_detection(const KindJson& wanted, const Detection& found) {
  EXPECT_EQ(found.label, wanted["label"].get<std::string>());
  EXPECT_EQ(found.label_id, wanted["id"].get<int>());
  EXPECT_NEAR(found.confidence, wanted["confidence"].get<float>(), kScoreTolerance);
  const float corners[] = {found.x_min, found.y_min, found.x_max, found.y_max};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(corners[i], wanted["box"][i].get<float>(), kBoxTolerance) << i;
  EXPECT_EQ(found.mask.empty(), !wanted.contains("mask"));
  if (!wanted.contains("mask")) return;
  std::vector<float> mask = wanted["mask"].get<std::vector<float>>();
  EXPECT_EQ(found.mask.width, static_cast<int>(mask[0]));
  EXPECT_EQ(found.mask.height, static_cast<int>(mask[1]));
  mask.erase(mask.begin(), mask.begin() + 2);
  EXPECT_EQ(found.mask.values, mask);
}

void expect_attribute(const KindJson& wanted, const Classification& found) {
  EXPECT_EQ(found.attribute, wanted["attribute"].get<std::string>());
  EXPECT_EQ(found.label, wanted["label"].get<std::string>());
  EXPECT_EQ(found.label_id, wanted["id"].get<int>());
  EXPECT_NEAR(found.confidence, wanted["confidence"].get<float>(), kScoreTolerance);
}

void expect_keypoints(const KindJson& wanted, const Keypoints& found) {
  EXPECT_EQ(found.format, wanted["format"].get<std::string>());
  EXPECT_NEAR(found.confidence, wanted["confidence"].get<float>(), kScoreTolerance);
  const Landmarks& landmarks = found.landmarks;
  if (wanted.contains("names")) {
    EXPECT_EQ(KindJson(landmarks.names), wanted["names"]);
    EXPECT_EQ(KindJson(landmarks.connections), wanted["connections"]);
  }
  ASSERT_EQ(landmarks.points.size(), wanted["points"].size());
  for (size_t i = 0; i < landmarks.points.size(); ++i) {
    EXPECT_NEAR(landmarks.points[i].x, wanted["points"][i][0].get<float>(), kBoxTolerance) << i;
    EXPECT_NEAR(landmarks.points[i].y, wanted["points"][i][1].get<float>(), kBoxTolerance) << i;
  }
}

void expect_tensor(const KindJson& wanted, const TensorResult& found) {
  EXPECT_EQ(found.attribute, wanted["attribute"].get<std::string>());
  EXPECT_EQ(found.format, wanted["format"].get<std::string>());
  const auto values = found.values.values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            wanted["values"].get<std::vector<float>>());
}

/// Compares all results of one sort; those that the table does not mention must be absent.
template <class Found, class Expect>
void expect_each(const KindJson& kind, const char* key, const std::vector<Found>& found,
                 const Expect& expect) {
  const KindJson wanted = kind.value(key, KindJson::array());
  ASSERT_EQ(found.size(), wanted.size()) << key;
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(std::string(key) + " " + std::to_string(i));
    expect(wanted[i], found[i]);
  }
}

/// Results of every entry of output_postproc, as the elements read them.
Results decode_kind(const KindJson& kind, const ModelProc& model_proc) {
  Model model("kind");
  std::vector<Port> inputs;
  for (const auto& [name, shape] : kind["inputs"].items()) {
    model.add_input(name, {ElementType::Float32, kind_shape(shape)});
    inputs.push_back({name, {ElementType::Float32, kind_shape(shape)}, std::nullopt});
  }
  const auto bound = bind_inputs(model_proc, model);
  EXPECT_TRUE(bound) << bound.error().message();
  if (!bound) return {};
  const auto picture = picture_input(*bound, model);
  EXPECT_TRUE(picture) << picture.error().message();
  if (!picture) return {};
  Port& port = inputs[picture->index];
  port.preprocess = picture->preproc.preprocess;
  const PictureAxes axes = picture_axes(*port.preprocess, port.desc.shape.size());

  DecodeContext context;
  context.input_width = static_cast<int>(port.desc.shape[axes.width]);
  context.input_height = static_cast<int>(port.desc.shape[axes.height]);
  const KindJson source = kind.value("source", KindJson{context.input_width, context.input_height});
  context.source_width = source[0];
  context.source_height = source[1];
  context.roi = {0, 0, context.source_width, context.source_height};
  const auto geometry =
      picture_geometry(*port.preprocess, context.roi, context.input_width, context.input_height);
  EXPECT_TRUE(geometry) << geometry.error().message();
  if (!geometry) return {};
  context.transform = geometry->transform;

  std::vector<Port> outputs;
  std::vector<Tensor> tensors;
  for (const auto& [name, output] : kind["outputs"].items()) {
    tensors.push_back(output_tensor(output));
    outputs.push_back({name, tensors.back().desc(), std::nullopt});
  }
  Results results;
  for (const DecoderConfig& config : model_proc.outputs) {
    const auto decoder = create_decoder(config, inputs, outputs);
    EXPECT_TRUE(decoder) << decoder.error().message();
    if (!decoder) continue;
    auto part = (*decoder)->decode(tensors, context);
    EXPECT_TRUE(part) << part.error().message();
    if (part) append(results, std::move(*part));
  }
  return results;
}

Result<ModelProc> parse_kind(const KindJson& kind) {
  return parse_model_proc(kind["descriptor"].dump(), (kinds_folder() / "kind.json").string());
}

TEST(KindsOfDescriptors, FindWhatTheirTensorsHold) {
  size_t decoded = 0;
  for (const KindJson& kind : kinds()) {
    if (kind.contains("error")) continue;
    SCOPED_TRACE(name_of_kind(kind));
    const auto model_proc = parse_kind(kind);
    ASSERT_TRUE(model_proc) << model_proc.error().message();
    const Results results = decode_kind(kind, *model_proc);
    expect_each(kind, "objects", results.detections, expect_detection);
    expect_each(kind, "attributes", results.classifications, expect_attribute);
    expect_each(kind, "keypoints", results.keypoints, expect_keypoints);
    expect_each(kind, "tensors", results.tensors, expect_tensor);
    EXPECT_TRUE(results.segmentations.empty());
    EXPECT_TRUE(results.pictures.empty());
    ++decoded;
  }
  EXPECT_GE(decoded, 70u);
}

TEST(KindsOfDescriptors, PrepareTheirPictures) {
  size_t compared = 0;
  for (const KindJson& kind : kinds()) {
    if (kind.contains("error")) continue;
    SCOPED_TRACE(name_of_kind(kind));
    const auto model_proc = parse_kind(kind);
    ASSERT_TRUE(model_proc) << model_proc.error().message();
    expect_each(kind, "prepared", model_proc->inputs, expect_prepared);
    compared += model_proc->inputs.size();
  }
  EXPECT_GE(compared, 25u);
}

TEST(KindsOfDescriptors, ThatAreRefusedSayWhy) {
  for (const KindJson& kind : kinds()) {
    if (!kind.contains("error")) continue;
    SCOPED_TRACE(name_of_kind(kind));
    const auto model_proc = parse_kind(kind);
    ASSERT_FALSE(model_proc);
    for (const KindJson& text : kind["error"])
      EXPECT_NE(model_proc.error().message().find(text.get<std::string>()), std::string::npos)
          << model_proc.error().message();
  }
}

TEST(KindsOfDescriptors, StandForEverySampleOnce) {
  std::ifstream list(kinds_folder() / "samples.txt");
  std::multiset<std::string> samples;
  for (std::string line; std::getline(list, line);) samples.insert(line);
  std::multiset<std::string> covered;
  size_t of_one_folder = 0;
  for (const KindJson& kind : kinds()) {
    for (const KindJson& sample : kind["stands_for"]) {
      covered.insert(sample.get<std::string>());
      if (sample.get<std::string>().starts_with("model_proc/")) ++of_one_folder;
    }
  }
  EXPECT_EQ(covered, samples);
  EXPECT_EQ(of_one_folder, 93u);
}

}  // namespace
}  // namespace het
