#include "inference/devices/choice_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/devices/cache_folder.h"

namespace het {
namespace {

namespace fs = std::filesystem;

TEST(Checksum, EveryFlippedBitShows) {
  std::string text = "convolution 3x3 of 64 channels, 56 x 56, two threads, float32 and more";
  for (size_t length : {size_t{0}, size_t{1}, size_t{8}, size_t{33}, text.size()}) {
    const uint64_t whole = checksum(std::string_view(text).substr(0, length));
    for (size_t bit = 0; bit < length * 8; ++bit) {
      std::string changed = text.substr(0, length);
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      EXPECT_NE(checksum(changed), whole) << length << " bytes, bit " << bit;
    }
  }
  EXPECT_NE(checksum(std::string(1, '\0')), checksum(std::string(2, '\0')));
}

class ChoiceStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "choice_store_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    set_log_sink([this](LogLevel, std::string_view text) { warnings_.emplace_back(text); },
                 LogLevel::Warning);
  }
  void TearDown() override {
    set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Warning);
    fs::remove_all(folder_);
  }

  ChoiceStore store(const std::string& machine = "machine A") const {
    return {folder_ / "store", "CPU", machine};
  }
  static std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return (std::ostringstream() << stream.rdbuf()).str();
  }
  static void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  static std::string line(const std::string& json) {
    return fmt::format("{:016x} {}\n", checksum(json), json);
  }

  fs::path folder_;
  std::vector<std::string> warnings_;
};

