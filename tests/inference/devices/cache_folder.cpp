// CACHE_DIR: whose files it holds, how much they may take, and who has a turn.
#include "inference/devices/cache_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "inference/base/log.h"
#include "inference/base/new_file.h"

namespace het {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr size_t kMebibyte = size_t{1} << 20;

class CacheFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "cache_folder_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    set_log_sink([this](LogLevel, std::string_view text) { warnings_.emplace_back(text); },
                 LogLevel::Warning);
  }
  void TearDown() override {
    ::unsetenv("GST_HETERO_CACHE_MAX_MIB");
    set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Warning);
    fs::remove_all(folder_);
  }

  void bound(size_t mebibytes) const {
    note_cache_bound({{"CACHE_DIR", folder_}, {"CACHE_MAX_MIB", std::to_string(mebibytes)}});
  }
  static std::string model_name(unsigned number) {
    return fmt::format("cpu-{:016x}.model", number);
  }
  /// A file that was written and used that long ago.
  fs::path make(const std::string& name, size_t bytes, seconds written = hours(2),
                seconds used = hours(2)) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const timespec times[2] = {{now.tv_sec - used.count(), now.tv_nsec},
                               {now.tv_sec - written.count(), now.tv_nsec}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    return path;
  }

  fs::path folder_;
  std::vector<std::string> warnings_;
};

TEST_F(CacheFolder, FilesOfOursByName) {
  for (const char* name :
       {"choices-cpu-0123456789abcdef", "choices-hetero_times-0123456789abcdef",
        "choices-gpu_0-0123456789abcdef", "gpu-0123456789abcdef.clbin",
        "cpu-0123456789abcdef.model", "cpu-0123456789abcdef-node12.model",
        "cpu-0123456789abcdef.model.123-4.part", "gpu-0123456789abcdef.clbin.1-2.part",
        "choices-cpu-0123456789abcdef.aB3xYz"}) {
    EXPECT_TRUE(is_cache_file(name)) << name;
  }
  for (const char* name :
       {"", "lock", "choices", "choices-cpu", "choices-cpu-0123456789abcdeg", "thesis.model",
        "cpu-0123456789abcde.model", "cpu-0123456789abcdef0.model", "cpu-0123456789ABCDEF.model",
        "cpu-0123456789abcdef.model.part", "cpu-0123456789abcdef.model.bak", "cpu-.model",
        "cpu-0123456789abcdef-node.model", "gpu-0123456789abcdef.clbin~", "my cpu-0123456789abcdef",
        "choices-cpu-0123456789abcdef.txt", "cpu-0123456789abcdef.model.x-4.part",
        "CPU-0123456789abcdef.model", "choices-CPU-0123456789abcdef"}) {
    EXPECT_FALSE(is_cache_file(name)) << name;
  }
}

TEST_F(CacheFolder, WhatWasUsedLongestAgoLeavesFirst) {
  bound(3);
  const fs::path oldest = make(model_name(1), kMebibyte, hours(9), hours(8));
  const fs::path used = make(model_name(2), kMebibyte, hours(20), hours(3));
  const fs::path young = make(model_name(3), kMebibyte, hours(4), hours(4));
  const fs::path written = make("gpu-0123456789abcdef.clbin", kMebibyte, hours(1), hours(9));
  trim_cache(folder_);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_TRUE(fs::exists(used) && fs::exists(young) && fs::exists(written));
  trim_cache(folder_);
  EXPECT_TRUE(fs::exists(young)) << "the bound is kept already";
  note_use(young);
  make(model_name(4), kMebibyte, seconds(1), seconds(1));
  trim_cache(folder_);
  EXPECT_FALSE(fs::exists(used)) << "the other one was used meanwhile";
  EXPECT_TRUE(fs::exists(young) && fs::exists(written));
}

TEST_F(CacheFolder, WhatIsNewLeavesLastAndTheBoundHoldsAllTheSame) {
  bound(1);
  const fs::path first = make(model_name(1), kMebibyte, seconds(20), seconds(20));
  const fs::path second = make(model_name(2), kMebibyte, seconds(2), seconds(2));
  // A clock that was wrong: as if it were new.
  const fs::path future = make(model_name(3), kMebibyte / 2, -hours(5), -hours(5));
  trim_cache(folder_);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
  EXPECT_TRUE(fs::exists(future));
}

