/// Surfaces of the test driver as pictures: what is mapped, copied, scaled and given back.

#include <gtest/gtest.h>

#include <random>

#include "devices/register_devices.h"
#include "inference/preprocess/preprocess.h"
#include "tests/va/test_display.h"

namespace het {
namespace {

using va_test::MappedSurface;
using va_test::TestDisplay;

class VaSurfaces : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!display_.problem().empty()) GTEST_SKIP() << display_.problem();
    images_before_ = display_.counters().images;
    surfaces_before_ = display_.counters().surfaces;
    access_ = *surface_access(display_.get(), [this] { is_released_ = true; });
  }

  /// A surface of noise and the same picture in host memory.
  VASurfaceID make_surface(PixelFormat format, uint32_t fourcc, int width, int height) {
    VASurfaceAttrib attribute{};
    attribute.type = VASurfaceAttribPixelFormat;
    attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
    attribute.value.type = VAGenericValueTypeInteger;
    attribute.value.value.i = static_cast<int>(fourcc);
    VASurfaceID surface = VA_INVALID_SURFACE;
    EXPECT_EQ(vaCreateSurfaces(display_.get(), VA_RT_FORMAT_YUV420, static_cast<unsigned>(width),
                               static_cast<unsigned>(height), &surface, 1, &attribute, 1),
              VA_STATUS_SUCCESS);
    surfaces_.push_back(surface);
    host_ = *make_host_image(format, width, height);
    std::mt19937 random(1);
    const MappedSurface mapped(display_.get(), surface);
    EXPECT_TRUE(mapped.ok());
    for (int p = 0; p < host_.plane_count; ++p) {
      for (int y = 0; y < plane_rows(format, p, height); ++y) {
        const ImagePlane& plane = host_.planes[static_cast<size_t>(p)];
        auto* row = reinterpret_cast<uint8_t*>(plane.buffer->host() + plane.offset) +
                    y * plane.stride_bytes;
        const auto bytes = static_cast<int>(plane_row_bytes(format, p, width));
        for (int x = 0; x < bytes; ++x) row[x] = static_cast<uint8_t>(80 + (random() >> 26));
        std::copy_n(row, bytes, mapped.row(p, y));
      }
    }
    return surface;
  }
  Result<Image> wrap(VASurfaceID surface) {
    return access_->wrap({surface, host_.format, host_.width, host_.height},
                         [this] { ++given_back_; });
  }
  std::vector<float> converted(const Image& image, int width, int height) {
    auto tensor = *Tensor::allocate({ElementType::Float32, {1, 3, height, width}, Layout::NCHW});
    status_ = preprocess(image, image.full(), PreprocessDesc(), tensor);
    return status_.ok() ? *to_float_vector(tensor) : std::vector<float>();
  }
  /// Lets go of everything; nothing may be left in the driver.
  void expect_nothing_left() {
    access_.reset();
    EXPECT_TRUE(is_released_);
    vaDestroySurfaces(display_.get(), surfaces_.data(), static_cast<int>(surfaces_.size()));
    EXPECT_EQ(display_.counters().images, images_before_);
    EXPECT_EQ(display_.counters().surfaces, surfaces_before_);
  }

  TestDisplay display_;
  std::shared_ptr<SurfaceAccess> access_;
  std::vector<VASurfaceID> surfaces_;
  Image host_;
  Status status_;
  int given_back_ = 0;
  bool is_released_ = false;
  int images_before_ = 0;
  int surfaces_before_ = 0;
};

TEST_F(VaSurfaces, AreMappedWhereTheyAre) {
  for (const auto& [format, fourcc] : {std::pair{PixelFormat::NV12, VA_FOURCC_NV12},
                                       {PixelFormat::RGBP, VA_FOURCC_RGBP},
                                       {PixelFormat::BGRx, VA_FOURCC_BGRX}}) {
    SCOPED_TRACE(to_string(format));
    const VASurfaceID surface = make_surface(format, static_cast<uint32_t>(fourcc), 70, 50);
    given_back_ = 0;
    const int mapped = display_.counters().mapped;
    {
      const auto image = wrap(surface);
      ASSERT_TRUE(image) << image.error().message();
      EXPECT_EQ(image->memory_kind(), MemoryKind::VaSurface);
      EXPECT_EQ(display_.counters().mapped, mapped) << "nobody has asked for the content";
      EXPECT_EQ(converted(*image, 33, 21), converted(host_, 33, 21));
      EXPECT_TRUE(status_.ok()) << status_.message();
      EXPECT_EQ(display_.counters().mapped, mapped + 1);
      EXPECT_EQ(given_back_, 0);
    }
    EXPECT_EQ(given_back_, 1);
  }
  EXPECT_EQ(access_->counts().mapped, 3u);
  EXPECT_EQ(access_->counts().copied, 0u);
  expect_nothing_left();
}

