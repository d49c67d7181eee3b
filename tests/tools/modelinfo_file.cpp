#include "tools/inspect/modelinfo_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "inference/decoders/descriptors/key_file.h"

namespace het {
namespace {

namespace fs = std::filesystem;

/// A model whose pictures are `desc`, with the ports of its reading.
struct WriterCase {
  Model model{"net"};
  ModelReading reading{.choice = error(StatusCode::NotFound, "none")};
  TensorGroup group{"net-out", {}};

  explicit WriterCase(const PreprocessDesc& desc, const Shape& picture = {1, 3, 8, 8},
                      ElementType type = ElementType::Float32) {
    model.add_input("images", {type, picture});
    reading.picture.preproc.preprocess = desc;
  }
  void add_output(const std::string& name, const TensorDesc& desc, const std::string& id) {
    Value* const input = model.inputs().front().value;
    Value* const made = model.add_node(name, "Unknown", "", {input}, {name})->output();
    model.set_desc(made, desc);
    model.add_output(name, made);
    GroupTensor& tensor = group.tensors.emplace_back();
    tensor.output = name;
    tensor.id = id;
    tensor.type = desc.type;
    tensor.shape = desc.shape;
  }
  ModelinfoFile write() const { return modelinfo_file(model, reading, group); }
  std::vector<KeyFileSection> sections() const {
    auto parsed = parse_key_file(write().text);
    EXPECT_TRUE(parsed) << parsed.error().message();
    return parsed ? *parsed : std::vector<KeyFileSection>{};
  }
  /// All of them in one text.
  std::string notes() const {
    std::string text;
    for (const std::string& note : write().notes) text += note + "\n";
    return text;
  }
};

PreprocessDesc rgb() {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  return desc;
}

TEST(ModelinfoFile, SectionsSayWhatTheFileHas) {
  WriterCase net(rgb(), {kUnknownDim, 3, kUnknownDim, 8});
  net.add_output("a", {ElementType::Float32, {kUnknownDim, 6, 84}}, "yolo-v8-out");
  net.group.id = "yolo-v8-out";
  net.group.tensors[0].column_major = true;
  net.add_output("b", {ElementType::Int32, {}}, "b");
  const auto sections = net.sections();
  ASSERT_EQ(sections.size(), 4u);
  EXPECT_EQ(sections[0].name, "modelinfo");
  EXPECT_EQ(sections[0].value_of("version"), "1.0");
  EXPECT_EQ(sections[0].value_of("group-id"), "yolo-v8-out");
  EXPECT_EQ(sections[1].name, "images");
  EXPECT_EQ(sections[1].value_of("dims"), "-1,3,-1,8");
  EXPECT_EQ(sections[1].value_of("type"), "float32");
  EXPECT_EQ(sections[1].value_of("dir"), "input");
  EXPECT_EQ(sections[1].value_of("ranges"), "0,255;0,255;0,255");
  EXPECT_EQ(sections[1].value_of("resize_type"), "standard");
  EXPECT_FALSE(sections[1].values.contains("reverse_input_channels"));
  EXPECT_EQ(sections[2].value_of("id"), "yolo-v8-out");
  EXPECT_EQ(sections[2].value_of("dims-order"), "col-major");
  EXPECT_EQ(sections[2].value_of("dims"), "-1,6,84");
  EXPECT_EQ(sections[3].value_of("dir"), "output");
  EXPECT_FALSE(sections[3].values.contains("dims")) << "of a number: such a list cannot be empty";
  EXPECT_FALSE(sections[3].values.contains("dims-order"));
  EXPECT_EQ(net.notes(), "");
}

TEST(ModelinfoFile, RangesAreThoseOfTheTensorsChannels) {
  PreprocessDesc desc = rgb();
  desc.range_high = 1.0f;
  EXPECT_EQ(WriterCase(desc).sections()[1].value_of("ranges"), "0,1;0,1;0,1");
  desc.mean = {0.5f, 0.25f, 0.0f};
  desc.std = {0.5f, 0.25f, 1.0f};
  EXPECT_EQ(WriterCase(desc).sections()[1].value_of("ranges"), "-1,1;-1,3;0,1");
  desc.color_order = ColorOrder::Gray;
  EXPECT_EQ(WriterCase(desc, {1, 1, 8, 8}).sections()[1].value_of("ranges"), "-1,1");
  EXPECT_EQ(WriterCase(rgb(), {1, 8, 8, 3}, ElementType::UInt8).notes(), "");
  EXPECT_NE(WriterCase(desc, {1, 8, 8, 3}, ElementType::UInt8).notes().find("takes bytes"),
            std::string::npos);
}

TEST(ModelinfoFile, WhatOnnxinferenceDoesDifferentlyIsNoted) {
  const auto noted = [](auto&& change) {
    PreprocessDesc desc = rgb();
    change(desc);
    return WriterCase(desc).notes();
  };
  EXPECT_NE(noted([](PreprocessDesc& desc) {
              desc.color_order = ColorOrder::BGR;
            }).find("channels are B, G, R"),
            std::string::npos);
  EXPECT_NE(noted([](PreprocessDesc& desc) {
              desc.resize = ResizeMode::CentralCrop;
            }).find("aspectratiocrop"),
            std::string::npos);
  const std::string letterbox = noted([](PreprocessDesc& desc) {
    desc.resize = ResizeMode::LetterboxTopLeft;
    desc.pad_value.fill(114);
  });
  EXPECT_NE(letterbox.find("at the top left on 114"), std::string::npos) << letterbox;
  EXPECT_NE(noted([](PreprocessDesc& desc) { desc.border_x = 2; }).find("2 columns"),
            std::string::npos);
  WriterCase other(rgb(), {4, 3, 8, 8}, ElementType::Float16);
  other.model.add_input("size", {ElementType::Int64, {1, 2}});
  other.add_output("a", {ElementType::Int64, {1}}, "a");
  const std::string notes = other.notes();
  for (const char* part : {"2 inputs", "pictures are float16", "fixed at 4", "'a' is int64"})
    EXPECT_NE(notes.find(part), std::string::npos) << part;
}

TEST(ModelinfoFile, AnIdThatTheOutputDoesNotKeepIsLeftOut) {
  WriterCase rows(rgb());
  rows.add_output("out", {ElementType::Float32, {1, 84, 6}}, "yolo-v8-out");
  rows.group.id = "yolo-v8-out";
  GroupTensor& tensor = rows.group.tensors[0];
  tensor.is_known = true;
  tensor.column_major = true;
  tensor.is_transposed = true;
  tensor.shape = {1, 6, 84};
  EXPECT_EQ(rows.sections()[0].value_of("group-id"), "net-out");
  EXPECT_EQ(rows.sections()[2].value_of("id"), "out");
  EXPECT_FALSE(rows.sections()[2].values.contains("dims-order"));
  EXPECT_NE(rows.notes().find("not as decoders of 'yolo-v8-out'"), std::string::npos);
  tensor.is_transposed = false;
  tensor.shape = {84, 6};
  EXPECT_EQ(rows.sections()[2].value_of("id"), "out");
  tensor.shape = {1, 84, 6};
  EXPECT_EQ(rows.sections()[2].value_of("id"), "yolo-v8-out");
}

TEST(ModelinfoFile, AnyNameCanBeRead) {
  WriterCase net(rgb());
  net.add_output("a/b:0 [x]\n", {ElementType::Float32, {1}}, " a\\b\nc");
  net.add_output("modelinfo", {ElementType::Float32, {1}}, "m");
  const auto sections = net.sections();
  ASSERT_EQ(sections.size(), 4u);
  EXPECT_EQ(sections[2].name, "a/b:0 _x__");
  EXPECT_EQ(sections[2].value_of("id"), " a\\b\nc");
  EXPECT_EQ(sections[3].name, "modelinfo_");
  EXPECT_NE(net.notes().find("no section can be called 'modelinfo'"), std::string::npos);
}

/// Every model of the shared data and of tests/exports that takes a picture, in a folder where only
/// the file that was written lies beside it.
class ModelinfoRoundTrip : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "modelinfo_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    set_log_sink([this](LogLevel, std::string_view text) { told_ += std::string(text) + "\n"; },
                 LogLevel::Warning);
  }
  void TearDown() override {
    set_log_sink({}, LogLevel::Warning);
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  static std::vector<fs::path> models_in(const fs::path& folder) {
    std::vector<fs::path> found;
    if (!fs::is_directory(folder)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".onnx" || extension == ".xml") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  /// A link to the model in a folder of its own.
  fs::path alone(const fs::path& model) const {
    const fs::path folder = folder_ / std::to_string(std::hash<std::string>{}(model.string()));
    fs::create_directory(folder);
    for (const char* extension : {".onnx", ".xml", ".bin"}) {
      fs::path part = model;
      part.replace_extension(extension);
      if (fs::exists(part)) fs::create_symlink(fs::absolute(part), folder / part.filename());
    }
    return folder / model.filename();
  }

  /// False where the model takes no picture.
  bool check(const fs::path& original) {
    SCOPED_TRACE(original.string());
    VisionModelSettings settings;
    settings.model = alone(original);
    settings.unknown_side = 64;
    const auto before = read_vision_model(*core_, settings);
    if (!before) return false;
    const auto file = core_->read_model(settings.model);
    EXPECT_TRUE(file);
    const TensorGroup group = tensor_group(*before->model, before->metadata, before->choice,
                                           before->input_ports, before->output_ports);
    const ModelinfoFile written = modelinfo_file(**file, *before, group);
    std::ofstream(settings.model + ".modelinfo") << written.text;
    told_.clear();
    const auto after = read_vision_model(*core_, settings);
    EXPECT_TRUE(after) << after.error().message();
    if (!after) return true;
    EXPECT_EQ(told_, "") << written.text;
    compare(*before, *after);
    const TensorGroup again = tensor_group(*after->model, after->metadata, after->choice,
                                           after->input_ports, after->output_ports);
    const bool has_all = std::ranges::none_of(written.notes, [](const std::string& note) {
      return note.find("is not as decoders of") != std::string::npos;
    });
    if (!has_all) return true;
    EXPECT_EQ(again.id, group.id);
    for (size_t i = 0; i < group.tensors.size(); ++i) {
      EXPECT_EQ(again.tensors[i].id, group.tensors[i].id);
      EXPECT_EQ(again.tensors[i].places, group.tensors[i].places);
      EXPECT_EQ(again.tensors[i].column_major, group.tensors[i].column_major);
    }
    return true;
  }

  static void compare(const ModelReading& before, const ModelReading& after) {
    const PreprocessDesc& wanted = before.picture.preproc.preprocess;
    const PreprocessDesc& found = after.picture.preproc.preprocess;
    EXPECT_EQ(found.color_order, wanted.color_order);
    EXPECT_EQ(found.resize, wanted.resize);
    EXPECT_EQ(found.tensor_layout, wanted.tensor_layout);
    if (wanted.resize != ResizeMode::Stretch && wanted.resize != ResizeMode::CentralCrop) {
      EXPECT_EQ(found.pad_value, wanted.pad_value);
    }
    const size_t channels = wanted.color_order == ColorOrder::Gray ? 1 : 3;
    for (size_t c = 0; c < channels; ++c) {
      for (const float share : {0.0f, 0.5f, 1.0f}) {
        const auto value = [&](const PreprocessDesc& desc) {
          const float level = desc.range_low + share * (desc.range_high - desc.range_low);
          return (level - desc.mean[c]) / desc.std[c];
        };
        EXPECT_NEAR(value(found), value(wanted), 1e-6f * (255.0f + std::abs(value(wanted))));
      }
    }
    EXPECT_EQ(after.picture.index, before.picture.index);
    ASSERT_EQ(after.choice.has_value(), before.choice.has_value());
    if (!before.choice) return;
    ASSERT_EQ(after.choice->configs.size(), before.choice->configs.size());
    for (size_t i = 0; i < before.choice->configs.size(); ++i) {
      EXPECT_EQ(after.choice->configs[i].converter, before.choice->configs[i].converter);
      EXPECT_EQ(after.choice->configs[i].method, before.choice->configs[i].method);
      EXPECT_EQ(after.choice->configs[i].labels, before.choice->configs[i].labels);
      EXPECT_EQ(after.choice->configs[i].box_format, before.choice->configs[i].box_format);
    }
  }

  std::shared_ptr<Core> core_ = core();
  fs::path folder_;
  std::string told_;
};

TEST_F(ModelinfoRoundTrip, ModelsOfTheTree) {
  const char* const root = std::getenv("HET_SOURCE_ROOT");
  const char* const build = std::getenv("HET_BUILD_ROOT");
  ASSERT_TRUE(root != nullptr && build != nullptr);
  size_t checked = 0;
  for (const fs::path& folder :
       {fs::path(build) / "tests/exports/models", fs::path(root) / "pipelines/demo/models"})
    for (const fs::path& model : models_in(folder)) checked += check(model);
  EXPECT_GE(checked, 12u);
}

TEST_F(ModelinfoRoundTrip, SharedModels) {
  const char* const shared = std::getenv("HET_SHARED_DATA");
  if (shared == nullptr || !fs::is_directory(fs::path(shared) / "models"))
    GTEST_SKIP() << "HET_SHARED_DATA names no folder with the shared models";
  size_t checked = 0;
  for (const fs::path& model : models_in(fs::path(shared) / "models")) checked += check(model);
  EXPECT_GE(checked, 25u);
}

}  // namespace
}  // namespace het
