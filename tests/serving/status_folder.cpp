#include "serving/launch/supervise/status_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace het::serving {
namespace {

class StatusFolder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/status-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  LaunchStatus status(const std::string& name) const {
    InstanceStatus instance;
    instance.name = "0";
    instance.state = "playing";
    instance.frames = 7;
    instance.streams.push_back({"door", "playing", 7, 1});
    return {.name = name, .pid = ::getpid(), .running_s = 1.5, .instances = {instance}};
  }

  std::string folder_;
};

TEST_F(StatusFolder, WhatIsWrittenIsRead) {
  const auto file = StatusFile::create(folder_, "shop");
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE((*file)->write(status("shop")).ok());
  const auto read = read_status({folder_}, "shop");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().to_json(), status("shop").to_json());
  EXPECT_TRUE(read->front().is_well());
}

TEST_F(StatusFolder, ANameIsTakenWhileItsOwnerLives) {
  auto first = StatusFile::create(folder_, "shop");
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->write(status("shop")).ok());
  const auto second = StatusFile::create(folder_, "shop");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), StatusCode::InvalidArgument);
  EXPECT_NE(second.error().message().find("runs already"), std::string::npos);
  EXPECT_TRUE(StatusFile::create(folder_, "other"));
  first->reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "its files stay";
  EXPECT_TRUE(StatusFile::create(folder_, "shop"));
}

TEST_F(StatusFolder, WhatAKilledOneLeftCountsAsNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = StatusFile::create(folder_, "shop");
    if (!file || !(*file)->write(status("shop")).ok()) ::_exit(1);
    ::_exit(0);  // without destructors
  }
  int ended = 0;
  ::waitpid(child, &ended, 0);
  ASSERT_EQ(ended, 0);
  ASSERT_TRUE(std::filesystem::exists(folder_ + "/shop.json"));
  const auto all = read_status({folder_}, "");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->empty());
  const auto named = read_status({folder_}, "shop");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code(), StatusCode::NotFound);
  EXPECT_TRUE(StatusFile::create(folder_, "shop"));
}

TEST_F(StatusFolder, LaunchesOfSeveralFoldersAreShown) {
  const std::string other = folder_ + "/services";
  const auto first = StatusFile::create(folder_, "shop");
  const auto second = StatusFile::create(other, "hall");
  ASSERT_TRUE(first && second);
  ASSERT_TRUE((*first)->write(status("shop")).ok() && (*second)->write(status("hall")).ok());
  const auto all = read_status({folder_, other, "/nonexistent"}, "");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2u);
  EXPECT_TRUE(read_status({folder_, other}, "hall"));
}

TEST_F(StatusFolder, RefusesWhatIsNoName) {
  for (const char* name : {"", "a/b", "../x", ".hidden", "two words", "x\ny"}) {
    const auto file = StatusFile::create(folder_, name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code(), StatusCode::InvalidArgument);
  }
  EXPECT_FALSE(StatusFile::create(folder_, std::string(65, 'x')));
}

TEST_F(StatusFolder, AFolderThatCannotBeMadeIsNoFaultOfTheName) {
  const auto file = StatusFile::create("/proc/nothing", "shop");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), StatusCode::NotSupported);
}

TEST_F(StatusFolder, ADamagedFileIsToldOf) {
  auto file = StatusFile::create(folder_, "shop");
  ASSERT_TRUE(file);
  std::ofstream(folder_ + "/shop.json") << "{\"name\": 1}";
  const auto read = read_status({folder_}, "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), StatusCode::ParseError);
  EXPECT_NE(read.error().message().find("shop.json"), std::string::npos);
}

TEST(LaunchStatus, IsWellWhileAllPlayOrHaveEnded) {
  LaunchStatus status;
  status.instances.resize(2);
  status.instances[0].state = "playing";
  status.instances[1].state = "ended";
  EXPECT_TRUE(status.is_well());
  for (const char* state : {"starting", "waiting", "failed"}) {
    status.instances[1].state = state;
    EXPECT_FALSE(status.is_well()) << state;
  }
  status.instances[1].state = "playing";
  status.instances[1].streams.push_back({"door", "waiting", 0, 1});
  EXPECT_FALSE(status.is_well()) << "a stream of it";
}

}  // namespace
}  // namespace het::serving
