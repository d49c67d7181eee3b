/// Softmax of rows and columns (devices/cpu/loops/softmax_loops.h), against sums in double.

#include "devices/cpu/loops/softmax_loops.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/devices/cpu/instruction_sets.h"
#include "tests/devices/device_testing.h"
#include "tests/guarded_memory.h"

namespace het {
namespace {

/// Values that nothing can be read behind.
Tensor guarded_values(int64_t count) {
  return guarded_copy(device_testing::random_tensor({count}, static_cast<unsigned>(count)));
}

/// Softmax, or its logarithm, of n values that lie `step` apart.
std::vector<double> softmax_of(const float* values, int64_t n, int64_t step, bool logarithm) {
  std::vector<double> result;
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, double{values[i * step]});
  for (int64_t i = 0; i < n; ++i) sum += std::exp(values[i * step] - largest);
  for (int64_t i = 0; i < n; ++i) {
    const double x = values[i * step] - largest;
    result.push_back(logarithm ? x - std::log(sum) : std::exp(x) / sum);
  }
  return result;
}

void expect_near(const float* got, const std::vector<double>& wanted, int64_t step) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(got[static_cast<int64_t>(i) * step], wanted[i], 1e-5) << i;
  }
}

TEST(CpuSoftmax, ReadsAndWritesRowsAndNothingElse) {
  cpu_testing::on_each_instruction_set([] {
    for (const bool logarithm : {false, true}) {
      for (const int64_t n : {1, 3, 4, 15, 16, 17, 32}) {
        constexpr int64_t kRows = 5;
        SCOPED_TRACE(n);
        const Tensor src = guarded_values(kRows * n);
        const Tensor dst = guarded_values(kRows * n);
        const float* const from = src.values<float>().data();
        float* const to = const_cast<Tensor&>(dst).values<float>().data();
        cpu::softmax_rows(from, n, kRows, logarithm, to);
        for (int64_t r = 0; r < kRows; ++r) {
          expect_near(to + r * n, softmax_of(from + r * n, n, 1, logarithm), 1);
        }
      }
      for (const int64_t n : {1, 3, 16, 33, 50, 1000}) {
        SCOPED_TRACE(n);
        // The second row does not begin at a vector.
        const Tensor src = guarded_values(2 * n);
        Tensor dst = guarded_copy(src);
        const float* const from = src.values<float>().data();
        float* const to = dst.values<float>().data();
        cpu::softmax_long_row(from + n, n, logarithm, to + n);
        expect_near(to + n, softmax_of(from + n, n, 1, logarithm), 1);
        cpu::softmax_long_row(from, n, logarithm, to);
        expect_near(to, softmax_of(from, n, 1, logarithm), 1);
        expect_near(to + n, softmax_of(from + n, n, 1, logarithm), 1);
      }
    }
  });
}

/// Columns row behind row, that a vector has several rows of; in place.
TEST(CpuSoftmax, FewColumnsStayApart) {
  cpu_testing::on_each_instruction_set([] {
    for (const bool logarithm : {false, true}) {
      for (int64_t columns = 1; columns <= 9; ++columns) {
        for (const int64_t n : {1, 2, 5, 16, 49}) {
          SCOPED_TRACE(testing::Message() << n << " rows of " << columns);
          Tensor values = guarded_values(n * columns);
          float* const data = values.values<float>().data();
          data[columns * (n / 2)] = std::numeric_limits<float>::quiet_NaN();
          if (n > 2) data[columns * (n - 1) + columns - 1] = std::numeric_limits<float>::infinity();
          if (n > 1) data[columns * (n - 1) + columns / 2] *= 1e4f;
          const std::vector<float> from(data, data + n * columns);
          cpu::softmax_columns(data, n, columns, columns, logarithm, data);
          for (int64_t c = 0; c < columns; ++c) {
            const bool is_finite = c > 0 && (n <= 2 || c < columns - 1);
            const auto wanted = softmax_of(from.data() + c, n, columns, logarithm);
            for (int64_t i = 0; i < n; ++i) {
              const float got = data[i * columns + c];
              const double w = wanted[static_cast<size_t>(i)];
              if (is_finite) {
                ASSERT_NEAR(got, w, 1e-5 * std::max(1.0, std::abs(w))) << i;
              } else if (c == 0 || !logarithm) {
                // An infinity less itself is no number.
                ASSERT_TRUE(std::isnan(got)) << i;
              }
            }
          }
        }
      }
    }
  });
}

TEST(CpuSoftmax, ReadsAndWritesColumnsAndNothingElse) {
  cpu_testing::on_each_instruction_set([] {
    for (const bool logarithm : {false, true}) {
      for (const int64_t columns : {1, 3, 7, 16, 21}) {
        constexpr int64_t kValues = 6;
        SCOPED_TRACE(columns);
        // Only the last columns of a wider matrix.
        const int64_t stride = columns + 2;
        const Tensor src = guarded_values(kValues * stride);
        Tensor dst = guarded_copy(src);
        const float* const from = src.values<float>().data() + 2;
        float* const to = dst.values<float>().data() + 2;
        cpu::softmax_columns(from, kValues, stride, columns, logarithm, to);
        for (int64_t c = 0; c < columns; ++c) {
          expect_near(to + c, softmax_of(from + c, kValues, stride, logarithm), stride);
        }
        for (int64_t r = 0; r < kValues; ++r) {
          EXPECT_EQ(to[r * stride - 1], from[r * stride - 1]) << "another column";
        }
      }
    }
  });
}

}  // namespace
}  // namespace het
