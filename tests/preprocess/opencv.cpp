// Against OpenCV, whose users expect the same pixels.
#include <gtest/gtest.h>

#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "inference/preprocess/preprocess.h"
#include "tests/preprocess/test_pictures.h"

namespace het {
namespace {

using preprocess_tests::noise_picture;
using preprocess_tests::picture_tensor;
using preprocess_tests::plane_bytes;

cv::Mat plane_of(const Image& image, int plane, int rows, int columns, int type) {
  return cv::Mat(rows, columns, type, plane_bytes(image, plane),
                 static_cast<size_t>(image.planes[static_cast<size_t>(plane)].stride_bytes));
}

double largest_level(const Tensor& tensor, const cv::Mat& picture) {
  const auto values = to_float_vector(tensor);
  const cv::Mat dense = picture.clone();
  EXPECT_EQ(values->size(), dense.total() * static_cast<size_t>(dense.channels()));
  double largest = 0.0;
  for (size_t i = 0; i < values->size(); ++i) {
    largest = std::max<double>(largest, std::abs((*values)[i] - dense.data[i]));
  }
  return largest;
}

TEST(PreprocessLikeOpenCv, BgrStretchIsResizeLinearBitForBit) {
  const Image image = noise_picture(PixelFormat::BGR, 123, 77, 1);
  const cv::Mat source = plane_of(image, 0, 77, 123, CV_8UC3);
  PreprocessDesc desc;
  desc.tensor_layout = Layout::NHWC;
  for (const Rect roi : {image.full(), Rect{7, 5, 61, 40}, Rect{100, 60, 23, 17}}) {
    for (const auto& [width, height] :
         {std::pair{64, 48}, {123, 77}, {300, 200}, {61, 20}, {31, 31}, {17, 90}, {30, 20}}) {
      cv::Mat resized;
      cv::resize(source(cv::Rect(roi.x, roi.y, roi.width, roi.height)), resized, {width, height}, 0,
                 0, cv::INTER_LINEAR);
      Tensor bytes = picture_tensor(desc, ElementType::UInt8, width, height);
      ASSERT_TRUE(preprocess(image, roi, desc, bytes).ok());
      EXPECT_EQ(largest_level(bytes, resized), 0.0) << width << "x" << height;
      Tensor floats = picture_tensor(desc, ElementType::Float32, width, height);
      ASSERT_TRUE(preprocess(image, roi, desc, floats).ok());
      EXPECT_EQ(largest_level(floats, resized), 0.0) << width << "x" << height;
    }
  }
}

TEST(PreprocessLikeOpenCv, Nv12IsColorThenResize) {
  Image image = noise_picture(PixelFormat::NV12, 120, 80, 2);
  // Below black OpenCV clamps the luma before it adds the chroma; the standards do not.
  uint8_t* const luma = plane_bytes(image, 0);
  for (int i = 0; i < 120 * 80; ++i) luma[i] = std::max<uint8_t>(luma[i], 16);
  cv::Mat rgb;
  cv::cvtColorTwoPlane(plane_of(image, 0, 80, 120, CV_8UC1), plane_of(image, 1, 40, 60, CV_8UC2),
                       rgb, cv::COLOR_YUV2RGB_NV12);
  PreprocessDesc desc;
  desc.tensor_layout = Layout::NHWC;
  desc.color_order = ColorOrder::RGB;
  for (const auto& [width, height] : {std::pair{120, 80}, {64, 48}, {200, 160}}) {
    cv::Mat resized;
    cv::resize(rgb, resized, {width, height}, 0, 0, cv::INTER_LINEAR);
    Tensor tensor = picture_tensor(desc, ElementType::Float32, width, height);
    ASSERT_TRUE(preprocess(image, image.full(), desc, tensor).ok());
    // The coefficients of the colours differ in the fourth digit.
    EXPECT_LE(largest_level(tensor, resized), 1.0) << width << "x" << height;
  }
}

TEST(PreprocessLikeOpenCv, GrayIsCvtColor) {
  const Image image = noise_picture(PixelFormat::BGRA, 90, 50, 3);
  cv::Mat gray;
  cv::cvtColor(plane_of(image, 0, 50, 90, CV_8UC4), gray, cv::COLOR_BGRA2GRAY);
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  Tensor tensor = picture_tensor(desc, ElementType::UInt8, 90, 50);
  ASSERT_TRUE(preprocess(image, image.full(), desc, tensor).ok());
  EXPECT_LE(largest_level(tensor, gray), 1.0);  // OpenCV's coefficients have 14 binary digits
}

}  // namespace
}  // namespace het
