#include "devices/cpu/threads/team.h"

#include <omp.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include "devices/cpu/threads/openmp_calls.h"
#include "devices/cpu/threads/parallel.h"
#include "devices/cpu/threads/team_cores.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/openmp_regions.h"

/// Teams of threads (devices/cpu/threads/), alone and beside programs that take their cores.
namespace het::cpu_testing {
namespace {

using Clock = std::chrono::steady_clock;

template <class Done>
bool within_ten_seconds(const Done& done) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (Clock::now() > end) return false;
  }
  return true;
}

void work_for(std::chrono::microseconds time) {
  const Clock::time_point end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

/// Threads that take every processor for themselves.
class Crowd {
 public:
  Crowd() {
    for (long k = 0; k < ::sysconf(_SC_NPROCESSORS_ONLN); ++k) {
      threads_.emplace_back([this] {
        while (!ends_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Crowd() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

/// How often each part ran, and on which threads.
struct Parts {
  explicit Parts(int count) : runs(static_cast<size_t>(count)), on(runs.size()) {}
  void run() {
    cpu::run_parts(
        static_cast<int>(runs.size()),
        [](const void* data, int part) {
          auto& self = *const_cast<Parts*>(static_cast<const Parts*>(data));
          ++self.runs[static_cast<size_t>(part)];
          self.on[static_cast<size_t>(part)] = std::this_thread::get_id();
          if (cpu::team_part() != part) self.right_number = false;
        },
        this);
  }
  std::vector<int> runs;
  std::vector<std::thread::id> on;
  std::atomic<bool> right_number{true};
};

TEST(CpuTeam, EachPartRunsOnceAndKnowsItsNumber) {
  for (const int threads : {1, 2, 3, 5}) {
    const TeamScope team(threads);
    EXPECT_EQ(cpu::team_size(), threads);
    for (const int count : {1, 2, 3, 5, 9}) {
      Parts parts(count);
      for (int k = 1; k <= 200; ++k) {
        parts.run();
        ASSERT_EQ(parts.runs, std::vector<int>(static_cast<size_t>(count), k)) << threads;
      }
      EXPECT_TRUE(threads == 1 || parts.right_number);
      EXPECT_EQ(parts.on[0], std::this_thread::get_id());
    }
  }
}

TEST(CpuTeam, AThreadWithoutTeamAndAPartWorkAlone) {
  std::thread([] {
    EXPECT_EQ(cpu::team_size(), 1);
    EXPECT_FALSE(cpu::has_team());
    Parts parts(4);
    parts.run();
    EXPECT_EQ(parts.on, std::vector<std::thread::id>(4, std::this_thread::get_id()));
  }).join();

  const TeamScope team(2);
  std::atomic<int> inner{0};
  cpu::parallel_for(2, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(cpu::is_in_part());
    EXPECT_EQ(cpu::team_size(), 1);
    const auto thread = std::this_thread::get_id();
    cpu::parallel_for(100, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      inner += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(inner, 200);
  const cpu::AloneScope alone;
  EXPECT_EQ(cpu::team_size(), 1);
}

TEST(CpuTeam, PartsMayWaitForEachOther) {
  for (const int threads : {2, 3, 5}) {
    const TeamScope team(threads);
    struct Meeting {
      int count;
      std::atomic<int> arrived{0};
      std::atomic<int> early{0};
    } meeting{threads, {}, {}};
    for (int round = 0; round < 200; ++round) {
      meeting.arrived = 0;
      cpu::run_parts(
          threads,
          [](const void* data, int) {
            auto& all = *const_cast<Meeting*>(static_cast<const Meeting*>(data));
            for (int step = 1; step <= 3; ++step) {
              ++all.arrived;
              cpu::wait_for_all_parts();
              if (all.arrived < step * all.count) ++all.early;
              cpu::wait_for_all_parts();
            }
          },
          &meeting);
    }
    EXPECT_EQ(meeting.early, 0);
  }
}

TEST(CpuTeam, HelpersThatHaveSleptComeBack) {
  const TeamScope team(2);
  for (int k = 0; k < 20; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    // Parts that wait for each other need both threads.
    cpu::parallel_for(2, 1, [](int64_t, int64_t) { cpu::wait_for_all_parts(); });
  }
}

TEST(CpuTeam, PartsOfAThreadThatHasNoCoreAreTakenOver) {
  const TeamScope team(2);
  const Crowd crowd;
  Parts parts(2);
  int taken_over = 0;
  EXPECT_TRUE(within_ten_seconds([&] {
    parts.run();
    if (parts.on[1] == std::this_thread::get_id()) ++taken_over;
    return taken_over >= 10;
  }));
  EXPECT_EQ(parts.runs[0], parts.runs[1]);
}

TEST(CpuTeam, BoundTeamsFinishBesideACrowd) {
  const cpu::TeamPlaces places = {{0}, {static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) - 1}};
  std::thread([&] {
    cpu::start_team(places);
    cpu::pin_team();
    const cpu::AtWorkScope at_work;
    const Crowd crowd;
    std::vector<int> sums(2);
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(500);
    int rounds = 0;
    while (Clock::now() < end) {
      ++rounds;
      cpu::parallel_for(2, 1, [&](int64_t begin, int64_t) {
        work_for(std::chrono::microseconds(300));
        ++sums[static_cast<size_t>(begin)];
      });
    }
    EXPECT_EQ(sums, (std::vector<int>{rounds, rounds}));
  }).join();
}

std::vector<int> processors_of(pid_t thread) {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
  std::vector<int> found;
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (CPU_ISSET(static_cast<size_t>(k), &set)) found.push_back(k);
  }
  return found;
}

/// body(processors of this process) on a thread of its own; skips where there is one only.
template <class Body>
void on_two_processors(const Body& body) {
  on_own_thread([&] {
    const std::vector<int> everywhere = processors_of(0);
    if (everywhere.size() < 2) GTEST_SKIP() << "one processor only";
    body(everywhere);
  });
}

void put(pid_t thread, const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int k : processors) CPU_SET(static_cast<size_t>(k), &set);
  ASSERT_EQ(sched_setaffinity(thread, sizeof set, &set), 0);
}

/// A helper of a TeamCores that does nothing else.
class Helper {
 public:
  Helper(cpu::TeamCores& cores, bool busy)
      : thread_([&cores, busy, this] {
          cores.enter(1);
          id_ = ::gettid();
          while (!ends_) {
            if (!busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {
    while (id_ == 0) std::this_thread::yield();
  }
  ~Helper() {
    ends_ = true;
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  pid_t id() const { return id_; }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// Runs on a thread of its own, whose affinity is nobody else's.
template <class Body>
void on_own_thread(const Body& body) {
  std::thread(body).join();
}

TEST(CpuTeamCores, AThreadIsLentTheCallersCoreAndGoesHome) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    const Helper helper(cores, false);
    EXPECT_EQ(processors_of(helper.id()), everywhere) << "places are not taken yet";
    cores.take_places();
    EXPECT_EQ(processors_of(0), std::vector<int>{everywhere[0]});
    EXPECT_EQ(processors_of(helper.id()), std::vector<int>{everywhere[1]});

    EXPECT_TRUE(cores.lend(1));
    EXPECT_TRUE(cores.is_away(1));
    EXPECT_EQ(processors_of(helper.id()), std::vector<int>{everywhere[0]});
    EXPECT_FALSE(cores.lend(1)) << "it has just been moved";
    cores.send_all_home();
    EXPECT_FALSE(cores.is_away(1));
    EXPECT_EQ(processors_of(helper.id()), std::vector<int>{everywhere[1]});
  });
}

TEST(CpuTeamCores, TheCallerAndAHelperSwapPlaces) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    cores.take_places();
    pid_t helper = 0;
    std::atomic<int> step{0};
    std::thread thread([&] {
      cores.enter(1);
      helper = ::gettid();
      EXPECT_TRUE(cores.swap_with_caller(1));
      step = 1;
      while (step < 2) std::this_thread::yield();
    });
    while (step < 1) std::this_thread::yield();
    EXPECT_EQ(processors_of(0), std::vector<int>{everywhere[1]});
    EXPECT_TRUE(cores.is_away(1));
    cores.send_all_home();
    EXPECT_EQ(processors_of(0), std::vector<int>{everywhere[1]});
    EXPECT_EQ(processors_of(helper), std::vector<int>{everywhere[0]});
    step = 2;
    thread.join();
  });
}

TEST(CpuTeamCores, WhoIsNotBoundGetsAllProcessorsBack) {
  on_own_thread([] {
    const std::vector<int> everywhere = processors_of(0);
    cpu::TeamCores cores(cpu::TeamPlaces(2));
    const Helper helper(cores, false);
    cores.take_places();
    EXPECT_EQ(processors_of(helper.id()), everywhere);
    EXPECT_TRUE(cores.lend(1));
    EXPECT_EQ(processors_of(helper.id()).size(), 1u);
    cores.send_home(1);
    EXPECT_EQ(processors_of(helper.id()), everywhere);
  });
}

TEST(CpuTeamCores, OneWhoSleepsStandsStillAndOneWhoRunsDoesNot) {
  on_own_thread([] {
    if (processors_of(0).size() < 2) GTEST_SKIP() << "one processor only";
    cpu::TeamCores cores(cpu::TeamPlaces(2));
    {
      const Helper sleeps(cores, false);
      EXPECT_TRUE(within_ten_seconds([&] { return cores.stands_still(1); }));
    }
    const Helper runs(cores, true);
    // Another program may take its core now and then.
    EXPECT_TRUE(within_ten_seconds([&] { return !cores.stands_still(1); }));
  });
}

TEST(CpuTeamCores, AGuestIsNotBoundAndHelpersMakeRoomForIt) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    const pid_t host = ::gettid();
    cores.take_places();
    const Helper helper(cores, false);
    on_own_thread([&] {
      // On the helper's processor, as a program may be that has bound itself.
      put(0, {everywhere[1]});
      cores.guest_comes();
      EXPECT_EQ(processors_of(0), std::vector<int>{everywhere[1]});
      EXPECT_EQ(processors_of(helper.id()), std::vector<int>{everywhere[0]});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::thread([&] {
        put(0, {everywhere[0]});
        EXPECT_FALSE(cores.swap_with_caller(1)) << "it has bound itself";
      }).join();
      EXPECT_EQ(processors_of(0), std::vector<int>{everywhere[1]});
      cores.guest_leaves();
      EXPECT_EQ(processors_of(host), std::vector<int>{everywhere[1]}) << "what is left";
    });
    on_own_thread([&] {
      // One that a helper moves gets its processors back.
      put(0, everywhere);
      cores.guest_comes();
      for (int k = 0; k < 2; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::thread([&] { EXPECT_TRUE(cores.swap_with_caller(1)); }).join();
        EXPECT_EQ(processors_of(0).size(), 1u);
      }
      cores.guest_leaves();
      EXPECT_EQ(processors_of(0), everywhere);
    });
    EXPECT_FALSE(cores.stays());
  });
}

TEST(CpuTeamCores, WhoWasMovedFromOutsideStays) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    const Helper helper(cores, false);
    cores.take_places();
    put(helper.id(), {everywhere[0]});
    EXPECT_FALSE(cores.lend(1));
    EXPECT_TRUE(cores.stays());
    EXPECT_EQ(processors_of(helper.id()), std::vector<int>{everywhere[0]});
    EXPECT_FALSE(cores.swap_with_caller(1));
    EXPECT_FALSE(cores.stands_still(1));
  });
}

