#include "inference/readers/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace het {
namespace {

constexpr size_t kBytes = size_t{8} << 20;

/// Resident pages of mapped files, from /proc/self/status.
int64_t resident_file_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssFile:", 0) == 0) return std::stoll(line.substr(8));
  }
  return -1;
}

std::byte expected(size_t i) {
  return static_cast<std::byte>(i * 2654435761u >> 24);
}

bool is_intact(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != expected(i)) return false;
  }
  return true;
}

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("het_mapped_" + std::to_string(getpid()));
    content_.resize(kBytes);
    for (size_t i = 0; i < kBytes; ++i) content_[i] = expected(i);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(content_.data()), kBytes);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
  std::vector<std::byte> content_;
};

TEST_F(MappedFileTest, ReleasedPagesAreReadAgain) {
  const auto file = *MappedFile::open(path_.string());
  ASSERT_TRUE(is_intact(file->bytes()));
  const int64_t before = resident_file_kib();
  release_file_pages(file->bytes());
  EXPECT_LE(resident_file_kib(), before - static_cast<int64_t>(kBytes / 1024 / 2));
  EXPECT_TRUE(is_intact(file->bytes()));
  // A part that starts and ends inside pages.
  release_file_pages(file->bytes().subspan(12345, kBytes / 2));
  EXPECT_TRUE(is_intact(file->bytes()));
}

TEST_F(MappedFileTest, AWholeFileIsReleasedByAnyAddressInIt) {
  const auto file = *MappedFile::open(path_.string());
  ASSERT_TRUE(is_intact(file->bytes()));
  const int64_t before = resident_file_kib();
  const std::span<const std::byte> released = release_whole_file(file->bytes().data() + 12345);
  EXPECT_EQ(released.data(), file->bytes().data());
  EXPECT_EQ(released.size(), kBytes);
  EXPECT_LE(resident_file_kib(), before - static_cast<int64_t>(kBytes / 1024 / 2));
  EXPECT_TRUE(is_intact(file->bytes()));
  EXPECT_TRUE(release_whole_file(file->bytes().data() + kBytes).empty());
  EXPECT_TRUE(release_whole_file(content_.data()).empty());
  EXPECT_TRUE(release_whole_file(nullptr).empty());
  EXPECT_TRUE(is_intact(content_));
}

TEST_F(MappedFileTest, OtherMemoryIsLeftAlone) {
  // Anonymous pages would come back as zeros.
  release_file_pages(content_);
  EXPECT_TRUE(is_intact(content_));
  std::span<const std::byte> gone;
  {
    const auto file = *MappedFile::open(path_.string());
    gone = file->bytes();
  }
  release_file_pages(gone);
  // Beyond the end of a mapping nothing is known.
  const auto file = *MappedFile::open(path_.string());
  release_file_pages({file->bytes().data(), kBytes + 1});
  EXPECT_TRUE(is_intact(file->bytes()));
}

}  // namespace
}  // namespace het
