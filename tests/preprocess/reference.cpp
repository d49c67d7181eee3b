// The reference against values computed by hand: the other tests compare with the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/preprocess/preprocess.h"
#include "tests/preprocess/test_pictures.h"

namespace het {
namespace {

using preprocess_tests::noise_picture;
using preprocess_tests::picture_tensor;
using preprocess_tests::set_byte;
using preprocess_tests::set_plane;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> reference(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                             int width, int height, ElementType type = ElementType::Float32) {
  Tensor tensor = picture_tensor(desc, type, width, height);
  const Status status = preprocess_reference(image, roi, desc, tensor);
  EXPECT_TRUE(status.ok()) << status.message();
  return to_float_vector(tensor).value_or(std::vector<float>{});
}

/// Red, green and blue of a picture of one YUV colour.
std::vector<float> color_of(PixelFormat format, ColorMatrix matrix, ColorRange range, int y, int u,
                            int v) {
  Image image = noise_picture(format, 2, 2, 1);
  image.matrix = matrix;
  image.range = range;
  set_plane(image, 0, y);
  if (format == PixelFormat::NV12) {
    set_byte(image, 1, 0, 0, u);
    set_byte(image, 1, 0, 1, v);
  } else {
    set_plane(image, 1, u);
    set_plane(image, 2, v);
  }
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  return reference(image, image.full(), desc, 1, 1);
}

TEST(PreprocessReference, ColorMatricesAndRanges) {
  const auto near = [](std::vector<float> values) {
    return Pointwise(FloatNear(0.55f), std::move(values));
  };
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::I420}) {
    const auto video601 = [&](int y, int u, int v) {
      return color_of(format, ColorMatrix::BT601, ColorRange::Video, y, u, v);
    };
    EXPECT_THAT(video601(16, 128, 128), near({0, 0, 0}));
    EXPECT_THAT(video601(235, 128, 128), near({255, 255, 255}));
    EXPECT_THAT(video601(126, 128, 128), near({128.08f, 128.08f, 128.08f}));
    EXPECT_THAT(video601(81, 90, 240), near({254.44f, 0, 0}));  // red
    EXPECT_THAT(video601(100, 100, 150), near({132.92f, 90.89f, 41.33f}));
    const auto video709 = [&](int y, int u, int v) {
      return color_of(format, ColorMatrix::BT709, ColorRange::Video, y, u, v);
    };
    EXPECT_THAT(video709(100, 100, 150), near({137.25f, 92.05f, 38.66f}));
    EXPECT_THAT(video709(63, 102, 240), near({255, 0.585f, 0}));  // red
    const auto full601 = [&](int y, int u, int v) {
      return color_of(format, ColorMatrix::BT601, ColorRange::Full, y, u, v);
    };
    EXPECT_THAT(full601(255, 128, 128), near({255, 255, 255}));
    EXPECT_THAT(full601(100, 100, 150), near({130.84f, 93.92f, 50.38f}));
    const auto full709 = [&](int y, int u, int v) {
      return color_of(format, ColorMatrix::BT709, ColorRange::Full, y, u, v);
    };
    EXPECT_THAT(full709(100, 100, 150), near({134.65f, 94.95f, 48.04f}));
    EXPECT_THAT(full709(0, 0, 0), near({0, 83.9f, 0}));
    const auto video2020 = [&](int y, int u, int v) {
      return color_of(format, ColorMatrix::BT2020, ColorRange::Video, y, u, v);
    };
    EXPECT_THAT(video2020(100, 100, 150), near({134.74f, 88.74f, 37.84f}));
    EXPECT_THAT(video2020(235, 128, 128), near({255, 255, 255}));
  }
}

