#include "serving/density/search/stream_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace het::density {
namespace {

/// A machine that carries `carried` streams; around them trials go either way.
class FakeMachine {
 public:
  FakeMachine(size_t carried, double noise, unsigned seed = 1)
      : carried_(static_cast<double>(carried)), noise_(noise), random_(seed) {}

  Result<std::optional<bool>> operator()(size_t streams, size_t) {
    tried.push_back(streams);
    std::normal_distribution<double> normal;
    const double border = carried_ + 0.5 + noise_ * normal(random_);
    return std::optional<bool>(static_cast<double>(streams) < border);
  }

  std::vector<size_t> tried;

 private:
  double carried_;
  double noise_;
  std::mt19937 random_;
};

SearchResult found(FakeMachine& machine, const SearchSettings& settings = {}) {
  const auto result =
      search_streams(settings, [&](size_t n, size_t left) { return machine(n, left); });
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result.value_or(SearchResult());
}

TEST(StreamSearch, FindsEveryNumberWithoutNoise) {
  for (size_t carried = 1; carried <= 70; ++carried) {
    SCOPED_TRACE(carried);
    FakeMachine machine(carried, 0);
    const SearchResult result = found(machine);
    EXPECT_EQ(result.streams, carried);
    EXPECT_TRUE(result.is_confirmed);
    EXPECT_EQ(result.tallies.at(carried).passes, 3u);
    EXPECT_GE(result.tallies.at(carried + 1).fails, 2u);
    // Doubling, bisection, two more runs of the result and one more of the next.
    const double logarithm = std::log2(static_cast<double>(carried));
    EXPECT_LE(static_cast<double>(machine.tried.size()), 2 * std::ceil(logarithm) + 2 + 3 + 1);
  }
}

TEST(StreamSearch, NothingPasses) {
  FakeMachine machine(0, 0);
  const SearchResult result = found(machine);
  EXPECT_EQ(result.streams, 0u);
  EXPECT_THAT(machine.tried, testing::ElementsAre(1u));
}

TEST(StreamSearch, EndsAtTheMost) {
  FakeMachine machine(1000, 0);
  SearchSettings settings;
  settings.most = 20;
  const SearchResult result = found(machine, settings);
  EXPECT_EQ(result.streams, 20u);
  EXPECT_TRUE(result.reached_most);
  EXPECT_TRUE(result.is_confirmed);
  EXPECT_THAT(machine.tried, testing::ElementsAre(1u, 2u, 4u, 8u, 16u, 20u, 20u, 20u));
}

TEST(StreamSearch, BeginsWhereItIsTold) {
  FakeMachine machine(21, 0);
  SearchSettings settings;
  settings.first = 16;
  EXPECT_EQ(found(machine, settings).streams, 21u);
  EXPECT_EQ(machine.tried.front(), 16u);
  FakeMachine less(5, 0);
  EXPECT_EQ(found(less, settings).streams, 5u);
}

TEST(StreamSearch, NoiseOfAStreamMovesItByAboutAStream) {
  int far = 0;
  size_t most_trials = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    FakeMachine machine(24, 0.5, seed);
    const SearchResult result = found(machine);
    if (std::abs(static_cast<int>(result.streams) - 24) > 1) ++far;
    most_trials = std::max(most_trials, machine.tried.size());
  }
  EXPECT_LE(far, 10);  // of 200
  EXPECT_LE(most_trials, 30u);
}

TEST(StreamSearch, AnAccidentOnTheWayUpDoesNotCount) {
  for (const size_t accident : {2u, 4u, 8u, 16u}) {
    SCOPED_TRACE(accident);
    bool is_first = true;
    const auto result = search_streams({}, [&](size_t n, size_t) -> Result<std::optional<bool>> {
      if (n == accident && is_first) {
        is_first = false;
        return std::optional<bool>(false);
      }
      return std::optional<bool>(n <= 40);
    });
    ASSERT_TRUE(result);
    EXPECT_EQ(result->streams, 40u);
  }
}

TEST(StreamSearch, TellsOfABorder) {
  // 9 streams pass two runs of three, 10 none.
  size_t run = 0;
  const auto result = search_streams({}, [&](size_t n, size_t) -> Result<std::optional<bool>> {
    if (n == 9) return std::optional<bool>(run++ != 0);
    return std::optional<bool>(n < 9);
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->streams, 8u);
  EXPECT_TRUE(result->is_border);
  EXPECT_FALSE(result->is_confirmed);
}

TEST(StreamSearch, StoppedSaysWhatHasPassed) {
  size_t trials = 0;
  const auto result = search_streams({}, [&](size_t n, size_t) -> Result<std::optional<bool>> {
    if (++trials > 4) return std::optional<bool>();
    return std::optional<bool>(n <= 20);
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->streams, 8u);
  EXPECT_TRUE(result->was_stopped);
  EXPECT_FALSE(result->is_confirmed);
}

TEST(StreamSearch, FailsWithTheTrial) {
  const auto result = search_streams({}, [](size_t, size_t) -> Result<std::optional<bool>> {
    return error(StatusCode::InvalidArgument, "no element \"x\"");
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "no element \"x\"");
}

TEST(StreamSearch, TellsHowManyTrialsAreLeft) {
  std::vector<size_t> left;
  FakeMachine machine(24, 0);
  const auto result = search_streams({}, [&](size_t n, size_t count) {
    left.push_back(count);
    return machine(n, count);
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(left.back(), 0u);
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(left[i]), static_cast<double>(left.size() - 1 - i), 8) << i;
  }
}

}  // namespace
}  // namespace het::density
