// preprocess() against preprocess_reference(): the levels are equal, also on random noise; what is
// left is float rounding of the normalisation.
#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "inference/preprocess/preprocess.h"
#include "tests/preprocess/test_pictures.h"

namespace het {
namespace {

using preprocess_tests::describe;
using preprocess_tests::largest_difference;
using preprocess_tests::noise_picture;
using preprocess_tests::picture_tensor;
using preprocess_tests::smooth_picture;

constexpr double kFloatLevels = 2e-3;
constexpr double kByteLevels = 1.0;

constexpr ElementType kTypes[] = {ElementType::UInt8, ElementType::Float16, ElementType::BFloat16,
                                  ElementType::Float32, ElementType::Float64};
constexpr ResizeMode kModes[] = {ResizeMode::Stretch, ResizeMode::LetterboxCentre,
                                 ResizeMode::LetterboxTopLeft, ResizeMode::CentralCrop};

PreprocessDesc normalised() {
  PreprocessDesc desc;
  desc.mean = {103.53f, 116.28f, 123.675f};
  desc.std = {57.375f, 57.12f, 58.395f};
  desc.pad_value = {114.0f, 113.0f, 112.0f};
  return desc;
}

void expect_same(const Image& image, const Rect& roi, const PreprocessDesc& desc, ElementType type,
                 int width, int height) {
  Tensor expected = picture_tensor(desc, type, width, height);
  Tensor actual = picture_tensor(desc, type, width, height);
  const Status reference = preprocess_reference(image, roi, desc, expected);
  const Status fast = preprocess(image, roi, desc, actual);
  ASSERT_TRUE(reference.ok()) << reference.message();
  ASSERT_TRUE(fast.ok()) << fast.message();
  const double level = (desc.range_high - desc.range_low) / 255.0 / desc.std[0];
  EXPECT_LE(largest_difference(expected, actual, level),
            type == ElementType::UInt8 ? kByteLevels / level : kFloatLevels)
      << describe(image, roi, desc, actual);
}

class OnePass : public ::testing::TestWithParam<PixelFormat> {};

TEST_P(OnePass, EveryTypeLayoutModeAndColorOrder) {
  const Image image = noise_picture(GetParam(), 37, 23, 7);
  for (const ElementType type : kTypes) {
    for (const Layout layout : {Layout::NCHW, Layout::NHWC}) {
      for (const ResizeMode mode : kModes) {
        for (const ColorOrder order : {ColorOrder::BGR, ColorOrder::RGB, ColorOrder::Gray}) {
          PreprocessDesc desc = type == ElementType::UInt8 ? PreprocessDesc{} : normalised();
          desc.pad_value = {114.0f, 113.0f, 112.0f};
          desc.tensor_layout = layout;
          desc.resize = mode;
          desc.color_order = order;
          expect_same(image, image.full(), desc, type, 20, 24);
          expect_same(image, {3, 5, 30, 11}, desc, type, 71, 40);
        }
      }
    }
  }
}

/// Gives each part to a thread, the last one first.
class Threads final : public ParallelLoop {
 public:
  void run(int64_t count, int64_t grain, void (*body)(void* data, int64_t begin, int64_t end),
           void* data) const override {
    const int64_t parts = std::clamp<int64_t>(count / grain, 1, 5);
    ran_parts = parts;
    for (int64_t part = parts; part-- > 0;) {
      std::thread(body, data, count * part / parts, count * (part + 1) / parts).join();
    }
  }
  mutable int64_t ran_parts = 0;
};

TEST_P(OnePass, PartsGiveTheSameBytes) {
  const Image image = noise_picture(GetParam(), 640, 363, 7);
  for (const ResizeMode mode : kModes) {
    PreprocessDesc desc = normalised();
    desc.resize = mode;
    Tensor expected = picture_tensor(desc, ElementType::Float32, 416, 416);
    Tensor actual = picture_tensor(desc, ElementType::Float32, 416, 416);
    const Rect roi{3, 5, 600, 351};
    ASSERT_TRUE(preprocess(image, roi, desc, expected).ok());
    const Threads threads;
    ASSERT_TRUE(preprocess(image, roi, desc, actual, 0, &threads).ok());
    EXPECT_GE(threads.ran_parts, 2);
    EXPECT_EQ(std::memcmp(expected.bytes(), actual.bytes(), expected.size_bytes()), 0)
        << describe(image, roi, desc, actual);
  }
  const Image small = noise_picture(GetParam(), 64, 36, 7);
  Tensor tensor = picture_tensor(normalised(), ElementType::Float32, 72, 72);
  const Threads threads;
  ASSERT_TRUE(preprocess(small, small.full(), normalised(), tensor, 0, &threads).ok());
  EXPECT_EQ(threads.ran_parts, 1) << "not worth another thread";
}

TEST_P(OnePass, ABorderIsPadding) {
  const Image image = noise_picture(GetParam(), 37, 23, 7);
  for (const ResizeMode mode : kModes) {
    PreprocessDesc desc = normalised();
    desc.resize = mode;
    desc.border_x = 5;
    desc.border_y = 3;
    expect_same(image, image.full(), desc, ElementType::Float32, 40, 24);
    expect_same(image, {3, 5, 30, 11}, desc, ElementType::Float16, 11, 71);
  }
}

TEST_P(OnePass, EverySizeUpToNinePixels) {
  for (int height = 1; height <= 9; ++height) {
    for (int width = 1; width <= 9; ++width) {
      const Image image = noise_picture(GetParam(), width, height, 3);
      expect_same(image, image.full(), PreprocessDesc{}, ElementType::Float32, 7, 5);
      expect_same(image, image.full(), PreprocessDesc{}, ElementType::Float32, 1, 1);
    }
  }
  const Image image = noise_picture(GetParam(), 3, 5, 3);
  expect_same(image, image.full(), PreprocessDesc{}, ElementType::Float32, 130, 3);
}

TEST_P(OnePass, RoiAtEveryEdge) {
  const Image image = noise_picture(GetParam(), 41, 33, 9);
  const PreprocessDesc desc;
  for (const Rect roi :
       {Rect{0, 0, 10, 9}, Rect{31, 0, 10, 9}, Rect{0, 24, 10, 9}, Rect{31, 24, 10, 9},
        Rect{40, 0, 1, 33}, Rect{0, 32, 41, 1}, Rect{40, 32, 1, 1}, Rect{-5, -7, 12, 20},
        Rect{35, 30, 50, 50}, Rect{1, 1, 39, 31}, Rect{-100, -100, 1000, 1000},
        Rect{13, 17, 2147483647, 2147483647}}) {
    expect_same(image, roi, desc, ElementType::Float32, 24, 18);
    expect_same(image, roi, desc, ElementType::Float32, 3, 2);
  }
}

TEST_P(OnePass, StridesLargerThanTheWidth) {
  for (const int alignment : {16, 64, 256}) {
    const Image image = noise_picture(GetParam(), 35, 21, 11, alignment);
    expect_same(image, image.full(), normalised(), ElementType::Float32, 48, 30);
    expect_same(image, {5, 3, 29, 17}, normalised(), ElementType::Float32, 16, 16);
  }
}

TEST_P(OnePass, MatricesAndRanges) {
  for (const ColorMatrix matrix : {ColorMatrix::BT601, ColorMatrix::BT709, ColorMatrix::BT2020}) {
    for (const ColorRange range : {ColorRange::Full, ColorRange::Video}) {
      for (const ColorOrder order : {ColorOrder::RGB, ColorOrder::Gray}) {
        Image image = noise_picture(GetParam(), 64, 48, 13);
        image.matrix = matrix;
        image.range = range;
        PreprocessDesc desc;
        desc.color_order = order;
        expect_same(image, image.full(), desc, ElementType::Float32, 50, 50);
      }
    }
  }
}

TEST_P(OnePass, LargePictureDownAndUp) {
  const Image image = smooth_picture(GetParam(), 641, 361, 32);
  PreprocessDesc desc;
  desc.range_high = 1.0f;
  for (const auto& [width, height] : {std::pair{300, 300}, {224, 120}, {640, 360}, {800, 500}}) {
    expect_same(image, image.full(), desc, ElementType::Float32, width, height);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, OnePass, ::testing::ValuesIn(preprocess_tests::kFormats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(OnePassTarget, FillsTheAskedBatchItemOnly) {
  const Image image = noise_picture(PixelFormat::NV12, 40, 30, 1);
  const PreprocessDesc desc;
  auto batch = Tensor::allocate({ElementType::Float32, {3, 3, 8, 9}, Layout::NCHW});
  ASSERT_TRUE(batch.has_value());
  std::fill_n(batch->data<float>(), batch->element_count(), -7.0f);
  ASSERT_TRUE(preprocess(image, image.full(), desc, *batch, 1).ok());
  auto single = Tensor::allocate({ElementType::Float32, {3, 8, 9}});  // rank 3: no batch
  ASSERT_TRUE(single.has_value());
  ASSERT_TRUE(preprocess(image, image.full(), desc, *single).ok());
  const float* values = batch->data<float>();
  const int item = 3 * 8 * 9;
  for (int i = 0; i < item; ++i) {
    ASSERT_EQ(values[i], -7.0f);
    ASSERT_EQ(values[item + i], single->data<float>()[i]);
    ASSERT_EQ(values[2 * item + i], -7.0f);
  }
}

/// A view with gaps: what lies in the gaps must stay as it was.
void expect_strided(ElementType type, Layout layout, const Shape& shape,
                    const std::vector<int64_t>& strides) {
  const auto width = static_cast<int64_t>(byte_width(type));
  std::vector<int64_t> strides_bytes = strides;
  size_t size_bytes = static_cast<size_t>(width);
  for (size_t i = 0; i < strides.size(); ++i) {
    strides_bytes[i] *= width;
    size_bytes += static_cast<size_t>(strides_bytes[i] * (shape[i] - 1));
  }
  auto buffer = allocate_host_buffer(size_bytes);
  ASSERT_TRUE(buffer.has_value());
  std::fill_n((*buffer)->host(), size_bytes, std::byte{0x11});
  auto strided = Tensor::view({type, shape, layout}, *buffer, 0, strides_bytes);
  ASSERT_TRUE(strided.has_value()) << strided.error().message();
  auto dense = Tensor::allocate({type, shape, layout});
  ASSERT_TRUE(dense.has_value());
  const Image image = noise_picture(PixelFormat::I420, 50, 30, 2);
  PreprocessDesc desc;
  desc.tensor_layout = layout;
  desc.resize = ResizeMode::LetterboxCentre;
  ASSERT_TRUE(preprocess(image, image.full(), desc, *strided).ok());
  ASSERT_TRUE(preprocess(image, image.full(), desc, *dense).ok());
  EXPECT_EQ(largest_difference(*strided, *dense, 1.0), 0.0);
  size_t untouched = 0;
  for (size_t i = 0; i < size_bytes; ++i) untouched += (*buffer)->host()[i] == std::byte{0x11};
  EXPECT_GE(untouched, size_bytes - dense->size_bytes());
}

TEST(OnePassTarget, Strides) {
  for (const ElementType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    expect_strided(type, Layout::NCHW, {1, 3, 12, 17}, {2000, 500, 20, 1});  // padded rows
    expect_strided(type, Layout::NCHW, {1, 3, 12, 17}, {2000, 1, 51, 3});    // NCHW in NHWC memory
    expect_strided(type, Layout::NHWC, {1, 12, 17, 3}, {2000, 70, 4, 1});    // in 4-channel pixels
    expect_strided(type, Layout::NHWC, {1, 12, 17, 3}, {2000, 17, 1, 204});  // NHWC in NCHW memory
    expect_strided(type, Layout::NHWC, {1, 12, 17, 3}, {2000, 60, 3, 1});    // padded rows
  }
}

TEST(OnePassTarget, SecondCallAllocatesNothing) {
  const Image image = noise_picture(PixelFormat::NV12, 320, 240, 1);
  const PreprocessDesc desc;
  Tensor tensor = picture_tensor(desc, ElementType::Float16, 100, 80);
  ASSERT_TRUE(preprocess(image, image.full(), desc, tensor).ok());
  // AddressSanitizer's allocator counts nothing here; the test is then about the results only.
  const struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(preprocess(image, {i, i, 90, 70}, desc, tensor).ok());
  const struct mallinfo2 after = mallinfo2();
  EXPECT_EQ(before.uordblks, after.uordblks);
  EXPECT_EQ(before.hblkhd, after.hblkhd);
}

TEST(OnePassTarget, ThreadsDoNotDisturbEachOther) {
  const Image image = noise_picture(PixelFormat::NV12, 320, 240, 1);
  const PreprocessDesc desc;
  std::vector<std::thread> threads;
  std::vector<double> differences(4, -1.0);
  for (size_t t = 0; t < differences.size(); ++t) {
    threads.emplace_back([&, t] {
      const int side = 20 + 30 * static_cast<int>(t);
      Tensor expected = picture_tensor(desc, ElementType::Float32, side, side);
      Tensor actual = picture_tensor(desc, ElementType::Float32, side, side);
      bool ok = preprocess_reference(image, image.full(), desc, expected).ok();
      double largest = 0.0;
      for (int i = 0; i < 20; ++i) {
        ok = ok && preprocess(image, image.full(), desc, actual).ok();
        largest = std::max(largest, largest_difference(expected, actual, 1.0));
      }
      differences[t] = ok ? largest : -1.0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double difference : differences) {
    EXPECT_GE(difference, 0.0);
    EXPECT_LE(difference, kFloatLevels);
  }
}

}  // namespace
}  // namespace het