TEST(CpuTeamCores, WhoWasMovedFromOutsideWhileItWasAwayStays) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    const Helper helper(cores, false);
    cores.take_places();
    EXPECT_TRUE(cores.lend(1));
    put(helper.id(), everywhere);
    cores.send_all_home();
    EXPECT_EQ(processors_of(helper.id()), everywhere);
    EXPECT_TRUE(cores.stays());
  });
}

TEST(CpuTeamCores, AGuestThatIsAwayKeepsWhatItWasGivenFromOutside) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    on_own_thread([&] {
      put(0, everywhere);
      cores.guest_comes();
      std::thread([&] {
        put(0, {everywhere[0]});
        EXPECT_TRUE(cores.swap_with_caller(1));
      }).join();
      put(0, {everywhere[1]});
      cores.guest_leaves();
      EXPECT_EQ(processors_of(0), std::vector<int>{everywhere[1]});
    });
  });
}

TEST(CpuTeamCores, AGuestThatIsAwayGoesHomeThoughAHelperWasMovedFromOutside) {
  on_two_processors([](const std::vector<int>& everywhere) {
    cpu::TeamCores cores({{everywhere[0]}, {everywhere[1]}});
    const Helper helper(cores, false);
    cores.take_places();
    on_own_thread([&] {
      put(0, everywhere);
      cores.guest_comes();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::thread([&] { EXPECT_TRUE(cores.swap_with_caller(1)); }).join();
      put(helper.id(), everywhere);
      cores.send_home(1);
      EXPECT_TRUE(cores.stays());
      cores.guest_leaves();
      EXPECT_EQ(processors_of(0), everywhere);
    });
  });
}

