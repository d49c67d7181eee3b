#include "inference/devices/stream_executor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace het {
namespace {

class CountingJob final : public StreamJob {
 public:
  void run(size_t stream) override {
    std::lock_guard lock(mutex_);
    streams_.insert(stream);
    ++runs_;
    changed_.notify_all();
  }
  void wait_for(int runs) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return runs_ >= runs; });
  }
  int runs() const { return runs_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<size_t> streams_;
  std::atomic<int> runs_{0};
};

/// Runs until somebody opens the gate.
class GatedJob final : public StreamJob {
 public:
  void run(size_t) override {
    ++started;
    started.notify_all();
    opened.wait(false);
  }
  std::atomic<int> started{0};
  std::atomic<bool> opened{false};
  void open() {
    opened = true;
    opened.notify_all();
  }
};

TEST(StreamExecutor, RunsJobs) {
  std::vector<CountingJob> jobs(100);  // outlive the executor, which waits for their runs
  const auto executor = StreamExecutor::create({.streams = 2});
  ASSERT_TRUE(executor) << executor.error().message();
  EXPECT_EQ((*executor)->stream_count(), 2u);
  for (CountingJob& job : jobs) (*executor)->submit(job);
  for (CountingJob& job : jobs) job.wait_for(1);
  for (CountingJob& job : jobs) EXPECT_EQ(job.runs(), 1);
  (*executor)->submit(jobs[0]);
  jobs[0].wait_for(2);
}

TEST(StreamExecutor, StreamsWorkAtTheSameTime) {
  GatedJob first;
  GatedJob second;
  const auto executor = StreamExecutor::create({.streams = 2});
  ASSERT_TRUE(executor);
  (*executor)->submit(first);
  (*executor)->submit(second);
  first.started.wait(0);
  second.started.wait(0);  // returns only when both run
  first.open();
  second.open();
}

TEST(StreamExecutor, StartHookRunsOnEveryThreadFirst) {
  std::mutex mutex;
  std::set<size_t> hooked;
  const auto executor = StreamExecutor::create(
      {.streams = 3, .thread_name = "hooked", .on_thread_start = [&](size_t stream) {
         std::lock_guard lock(mutex);
         hooked.insert(stream);
       }});
  ASSERT_TRUE(executor);
  std::lock_guard lock(mutex);
  EXPECT_EQ(hooked, (std::set<size_t>{0, 1, 2}));
}

TEST(StreamExecutor, DestructorRunsWhatIsQueued) {
  std::vector<CountingJob> jobs(50);
  {
    const auto executor = StreamExecutor::create({});
    ASSERT_TRUE(executor);
    for (CountingJob& job : jobs) (*executor)->submit(job);
  }
  for (CountingJob& job : jobs) EXPECT_EQ(job.runs(), 1);
}

TEST(StreamExecutor, AJobMayLetGoOfTheExecutor) {
  class LastUser final : public StreamJob {
   public:
    void run(size_t) override {
      const std::shared_ptr<LastUser> kept = std::move(self);
      executor.reset();
      done.set_value();
    }
    std::unique_ptr<StreamExecutor> executor;
    std::shared_ptr<LastUser> self;
    std::promise<void> done;
  };
  auto job = std::make_shared<LastUser>();
  std::future<void> done = job->done.get_future();
  job->executor = std::move(*StreamExecutor::create({}));
  job->self = job;
  StreamExecutor* const executor = job->executor.get();
  executor->submit(*std::exchange(job, nullptr));
  EXPECT_EQ(done.wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(StreamExecutor, NoStreamsIsAnError) {
  const auto executor = StreamExecutor::create({.streams = 0});
  ASSERT_FALSE(executor);
  EXPECT_EQ(executor.error().code(), StatusCode::InvalidArgument);
}

TEST(StreamExecutor, AForkedChildOnlyForgetsIt) {
  auto executor = StreamExecutor::create({.streams = 2});
  ASSERT_TRUE(executor);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // a child that waits for threads it does not have would hang
    executor->reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
}

/// Remembers the thread that it ran on.
class ThreadJob final : public StreamJob {
 public:
  void run(size_t stream) override {
    ran_on = std::this_thread::get_id();
    of_stream = stream;
  }
  std::thread::id ran_on;
  size_t of_stream = 99;
};

StreamExecutorOptions with_guests(std::atomic<bool>& may) {
  StreamExecutorOptions options{.streams = 2};
  options.as_guest = [&may](size_t, const std::function<void()>& work) {
    if (!may) return false;
    work();
    return true;
  };
  return options;
}

TEST(StreamExecutor, RunsAJobOnTheCallingThreadWhereAStreamIsFree) {
  std::atomic<bool> may{true};
  const auto executor = StreamExecutor::create(with_guests(may));
  ASSERT_TRUE(executor) << executor.error().message();
  ThreadJob job;
  EXPECT_TRUE((*executor)->run_here(job));
  EXPECT_EQ(job.ran_on, std::this_thread::get_id());
  EXPECT_LT(job.of_stream, 2u);

  may = false;
  ThreadJob refused;
  EXPECT_FALSE((*executor)->run_here(refused));
  EXPECT_EQ(refused.of_stream, 99u);

  GatedJob first;
  GatedJob second;
  (*executor)->submit(first);
  (*executor)->submit(second);
  first.started.wait(0);
  second.started.wait(0);
  may = true;
  EXPECT_FALSE((*executor)->run_here(job)) << "both streams are busy";
  first.open();
  second.open();
}

TEST(StreamExecutor, RunsNothingOnTheCallingThreadUnlessItIsToldHow) {
  const auto executor = StreamExecutor::create({.streams = 1});
  ThreadJob job;
  EXPECT_FALSE((*executor)->run_here(job));
}

/// Guests and queued jobs at once: each runs once, and none is forgotten.
TEST(StreamExecutor, LentStreamsDoNotLoseJobs) {
  std::atomic<bool> may{true};
  std::vector<CountingJob> jobs(20);
  const auto executor = StreamExecutor::create(with_guests(may));
  ASSERT_TRUE(executor);
  std::atomic<bool> ends{false};
  std::thread guest([&] {
    while (!ends) {
      ThreadJob job;
      (*executor)->run_here(job);
    }
  });
  for (int run = 1; run <= 500; ++run) {
    for (CountingJob& job : jobs) (*executor)->submit(job);
    for (CountingJob& job : jobs) job.wait_for(run);
  }
  ends = true;
  guest.join();
}

}  // namespace
}  // namespace het
