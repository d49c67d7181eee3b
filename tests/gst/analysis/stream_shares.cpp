/// Streams of one shared model get executions by their weights, and none holds up another.

#include "gst/analysis/stream_shares.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace het::gst {
namespace {

/// A device with one slot that serves whoever has it; the test decides when an execution ends, so
/// that every stream that can wait does.
class Streams {
 public:
  explicit Streams(const std::vector<double>& weights)
      : counts_(weights.size()), open_(weights.size()) {
    for (const double weight : weights) shares_.push_back(all_->join(weight, 1));
    for (size_t i = 0; i < weights.size(); ++i) {
      threads_.emplace_back([this, i] {
        while (shares_[i]->enter()) {
          ++counts_[i];
          running_ = static_cast<int>(i);
        }
      });
    }
  }
  ~Streams() {
    for (auto& share : shares_) share->close();
    for (std::thread& thread : threads_) thread.join();
  }
  /// Ends `count` executions, one after the other.
  void serve(int count) {
    for (int i = 0; i < count; ++i) {
      int stream = -1;
      while ((stream = running_.exchange(-1)) < 0) std::this_thread::yield();
      // All others wait, and so does the one that has just been served.
      while (all_->waiting() < open_) std::this_thread::yield();
      shares_[static_cast<size_t>(stream)]->leave();
    }
  }
  void close(size_t stream) {
    --open_;
    shares_[stream]->close();
    // It may have the slot at the moment; its thread ends all the same.
    while (all_->waiting() > open_) std::this_thread::yield();
  }
  int count(size_t stream) const { return counts_[stream]; }

 private:
  std::shared_ptr<StreamShares> all_ = std::make_shared<StreamShares>(1);
  std::vector<std::atomic<int>> counts_;
  std::atomic<int> running_ = -1;
  size_t open_;  ///< streams that take part
  std::vector<std::unique_ptr<StreamShare>> shares_;
  std::vector<std::thread> threads_;
};

TEST(StreamShares, EqualWeightsGetEqualShares) {
  Streams streams(std::vector<double>(16, 1.0));
  streams.serve(160);
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(streams.count(i), 10, 1) << i;
}

TEST(StreamShares, SharesFollowWeights) {
  Streams streams({1.0, 2.0, 4.0});
  streams.serve(140);
  EXPECT_NEAR(streams.count(0), 20, 3);
  EXPECT_NEAR(streams.count(1), 40, 3);
  EXPECT_NEAR(streams.count(2), 80, 5);
}

TEST(StreamShares, AClosedStreamLeavesItsShareToTheOthers) {
  Streams streams({1.0, 1.0, 1.0});
  streams.serve(30);
  streams.close(1);
  const int before = streams.count(0);
  streams.serve(40);
  EXPECT_NEAR(streams.count(0) - before, 20, 2);
}

TEST(StreamShares, AStreamThatWaitedForNothingHasNoCredit) {
  auto all = std::make_shared<StreamShares>(1);
  const auto busy = all->join(1.0, 1);
  const auto late = all->join(1.0, 1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(busy->enter());
    busy->leave();
  }
  // Both wait for the one slot: the one that slept is not served a hundred times in a row.
  ASSERT_TRUE(busy->enter());
  std::atomic<int> late_count = 0;
  std::thread thread([&] {
    while (late_count < 10 && late->enter()) {
      ++late_count;
      late->leave();
    }
  });
  busy->leave();
  thread.join();
  EXPECT_TRUE(busy->enter());
  busy->leave();
  EXPECT_EQ(late_count, 10);
}

TEST(StreamShares, OneStreamCanAskForTheOrderOfPresentationTimes) {
  auto all = std::make_shared<StreamShares>(1);
  const auto busy = all->join(1.0, 1);
  std::vector<std::unique_ptr<StreamShare>> shares;
  for (int i = 0; i < 3; ++i) {
    shares.push_back(all->join(1.0, 1, i == 1 ? TurnOrder::PresentationTime : TurnOrder::Shares));
  }
  ASSERT_TRUE(busy->enter(40));
  const std::vector<uint64_t> times{30, 20, 10};
  std::vector<int> order;  // written by who has the slot
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(shares[i]->enter(times[i]));
      order.push_back(static_cast<int>(i));
      shares[i]->leave();
    });
    while (all->waiting() < i + 1) std::this_thread::yield();
  }
  busy->leave();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
}

TEST(StreamShares, ClosingWakesWhoWaits) {
  auto all = std::make_shared<StreamShares>(1);
  const auto first = all->join(1.0, 1);
  const auto second = all->join(1.0, 1);
  ASSERT_TRUE(first->enter());
  std::atomic<int> result = -1;
  std::thread waiting([&] { result = second->enter() ? 1 : 0; });
  second->close();
  waiting.join();
  EXPECT_EQ(result, 0);
  second->open();
  first->leave();
  EXPECT_TRUE(second->enter());
  second->leave();
}

}  // namespace
}  // namespace het::gst