/// Whether regions of tests/devices/cpu/openmp_regions.c run right.
void expect_regions(int threads) {
  for (int round = 0; round < 100; ++round) {
    std::array<openmp_thread, 4> seen{};
    EXPECT_EQ(openmp_regions(threads, seen.data(), nullptr), 0);
    for (int k = 0; k < threads; ++k) {
      const openmp_thread& one = seen[static_cast<size_t>(k)];
      ASSERT_EQ(one.runs, 1) << k;
      EXPECT_EQ(one.count, threads);
      EXPECT_EQ(one.in_parallel, threads > 1 ? 1 : 0);
    }
  }
}

TEST(CpuOpenMpRegions, OfAThreadWithATeamRunOnIt) {
  ASSERT_TRUE(cpu::run_regions_on_teams(reinterpret_cast<const void*>(&openmp_regions)));
  on_own_thread([] {
    const TeamScope team(3);
    expect_regions(1);
    expect_regions(2);
    expect_regions(3);
    static std::atomic<int> in_part;
    in_part = 0;
    std::array<openmp_thread, 3> seen{};
    openmp_regions(3, seen.data(), [] { in_part += cpu::is_in_part() ? 1 : 0; });
    EXPECT_EQ(in_part, 3);
    // A region within a part is one of its thread alone.
    cpu::parallel_for(2, 1, [&](int64_t, int64_t) {
      std::array<openmp_thread, 3> inner{};
      EXPECT_EQ(openmp_regions(3, inner.data(), nullptr), 0);
      EXPECT_EQ(inner[0].runs, 1);
      EXPECT_EQ(inner[0].count, 1);
      EXPECT_EQ(inner[1].runs, 0);
    });
  });
}