TEST_F(CacheFolder, OthersFilesStay) {
  bound(1);
  const fs::path ours = make(model_name(1), 2 * kMebibyte);
  std::vector<fs::path> others = {make("thesis.tex", 3 * kMebibyte, hours(9999)),
                                  make("cpu-0123456789abcdef.model.bak", kMebibyte),
                                  make("lock", 1)};
  fs::create_directory(folder_ / model_name(2));
  others.push_back(make(model_name(2) + "/" + model_name(3), 2 * kMebibyte));
  const fs::path target = make("target of a link", 2 * kMebibyte);
  fs::create_symlink(target, folder_ / model_name(4));
  others.push_back(target);
  others.push_back(folder_ / model_name(4));
  trim_cache(folder_);
  EXPECT_FALSE(fs::exists(ours));
  for (const fs::path& path : others) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(CacheFolder, WhatTheDeadHaveLeftGoesAfterAnHour) {
  bound(100);
  const fs::path abandoned = make(model_name(1) + ".77-1.part", kMebibyte, hours(2));
  const fs::path random = make("choices-cpu-0123456789abcdef.aB3xYz", 10, hours(2));
  const fs::path busy = make(model_name(2) + ".78-1.part", kMebibyte, minutes(50));
  trim_cache(folder_);
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_FALSE(fs::exists(random));
  EXPECT_TRUE(fs::exists(busy));
  bound(1);
  trim_cache(folder_);
  EXPECT_TRUE(fs::exists(busy)) << "somebody may be writing it";
}

TEST_F(CacheFolder, AMappedFileStaysUsable) {
  bound(1);
  const fs::path path = make(model_name(1), 2 * kMebibyte);
  std::ifstream open(path, std::ios::binary);
  trim_cache(folder_);
  EXPECT_FALSE(fs::exists(path));
  std::string content(2 * kMebibyte, '\0');
  EXPECT_TRUE(open.read(content.data(), static_cast<std::streamsize>(content.size())));
  EXPECT_EQ(content, std::string(2 * kMebibyte, 'x'));
}

TEST_F(CacheFolder, WhoSaysWhatTheBoundIs) {
  struct statvfs room = {};
  ASSERT_EQ(::statvfs(folder_.c_str(), &room), 0);
  const uint64_t half = uint64_t{room.f_bavail} * room.f_frsize / 2;
  const uint64_t by_default = cache_bound_bytes(folder_);
  EXPECT_LE(by_default, uint64_t{8} << 30);
  EXPECT_LE(by_default, half + (uint64_t{1} << 30)) << "others write here meanwhile";
  ::setenv("GST_HETERO_CACHE_MAX_MIB", "20", 1);
  EXPECT_EQ(cache_bound_bytes(folder_), 20 * kMebibyte);
  for (const char* text : {"4G", "-1", "0", "1e3", " 5", "99999999999999999999"}) {
    ::setenv("GST_HETERO_CACHE_MAX_MIB", text, 1);
    EXPECT_EQ(cache_bound_bytes(folder_) >> 30, by_default >> 30) << text;
  }
  EXPECT_EQ(warnings_.size(), 1u) << "once";
  bound(7);
  EXPECT_EQ(cache_bound_bytes(folder_), 7 * kMebibyte);
  note_cache_bound({{"CACHE_DIR", folder_}});
  EXPECT_EQ(cache_bound_bytes(folder_), 7 * kMebibyte) << "who names none changes nothing";
  EXPECT_NE(cache_bound_bytes(folder_ / "other"), 7 * kMebibyte);
  EXPECT_FALSE(validate_properties({{"CACHE_MAX_MIB", "0"}}, "CPU"));
  EXPECT_FALSE(validate_properties({{"CACHE_MAX_MIB", "4G"}}, "GPU"));
  EXPECT_TRUE(validate_properties({{"CACHE_MAX_MIB", "4096"}}, "CPU"));
}

TEST_F(CacheFolder, TurnsAtOneThingComeOneByOne) {
  constexpr std::chrono::milliseconds kShort(30);
  {
    const CacheTurn first(folder_, "one", kShort);
    EXPECT_TRUE(first.is_taken());
    EXPECT_FALSE(first.has_waited());
    const CacheTurn other(folder_, "other", kShort);
    EXPECT_TRUE(other.is_taken());
    EXPECT_FALSE(other.has_waited());
    const CacheTurn second(folder_, "one", kShort);
    EXPECT_FALSE(second.is_taken()) << "after a while it goes on without";
    EXPECT_TRUE(second.has_waited());
  }
  EXPECT_TRUE(CacheTurn(folder_, "one", kShort).is_taken());
  EXPECT_FALSE(CacheTurn(folder_ / "missing", "one", hours(1)).is_taken());
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        const CacheTurn turn(folder_, "one", minutes(1));
        EXPECT_TRUE(turn.is_taken());
        EXPECT_EQ(++inside, 1);
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CacheFolder, ATurnEndsWithItsProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const CacheTurn turn(folder_, "one", seconds(1));
    const char letter = turn.is_taken() ? 'y' : 'n';
    if (::write(ready[1], &letter, 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char letter = 0;
  ASSERT_EQ(::read(ready[0], &letter, 1), 1);
  EXPECT_EQ(letter, 'y');
  EXPECT_FALSE(CacheTurn(folder_, "one", std::chrono::milliseconds(20)).is_taken());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(CacheTurn(folder_, "one", seconds(10)).is_taken());
  ::close(ready[0]);
  ::close(ready[1]);
}

/// Writes, uses and trims; 0 when all went well.
int work_in(const fs::path& folder, unsigned seed) {
  note_cache_bound({{"CACHE_DIR", folder}, {"CACHE_MAX_MIB", "2"}});
  std::mt19937 generator(seed);
  for (int i = 0; i < 60; ++i) {
    const unsigned number = generator() % 12;
    const fs::path path = folder / fmt::format("cpu-{:016x}.model", number);
    std::ifstream file(path, std::ios::binary);
    if (file && i % 3 != 0) {
      note_use(path);
      std::string content(kMebibyte / 4 * (1 + number % 4), '\0');
      if (!file.read(content.data(), static_cast<std::streamsize>(content.size()))) return 1;
      if (content.find_first_not_of(static_cast<char>('a' + number)) != std::string::npos) return 2;
      continue;
    }
    const std::string content(kMebibyte / 4 * (1 + number % 4), static_cast<char>('a' + number));
    if (!write_new_file(path, content).ok()) return 3;
    trim_cache(folder);
  }
  return 0;
}

TEST_F(CacheFolder, ProcessesShareIt) {
  const fs::path letter = make("letter.txt", 4 * kMebibyte);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) ::_exit(work_in(folder_, i));
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  size_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (is_cache_file(file.path().filename().string())) bytes += file.file_size();
  }
  EXPECT_GT(bytes, 0u);
  EXPECT_LE(bytes, 2 * kMebibyte);
  EXPECT_TRUE(fs::exists(letter));
}

}  // namespace
}  // namespace het
