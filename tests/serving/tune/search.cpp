#include "serving/tune/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

namespace het::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A pipeline that is a formula, with noise: how fast each value of each setting is beside the
/// first one.
class FakeMachine : public TuneMachine {
 public:
  std::vector<std::vector<double>> speeds;
  double noise = 0.02;  ///< of the logarithm
  double run_s = 1;
  double left_s = 1e9;
  double drift = 0;  ///< of the logarithm, a run
  std::set<TuneChoice> refused;
  std::set<TuneChoice> failing;
  size_t runs_to_stop = 0;  ///< 0: nobody stops it
  size_t runs_to_fail = 0;  ///< 0: never
  size_t runs = 0;
  std::map<TuneChoice, size_t> runs_of;

  explicit FakeMachine(unsigned seed = 1) : random_(seed) {}

  Result<double> measure(const TuneChoice& choice) override {
    if (is_stopped() || left_s <= 0) return error(StatusCode::Cancelled, "over");
    ++runs;
    ++runs_of[choice];
    left_s -= run_s;
    if (failing.contains(choice)) return error(StatusCode::InvalidArgument, "it does not start");
    if (runs_to_fail > 0 && runs > runs_to_fail) {
      return error(StatusCode::InvalidArgument, "the camera is gone");
    }
    double speed = 100 * std::exp(drift * static_cast<double>(runs));
    for (size_t i = 0; i < choice.size(); ++i) speed *= speeds[i][choice[i]];
    return speed * std::exp(noise * std::normal_distribution<double>()(random_));
  }
  Result<std::string> check(const TuneChoice& choice) override {
    return refused.contains(choice) ? "9 % of 10 objects" : "";
  }
  double seconds_left() const override { return left_s; }
  bool is_stopped() const override { return runs_to_stop > 0 && runs >= runs_to_stop; }

 private:
  std::mt19937 random_;
};

std::vector<TuneSetting> settings_of(const FakeMachine& machine) {
  std::vector<TuneSetting> settings;
  for (const auto& speeds : machine.speeds) {
    TuneSetting& setting = settings.emplace_back();
    setting.element = "d";
    setting.name = "s" + std::to_string(settings.size());
    for (size_t i = 0; i < speeds.size(); ++i) setting.values.push_back(std::to_string(i));
  }
  return settings;
}

TuneResult searched(FakeMachine& machine) {
  const std::vector<TuneSetting> settings = settings_of(machine);
  const auto result = search_settings(settings, machine, {});
  EXPECT_TRUE(result) << result.error().message();
  return result.value_or(TuneResult());
}

TEST(Search, FindsTheBestValueOfEachSetting) {
  FakeMachine machine;
  machine.speeds = {{1, 1.3, 1.1}, {1, 0.5, 1}, {1, 1.05, 1.4, 0.2}};
  const TuneResult result = searched(machine);
  EXPECT_THAT(result.best, ElementsAre(1, 0, 2));
  EXPECT_TRUE(result.is_complete);
  ASSERT_TRUE(result.gain);
  EXPECT_EQ(result.gain->pairs, 6u);
  EXPECT_NEAR(result.gain->median, 1.3 * 1.4, 0.05);
  EXPECT_GT(result.attempts.back().round, 1u) << "a round after one that gained";
}

TEST(Search, ADriftOfTheMachineIsNoGain) {
  FakeMachine machine;
  machine.speeds = {{1, 1, 1, 1}};
  machine.noise = 0;
  machine.drift = 0.009;
  for (const TuneAttempt& attempt : searched(machine).attempts) {
    EXPECT_EQ(attempt.decision, TuneDecision::NoGain) << attempt.value;
  }
}

/// Of changes that are worth nothing no more are taken than the confidence allows.
TEST(Search, EqualsAreSeldomTaken) {
  size_t taken = 0;
  size_t tried = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    FakeMachine machine(seed);
    machine.speeds = {{1, 1, 1, 1}};
    machine.noise = 0.05;
    for (const TuneAttempt& attempt : searched(machine).attempts) {
      ++tried;
      if (attempt.decision == TuneDecision::Taken) ++taken;
    }
  }
  EXPECT_GT(tried, 2500u);
  EXPECT_LT(static_cast<double>(taken), 0.03 * static_cast<double>(tried)) << taken << "/" << tried;
  EXPECT_GT(taken, 0u) << "with noise some are; none would mean that gains are overlooked, too";
}

TEST(Search, ARealGainIsSeldomMissed) {
  size_t found = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    FakeMachine machine(seed);
    machine.speeds = {{1, 1.1}};
    if (searched(machine).best == TuneChoice{1}) ++found;
  }
  EXPECT_GT(found, 285u);
}