TEST(CpuOpenMpRegions, OfAThreadWithoutATeamRunAsBefore) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "libgomp is not instrumented: its teams look like races";
#endif
  ASSERT_TRUE(cpu::run_regions_on_teams(reinterpret_cast<const void*>(&openmp_regions)));
  on_own_thread([] {
    expect_regions(1);
    expect_regions(3);
  });
}

TEST(CpuOpenMpRegions, ALibraryWithoutOpenMpIsLeftAlone) {
  EXPECT_FALSE(cpu::run_regions_on_teams(reinterpret_cast<const void*>(&::sched_getcpu)));
  EXPECT_FALSE(cpu::run_regions_on_teams(nullptr));
}

using CpuGuest = CpuTest;

/// Seconds that the calling thread has computed.
double own_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST_F(CpuGuest, WhoWaitsForAResultComputesItAndIsLeftAsItWas) {
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 64, 80, 80}), 64, 64, 5, 1));
  const auto compiled =
      compile(maker.model(), {{"INFERENCE_NUM_THREADS", "2"}, {"NUM_STREAMS", "1"}});
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->set_input(0, random_tensor({1, 64, 80, 80}, 1)).ok());
  ASSERT_TRUE(request->infer().ok());  // the first one binds the team
  const Tensor first = *request->output(0).clone();

  const std::vector<int> processors = processors_of(0);
  const int openmp_threads = omp_get_max_threads();
  const volatile float small = std::numeric_limits<float>::min();
  // The stream is free only behind the end of its last request, of which this thread may be told
  // before: then the stream computes the next one too.
  double seconds = 0;
  for (int k = 0; k < 100 && seconds < 1e-3; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const double start = own_seconds();
    for (int run = 0; run < 10; ++run) ASSERT_TRUE(request->infer().ok());
    seconds = own_seconds() - start;
  }
  EXPECT_GE(seconds, 1e-3) << "of ten inferences; to start and to await them takes a third of it";
  EXPECT_EQ(std::memcmp(first.bytes(), request->output(0).bytes(), first.size_bytes()), 0);
  EXPECT_EQ(processors_of(0), processors);
  EXPECT_EQ(omp_get_max_threads(), openmp_threads);
  EXPECT_GT(small / 2, 0.0f) << "subnormal numbers are flushed here now";
  EXPECT_FALSE(cpu::has_team());
}

