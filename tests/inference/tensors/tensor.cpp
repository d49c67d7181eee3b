#include "inference/tensors/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace het {
namespace {

TEST(ElementType, HalfRoundTripsEveryBitPattern) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    const uint16_t back = float_to_half(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(back)));
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(ElementType, HalfRoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f), 0x3c00);
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00) << "a tie goes to the even mantissa";
  EXPECT_EQ(float_to_half(1.0f + 0x1.8p-10f), 0x3c02);
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e10f), 0xfc00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001);
}

TEST(ElementType, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(float_to_bfloat16(1.0f), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0f + 0x1.8p-7f), 0x3f82);
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::nanf("")))));
}

TEST(ElementType, ParsesNumPyAndOpenVinoNames) {
  EXPECT_EQ(*parse_element_type("float32"), ElementType::Float32);
  EXPECT_EQ(*parse_element_type("FP16"), ElementType::Float16);
  EXPECT_EQ(*parse_element_type("bf16"), ElementType::BFloat16);
  EXPECT_EQ(*parse_element_type("U8"), ElementType::UInt8);
  const auto wrong = parse_element_type("float33");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("f32"), std::string::npos);
}

TEST(Shape, CheckedCountRefusesOverflow) {
  EXPECT_EQ(*checked_element_count({2, 3, 4}), 24);
  EXPECT_EQ(*checked_element_count({}), 1);
  EXPECT_EQ(*checked_element_count({5, 0}), 0);
  EXPECT_FALSE(checked_element_count({int64_t{1} << 32, int64_t{1} << 32}));
  EXPECT_FALSE(checked_element_count({0, -3}));
  EXPECT_EQ(*checked_element_count({int64_t{1} << 32, 0}), 0);
  EXPECT_FALSE(checked_element_count({0, int64_t{1} << 33})) << "loops over it would not end";
}

TEST(Shape, ParsesAndPrints) {
  EXPECT_EQ(*parse_shape("[1,3,224,224]"), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(*parse_shape(" 1, ?, -1 "), (Shape{1, kUnknownDim, kUnknownDim}));
  EXPECT_EQ(*parse_shape("[]"), Shape{});
  EXPECT_EQ(to_string(Shape{1, kUnknownDim}), "[1,?]");
  for (const char* wrong : {"[1,2", "1,,2", "a", "1,2,", "-5", "[", "99999999999999999999"}) {
    EXPECT_FALSE(parse_shape(wrong)) << wrong;
  }
}

TEST(Shape, BroadcastsAsNumPy) {
  EXPECT_EQ(*broadcast({3, 1}, {1, 4}), (Shape{3, 4}));
  EXPECT_EQ(*broadcast({2, 3, 4}, {}), (Shape{2, 3, 4}));
  EXPECT_EQ(*broadcast({0}, {1}), Shape{0});
  EXPECT_FALSE(broadcast({2}, {3}));
}

TEST(Tensor, ViewsStayInsideTheirMemory) {
  const BufferPtr buffer = *allocate_host_buffer(64);
  const TensorDesc desc{ElementType::Float32, {4, 4}, Layout::Plain};
  EXPECT_TRUE(Tensor::view(desc, buffer));
  EXPECT_FALSE(Tensor::view(desc, buffer, 4));
  EXPECT_FALSE(Tensor::view(desc, buffer, 0, {20, 4}));
  EXPECT_TRUE(Tensor::view({ElementType::Float32, {3, 4}, Layout::Plain}, buffer, 0, {20, 4}));
  EXPECT_FALSE(Tensor::view(desc, buffer, 0, {std::numeric_limits<int64_t>::max(), 4}));
  EXPECT_FALSE(Tensor::view(desc, buffer, 0, {16}));
}

TEST(Tensor, CloneGathersStridedRows) {
  std::vector<float> values(12);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor transposed = *Tensor::wrap({ElementType::Float32, {3, 4}, Layout::Plain},
                                          values.data(), values.size() * 4, {}, {4, 12});
  EXPECT_FALSE(transposed.is_dense());
  const Tensor dense = *transposed.clone();
  EXPECT_TRUE(dense.is_dense());
  EXPECT_EQ(dense.values<float>()[1], 3.0f);
  EXPECT_EQ(dense.values<float>()[4], 1.0f);
}

TEST(Tensor, WrappedMemoryIsReleasedOnceByTheLastUser) {
  int released = 0;
  float value = 1.0f;
  {
    const Tensor a =
        *Tensor::wrap({ElementType::Float32, {1}, Layout::Plain}, &value, 4, [&] { ++released; });
    const Tensor b = *a.reshaped({1, 1});
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, BlockedLayoutsPadTheirChannels) {
  EXPECT_EQ(*dense_size_bytes({ElementType::Float32, {1, 3, 2, 2}, Layout::nChw16c}),
            16u * 4u * 4u);
  EXPECT_EQ(*dense_size_bytes({ElementType::UInt4, {3}, Layout::Plain}), 2u);
}

TEST(Tensor, HugeAllocationIsAnErrorNotACrash) {
  const auto tensor = Tensor::allocate({ElementType::Float32, {int64_t{1} << 60}, Layout::Plain});
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().code(), StatusCode::OutOfMemory);
}

TEST(Tensor, ReadsIntegersAndFloats) {
  EXPECT_EQ(*to_int64_vector(Tensor::from<int32_t>({2}, {1, -2})), (std::vector<int64_t>{1, -2}));
  EXPECT_FALSE(to_int64_vector(Tensor::from<float>({1}, {1.0f})));
  EXPECT_EQ(*to_float_vector(Tensor::from<Float16>({1}, {Float16(0.5f)})),
            std::vector<float>{0.5f});
}

}  // namespace
}  // namespace het
