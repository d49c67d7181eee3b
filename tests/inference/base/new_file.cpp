#include "inference/base/new_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace het {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("new_file_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(NewFileTest, TheOldFileStaysUntilTheNewOneIsComplete) {
  ASSERT_TRUE(write_new_file(path("a"), "old").ok());
  {
    auto file = NewFile::create(path("a"));
    ASSERT_TRUE(file) << file.error().message();
    file->stream() << "new" << std::flush;
    EXPECT_EQ(content(path("a")), "old");
    EXPECT_EQ(files(), 2u);
    ASSERT_TRUE(file->keep().ok());
    EXPECT_EQ(content(path("a")), "new");
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, WhatIsNotKeptLeavesNothing) {
  ASSERT_TRUE(write_new_file(path("a"), "old").ok());
  {
    auto file = NewFile::create(path("a"));
    ASSERT_TRUE(file);
    file->stream() << "half";
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, AFailedWriteLeavesTheOldFile) {
  ASSERT_TRUE(write_new_file(path("a"), "old").ok());
  auto file = NewFile::create(path("a"));
  ASSERT_TRUE(file);
  file->stream() << "new";
  file->stream().setstate(std::ios::failbit);
  const Status status = file->keep();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("'" + path("a") + "'"), std::string::npos);
  EXPECT_EQ(content(path("a")), "old");
}

TEST_F(NewFileTest, LinksStayAndPermissionsToo) {
  ASSERT_TRUE(write_new_file(path("target"), "old").ok());
  ASSERT_EQ(chmod(path("target").c_str(), 0640), 0);
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_new_file(path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("target")), "new");
  struct stat info = {};
  ASSERT_EQ(stat(path("target").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
  fs::create_symlink("made", path("dangling"));
  ASSERT_TRUE(write_new_file(path("dangling"), "new").ok());
  EXPECT_EQ(content(path("made")), "new");
}

TEST_F(NewFileTest, WhatIsNoRegularFileIsWrittenAsItComes) {
  EXPECT_TRUE(write_new_file("/dev/null", "text").ok());
  if (access("/dev/full", W_OK) == 0) {
    const Status status = write_new_file("/dev/full", "text");
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find("No space left"), std::string::npos) << status.message();
    EXPECT_TRUE(fs::exists("/dev/full"));
  }
}

TEST_F(NewFileTest, WhatSomebodyHasOpenIsWrittenAsItComes) {
  const int fd = open(path("open").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_TRUE(write_new_file("/proc/self/fd/" + std::to_string(fd), "text").ok());
  ASSERT_TRUE(write_new_file("/dev/fd/" + std::to_string(fd), "other").ok());
  char read_back[6] = {};
  EXPECT_EQ(pread(fd, read_back, 5, 0), 5);
  EXPECT_STREQ(read_back, "other");
  close(fd);
}

TEST_F(NewFileTest, PlacesWhereNothingCanBeWritten) {
  const Status absent = write_new_file(path("none/a"), "text");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.code(), StatusCode::NotFound);
  EXPECT_NE(absent.message().find("No such file"), std::string::npos) << absent.message();
  const Status folder = write_new_file(folder_.string(), "text");
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.message().find("directory"), std::string::npos) << folder.message();
}

TEST_F(NewFileTest, WhatSomebodyElseRemovesIsInNobodysWay) {
  std::atomic<bool> has_ended{false};
  std::thread other([&] {
    while (!has_ended) ::unlink(path("a").c_str());
  });
  for (int i = 0; i < 10000; ++i) {
    std::ofstream(path("a")) << "old";
    const auto file = NewFile::create(path("a"));
    EXPECT_TRUE(file) << file.error().message();
    if (!file) break;
  }
  has_ended = true;
  other.join();
}

}  // namespace
}  // namespace het
