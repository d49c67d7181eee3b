#include "inference/tensors/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace het {
namespace {

using ::testing::HasSubstr;

constexpr PixelFormat kFormats[] = {PixelFormat::NV12, PixelFormat::I420, PixelFormat::RGB,
                                    PixelFormat::BGR,  PixelFormat::RGBx, PixelFormat::BGRx,
                                    PixelFormat::RGBA, PixelFormat::BGRA, PixelFormat::RGBP,
                                    PixelFormat::BGRP, PixelFormat::GRAY8};

TEST(PixelFormats, NamesGoBothWays) {
  for (const PixelFormat format : kFormats) {
    const auto parsed = parse_pixel_format(to_string(format));
    ASSERT_TRUE(parsed.has_value()) << to_string(format);
    EXPECT_EQ(*parsed, format);
  }
  EXPECT_EQ(to_string(PixelFormat::NV12), "NV12");
  EXPECT_EQ(to_string(PixelFormat::GRAY8), "GRAY8");
}

TEST(PixelFormats, UnknownNameListsTheValidOnes) {
  for (const char* name : {"", "nv12", "AYUV", "NV12 "}) {
    const auto parsed = parse_pixel_format(name);
    ASSERT_FALSE(parsed.has_value()) << name;
    EXPECT_EQ(parsed.error().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(parsed.error().message(), HasSubstr(fmt::format("'{}'", name)));
    EXPECT_THAT(parsed.error().message(), HasSubstr("NV12, I420, RGB"));
  }
}

TEST(PixelFormats, PlanesOfOddSizes) {
  struct Expected {
    PixelFormat format;
    int planes;
    std::array<int64_t, 3> row_bytes;  // at width 7
    std::array<int, 3> rows;           // at height 5
  };
  const Expected expected[] = {
      {PixelFormat::NV12, 2, {7, 8, 0}, {5, 3, 0}},  {PixelFormat::I420, 3, {7, 4, 4}, {5, 3, 3}},
      {PixelFormat::RGB, 1, {21, 0, 0}, {5, 0, 0}},  {PixelFormat::BGR, 1, {21, 0, 0}, {5, 0, 0}},
      {PixelFormat::RGBx, 1, {28, 0, 0}, {5, 0, 0}}, {PixelFormat::BGRx, 1, {28, 0, 0}, {5, 0, 0}},
      {PixelFormat::RGBA, 1, {28, 0, 0}, {5, 0, 0}}, {PixelFormat::BGRA, 1, {28, 0, 0}, {5, 0, 0}},
      {PixelFormat::RGBP, 3, {7, 7, 7}, {5, 5, 5}},  {PixelFormat::BGRP, 3, {7, 7, 7}, {5, 5, 5}},
      {PixelFormat::GRAY8, 1, {7, 0, 0}, {5, 0, 0}},
  };
  for (const Expected& e : expected) {
    SCOPED_TRACE(to_string(e.format));
    ASSERT_EQ(plane_count(e.format), e.planes);
    for (int p = 0; p < e.planes; ++p) {
      EXPECT_EQ(plane_row_bytes(e.format, p, 7), e.row_bytes[static_cast<size_t>(p)]);
      EXPECT_EQ(plane_rows(e.format, p, 5), e.rows[static_cast<size_t>(p)]);
    }
  }
}

TEST(RectClip, KeepsWhatIsInside) {
  EXPECT_EQ(clip({2, 3, 4, 5}, 10, 10), (Rect{2, 3, 4, 5}));
  EXPECT_EQ(clip({-2, -3, 4, 5}, 10, 10), (Rect{0, 0, 2, 2}));
  EXPECT_EQ(clip({8, 7, 4, 5}, 10, 10), (Rect{8, 7, 2, 3}));
  EXPECT_EQ(clip({-5, -5, 100, 100}, 10, 8), (Rect{0, 0, 10, 8}));
}

TEST(RectClip, NothingInsideIsEmpty) {
  for (const Rect rect : {Rect{10, 0, 5, 5}, Rect{0, 10, 5, 5}, Rect{-5, 0, 5, 5}, Rect{2, 2, 0, 0},
                          Rect{4, 4, -3, 2}}) {
    const Rect clipped = clip(rect, 10, 10);
    EXPECT_TRUE(clipped.width == 0 || clipped.height == 0);
    EXPECT_GE(clipped.width, 0);
    EXPECT_GE(clipped.height, 0);
  }
}

TEST(RectClip, ExtremeValuesDoNotOverflow) {
  const int lowest = std::numeric_limits<int>::min();
  const int highest = std::numeric_limits<int>::max();
  EXPECT_EQ(clip({5, 5, highest, highest}, 10, 10), (Rect{5, 5, 5, 5}));
  EXPECT_EQ(clip({highest, highest, highest, highest}, 10, 10).width, 0);
  EXPECT_EQ(clip({lowest, lowest, lowest, lowest}, 10, 10).width, 0);
  EXPECT_EQ(clip({lowest, lowest, highest, highest}, 10, 10).height, 0);
}

TEST(HostImage, AllocatesPlanesOneAfterTheOther) {
  const auto image = make_host_image(PixelFormat::I420, 7, 5);
  ASSERT_TRUE(image.has_value()) << image.error().message();
  EXPECT_EQ(image->plane_count, 3);
  EXPECT_EQ(image->planes[0].stride_bytes, 7);
  EXPECT_EQ(image->planes[1].stride_bytes, 4);
  EXPECT_EQ(image->planes[1].offset, 35u);
  EXPECT_EQ(image->planes[2].offset, 47u);
  EXPECT_GE(image->planes[0].buffer->size_bytes(), 59u);
  EXPECT_EQ(image->planes[0].buffer, image->planes[2].buffer);
  EXPECT_EQ(image->plane(1), image->plane(0) + 35);
  EXPECT_EQ(image->full(), (Rect{0, 0, 7, 5}));
  EXPECT_EQ(image->memory_kind(), MemoryKind::Host);
}

TEST(HostImage, PadsRows) {
  const auto image = make_host_image(PixelFormat::NV12, 7, 5, nullptr, 16);
  ASSERT_TRUE(image.has_value()) << image.error().message();
  EXPECT_EQ(image->planes[0].stride_bytes, 16);
  EXPECT_EQ(image->planes[1].stride_bytes, 16);
  EXPECT_EQ(image->planes[1].offset, 80u);
}

TEST(HostImage, TakesMemoryOfTheCaller) {
  std::array<std::byte, 24> memory{};
  bool released = false;
  {
    const auto image = make_host_image(
        PixelFormat::NV12, 4, 4,
        wrap_host_memory(memory.data(), memory.size(), [&released] { released = true; }));
    ASSERT_TRUE(image.has_value()) << image.error().message();
    EXPECT_EQ(image->plane(0), memory.data());
    EXPECT_EQ(image->plane(1), memory.data() + 16);
    const Image copy = *image;
    EXPECT_EQ(copy.plane(0), memory.data());
    EXPECT_FALSE(released);
  }
  EXPECT_TRUE(released);
  EXPECT_FALSE(make_host_image(PixelFormat::NV12, 4, 4, wrap_host_memory(memory.data(), 23)));
}

TEST(HostImage, ImpossibleSizes) {
  const int highest = std::numeric_limits<int>::max();
  for (const auto& [width, height] :
       {std::pair{0, 4}, {4, 0}, {-1, 4}, {4, -1}, {highest, 4}, {4, highest}, {65537, 1}}) {
    const auto image = make_host_image(PixelFormat::NV12, width, height);
    ASSERT_FALSE(image.has_value()) << width << "x" << height;
    EXPECT_EQ(image.error().code(), StatusCode::InvalidArgument);
  }
  EXPECT_FALSE(make_host_image(PixelFormat::NV12, 4, 4, nullptr, 0).has_value());
}

class ImageValidate : public ::testing::Test {
 protected:
  void expect_refused(const std::string& text) const {
    const Status status = validate(image_);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }
  Image image_ = make_host_image(PixelFormat::NV12, 8, 6).value();
};

TEST_F(ImageValidate, AcceptsItsOwn) {
  EXPECT_TRUE(validate(image_).ok());
}

TEST_F(ImageValidate, SizesAndPlaneCount) {
  image_.plane_count = 3;
  expect_refused("a NV12 picture has 2 planes, not 3");
  image_.plane_count = 2;
  image_.width = 0;
  expect_refused("0x6");
  image_.width = 8;
  image_.height = -6;
  expect_refused("8x-6");
}

TEST_F(ImageValidate, MissingMemory) {
  image_.planes[1].buffer = nullptr;
  expect_refused("plane 1");
}

TEST_F(ImageValidate, PlanesOutsideTheirBuffer) {
  const Image good = image_;
  image_.planes[0].stride_bytes = 7;
  expect_refused("stride 7");
  image_ = good;
  image_.planes[0].stride_bytes = -8;
  expect_refused("stride -8");
  image_ = good;
  image_.planes[1].offset += 1;
  expect_refused("plane 1");
  image_ = good;
  image_.planes[1].offset = std::numeric_limits<size_t>::max();
  expect_refused("plane 1");
  image_ = good;
  image_.planes[0].stride_bytes = std::numeric_limits<int64_t>::max();
  expect_refused("plane 0");
  image_ = good;
  image_.height = 60000;
  expect_refused("plane 0");
}

TEST_F(ImageValidate, LeavesTheLayoutOfSurfacesToTheirOwner) {
  class SurfaceBuffer : public Buffer {
   public:
    SurfaceBuffer() : Buffer(MemoryKind::VaSurface, 0, nullptr, VaSurfaceHandle{}) {}
  };
  const auto surface = std::make_shared<SurfaceBuffer>();
  for (int p = 0; p < 2; ++p) image_.planes[static_cast<size_t>(p)].buffer = surface;
  EXPECT_TRUE(validate(image_).ok());
  EXPECT_EQ(image_.memory_kind(), MemoryKind::VaSurface);
  EXPECT_EQ(image_.plane(0), nullptr);
}

}  // namespace
}  // namespace het
