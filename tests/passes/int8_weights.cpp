#include "inference/passes/fusions/int8/int8_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace het {
namespace {

/// `count` values from `first` on, wrapping around.
template <class T>
Tensor counted(int64_t first, int64_t count) {
  Tensor tensor = *Tensor::allocate({element_type_of<T>(), {count}, Layout::Plain});
  for (int64_t i = 0; i < count; ++i) tensor.data<T>()[i] = static_cast<T>(first + i);
  return tensor;
}

template <class T>
void expect_same_products(const Tensor& weights, int64_t zero) {
  const auto made = int8_weights(weights, {{1.0f}, {zero}});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->content.type(), ElementType::Int8);
  bool fits = true;
  for (int64_t i = 0; i < weights.element_count(); ++i) {
    const int64_t value = weights.data<T>()[i] - zero;
    fits &= value >= -128 && value <= 127;
    ASSERT_EQ(made->content.data<int8_t>()[i] - made->zero, value) << i << " less " << zero;
  }
  EXPECT_EQ(made->zero == 0, fits) << zero;
}

template <class T>
void expect_every_zero() {
  const int64_t least = std::numeric_limits<T>::min();
  for (int64_t zero = least; zero < least + 256; ++zero) {
    expect_same_products<T>(counted<T>(least, 256), zero);
    // What fits, in the order and with the ends that words of eight leave.
    const int64_t first = std::max(zero - 128, least);
    const int64_t last = std::min(zero + 127, least + 255);
    expect_same_products<T>(counted<T>(first, last - first + 1), zero);
    for (int64_t count = 0; count < 10; ++count) {
      expect_same_products<T>(counted<T>(least + 123, count), zero);
    }
    // One value of many that does not fit.
    if (last < least + 255) {
      Tensor one = counted<T>(first, last - first + 1);
      one.data<T>()[one.element_count() / 2] = static_cast<T>(last + 1);
      expect_same_products<T>(one, zero);
    }
  }
}

TEST(Int8Weights, EveryUInt8LessEveryZeroPoint) {
  expect_every_zero<uint8_t>();
}

TEST(Int8Weights, EveryInt8LessEveryZeroPoint) {
  expect_every_zero<int8_t>();
}

TEST(Int8Weights, ZeroPointsThatDifferAreRefused) {
  EXPECT_FALSE(int8_weights(counted<int8_t>(0, 4), {{1.0f, 1.0f}, {0, 1}}));
  EXPECT_TRUE(int8_weights(counted<int8_t>(0, 4), {{1.0f, 1.0f}, {1, 1}}));
}

}  // namespace
}  // namespace het
