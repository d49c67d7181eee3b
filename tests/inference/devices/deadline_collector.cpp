#include "inference/devices/deadline_collector.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace het {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct Item final : CollectedItem {
  explicit Item(int wanted = 0) : number(wanted) {}
  int number;
  std::atomic<int> times_received{0};
};

struct Delivery {
  std::vector<int> numbers;
  HandOut cause;
  Clock::time_point when;
};

/// Notes what is handed out and lets a test wait for it.
class Deliveries {
 public:
  DeadlineCollector::Receiver receiver() {
    return [this](std::span<CollectedItem* const> items, HandOut cause) {
      Delivery delivery{{}, cause, Clock::now()};
      for (CollectedItem* item : items) {
        delivery.numbers.push_back(static_cast<Item*>(item)->number);
        ++static_cast<Item*>(item)->times_received;
      }
      std::lock_guard lock(mutex_);
      all_.push_back(std::move(delivery));
      changed_.notify_all();
    };
  }
  std::vector<Delivery> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(20), [&] { return all_.size() >= count; }))
        << "only " << all_.size() << " of " << count;
    return all_;
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  std::mutex mutex_;  ///< protects all_
  std::condition_variable changed_;
  std::vector<Delivery> all_;
};

std::unique_ptr<DeadlineCollector> make(Deliveries& deliveries, size_t batch,
                                        std::chrono::microseconds timeout) {
  auto collector = DeadlineCollector::create(
      {.batch = batch, .timeout = timeout, .receive = deliveries.receiver()});
  EXPECT_TRUE(collector) << collector.error().message();
  return std::move(*collector);
}

constexpr std::chrono::seconds kLong{60};

