/// Rows normalised side by side (devices/cpu/loops/row_norm_loops.h), against sums in double.

#include "devices/cpu/loops/row_norm_loops.h"

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu::RowNorm;

template <class T>
constexpr ElementType kRowType =
    std::is_same_v<T, float> ? ElementType::Float32 : ElementType::BFloat16;

template <class T>
std::vector<T> normal_values(size_t count, float mean, float deviation) {
  std::mt19937 generator(count);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.emplace_back(distribution(generator));
  return values;
}

template <class From, class To>
void normalise(const RowNorm& norm, size_t rows, const From* src, To* dst) {
  cpu::normalise_rows(norm, rows, kRowType<From>, reinterpret_cast<const std::byte*>(src),
                      kRowType<To>, reinterpret_cast<std::byte*>(dst));
}

template <class From, class To>
void expect_rows(const RowNorm& norm, size_t rows, const std::vector<From>& src, double tolerance) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << norm.length << " values, "
                                  << sizeof(From) << " and " << sizeof(To) << " bytes, scale "
                                  << (norm.scale != nullptr) << ", shift "
                                  << (norm.shift != nullptr) << ", centred " << norm.centred);
  std::vector<To> got(rows * norm.length + 1, To(-7.0f));
  normalise(norm, rows, src.data(), got.data());
  EXPECT_EQ(static_cast<float>(got.back()), -7.0f) << "written behind the end";
  for (size_t r = 0; r < rows; ++r) {
    const From* const row = src.data() + r * norm.length;
    double mean = 0.0;
    double squares = 0.0;
    const auto count = static_cast<double>(norm.length);
    for (size_t i = 0; norm.centred && i < norm.length; ++i) mean += static_cast<float>(row[i]);
    mean /= count;
    for (size_t i = 0; i < norm.length; ++i) {
      squares += std::pow(static_cast<float>(row[i]) - mean, 2);
    }
    for (size_t i = 0; i < norm.length; ++i) {
      double want = (static_cast<float>(row[i]) - mean) / std::sqrt(squares / count + norm.epsilon);
      if (norm.scale != nullptr) want *= norm.scale[i];
      if (norm.shift != nullptr) want += norm.shift[i];
      const float value = static_cast<float>(got[r * norm.length + i]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(value)) << "row " << r << ", value " << i << ": " << value;
        continue;
      }
      // Half a step of bfloat16 beside what sums in float are away.
      const double rounding = sizeof(To) == 2 ? std::abs(want) / 256 : 0.0;
      ASSERT_NEAR(value, want, tolerance * (1.0 + std::abs(want)) + rounding)
          << "row " << r << ", value " << i;
    }
  }
}

template <class From>
void expect_both(const RowNorm& norm, size_t rows, const std::vector<From>& src, double tolerance) {
  expect_rows<From, float>(norm, rows, src, tolerance);
  expect_rows<From, BFloat16>(norm, rows, src, tolerance);
}

TEST(CpuRowNorm, LengthsThatDoNotFillVectors) {
  const std::vector<float> scale = normal_values<float>(4096, 0.0f, 1.0f);
  const std::vector<float> shift = normal_values<float>(4096, 1.0f, 2.0f);
  cpu_testing::on_each_instruction_set([&] {
    for (const size_t length : {1, 2, 7, 16, 19, 32, 43, 48, 64, 65, 96, 127, 200, 1025, 4096}) {
      for (const size_t rows : {1, 3, 16, 21, 37}) {
        if (rows * length > 60000) continue;
        for (const bool centred : {true, false}) {
          RowNorm norm{length, 1e-5f, centred, scale.data(), shift.data()};
          expect_both(norm, rows, normal_values<float>(rows * length, 0.5f, 2.0f), 2e-5);
          expect_both(norm, rows, normal_values<BFloat16>(rows * length, 0.5f, 2.0f), 2e-5);
          if (rows != 21) continue;
          norm.shift = nullptr;
          expect_both(norm, rows, normal_values<float>(rows * length, 0.5f, 2.0f), 2e-5);
          norm.scale = nullptr;
          expect_both(norm, rows, normal_values<float>(rows * length, 0.5f, 2.0f), 2e-5);
          norm.shift = shift.data();
          expect_both(norm, rows, normal_values<float>(rows * length, 0.5f, 2.0f), 2e-5);
        }
      }
    }
  });
}

// The mean of squares less the square of the mean would have no digit left.
TEST(CpuRowNorm, MeansFarFromZero) {
  cpu_testing::on_each_instruction_set([] {
    for (const size_t length : {32, 100, 384}) {
      const RowNorm norm{length, 1e-5f, true, nullptr, nullptr};
      expect_both(norm, 20, normal_values<float>(20 * length, 5000.0f, 1.0f), 2e-3);
    }
  });
}

TEST(CpuRowNorm, NumbersThatAreNoneSpoilNoNeighbours) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  cpu_testing::on_each_instruction_set([] {
    for (const size_t length : {5, 32, 45, 100}) {
      for (const bool centred : {true, false}) {
        const RowNorm norm{length, 1e-5f, centred, nullptr, nullptr};
        std::vector<float> values = normal_values<float>(24 * length, 0.5f, 2.0f);
        values[2 * length + 1] = std::numeric_limits<float>::quiet_NaN();
        values[5 * length + 2] = kInfinite;
        values[6 * length + 2] = -kInfinite;
        // Squares beyond what floats hold.
        values[17 * length + 3] = 1e25f;
        values[17 * length + 4] = -1e25f;
        values[23 * length] = 3e38f;
        std::fill_n(values.begin() + static_cast<ptrdiff_t>(9 * length), length, 0.0f);
        expect_both(norm, 24, values, 2e-5);
        expect_both(norm, 24, std::vector<BFloat16>(values.begin(), values.end()), 2e-5);
      }
    }
  });
}

TEST(CpuRowNorm, RowsDoNotDependOnTheirNeighboursNorOnThePlace) {
  cpu_testing::on_each_instruction_set([] {
    for (const size_t length : {32, 43, 300}) {
      const std::vector<float> scale = normal_values<float>(length, 0.0f, 1.0f);
      const RowNorm norm{length, 1e-5f, true, scale.data(), nullptr};
      std::vector<float> values = normal_values<float>(35 * length, 0.5f, 2.0f);
      std::vector<float> together(values.size());
      normalise(norm, 35, values.data(), together.data());
      std::vector<float> alone(values.size());
      for (size_t r = 0; r < 35; ++r) {
        normalise(norm, 1, values.data() + r * length, alone.data() + r * length);
      }
      EXPECT_EQ(alone, together);
      normalise(norm, 35, values.data(), values.data());
      EXPECT_EQ(values, together);
    }
  });
}

}  // namespace
}  // namespace het
