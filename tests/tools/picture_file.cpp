#include "tools/picture_file.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace het {
namespace {

/// A folder of its own, gone afterwards.
class PictureFile : public testing::Test {
 protected:
  PictureFile() {
    std::string pattern = testing::TempDir() + "pictures-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~PictureFile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  /// As OpenCV encodes `mat`; the extension says the format.
  std::string write(const std::string& name, const cv::Mat& mat,
                    const std::vector<int>& parameters = {}) const {
    return write(name, encoded(name, mat, parameters));
  }

  static std::string encoded(const std::string& name, const cv::Mat& mat,
                             const std::vector<int>& parameters = {}) {
    std::vector<uint8_t> bytes;
    EXPECT_TRUE(cv::imencode(name.substr(name.rfind('.')), mat, bytes, parameters)) << name;
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::string folder_;
};

/// Colours without noise, so that JPEG keeps them about; odd sizes.
cv::Mat colours(int channels = 3, int depth = CV_8U) {
  cv::Mat mat(45, 67, CV_MAKETYPE(depth, channels));
  cv::theRNG().state = 7;
  cv::randu(mat, 0, depth == CV_16U ? 65536 : 256);
  cv::blur(mat, mat, {9, 9});
  cv::normalize(mat, mat, 0, depth == CV_16U ? 65535 : 255, cv::NORM_MINMAX);
  return mat;
}

/// The largest difference of a level; 255 for other sizes.
double difference(const Result<Image>& image, const cv::Mat& wanted) {
  if (!image) {
    ADD_FAILURE() << image.error().message();
    return 255.0;
  }
  EXPECT_EQ(image->format, PixelFormat::BGR);
  const cv::Mat mat(image->height, image->width, CV_8UC3, image->planes[0].buffer->host());
  return mat.size() == wanted.size() ? cv::norm(mat, wanted, cv::NORM_INF) : 255.0;
}

/// OpenCV takes libjpeg, as gdk-pixbuf does without glycin, and drops the lower 8 of 16 bits.
bool reads_with_glycin() {
  return dlsym(RTLD_DEFAULT, "gly_loader_new") != nullptr;
}
double jpeg_tolerance() {
  return reads_with_glycin() ? 4.0 : 0.0;
}
double rounding_tolerance() {
  return reads_with_glycin() ? 1.0 : 0.0;
}

void expect_like_opencv(const std::string& file, double tolerance = 0.0) {
  const cv::Mat wanted = cv::imread(file, cv::IMREAD_COLOR);
  ASSERT_FALSE(wanted.empty()) << file;
  EXPECT_LE(difference(read_picture(file), wanted), tolerance) << file;
}

TEST_F(PictureFile, ColoursAreThoseOfOpenCv) {
  for (const char* name : {"a.png", "a.bmp", "a.tiff", "a.ppm"})
    expect_like_opencv(write(name, colours()));
  expect_like_opencv(write("a.jpg", colours()), jpeg_tolerance());
  for (const int quality : {30, 75, 100}) {
    expect_like_opencv(write("q.jpg", colours(), {cv::IMWRITE_JPEG_QUALITY, quality}),
                       jpeg_tolerance());
  }
  expect_like_opencv(write("progressive.jpg", colours(), {cv::IMWRITE_JPEG_PROGRESSIVE, 1}),
                     jpeg_tolerance());
}

TEST_F(PictureFile, GreyBecomesThreeChannels) {
  for (const char* name : {"g.png", "g.bmp", "g.tiff", "g.pgm"})
    expect_like_opencv(write(name, colours(1)));
  expect_like_opencv(write("g.jpg", colours(1)), jpeg_tolerance());
  cv::Mat black_and_white;
  cv::threshold(colours(1), black_and_white, 128, 255, cv::THRESH_BINARY);
  expect_like_opencv(write("b.pbm", black_and_white));
  expect_like_opencv(write("b.png", black_and_white, {cv::IMWRITE_PNG_BILEVEL, 1}));
}

TEST_F(PictureFile, OpacityIsDropped) {
  expect_like_opencv(write("a.png", colours(4)));
}

TEST_F(PictureFile, SixteenBitsBecomeEight) {
  expect_like_opencv(write("a.png", colours(3, CV_16U)), rounding_tolerance());
  expect_like_opencv(write("g.png", colours(1, CV_16U)), rounding_tolerance());
  expect_like_opencv(write("a.tiff", colours(3, CV_16U)), rounding_tolerance());
  // One rounds, the other does not.
  expect_like_opencv(write("a.ppm", colours(3, CV_16U)), 1.0);
}

/// An EXIF part that says nothing but the orientation, behind the start of the JPEG.
std::string with_orientation(std::string jpeg, char orientation) {
  const std::string exif{'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42,          0, 0, 0, 8, 0, 1,
                         1,   18,  0,   3,   0, 0, 0,   1,   0, orientation, 0, 0, 0, 0, 0, 0};
  const std::string head{'\xff', '\xe1', 0, static_cast<char>(exif.size() + 2)};
  return jpeg.insert(2, head + exif);
}

TEST_F(PictureFile, AJpegIsTurnedAsItsExifSays) {
  const std::string jpeg = encoded("a.jpg", colours());
  const cv::Mat upright = cv::imread(write("upright.jpg", jpeg), cv::IMREAD_COLOR);
  for (char orientation = 1; orientation <= 8; ++orientation) {
    const std::string file = write("turned.jpg", with_orientation(jpeg, orientation));
    expect_like_opencv(file, jpeg_tolerance());
    EXPECT_EQ(difference(read_picture(file), upright) <= jpeg_tolerance(), orientation == 1)
        << +orientation;
  }
}

TEST_F(PictureFile, AGifGivesItsFirstPicture) {
  // 2 x 1 pixels, red and blue: codes of three bits, 4 (clear), 1, 2, 5 (end).
  const std::string gif{'G', 'I', 'F',    '8', '9', 'a', 2, 0,      1, 0,      '\x91', 0,   0,  0,
                        0,   0,   '\xff', 0,   0,   0,   0, '\xff', 0, 0,      0,      ',', 0,  0,
                        0,   0,   2,      0,   1,   0,   0, 2,      2, '\x8c', '\x0a', 0,   ';'};
  const cv::Mat wanted = (cv::Mat_<cv::Vec3b>(1, 2) << cv::Vec3b(0, 0, 255), cv::Vec3b(255, 0, 0));
  EXPECT_EQ(difference(read_picture(write("a.gif", gif)), wanted), 0.0);
}

TEST_F(PictureFile, WebPIsReadWhereItsLoaderIs) {
  const std::string file = write("a.webp", colours(), {cv::IMWRITE_WEBP_QUALITY, 101});
  const auto image = read_picture(file);
  if (!image && image.error().message().find(" webp,") == std::string::npos)
    GTEST_SKIP() << "gdk-pixbuf has no loader for WebP here (webp-pixbuf-loader): "
                 << image.error().message();
  expect_like_opencv(file);
}

TEST_F(PictureFile, AnUnknownFormatIsToldWithThoseThatAreRead) {
  const std::string file = write("a.jpg", std::string("no picture at all, and long enough"));
  const auto image = read_picture(file);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), StatusCode::ParseError);
  for (const char* part : {file.c_str(), "jpeg", "png", "bmp", "tiff", "gif", "pnm", "webp"})
    EXPECT_NE(image.error().message().find(part), std::string::npos) << image.error().message();
}

TEST_F(PictureFile, WhatIsNotThereOrEmptyOrAFolderIsAnError) {
  const auto missing = read_picture(path("none.png"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::NotFound);
  for (const std::string& file : {write("empty.png", std::string()), path("")}) {
    const auto image = read_picture(file);
    ASSERT_FALSE(image);
    EXPECT_NE(image.error().message().find(file), std::string::npos) << image.error().message();
  }
}

TEST_F(PictureFile, WhatEndsEarlyIsAnError) {
  for (const char* name : {"a.png", "a.bmp", "a.tiff", "a.ppm", "a.webp"}) {
    const std::string whole = encoded(name, colours());
    for (const double part : {0.05, 0.5, 0.9, 0.99}) {
      const std::string file = write(
          name, whole.substr(0, static_cast<size_t>(static_cast<double>(whole.size()) * part)));
      const auto image = read_picture(file);
      ASSERT_FALSE(image) << name << " " << part;
      EXPECT_NE(image.error().message().find(file), std::string::npos) << image.error().message();
    }
  }
}

TEST_F(PictureFile, OfAJpegThatEndsEarlyTheBeginningIsRead) {
  const std::string whole = encoded("a.jpg", colours());
  const std::string file = write("half.jpg", whole.substr(0, whole.size() / 2));
  if (!reads_with_glycin()) {
    expect_like_opencv(file);
    return;
  }
  // Where it ends decoders differ: the blocks of that row, and what is interpolated beside them.
  const cv::Mat wanted = cv::imread(file, cv::IMREAD_COLOR);
  const auto image = read_picture(file);
  ASSERT_TRUE(image) << image.error().message();
  const cv::Mat read(image->height, image->width, CV_8UC3, image->planes[0].buffer->host());
  ASSERT_EQ(read.size(), wanted.size());
  const cv::Mat whole_picture = cv::imread(write("whole.jpg", whole), cv::IMREAD_COLOR);
  constexpr int kBegun = 14;
  constexpr int kMissing = 34;
  EXPECT_LE(cv::norm(read.rowRange(0, kBegun), whole_picture.rowRange(0, kBegun), cv::NORM_INF),
            jpeg_tolerance());
  const cv::Mat grey(read.rows - kMissing, read.cols, CV_8UC3, cv::Scalar::all(128));
  EXPECT_EQ(cv::norm(read.rowRange(kMissing, read.rows), grey, cv::NORM_INF), 0.0);
}

TEST_F(PictureFile, AHeaderThatPromisesTooMuchIsAnErrorBeforeMemoryIsTaken) {
  // The header's width and height; OpenCV's reader does not check the sum behind it, ours does.
  const std::string png = encoded("a.png", colours());
  const auto with_sides = [&](uint32_t width, uint32_t height) {
    std::string changed = png;
    for (size_t i = 0; i < 4; ++i) {
      changed[16 + i] = static_cast<char>(width >> (24 - 8 * i));
      changed[20 + i] = static_cast<char>(height >> (24 - 8 * i));
    }
    uint32_t sum = ~0u;
    for (size_t i = 12; i < 29; ++i) {
      sum ^= static_cast<uint8_t>(changed[i]);
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0u);
    }
    for (size_t i = 0; i < 4; ++i) changed[29 + i] = static_cast<char>(~sum >> (24 - 8 * i));
    return changed;
  };
  expect_like_opencv(write("same.png", with_sides(67, 45)));
  for (const auto& [width, height] : {std::pair{100000u, 100000u}, {1000000u, 300u}}) {
    const auto image = read_picture(write("huge.png", with_sides(width, height)));
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().code(), StatusCode::NotSupported) << image.error().message();
    EXPECT_NE(image.error().message().find(std::to_string(width) + " x " + std::to_string(height)),
              std::string::npos)
        << image.error().message();
  }
  const std::string file = write("huge.ppm", std::string("P6\n100000 100000\n255\n") + "abc");
  const auto image = read_picture(file);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code(), StatusCode::NotSupported) << image.error().message();
}

}  // namespace
}  // namespace het