TEST_F(CpuGuest, ManyThreadsShareAModel) {
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 16, 20, 20}), 16, 32, 5, 1));
  const auto compiled =
      compile(maker.model(), {{"INFERENCE_NUM_THREADS", "2"}, {"NUM_STREAMS", "1"}});
  ASSERT_NE(compiled, nullptr);
  const Tensor input = random_tensor({1, 16, 20, 20}, 1);
  const Tensor wanted = infer(*compiled, {input})[0];
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      const auto request = *compiled->create_infer_request();
      ASSERT_TRUE(request->set_input(0, input).ok());
      for (int run = 0; run < 200; ++run) {
        // Some wait, some are told.
        ASSERT_TRUE((run % 3 == 0 ? request->start_async() : request->infer()).ok());
        ASSERT_TRUE(request->wait().ok());
        ASSERT_EQ(std::memcmp(wanted.bytes(), request->output(0).bytes(), wanted.size_bytes()), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CpuGuest, ResultsAreTheSameBesideACrowd) {
  // Kernels of oneDNN and of ours, in steps that are short and long.
  ModelMaker maker;
  Value* x = maker.input({1, 16, 64, 64});
  x = maker.op("Relu", {maker.conv(x, 16, 64, 5)});
  x = maker.conv(x, 64, 64, 3);
  x = maker.conv(x, 64, 64, 3, 64);
  maker.output(maker.op("Sigmoid", {maker.conv(x, 64, 32, 1)}));
  const auto compiled =
      compile(maker.model(), {{"INFERENCE_NUM_THREADS", "2"}, {"NUM_STREAMS", "1"}});
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->set_input(0, random_tensor({1, 16, 64, 64}, 1)).ok());
  ASSERT_TRUE(request->infer().ok());
  const Tensor wanted = *request->output(0).clone();
  const Crowd crowd;
  for (int k = 0; k < 100; ++k) {
    ASSERT_TRUE((k % 2 == 0 ? request->start_async() : request->infer()).ok());
    ASSERT_TRUE(request->wait().ok());
    ASSERT_EQ(std::memcmp(wanted.bytes(), request->output(0).bytes(), wanted.size_bytes()), 0) << k;
  }
}

using CpuOneDnnRegions = CpuTest;

TEST_F(CpuOneDnnRegions, StartNoThreadsOfTheirOwn) {
  const auto count_threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto before = count_threads();
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 64, 40, 40}), 64, 64, 5, 1));
  const auto compiled = compile(
      maker.model(), {{"INFERENCE_NUM_THREADS", "2"}, {"NUM_STREAMS", "1"}, {"PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  std::vector<ProfileRow> rows;
  infer(*compiled, {random_tensor({1, 64, 40, 40}, 1)}, &rows);
  EXPECT_TRUE(std::ranges::any_of(rows, [](const ProfileRow& row) {
    return row.exec_type.find("jit") != std::string::npos;
  })) << "this is to be a kernel of oneDNN";
  EXPECT_EQ(count_threads(), before + 2) << "a stream and its helper";
}

}  // namespace
}  // namespace het::cpu_testing