TEST_F(VaSurfaces, ThatCannotBeDerivedAreCopiedOnce) {
  const VASurfaceID surface = make_surface(PixelFormat::NV12, VA_FOURCC_NV12, 70, 50);
  display_.faults().no_derive = true;
  {
    const auto image = wrap(surface);
    ASSERT_TRUE(image) << image.error().message();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(converted(*image, 33, 21), converted(host_, 33, 21));
  }
  EXPECT_EQ(access_->counts().copied, 1u);
  EXPECT_EQ(access_->counts().mapped, 0u);
  const auto again = wrap(surface);
  EXPECT_EQ(converted(*again, 33, 21), converted(host_, 33, 21));
  EXPECT_EQ(display_.counters().images, images_before_ + 1) << "the image is used again";
  EXPECT_EQ(access_->counts().copied, 2u);
}

TEST_F(VaSurfaces, AFailureIsOneClearErrorAndGivesTheSurfaceBack) {
  const VASurfaceID surface = make_surface(PixelFormat::NV12, VA_FOURCC_NV12, 70, 50);
  {
    const auto image = wrap(surface);
    display_.faults().no_map = true;
    EXPECT_TRUE(converted(*image, 33, 21).empty());
    EXPECT_NE(status_.message().find("map an image"), std::string::npos) << status_.message();
    display_.faults().no_map = false;
    EXPECT_EQ(converted(*image, 33, 21), converted(host_, 33, 21)) << "it works again";
    display_.faults().lost = true;
    EXPECT_TRUE(converted(*image, 33, 21).empty());
    EXPECT_EQ(status_.code(), StatusCode::DeviceLost);
    EXPECT_FALSE(access_->scale(*image, image->full(), 16, 16, ScaleQuality::Normal));
    display_.faults().lost = false;
  }
  EXPECT_EQ(given_back_, 1);
  EXPECT_TRUE(converted(*wrap(0x7fff), 33, 21).empty()) << "no such surface";
  expect_nothing_left();
}

/// Mean difference of levels.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) sum += std::abs(a[i] - b[i]);
  return a.size() == b.size() && !a.empty() ? sum / static_cast<double>(a.size()) : 255.0;
}

TEST_F(VaSurfaces, TheVideoProcessorScalesWhatTheModelIsShown) {
  const VASurfaceID surface = make_surface(PixelFormat::NV12, VA_FOURCC_NV12, 96, 64);
  auto tensor = *Tensor::allocate({ElementType::Float32, {1, 3, 24, 32}, Layout::NCHW});
  const Rect part{16, 8, 64, 48};
  ASSERT_TRUE(preprocess(host_, part, PreprocessDesc(), tensor).ok());
  for (const bool defer : {true, false}) {
    display_.faults().defer = defer;
    display_.faults().slow_ms = defer ? 20 : 0;
    given_back_ = 0;
    {
      auto image = wrap(surface);
      const auto scaled = access_->scale(*image, part, 32, 24, ScaleQuality::Normal);
      ASSERT_TRUE(scaled) << scaled.error().message();
      EXPECT_EQ(scaled->format, PixelFormat::RGBP);
      *image = Image();
      EXPECT_EQ(given_back_, 0) << "the video processor may still read it";
      EXPECT_LT(difference(converted(*scaled, 32, 24), *to_float_vector(tensor)), 1.0);
      EXPECT_EQ(given_back_, 1) << "it has been read";
    }
  }
  EXPECT_EQ(access_->counts().scaled, 2u);
  EXPECT_EQ(access_->counts().copied, 0u);
  expect_nothing_left();
}

TEST_F(VaSurfaces, AScaledPictureThatNobodyReadsKeepsItsSourceUntilItIsWritten) {
  const VASurfaceID surface = make_surface(PixelFormat::NV12, VA_FOURCC_NV12, 96, 64);
  display_.faults().defer = true;
  const int synced = display_.counters().synced;
  { ASSERT_TRUE(access_->scale(*wrap(surface), {0, 0, 96, 64}, 32, 24, ScaleQuality::Normal)); }
  EXPECT_GT(display_.counters().synced, synced);
  EXPECT_EQ(given_back_, 1);
  expect_nothing_left();
}

TEST_F(VaSurfaces, AnImportWaitsForTheVideoProcessor) {
  const VASurfaceID surface = make_surface(PixelFormat::NV12, VA_FOURCC_NV12, 96, 64);
  display_.faults().defer = true;
  const auto scaled = access_->scale(*wrap(surface), {0, 0, 96, 64}, 32, 24, ScaleQuality::Normal);
  ASSERT_TRUE(scaled);
  EXPECT_EQ(given_back_, 0);
  ASSERT_TRUE(dynamic_cast<SurfaceBuffer&>(*scaled->planes[0].buffer).begin_import().ok());
  EXPECT_EQ(given_back_, 1);
  EXPECT_EQ(access_->counts().imported, 1u);
  EXPECT_EQ(access_->counts().mapped, 0u);
}

TEST_F(VaSurfaces, ADriverWithoutVideoProcessorSaysSo) {
  display_.faults().no_processor = true;
  const Status status = access_->can_scale();
  EXPECT_EQ(status.code(), StatusCode::NotSupported);
  EXPECT_NE(status.message().find("video processor"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace het
