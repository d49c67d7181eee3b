#include "inference/preprocess/custom_preprocess.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace het {
namespace {

const TensorDesc kOwnInput{ElementType::Float32, {2, 3, 8, 16}, Layout::NCHW};

std::string library_of(const char* folder, const std::string& name) {
  const char* const path = std::getenv(folder);
  return std::string(path != nullptr ? path : "") + "/" + name + ".so";
}

Result<std::unique_ptr<CustomPreprocess>> load_own(const std::string& path,
                                                   const TensorDesc& input = kOwnInput) {
  PreprocessDesc desc;
  desc.resize = ResizeMode::LetterboxCentre;
  desc.tensor_layout = input.layout;
  return CustomPreprocess::load(path, "picture", input, desc);
}

std::string example() {
  return library_of("HET_EXAMPLE_PREPROCESSORS", "contrast");
}

std::string faulty(const std::string& fault) {
  return library_of("HET_TEST_PREPROCESSORS", "preprocess_" + fault);
}

/// 32 columns and 16 rows whose levels are 100 + column / 2 (blue), 120 (green) and 140 (red).
Image dull_picture() {
  Image image = make_host_image(PixelFormat::BGR, 32, 16).value();
  auto* byte = reinterpret_cast<uint8_t*>(image.planes[0].buffer->host());
  for (int i = 0; i < 32 * 16; ++i) {
    *byte++ = static_cast<uint8_t>(100 + i % 32 / 2);
    *byte++ = 120;
    *byte++ = 140;
  }
  return image;
}

TEST(CustomPreprocess, TheExampleStretchesTheLevelsOfARegion) {
  const auto own = load_own(example());
  ASSERT_TRUE(own) << own.error().message();
  Tensor tensor = Tensor::allocate(kOwnInput).value();
  std::memset(tensor.bytes(), 0, tensor.size_bytes());
  ASSERT_TRUE((*own)->convert(dull_picture(), {0, 0, 32, 16}, tensor, 1).ok());
  const std::span<const float> values = tensor.values<float>();
  const std::span<const float> item = values.subspan(3 * 8 * 16);
  EXPECT_EQ(values[0], 0.0f) << "the other batch item stays";
  // Pairs of columns have one level: 100 is 0, 140 is 255.
  EXPECT_EQ(item[0], 0.0f);
  EXPECT_NEAR(item[15], 15.0f * 255.0f / 40.0f, 0.01f);
  EXPECT_NEAR(item[8 * 16], 20.0f * 255.0f / 40.0f, 0.01f);
  EXPECT_NEAR(item[2 * 8 * 16], 255.0f, 0.01f);
}

TEST(CustomPreprocess, ARegionIsPlacedAsTheLibrarySays) {
  const auto own = load_own(example());
  ASSERT_TRUE(own) << own.error().message();
  // The whole input, where a letterbox would leave borders.
  const auto place = (*own)->place({10, 20, 64, 64}, {8.0f, 8.0f, -22.0f, 20.0f});
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_EQ(place->scale_x, 4.0f);
  EXPECT_EQ(place->scale_y, 8.0f);
  EXPECT_EQ(place->offset_x, 10.0f);
  EXPECT_EQ(place->offset_y, 20.0f);
  // This one moves what is usual by a pixel.
  const auto moved = load_own(faulty("none"));
  ASSERT_TRUE(moved) << moved.error().message();
  EXPECT_EQ((*moved)->place({10, 20, 64, 64}, {8.0f, 8.0f, -22.0f, 20.0f})->offset_x, -21.0f);
}

TEST(CustomPreprocess, TheUsualTensorIsThereToStartFrom) {
  const auto own = load_own(faulty("none"));
  ASSERT_TRUE(own) << own.error().message();
  Tensor tensor = Tensor::allocate(kOwnInput).value();
  Tensor usual = Tensor::allocate(kOwnInput).value();
  PreprocessDesc desc;
  desc.resize = ResizeMode::LetterboxCentre;
  const Rect part{3, 1, 20, 15};
  for (const int64_t item : {0, 1}) {
    ASSERT_TRUE((*own)->convert(dull_picture(), part, tensor, item).ok());
    ASSERT_TRUE(preprocess(dull_picture(), part, desc, usual, item).ok());
    usual.values<float>()[static_cast<size_t>(item) * 3 * 8 * 16] = -1.0f;
  }
  EXPECT_EQ(std::memcmp(tensor.bytes(), usual.bytes(), usual.size_bytes()), 0);
}

TEST(CustomPreprocess, LibrariesThatCannotServeAreClearErrors) {
  const std::pair<const char*, const char*> faults[] = {{"create", "preprocessing 'fault' of"},
                                                        {"refusal", "cannot serve version 1"},
                                                        {"size", "has a table of 8 bytes"},
                                                        {"symbol", "het_custom_preprocess"},
                                                        {"version", "99"}};
  for (const auto& [fault, words] : faults) {
    const auto own = load_own(faulty(fault));
    ASSERT_FALSE(own) << fault;
    EXPECT_NE(own.error().message().find(words), std::string::npos) << own.error().message();
  }
  EXPECT_NE(load_own(faulty("create")).error().message().find("no licence"), std::string::npos);
  EXPECT_EQ(load_own("/absent/own.so").error().code(), StatusCode::NotFound);
  TensorDesc bytes = kOwnInput;
  bytes.type = ElementType::UInt8;
  const auto refused = load_own(example(), bytes);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("contrast fills float32 inputs"), std::string::npos);
}

TEST(CustomPreprocess, FaultsOfACallAreClearErrors) {
  const std::pair<const char*, const char*> faults[] = {
      {"exception", "convert threw an exception: out of luck"},
      {"pixels", "2x1 pixels at (31, 0) are no part of a picture of 32x16"},
      {"stride", "2x1 pixels with a stride of 3 cannot be written"},
      {"colour", "there is no colour 9"}};
  Tensor tensor = Tensor::allocate(kOwnInput).value();
  for (const auto& [fault, words] : faults) {
    const auto own = load_own(faulty(fault));
    ASSERT_TRUE(own) << own.error().message();
    const Status status = (*own)->convert(dull_picture(), {0, 0, 32, 16}, tensor, 0);
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }
  const auto nowhere = load_own(faulty("place"));
  ASSERT_TRUE(nowhere);
  EXPECT_FALSE((*nowhere)->place({0, 0, 8, 8}, {}));
  const auto own = load_own(example());
  ASSERT_TRUE(own);
  EXPECT_FALSE((*own)->convert(dull_picture(), {40, 0, 8, 8}, tensor, 0).ok());
}

}  // namespace
}  // namespace het