TEST(DeadlineCollector, HandsOutFullBatchesInTheOrderOfArrival) {
  Deliveries deliveries;
  std::vector<Item> items(7);
  const auto collector = make(deliveries, 3, kLong);
  for (int i = 0; i < 7; ++i) {
    items[static_cast<size_t>(i)].number = i;
    collector->add(items[static_cast<size_t>(i)]);
  }
  const auto all = deliveries.wait_for(2);
  ASSERT_EQ(all.size(), 2u) << "the seventh waits";
  EXPECT_EQ(all[0].numbers, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(all[1].numbers, (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(all[0].cause, HandOut::Full);
  EXPECT_EQ(all[1].cause, HandOut::Full);
}

TEST(DeadlineCollector, TheOldestItemsDeadlineCounts) {
  Deliveries deliveries;
  Item first(1);
  Item second(2);
  const auto collector = make(deliveries, 8, milliseconds(100));
  const auto begin = Clock::now();
  collector->add(first);
  std::this_thread::sleep_for(milliseconds(40));
  collector->add(second);
  const auto all = deliveries.wait_for(1);
  EXPECT_EQ(all[0].numbers, (std::vector<int>{1, 2}));
  EXPECT_EQ(all[0].cause, HandOut::Deadline);
  EXPECT_GE(all[0].when - begin, milliseconds(100));
  EXPECT_LT(all[0].when - begin, milliseconds(5000)) << "a busy machine, but not that busy";
}

TEST(DeadlineCollector, AnItemsOwnDeadlineTakesTheOthersAlong) {
  Deliveries deliveries;
  Item patient(1);
  Item hasty(2);
  Item later(3);
  const auto collector = make(deliveries, 8, kLong);
  collector->add(patient);
  const auto deadline = Clock::now() + milliseconds(30);
  collector->add(hasty, deadline);
  collector->add(later, deadline + kLong);
  const Delivery delivery = deliveries.wait_for(1)[0];
  EXPECT_EQ(delivery.numbers, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(delivery.cause, HandOut::Deadline);
  EXPECT_GE(delivery.when, deadline);
}

TEST(DeadlineCollector, AnItemThatComesAfterADeadlineHasItsOwn) {
  Deliveries deliveries;
  Item item(1);
  const auto collector = make(deliveries, 2, milliseconds(20));
  collector->add(item);
  deliveries.wait_for(1);
  const auto begin = Clock::now();
  collector->add(item);
  const auto all = deliveries.wait_for(2);
  EXPECT_GE(all[1].when - begin, milliseconds(20));
}

TEST(DeadlineCollector, WithoutTimeoutNothingWaits) {
  Deliveries deliveries;
  Item item(1);
  const auto collector = make(deliveries, 8, milliseconds(0));
  collector->add(item);
  EXPECT_EQ(deliveries.wait_for(1)[0].cause, HandOut::Deadline);
}

TEST(DeadlineCollector, AShorterTimeoutCountsForWhatWaits) {
  Deliveries deliveries;
  Item item(1);
  const auto collector = make(deliveries, 2, kLong);
  collector->add(item);
  collector->set_timeout(milliseconds(1));
  EXPECT_EQ(collector->timeout(), milliseconds(1));
  EXPECT_EQ(deliveries.wait_for(1)[0].cause, HandOut::Deadline);
}

TEST(DeadlineCollector, AWithdrawnItemLeavesTheOthersAlone) {
  Deliveries deliveries;
  Item items[4] = {Item(0), Item(1), Item(2), Item(3)};
  const auto collector = make(deliveries, 3, kLong);
  collector->add(items[0]);
  collector->add(items[1]);
  EXPECT_TRUE(collector->withdraw(items[0]));
  EXPECT_FALSE(collector->withdraw(items[0])) << "it does not wait any more";
  EXPECT_FALSE(collector->withdraw(items[3])) << "it never waited";
  collector->add(items[2]);
  collector->add(items[3]);
  const auto all = deliveries.wait_for(2);
  const size_t withdrawn = all[0].cause == HandOut::Withdrawn ? 0 : 1;
  EXPECT_EQ(all[withdrawn].cause, HandOut::Withdrawn);
  EXPECT_EQ(all[withdrawn].numbers, (std::vector<int>{0}));
  EXPECT_EQ(all[1 - withdrawn].cause, HandOut::Full);
  EXPECT_EQ(all[1 - withdrawn].numbers, (std::vector<int>{1, 2, 3}));
}

TEST(DeadlineCollector, FlushHandsOutWhatWaits) {
  Deliveries deliveries;
  Item items[2] = {Item(0), Item(1)};
  const auto collector = make(deliveries, 4, kLong);
  collector->flush();  // nothing waits
  collector->add(items[0]);
  collector->flush();
  EXPECT_EQ(deliveries.wait_for(1)[0].cause, HandOut::Flushed);
  collector->add(items[1]);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(deliveries.size(), 1u) << "it came after the flush";
}

TEST(DeadlineCollector, TheDestructorHandsOutTheRest) {
  Deliveries deliveries;
  Item items[2] = {Item(0), Item(1)};
  {
    const auto collector = make(deliveries, 4, kLong);
    collector->add(items[0]);
    collector->add(items[1]);
  }
  const auto all = deliveries.wait_for(1);
  EXPECT_EQ(all[0].numbers, (std::vector<int>{0, 1}));
  EXPECT_EQ(all[0].cause, HandOut::Closed);
}

/// Threads that add, and withdraw some of what they added: every item comes back exactly once each
/// time.
TEST(DeadlineCollector, ManyThreads) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 400;
  std::atomic<int> full{0};
  std::atomic<bool> too_many{false};
  std::vector<Item> items(kThreads);
  auto collector = *DeadlineCollector::create(
      {.batch = 4,
       .timeout = std::chrono::microseconds(200),
       .receive = [&](std::span<CollectedItem* const> received_items, HandOut cause) {
         const size_t count = received_items.size();
         if (count > 4 || (cause == HandOut::Full && count != 4)) too_many = true;
         full += cause == HandOut::Full ? 1 : 0;
         for (CollectedItem* item : received_items) {
           auto& received = static_cast<Item*>(item)->times_received;
           ++received;
           received.notify_all();
         }
       }});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Item& item = items[static_cast<size_t>(t)];
      for (int round = 0; round < kRounds; ++round) {
        collector->add(item);
        if (round % 16 == t) collector->withdraw(item);
        if (round % 64 == t) collector->flush();
        item.times_received.wait(round);
      }
      EXPECT_EQ(item.times_received, kRounds);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(too_many);
  EXPECT_GT(full, 0);
}

TEST(DeadlineCollector, NoBatchIsAnError) {
  const auto collector = DeadlineCollector::create({.batch = 0, .receive = {}});
  ASSERT_FALSE(collector);
  EXPECT_EQ(collector.error().code(), StatusCode::InvalidArgument);
}

TEST(DeadlineCollector, AForkedChildOnlyForgetsIt) {
  Deliveries deliveries;
  auto collector = make(deliveries, 2, kLong);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    collector.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
}

}  // namespace
}  // namespace het