TEST_F(ChoiceStoreTest, AnotherProcessFindsWhatWasSaved) {
  const MeasuredChoice choice{"winograd_f4", {{"direct", 120.5}, {"winograd_f4", 80.25}}};
  ChoiceStore first = store();
  first.add("conv 3x3", choice);
  EXPECT_FALSE(fs::exists(first.path())) << "only save() writes";
  first.save();

  ChoiceStore second = store();
  EXPECT_EQ(second.find("conv 3x3"), std::nullopt) << "nothing is read before refresh()";
  second.refresh();
  EXPECT_EQ(second.find("conv 3x3"), choice);
  EXPECT_EQ(second.find("conv 5x5"), std::nullopt);
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_F(ChoiceStoreTest, AnotherMachineOrVersionFindsNothing) {
  ChoiceStore a = store();
  a.add("key", {"x", {}});
  a.save();
  ChoiceStore b = store("machine B");
  b.refresh();
  EXPECT_EQ(b.size(), 0u);

  // Where the names of both files are the same by chance.
  fs::copy_file(a.path(), b.path());
  b.refresh();
  EXPECT_EQ(b.size(), 0u);
  EXPECT_TRUE(warnings_.empty());

  write(a.path(),
        line(R"({"format":"gst-hetero measured choices","machine":"machine A","version":2})") +
            line(R"({"choice":"x","key":"key","times_us":{}})"));
  ChoiceStore later = store();
  later.refresh();
  EXPECT_EQ(later.size(), 0u);
}

TEST_F(ChoiceStoreTest, AKnownKeyKeepsItsChoice) {
  ChoiceStore first = store();
  first.add("key", {"x", {}});
  first.save();
  ChoiceStore second = store();
  second.add("key", {"y", {}});
  second.refresh();
  EXPECT_EQ(second.find("key")->name, "y") << "models of one process agree";
  second.add("key", {"z", {}});
  EXPECT_EQ(second.find("key")->name, "y");
}

TEST_F(ChoiceStoreTest, StoresOfSeveralProcessesAddUp) {
  constexpr int kProcesses = 4;
  constexpr int kChoices = 20;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ChoiceStore mine = store();
      for (int i = 0; i < kChoices; ++i) {
        mine.add(fmt::format("key {} of {}", i, process), {"x", {}});
        mine.save();
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ChoiceStore all = store();
  all.refresh();
  EXPECT_EQ(all.size(), static_cast<size_t>(kProcesses * kChoices));
  EXPECT_TRUE(warnings_.empty());
  for (const auto& file : fs::directory_iterator(folder_ / "store")) {
    const std::string name = file.path().filename();
    EXPECT_TRUE(name == "lock" || file.path() == all.path()) << name << " was left behind";
  }
}

TEST_F(ChoiceStoreTest, DamagedLinesAreLeftOut) {
  ChoiceStore first = store();
  for (int i = 0; i < 5; ++i) first.add(fmt::format("key {}", i), {"x", {{"x", 1.0}}});
  first.save();
  std::string content = read(first.path());
  const size_t at = content.find("key 2");
  content[at] = 'q';
  write(first.path(), content);

  ChoiceStore second = store();
  second.refresh();
  EXPECT_EQ(second.size(), 4u);
  EXPECT_EQ(second.find("key 2"), std::nullopt);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("1 lines are damaged"), std::string::npos) << warnings_[0];

  // Writing mends the file.
  second.add("key 2", {"y", {}});
  second.save();
  ChoiceStore third = store();
  third.refresh();
  EXPECT_EQ(third.size(), 5u);
  EXPECT_EQ(third.find("key 2")->name, "y");
}

TEST_F(ChoiceStoreTest, NoContentOfTheFileDoesHarm) {
  ChoiceStore first = store();
  for (int i = 0; i < 8; ++i) first.add(fmt::format("key {}", i), {"x", {{"x", 1.0}, {"y", 2.5}}});
  first.save();
  const std::string content = read(first.path());
  for (size_t length = 0; length < content.size(); length += 7) {
    write(first.path(), content.substr(0, length));
    ChoiceStore cut = store();
    cut.refresh();
    EXPECT_LT(cut.size(), 8u + (length + 1 >= content.size()));
  }
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string changed = content;
    for (unsigned k = 0; k <= random() % 4; ++k) {
      changed[random() % changed.size()] ^= static_cast<char>(1 << random() % 8);
    }
    write(first.path(), changed);
    ChoiceStore read_back = store();
    read_back.refresh();
    for (int i = 0; i < 8; ++i) {
      const auto choice = read_back.find(fmt::format("key {}", i));
      EXPECT_EQ(choice ? choice->name : "x", "x");
    }
  }
  // Checksums are right, JSON is not what it should be.
  const std::string header =
      line(R"({"format":"gst-hetero measured choices","machine":"machine A","version":1})");
  for (const char* text : {"[]", "7", "null", R"({"key":7,"choice":"x"})", R"({"key":"k"})",
                           R"({"key":"k","choice":{}})", "{", "", "\x80",
                           R"({"choice":"x","key":"k","times_us":[1,"a",{}]})",
                           R"({"choice":"x","key":"k","times_us":3})"}) {
    write(first.path(), header + line(text));
    ChoiceStore odd = store();
    odd.refresh();
    EXPECT_LE(odd.size(), 1u) << text;
    write(first.path(), line(text));
    ChoiceStore odd_header = store();
    odd_header.refresh();
    EXPECT_EQ(odd_header.size(), 0u) << text;
  }
  write(first.path(), header + std::string(ChoiceStore::kMostFileBytes, 'x'));
  ChoiceStore large = store();
  large.refresh();
  EXPECT_EQ(large.size(), 0u);
}