TEST(PreprocessReference, RgbFormatsKeepTheirColors) {
  for (const PixelFormat format : preprocess_tests::kFormats) {
    if (format == PixelFormat::NV12 || format == PixelFormat::I420 || format == PixelFormat::P010 ||
        format == PixelFormat::YUY2 || format == PixelFormat::UYVY) {
      continue;
    }
    SCOPED_TRACE(to_string(format));
    Image image = noise_picture(format, 3, 2, 5);
    const std::string name(to_string(format));
    const bool planar = name.ends_with("P") || name == "GBR";
    const int colors[] = {10, 20, 30};  // red, green, blue
    for (int color = 0; color < 3 && name != "GRAY8"; ++color) {
      const auto position = static_cast<int>(name.find("RGB"[color]));
      const int pixel_bytes = name.size() == 4 ? 4 : 3;
      if (planar) {
        set_plane(image, position, colors[color]);
      } else {
        for (int i = 0; i < 6; ++i) {
          set_byte(image, 0, i / 3, i % 3 * pixel_bytes + position, colors[color]);
        }
      }
    }
    if (name == "GRAY8") set_plane(image, 0, 20);
    PreprocessDesc desc;
    desc.color_order = ColorOrder::RGB;
    const bool gray = name == "GRAY8";
    const float red = gray ? 20 : 10;
    const float blue = gray ? 20 : 30;
    EXPECT_THAT(reference(image, image.full(), desc, 1, 1), ElementsAre(red, 20, blue));
    desc.color_order = ColorOrder::BGR;
    EXPECT_THAT(reference(image, image.full(), desc, 1, 1), ElementsAre(blue, 20, red));
    desc.color_order = ColorOrder::Gray;
    const float luma = gray ? 20 : 18;  // 0.299 * 10 + 0.587 * 20 + 0.114 * 30 = 18.15
    EXPECT_THAT(reference(image, image.full(), desc, 1, 1), ElementsAre(luma));
  }
}

TEST(PreprocessReference, GrayOfYuvIsItsLuma) {
  Image image = noise_picture(PixelFormat::NV12, 2, 2, 3);
  set_plane(image, 0, 126);
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  EXPECT_THAT(reference(image, image.full(), desc, 1, 1), ElementsAre(128));  // 110 * 255 / 219
  image.range = ColorRange::Full;
  EXPECT_THAT(reference(image, image.full(), desc, 1, 1), ElementsAre(126.0f));
}

/// Four pixels of a row, two chroma samples.
constexpr int kLuma[] = {60, 100, 140, 180};
constexpr int kU[] = {110, 140};
constexpr int kV[] = {150, 90};

/// Colours of the row as BT.601 in full range gives them, red first.
std::vector<float> colors_of_row() {
  std::vector<float> colors(12);
  for (size_t x = 0; x < 4; ++x) {
    const auto y = static_cast<float>(kLuma[x]);
    const auto u = static_cast<float>(kU[x / 2] - 128);
    const auto v = static_cast<float>(kV[x / 2] - 128);
    colors[x] = y + 1.402f * v;
    colors[4 + x] = y - 0.344136f * u - 0.714136f * v;
    colors[8 + x] = y + 1.772f * u;
  }
  return colors;
}

TEST(PreprocessReference, PackedYuvHasItsOwnOrder) {
  for (const PixelFormat format : {PixelFormat::YUY2, PixelFormat::UYVY}) {
    SCOPED_TRACE(to_string(format));
    // Two rows: chroma of the second one is its own.
    Image image = noise_picture(format, 4, 2, 1);
    image.range = ColorRange::Full;
    const int luma_at = format == PixelFormat::YUY2 ? 0 : 1;
    for (int x = 0; x < 4; ++x) {
      set_byte(image, 0, 1, 2 * x + luma_at, kLuma[x]);
      set_byte(image, 0, 1, 2 * x + 1 - luma_at, x % 2 == 0 ? kU[x / 2] : kV[x / 2]);
    }
    PreprocessDesc desc;
    desc.color_order = ColorOrder::RGB;
    EXPECT_THAT(reference(image, {0, 1, 4, 1}, desc, 4, 1),
                Pointwise(FloatNear(0.55f), colors_of_row()));
    desc.color_order = ColorOrder::Gray;
    EXPECT_THAT(reference(image, {0, 1, 4, 1}, desc, 4, 1), ElementsAre(60, 100, 140, 180));
  }
}

