#include "hetero/members/device_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace het::hetero {
namespace {

using testing::ElementsAre;

class Visitor final : public GateVisitor {
 public:
  explicit Visitor(std::function<void()> passed) : passed_(std::move(passed)) {}
  void pass() override { passed_(); }

 private:
  std::function<void()> passed_;
};

class DeviceGateTest : public testing::Test {
 protected:
  void enter(DeviceGate& gate, uint64_t frame) {
    visitors_.emplace_back([this, frame] { passed_.push_back(frame); });
    gate.enter(visitors_.back(), frame);
  }

  std::deque<Visitor> visitors_;
  std::vector<uint64_t> passed_;
};

TEST_F(DeviceGateTest, TheOldestFrameOfThoseThatWaitIsNext) {
  DeviceGate gate(2);
  for (const uint64_t frame : {7, 8, 6, 4, 5}) enter(gate, frame);
  EXPECT_THAT(passed_, ElementsAre(7, 8));
  gate.leave();
  EXPECT_THAT(passed_, ElementsAre(7, 8, 4));
  enter(gate, 3);
  for (int i = 0; i < 3; ++i) gate.leave();
  EXPECT_THAT(passed_, ElementsAre(7, 8, 4, 3, 5, 6));
  gate.leave();
  gate.leave();
  enter(gate, 9);
  EXPECT_EQ(passed_.back(), 9);
}

/// Branches of a frame have no order but that in which they came.
TEST_F(DeviceGateTest, SubgraphsOfAFramePassAsTheyCame) {
  DeviceGate gate(1);
  std::vector<int> order;
  Visitor first([&] { order.push_back(1); });
  Visitor second([&] { order.push_back(2); });
  enter(gate, 0);
  gate.enter(first, 1);
  gate.enter(second, 1);
  gate.leave();
  gate.leave();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

/// As a device does that ends a request when it is started.
TEST_F(DeviceGateTest, AVisitorMayLeaveWhileItPasses) {
  DeviceGate gate(1);
  int passed = 0;
  std::deque<Visitor> visitors;
  for (int i = 0; i < 3; ++i) {
    visitors.emplace_back([&] {
      ++passed;
      gate.leave();
    });
  }
  enter(gate, 0);
  for (Visitor& visitor : visitors) gate.enter(visitor, 1);
  EXPECT_EQ(passed, 0);
  gate.leave();
  EXPECT_EQ(passed, 3);
}

TEST(DeviceGate, ManyThreadsNeverExceedTheLimit) {
  constexpr size_t kLimit = 3;
  constexpr size_t kThreads = 4;
  constexpr size_t kFrames = 500;
  DeviceGate gate(kLimit);
  std::atomic<size_t> inside = 0;
  std::atomic<size_t> most = 0;
  std::atomic<size_t> passed = 0;
  std::atomic<size_t> to_leave = 0;
  const auto leave = [&] {
    size_t left = to_leave;
    while (left > 0 && !to_leave.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 0) return false;
    --inside;
    gate.leave();
    return true;
  };
  std::deque<Visitor> visitors;
  for (size_t i = 0; i < kThreads * kFrames; ++i) {
    visitors.emplace_back([&] {
      const size_t now = ++inside;
      size_t known = most;
      while (known < now && !most.compare_exchange_weak(known, now)) {
      }
      ++passed;
      ++to_leave;
    });
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kFrames; ++i) {
        gate.enter(visitors[t * kFrames + i], i * kThreads + t);
        if (i % 8 == 7) {  // until then the gate is full
          while (leave()) {
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (leave()) {
  }
  EXPECT_EQ(passed, visitors.size());
  EXPECT_EQ(most, kLimit);
}

}  // namespace
}  // namespace het::hetero
