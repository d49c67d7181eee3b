/// Channels side by side (devices/cpu/loops/lane_norm_loops.h), against sums in double.

#include "devices/cpu/loops/lane_norm_loops.h"

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

template <class T>
constexpr ElementType kLaneType =
    std::is_same_v<T, float> ? ElementType::Float32 : ElementType::BFloat16;

template <class From, class To>
void expect_lanes(size_t count, size_t lanes, size_t step) {
  SCOPED_TRACE(testing::Message() << count << " pixels, " << lanes << " of " << step
                                  << " channels, " << sizeof(From) << " and " << sizeof(To)
                                  << " bytes");
  std::mt19937 generator(count);
  std::normal_distribution<float> distribution(30.0f, 2.0f);
  std::vector<From> src;
  for (size_t i = 0; i < count * step; ++i) src.emplace_back(distribution(generator));
  // A channel of NaN and an infinite one spoil no others.
  src[1] = From(std::numeric_limits<float>::quiet_NaN());
  src[2] = From(-std::numeric_limits<float>::infinity());
  const cpu::Lanes given{kLaneType<From>, reinterpret_cast<const std::byte*>(src.data()), count,
                         lanes, step};
  std::vector<double> sums(lanes), squares(lanes);
  std::vector<float> means(lanes), factors(lanes), shifts(lanes);
  cpu::lane_sums(given, nullptr, sums.data());
  for (size_t c = 0; c < lanes; ++c) {
    means[c] = static_cast<float>(sums[c] / static_cast<double>(count));
    factors[c] = 0.5f + static_cast<float>(c);
    shifts[c] = static_cast<float>(c) - 4.0f;
  }
  cpu::lane_sums(given, means.data(), squares.data());
  std::vector<To> got(count * step + 1, To(-7.0f));
  cpu::normalise_lanes(given, means.data(), factors.data(), shifts.data(), kLaneType<To>,
                       reinterpret_cast<std::byte*>(got.data()));
  for (size_t c = 0; c < lanes; ++c) {
    double sum = 0.0;
    double square = 0.0;
    for (size_t i = 0; i < count; ++i) sum += static_cast<float>(src[i * step + c]);
    for (size_t i = 0; i < count; ++i) {
      square += std::pow(static_cast<float>(src[i * step + c]) - means[c], 2);
    }
    EXPECT_EQ(std::isnan(sums[c]), c == 1) << c;
    EXPECT_EQ(std::isinf(sums[c]), c == 2) << c;
    if (std::isfinite(sum)) {
      EXPECT_NEAR(sums[c], sum, 1e-5 * std::abs(sum)) << c;
      EXPECT_NEAR(squares[c], square, 1e-4 * square) << c;
    }
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t c = i % step;
    const float value = static_cast<float>(got[i]);
    if (i == count * step || c >= lanes) {
      ASSERT_EQ(value, -7.0f) << i << " is none of these channels";
      continue;
    }
    const double want = (static_cast<double>(static_cast<float>(src[i])) - means[c]) * factors[c] +
                        static_cast<double>(shifts[c]);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(value)) << i;
    } else if (std::isinf(want)) {
      ASSERT_EQ(value, static_cast<float>(want)) << i;
    } else {
      ASSERT_NEAR(value, want, (sizeof(To) == 2 ? std::abs(want) / 256 : 0.0) + 1e-4) << i;
    }
  }
}

TEST(CpuLaneNorm, EqualsSumsInDouble) {
  cpu_testing::on_each_instruction_set([] {
    for (const auto& [lanes, step] :
         {std::pair<size_t, size_t>{8, 8}, {8, 24}, {16, 16}, {16, 48}}) {
      for (const size_t count : {1, 3, 4, 50, 1027, 2100}) {
        expect_lanes<float, float>(count, lanes, step);
        expect_lanes<float, BFloat16>(count, lanes, step);
        expect_lanes<BFloat16, float>(count, lanes, step);
        expect_lanes<BFloat16, BFloat16>(count, lanes, step);
      }
    }
  });
}

}  // namespace
}  // namespace het