TEST_F(ChoiceStoreTest, SizeIsBounded) {
  ChoiceStore first = store();
  for (size_t i = 0; i < ChoiceStore::kMostChoices + 10; ++i) {
    first.add(fmt::format("key {} {}", i, std::string(1500, '.')), {"x", {}});
  }
  EXPECT_EQ(first.size(), ChoiceStore::kMostChoices);
  EXPECT_EQ(first.find(fmt::format("key 9 {}", std::string(1500, '.'))), std::nullopt);
  first.add(std::string(ChoiceStore::kMostLineBytes, 'k'), {"x", {}});
  EXPECT_EQ(first.size(), ChoiceStore::kMostChoices) << "too long for a line";
  first.save();
  EXPECT_LE(fs::file_size(first.path()), ChoiceStore::kMostFileBytes);
  ChoiceStore second = store();
  second.refresh();
  EXPECT_GT(second.size(), 2000u);
  EXPECT_TRUE(
      second.find(fmt::format("key {} {}", ChoiceStore::kMostChoices + 9, std::string(1500, '.'))));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(ChoiceStoreTest, OldFilesOfOtherMachinesAreRemoved) {
  for (size_t i = 0; i < ChoiceStore::kMostFiles + 4; ++i) {
    ChoiceStore one = store(fmt::format("machine {}", i));
    one.add("key", {"x", {}});
    one.save();
    fs::last_write_time(one.path(), fs::file_time_type::clock::now() -
                                        std::chrono::hours(100 - static_cast<int>(i)));
  }
  ChoiceStore last = store("the last machine");
  last.add("key", {"x", {}});
  last.save();
  size_t files = 0;
  for (const auto& file : fs::directory_iterator(folder_ / "store")) {
    files += file.path().filename() == "lock" ? 0 : 1;
  }
  EXPECT_EQ(files, ChoiceStore::kMostFiles);
  EXPECT_TRUE(fs::exists(last.path()));
  EXPECT_FALSE(fs::exists(store("machine 0").path()));
}

TEST_F(ChoiceStoreTest, AFolderThatCannotBeIsOneWarning) {
  write(folder_ / "store", "a file where the folder should be");
  ChoiceStore first = store();
  for (int i = 0; i < 3; ++i) {
    first.refresh();
    first.add(fmt::format("key {}", i), {"x", {}});
    first.save();
  }
  EXPECT_EQ(first.find("key 1")->name, "x") << "kept for the process";
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("CACHE_DIR"), std::string::npos);
}

TEST_F(ChoiceStoreTest, AFifoInThePlaceOfTheFileDoesNotBlock) {
  ChoiceStore first = store();
  fs::create_directories(folder_ / "store");
  ASSERT_EQ(::mkfifo(first.path().c_str(), 0600), 0);
  first.refresh();
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(ChoiceStoreTest, ThreadsShareAStore) {
  ChoiceStore shared = store();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared, t] {
      for (int i = 0; i < 50; ++i) {
        shared.add(fmt::format("key {} {}", t, i), {"x", {}});
        EXPECT_TRUE(shared.find(fmt::format("key {} {}", t, i)));
        if (i % 10 == 0) shared.save();
        shared.refresh();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  shared.save();
  EXPECT_EQ(shared.size(), 200u);
}

class CacheDirTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = ::getenv(name);
      if (value != nullptr) before_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : kNames) {
      ::unsetenv(name);
      if (before_.count(name) > 0) ::setenv(name, before_[name].c_str(), 1);
    }
  }
  static constexpr const char* kNames[] = {"GST_HETERO_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  std::map<std::string, std::string> before_;
};

TEST_F(CacheDirTest, PropertyThenVariableThenTheUsersFolder) {
  EXPECT_EQ(cache_dir({}), "") << "nobody's home";
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(cache_dir({}), "/home/somebody/.cache/gst-hetero");
  ::setenv("XDG_CACHE_HOME", "cache", 1);
  EXPECT_EQ(cache_dir({}), "/home/somebody/.cache/gst-hetero") << "relative: to be ignored";
  ::setenv("XDG_CACHE_HOME", "/var/cache/u", 1);
  EXPECT_EQ(cache_dir({}), "/var/cache/u/gst-hetero");
  ::setenv("GST_HETERO_CACHE_DIR", "/srv/choices", 1);
  EXPECT_EQ(cache_dir({}), "/srv/choices");
  ::setenv("GST_HETERO_CACHE_DIR", "", 1);
  EXPECT_EQ(cache_dir({}), "");
  EXPECT_EQ(cache_dir({{"CACHE_DIR", "/x"}}), "/x");
  ::unsetenv("GST_HETERO_CACHE_DIR");
  EXPECT_EQ(cache_dir({{"CACHE_DIR", ""}}), "") << "switched off";
}

}  // namespace
}  // namespace het