TEST(Search, LosersAreGivenUpEarly) {
  FakeMachine machine;
  machine.speeds = {{1, 0.5, 0.7, 0.9}};
  const TuneResult result = searched(machine);
  ASSERT_EQ(result.attempts.size(), 3u);
  EXPECT_EQ(result.attempts[0].ratio->pairs, 1u);
  EXPECT_EQ(result.attempts[1].ratio->pairs, 1u);
  EXPECT_EQ(result.attempts[2].ratio->pairs, 2u);
}

TEST(Search, WhatIsRefusedIsNotMeasured) {
  FakeMachine machine;
  machine.speeds = {{1, 3}, {1, 1.5}};
  machine.refused = {{1, 0}, {1, 1}};
  const TuneResult result = searched(machine);
  EXPECT_THAT(result.best, ElementsAre(0, 1));
  EXPECT_EQ(result.attempts[0].decision, TuneDecision::Refused);
  EXPECT_EQ(result.attempts[0].reason, "9 % of 10 objects");
  EXPECT_EQ((machine.runs_of[{1, 0}]), 0u);
  EXPECT_EQ((machine.runs_of[{1, 1}]), 0u);
}

TEST(Search, WhatDoesNotStartIsToldAndPassedOver) {
  FakeMachine machine;
  machine.speeds = {{1, 3}, {1, 1.5}};
  machine.failing = {{1, 0}, {1, 1}};
  const TuneResult result = searched(machine);
  EXPECT_THAT(result.best, ElementsAre(0, 1));
  EXPECT_EQ(result.attempts[0].decision, TuneDecision::Failed);
  EXPECT_THAT(result.attempts[0].reason, HasSubstr("does not start"));
}

TEST(Search, APipelineThatDoesNotPlayFails) {
  FakeMachine machine;
  machine.speeds = {{1, 3}};
  machine.failing = {{0}};
  const auto settings = settings_of(machine);
  const auto result = search_settings(settings, machine, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("does not start"));
}

TEST(Search, WhatFailsLaterLeavesTheBestSoFar) {
  FakeMachine machine;
  machine.speeds = {{1, 2}, {1, 2}, {1, 2}};
  machine.runs_to_fail = 9;
  const TuneResult result = searched(machine);
  EXPECT_THAT(result.best, ElementsAre(1, 0, 0));
  EXPECT_THAT(result.failure, HasSubstr("camera is gone"));
  EXPECT_FALSE(result.gain);
  EXPECT_FALSE(result.is_complete);
  EXPECT_EQ(machine.runs, 10u) << "it is not played again";
}

TEST(Search, KeepsItsTimeWithTheLastComparison) {
  for (const double limit : {5, 20, 40, 80, 160}) {
    FakeMachine machine;
    machine.speeds = {{1, 1.2, 1.4, 1.1}, {1, 1.2, 1.1, 1}, {1, 1, 1, 1.3}};
    machine.left_s = limit;
    const TuneResult result = searched(machine);
    EXPECT_GE(machine.left_s, 0) << limit;
    const bool has_gained = result.best != TuneChoice{0, 0, 0};
    EXPECT_EQ(result.gain.has_value(), has_gained) << limit;
    EXPECT_EQ(result.is_complete, limit > 100) << limit;
  }
}

TEST(Search, AStopLeavesTheBestSoFar) {
  FakeMachine machine;
  machine.speeds = {{1, 2}, {1, 2}, {1, 2}};
  machine.runs_to_stop = 9;
  const TuneResult result = searched(machine);
  EXPECT_THAT(result.best, ElementsAre(1, 0, 0));
  EXPECT_FALSE(result.gain);
  EXPECT_FALSE(result.is_complete);
  EXPECT_EQ(machine.runs, 9u);
}

TEST(Search, ListenersHearOfEachAttempt) {
  FakeMachine machine;
  machine.speeds = {{1, 2}};
  size_t begun = 0;
  size_t ended = 0;
  size_t confirmed = 0;
  TuneListener listener;
  listener.begins = [&](const TuneAttempt&) { ++begun; };
  listener.ends = [&](const TuneAttempt& attempt) {
    ++ended;
    EXPECT_NE(attempt.decision, TuneDecision::NotDecided);
  };
  listener.confirms = [&] { ++confirmed; };
  const auto settings = settings_of(machine);
  ASSERT_TRUE(search_settings(settings, machine, listener));
  EXPECT_EQ(begun, ended);
  EXPECT_GE(begun, 1u);
  EXPECT_EQ(confirmed, 1u);
}

}  // namespace
}  // namespace het::serving
