#include "serving/launch/set_aside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/gst/test_files.h"

namespace het::serving {
namespace {

using gst_test::ScratchFolder;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(SetAside, TheNextFreeNumberIsTaken) {
  const ScratchFolder folder;
  for (const char* text : {"first", "second", "third"}) {
    gst_test::write_text(folder.file("a.tar.gz"), text);
    ASSERT_TRUE(set_aside(folder.file("a.tar.gz")));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.tar.gz")));
  EXPECT_EQ(gst_test::read_text(folder.file("a.tar.1.gz")), "first");
  EXPECT_EQ(gst_test::read_text(folder.file("a.tar.2.gz")), "second");
  EXPECT_EQ(gst_test::read_text(folder.file("a.tar.3.gz")), "third");
}

TEST(SetAside, AllFilesOfAPatternAre) {
  const ScratchFolder folder;
  for (const char* name : {"p00.mp4", "p17.mp4", "p100.mp4", "p.mp4", "px1.mp4", "p1.mp4.part"}) {
    gst_test::write_text(folder.file(name), name);
  }
  const auto renamed = set_aside(folder.file("p%02d.mp4"));
  ASSERT_TRUE(renamed);
  EXPECT_THAT(*renamed, ElementsAre(folder.file("p00.1.mp4"), folder.file("p100.1.mp4"),
                                    folder.file("p17.1.mp4")));
  for (const char* name : {"p.mp4", "px1.mp4", "p1.mp4.part"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.file(name))) << name;
  }
}

TEST(SetAside, APatternsNameMayBeAFile) {
  const ScratchFolder folder;
  gst_test::write_text(folder.file("p%d.mp4"), "a filesink's");
  const auto renamed = set_aside(folder.file("p%d.mp4"));
  ASSERT_TRUE(renamed);
  EXPECT_THAT(*renamed, ElementsAre(folder.file("p%d.1.mp4")));
}

TEST(SetAside, WhatIsNoFileStays) {
  const ScratchFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/proc/self/fd/1", folder.file("output"));
  for (const std::string& name :
       {folder.file("fifo"), folder.file("output"), folder.file("missing"),
        folder.file("no/folder/%d"), std::string("/dev/null"), std::string("/dev/stdout"),
        std::string("")}) {
    const auto renamed = set_aside(name);
    ASSERT_TRUE(renamed) << renamed.error().message();
    EXPECT_THAT(*renamed, IsEmpty()) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(folder.file("fifo")));
}

}  // namespace
}  // namespace het::serving
