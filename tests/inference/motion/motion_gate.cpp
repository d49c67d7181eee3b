#include "inference/motion/motion_gate.h"

#include <gtest/gtest.h>

#include <string>

namespace het::motion {
namespace {

constexpr uint64_t kFrame = 40'000'000;

/// '1' for each frame that is analysed; `moving` has '1' where something moves.
std::string opened(MotionGate& gate, const std::string& moving, const GateSettings& settings) {
  std::string result;
  for (size_t i = 0; i < moving.size(); ++i)
    result += gate.opens(moving[i] == '1', i * kFrame, settings) ? '1' : '0';
  return result;
}

TEST(MotionGate, OpensForMotionAndSomeFramesAfterIt) {
  MotionGate gate;
  EXPECT_EQ(opened(gate, "000110000000100000", {2, 1'000'000'000}), "100111100000111000");
}

TEST(MotionGate, NoResultIsOlderThanTheBound) {
  MotionGate gate;
  EXPECT_EQ(opened(gate, "0000000000000", {0, 4 * kFrame}), "1000100010001");
}

TEST(MotionGate, AResetAndATimeThatGoesBackOpen) {
  MotionGate gate;
  EXPECT_EQ(opened(gate, "000", {0, 1'000'000'000}), "100");
  gate.reset();
  EXPECT_EQ(opened(gate, "000", {0, 1'000'000'000}), "100");
  EXPECT_TRUE(gate.opens(false, 5 * kFrame + 2'000'000'000, {0, 1'000'000'000}));
  EXPECT_TRUE(gate.opens(false, 0, {0, 1'000'000'000}));
}

}  // namespace
}  // namespace het::motion
