#include "inference/decoders/descriptors/model_proc_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "inference/decoders/known_normalisations.h"

namespace het {
namespace {

/// What is read again, written again.
std::string again(const ModelProc& model_proc) {
  const std::string text = to_text(model_proc);
  const auto read = parse_model_proc(text, "test");
  EXPECT_TRUE(read) << read.error().message() << "\n" << text;
  return read ? to_text(*read) : "";
}

TEST(ModelProcText, PicturesOfEveryKind) {
  for (const ResizeMode mode : {ResizeMode::Stretch, ResizeMode::LetterboxCentre,
                                ResizeMode::LetterboxTopLeft, ResizeMode::CentralCrop}) {
    ModelProc model_proc;
    InputPreproc& input = model_proc.inputs.emplace_back();
    PreprocessDesc& desc = input.preprocess;
    input.color_given = true;
    desc.color_order = ColorOrder::RGB;
    desc.range_high = 1.0f;
    desc.mean = kImageNetMean;
    desc.std = kImageNetStd;
    desc.resize = mode;
    desc.border_x = mode == ResizeMode::Stretch ? 0 : 8;
    desc.border_y = mode == ResizeMode::LetterboxCentre ? 0 : 4;
    desc.pad_value.fill(mode == ResizeMode::LetterboxCentre ? 114.0f : 0.0f);
    model_proc.outputs.emplace_back().converter = "label";
    const auto read = parse_model_proc(to_text(model_proc), "test");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->inputs.at(0).preprocess, desc);
  }
}

TEST(ModelProcText, EveryDescriptorOfTheProject) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(std::getenv("HET_SOURCE_ROOT")) + "/pipelines/models")) {
    if (entry.path().extension() != ".json") continue;
    const auto read = read_model_proc(entry.path().string());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(again(*read), to_text(*read)) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 20u);
}

TEST(ModelProcText, NamesWithQuotesAndBytesThatAreNoText) {
  ModelProc model_proc;
  DecoderConfig& config = model_proc.outputs.emplace_back();
  config.converter = "label";
  config.labels = {"a \"b\"", "\xff", "\xc3\xa9"};
  const auto read = parse_model_proc(to_text(model_proc), "test");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->outputs.at(0).labels.at(0), "a \"b\"");
  EXPECT_EQ(read->outputs.at(0).labels.at(2), "\xc3\xa9");
}

TEST(ModelProcText, KeysThatTheConverterDoesNotTakeAreLeftOut) {
  ModelProc model_proc;
  model_proc.inputs.emplace_back().shape = {kUnknownDim, 3, 64, 48};
  DecoderConfig& config = model_proc.outputs.emplace_back();
  config.converter = "label";
  config.method = "softmax";
  config.iou_threshold = 0.7f;
  const auto read = parse_model_proc(to_text(model_proc), "test");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->outputs.at(0).method, "softmax");
  EXPECT_EQ(read->inputs.at(0).shape, (Shape{1, 3, 64, 48}));
}

}  // namespace
}  // namespace het