TEST(PreprocessReference, TenBitSamplesAreRounded) {
  Image image = noise_picture(PixelFormat::P010, 4, 1, 1);
  image.range = ColorRange::Full;
  const auto set_word = [&](int plane, int index, int level, int quarters) {
    const int word = 256 * level + 64 * quarters;
    set_byte(image, plane, 0, 2 * index, word % 256);
    set_byte(image, plane, 0, 2 * index + 1, word / 256);
  };
  set_word(0, 0, 59, 2);  // half a level goes up
  set_word(0, 1, 100, 1);
  set_word(0, 2, 139, 3);
  set_word(0, 3, 180, 0);
  for (int i = 0; i < 2; ++i) {
    set_word(1, 2 * i, kU[i] - 1, 3);
    set_word(1, 2 * i + 1, kV[i], 1);
  }
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  EXPECT_THAT(reference(image, image.full(), desc, 4, 1),
              Pointwise(FloatNear(0.55f), colors_of_row()));
  desc.color_order = ColorOrder::Gray;
  EXPECT_THAT(reference(image, image.full(), desc, 4, 1), ElementsAre(60, 100, 140, 180));
  set_word(0, 0, 255, 3);
  EXPECT_THAT(reference(image, {0, 0, 1, 1}, desc, 1, 1), ElementsAre(255));
}

Image gray_row(std::initializer_list<int> values) {
  Image image = noise_picture(PixelFormat::GRAY8, static_cast<int>(values.size()), 1, 1);
  int x = 0;
  for (const int value : values) set_byte(image, 0, 0, x++, value);
  return image;
}

TEST(PreprocessReference, BilinearWithAlignedCentres) {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  const Image image = gray_row({0, 100, 200, 40});
  // Doubling: centres at -0.25, 0.25, 0.75 ...; the ends are repeated.
  EXPECT_THAT(reference(image, image.full(), desc, 8, 1),
              ElementsAre(0, 25, 75, 125, 175, 160, 80, 40));
  // Halving: centres at 0.5 and 2.5.
  EXPECT_THAT(reference(image, image.full(), desc, 2, 1), ElementsAre(50, 120));
  // 4 -> 3: centres at 1/6, 1.5, 17/6.
  EXPECT_THAT(reference(image, image.full(), desc, 3, 1), ElementsAre(17, 150, 67));
  EXPECT_THAT(reference(image, image.full(), desc, 4, 1), ElementsAre(0, 100, 200, 40));
}

TEST(PreprocessReference, SamplesStayInsideTheRoi) {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  const Image image = gray_row({255, 10, 20, 255});
  EXPECT_THAT(
      reference(image, {1, 0, 2, 1}, desc, 4, 2),
      // 12.5 and 17.5, of which each row's part is cut to quarters: 3.0 + 9.25, 4.25 + 13.0.
      ElementsAre(10, 12, 17, 20, 10, 12, 17, 20));
}

TEST(PreprocessReference, RoiIsClippedToThePicture) {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  const Image image = gray_row({10, 20, 30, 40});
  EXPECT_THAT(reference(image, {-3, -2, 5, 30}, desc, 2, 1), ElementsAre(10, 20));
  EXPECT_THAT(reference(image, {2, 0, 100, 1}, desc, 2, 1), ElementsAre(30, 40));
}

