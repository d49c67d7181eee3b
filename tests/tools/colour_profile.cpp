#include "tools/colour_profile.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tools/picture_file.h"

namespace het {
namespace {

std::string big(uint32_t value, size_t bytes = 4) {
  std::string text;
  for (size_t i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string little(uint32_t value, size_t bytes = 4) {
  const std::string text = big(value, bytes);
  return {text.rbegin(), text.rend()};
}

/// Colours of Adobe RGB with a linear scale, far from sRGB.
std::string profile() {
  const auto xyz = [](double x, double y, double z) {
    std::string text = "XYZ " + big(0);
    for (const double value : {x, y, z}) text += big(static_cast<uint32_t>(value * 65536 + 0.5));
    return text;
  };
  const std::string linear = "curv" + big(0) + big(1) + big(256, 2) + big(0, 2);
  const std::vector<std::pair<std::string, std::string>> tags = {
      {"desc", "desc" + big(0) + big(2) + "x" + std::string(80, '\0')},
      {"cprt", "text" + big(0) + "x" + std::string(3, '\0')},
      {"wtpt", xyz(0.9642, 1.0, 0.8249)},
      {"rXYZ", xyz(0.60974, 0.31111, 0.01947)},
      {"gXYZ", xyz(0.20528, 0.62567, 0.06087)},
      {"bXYZ", xyz(0.14919, 0.06322, 0.74457)},
      {"rTRC", linear},
      {"gTRC", linear},
      {"bTRC", linear}};
  std::string table = big(static_cast<uint32_t>(tags.size()));
  std::string content;
  for (auto [name, data] : tags) {
    data.resize((data.size() + 3) / 4 * 4);
    table += name + big(static_cast<uint32_t>(132 + 12 * tags.size() + content.size())) +
             big(static_cast<uint32_t>(data.size()));
    content += data;
  }
  std::string header = big(static_cast<uint32_t>(128 + table.size() + content.size())) + "lcms" +
                       big(0x02100000) + "mntrRGB XYZ " + big(2020, 2) + big(1, 2) + big(1, 2) +
                       big(0, 2) + big(0, 2) + big(0, 2) + "acspAPPL" + std::string(24, '\0') +
                       xyz(0.9642, 1.0, 0.8249).substr(8);
  header.resize(128);
  return header + table + content;
}

/// A picture, and the same with a profile.
struct ProfiledPicture {
  std::string plain;
  std::string with_profile;
};

std::string of_opencv(const std::string& extension, const std::vector<int>& parameters = {}) {
  std::vector<uint8_t> bytes;
  const cv::Mat mat(16, 16, CV_8UC3, cv::Scalar(60, 120, 200));
  EXPECT_TRUE(cv::imencode(extension, mat, bytes, parameters));
  return {bytes.begin(), bytes.end()};
}

/// In two segments, the second behind the one that says how the picture is coded.
ProfiledPicture jpeg() {
  const auto segment = [](char number, const std::string& part) {
    const std::string content = std::string("ICC_PROFILE\0", 12) + number + '\2' + part;
    return "\xff\xe2" + big(static_cast<uint32_t>(content.size() + 2), 2) + content;
  };
  const std::string plain = of_opencv(".jpg");
  const size_t frame = plain.find("\xff\xc0");
  std::string changed = plain;
  changed.insert(frame, segment(2, profile().substr(100)));
  changed.insert(2, segment(1, profile().substr(0, 100)));
  return {plain, changed};
}

ProfiledPicture png() {
  const std::string text = profile();
  std::vector<uint8_t> packed(compressBound(text.size()));
  uLongf size = packed.size();
  EXPECT_EQ(
      compress(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()), text.size()),
      Z_OK);
  const std::string chunk =
      std::string("iCCPx\0\0", 7) +
      std::string(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
  const std::string plain = of_opencv(".png");
  std::string changed = plain;
  changed.insert(
      33, big(static_cast<uint32_t>(chunk.size() - 4)) + chunk + big(static_cast<uint32_t>(sum)));
  return {plain, changed};
}

ProfiledPicture webp() {
  const std::string pixels = of_opencv(".webp", {cv::IMWRITE_WEBP_QUALITY, 101}).substr(12);
  const auto file = [&](char flags, const std::string& chunk) {
    const std::string content = std::string("WEBPVP8X") + little(10) + flags + little(0, 3) +
                                little(15, 3) + little(15, 3) + chunk + pixels;
    return "RIFF" + little(static_cast<uint32_t>(content.size())) + content;
  };
  std::string text = profile() + "x";  // of odd length
  const std::string head = "ICCP" + little(static_cast<uint32_t>(text.size()));
  return {file(0, ""), file(0x20, head + text + '\0')};
}

TEST(ColourProfile, IsAllThatIsRemoved) {
  for (const ProfiledPicture& pair : {jpeg(), png(), webp()}) {
    std::string changed = pair.with_profile;
    EXPECT_TRUE(remove_colour_profile(changed));
    EXPECT_TRUE(changed == pair.plain);
    EXPECT_FALSE(remove_colour_profile(changed));
    EXPECT_TRUE(changed == pair.plain);
  }
  for (const char* extension : {".bmp", ".tiff"}) {
    std::string other = of_opencv(extension);
    EXPECT_FALSE(remove_colour_profile(other));
    EXPECT_TRUE(other == of_opencv(extension));
  }
}

TEST(ColourProfile, WhateverAFileEndsWith) {
  for (const ProfiledPicture& pair : {jpeg(), png(), webp()}) {
    for (size_t size = 0; size < pair.with_profile.size(); ++size) {
      std::string part = pair.with_profile.substr(0, size);
      const bool removed = remove_colour_profile(part);
      EXPECT_EQ(removed, part.size() < size) << size;
    }
  }
}

TEST(ColourProfile, LevelsOfAPictureAreThoseOfItsFile) {
  std::string folder = testing::TempDir() + "profiles-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto read = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    return read_picture(folder + "/" + name);
  };
  std::string without_loader;
  for (const auto& [name, pair] :
       {std::pair{"a.jpg", jpeg()}, std::pair{"a.png", png()}, std::pair{"a.webp", webp()}}) {
    const auto plain = read(name, pair.plain);
    if (!plain && name == std::string("a.webp")) {
      without_loader = plain.error().message();
      continue;
    }
    ASSERT_TRUE(plain) << plain.error().message();
    const auto managed = read(name, pair.with_profile);
    ASSERT_TRUE(managed) << managed.error().message();
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(managed->planes[0].buffer->host()[i], plain->planes[0].buffer->host()[i]) << name;
    }
  }
  std::filesystem::remove_all(folder);
  if (!without_loader.empty()) {
    GTEST_SKIP() << "WebP (webp-pixbuf-loader) is not read here: " << without_loader;
  }
}

}  // namespace
}  // namespace het