TEST(PreprocessReference, ChromaSampleBelongsToTwoByTwoPixels) {
  Image image = noise_picture(PixelFormat::I420, 3, 3, 1);
  image.range = ColorRange::Full;
  set_plane(image, 0, 100);
  const int u[] = {128, 138, 148, 158};
  for (int i = 0; i < 4; ++i) set_byte(image, 1, i / 2, i % 2, u[i]);
  set_plane(image, 2, 128);
  PreprocessDesc desc;
  desc.color_order = ColorOrder::BGR;
  const std::vector<float> values = reference(image, image.full(), desc, 3, 3);
  const auto blue = [&](int i) {
    return std::round(100.0f + 1.772f * static_cast<float>(u[i] - 128));
  };
  EXPECT_THAT(
      std::vector<float>(values.begin(), values.begin() + 9),
      ElementsAre(blue(0), blue(0), blue(1), blue(0), blue(0), blue(1), blue(2), blue(2), blue(3)));
  // A ROI at an odd position starts in the middle of a chroma sample.
  const std::vector<float> corner = reference(image, {1, 1, 2, 2}, desc, 2, 2);
  EXPECT_THAT(std::vector<float>(corner.begin(), corner.begin() + 4),
              ElementsAre(blue(0), blue(1), blue(2), blue(3)));
}

TEST(PreprocessReference, NormalisesPerChannelAndPads) {
  Image image = noise_picture(PixelFormat::RGB, 4, 2, 1);
  for (int i = 0; i < 8; ++i) {
    for (int color = 0; color < 3; ++color) {
      set_byte(image, 0, i / 4, i % 4 * 3 + color, 51 * (color + 1));
    }
  }
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  desc.resize = ResizeMode::LetterboxCentre;
  desc.range_low = 0.0f;
  desc.range_high = 1.0f;
  desc.mean = {0.2f, 0.5f, 0.0f};
  desc.std = {0.5f, 0.25f, 2.0f};
  desc.pad_value = {0.0f, 255.0f, 127.5f};
  // 4x2 in 2x3: one row of picture between two rows of padding.
  const auto near =
      Pointwise(FloatNear(1e-5f),
                std::vector<float>{-0.4f, -0.4f, 0.0f, 0.0f, -0.4f, -0.4f,    // (p - 0.2) / 0.5
                                   2.0f, 2.0f, -0.4f, -0.4f, 2.0f, 2.0f,      // (p - 0.5) / 0.25
                                   0.25f, 0.25f, 0.3f, 0.3f, 0.25f, 0.25f});  // p / 2
  EXPECT_THAT(reference(image, image.full(), desc, 2, 3), near);
  desc.tensor_layout = Layout::NHWC;
  EXPECT_THAT(reference(image, image.full(), desc, 1, 1),
              Pointwise(FloatNear(1e-5f), std::vector<float>{0.0f, -0.4f, 0.3f}));
}

TEST(PreprocessReference, TypesAndRounding) {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  const Image image = gray_row({10, 13});
  for (const ElementType type :
       {ElementType::Float16, ElementType::BFloat16, ElementType::Float32, ElementType::Float64}) {
    EXPECT_THAT(reference(image, image.full(), desc, 1, 1, type), ElementsAre(12));
  }
  EXPECT_THAT(reference(image, image.full(), desc, 1, 1, ElementType::UInt8), ElementsAre(12));
  desc.mean = {12.0f, 0.0f, 0.0f};
  EXPECT_THAT(reference(image, image.full(), desc, 1, 1, ElementType::UInt8), ElementsAre(0));
  desc.mean = {-250.0f, 0.0f, 0.0f};
  EXPECT_THAT(reference(image, image.full(), desc, 1, 1, ElementType::UInt8), ElementsAre(255));
  desc.mean = {0.0f, 0.0f, 0.0f};
  desc.range_low = -1.0f;
  desc.range_high = 1.0f;
  EXPECT_THAT(reference(gray_row({255, 255}), image.full(), desc, 1, 1), ElementsAre(1.0f));
  EXPECT_THAT(reference(gray_row({0, 0}), image.full(), desc, 1, 1), ElementsAre(-1.0f));
}

}  // namespace
}  // namespace het
