#include "inference/ops/narrow_float.h"

#include <cmath>
#include <limits>

#include "inference/ops/onnx_type.h"
#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

const std::vector<ElementType>& signed_types() {
  static const std::vector<ElementType> types{ElementType::Float4E2M1, ElementType::Float8E4M3FN,
                                              ElementType::Float8E4M3FNUZ, ElementType::Float8E5M2,
                                              ElementType::Float8E5M2FNUZ};
  return types;
}

TEST(NarrowFloat, EveryFiniteCodeSurvivesARoundTrip) {
  for (const ElementType type : signed_types()) {
    SCOPED_TRACE(to_string(type));
    for (int code = 0; code < (1 << bit_width(type)); ++code) {
      const auto bits = static_cast<uint8_t>(code);
      const float value = narrow_to_float(type, bits);
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(float_to_narrow(type, value), bits) << value;
    }
  }
}

TEST(NarrowFloat, RoundsToTheNearestTiesToEven) {
  for (const ElementType type : signed_types()) {
    SCOPED_TRACE(to_string(type));
    // neighbours among the positive codes
    for (uint8_t code = 0; code < 6; ++code) {
      const double low = narrow_to_float(type, code);
      const double high = narrow_to_float(type, static_cast<uint8_t>(code + 1));
      const double middle = (low + high) / 2;
      EXPECT_EQ(float_to_narrow(type, middle), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(float_to_narrow(type, std::nextafter(middle, 0)), code);
      EXPECT_EQ(float_to_narrow(type, std::nextafter(middle, kInf)), code + 1);
    }
  }
}

TEST(NarrowFloat, LargestAndSpecialValues) {
  struct Row {
    ElementType type;
    double largest;
    int saturated;
    int unsaturated;
    int nan;
    int minus_zero;
  };
  const Row rows[] = {{ElementType::Float8E4M3FN, 448, 0x7e, 0x7f, 0x7f, 0x80},
                      {ElementType::Float8E4M3FNUZ, 240, 0x7f, 0x80, 0x80, 0},
                      {ElementType::Float8E5M2, 57344, 0x7b, 0x7c, 0x7e, 0x80},
                      {ElementType::Float8E5M2FNUZ, 57344, 0x7f, 0x80, 0x80, 0},
                      {ElementType::Float4E2M1, 6, 0x7, 0x7, 0x8, 0x8}};
  for (const Row& row : rows) {
    SCOPED_TRACE(to_string(row.type));
    EXPECT_EQ(float_to_narrow(row.type, row.largest), row.saturated);
    EXPECT_EQ(float_to_narrow(row.type, 1e9), row.saturated);
    EXPECT_EQ(float_to_narrow(row.type, kInf), row.saturated);
    EXPECT_EQ(float_to_narrow(row.type, 1e300, false), row.unsaturated);
    EXPECT_EQ(float_to_narrow(row.type, kInf, false), row.unsaturated);
    EXPECT_EQ(float_to_narrow(row.type, kNaN), row.nan);
    EXPECT_EQ(float_to_narrow(row.type, -0.0), row.minus_zero);
    EXPECT_EQ(float_to_narrow(row.type, 0.0), 0);
  }
  EXPECT_TRUE(std::isnan(narrow_to_float(ElementType::Float8E4M3FN, 0xff)));
  EXPECT_TRUE(std::isnan(narrow_to_float(ElementType::Float8E5M2, 0x7d)));
  EXPECT_EQ(narrow_to_float(ElementType::Float8E5M2, 0xfc), -kInf);
}

TEST(NarrowFloat, PowersOfTwo) {
  constexpr ElementType kType = ElementType::Float8E8M0;
  EXPECT_EQ(narrow_to_float(kType, 127), 1);
  EXPECT_EQ(narrow_to_float(kType, 0), std::ldexp(1.0f, -127));
  EXPECT_TRUE(std::isnan(narrow_to_float(kType, 0xff)));
  EXPECT_EQ(float_to_narrow(kType, 3, true, PowerRounding::Up), 129);
  EXPECT_EQ(float_to_narrow(kType, 3, true, PowerRounding::Down), 128);
  EXPECT_EQ(float_to_narrow(kType, 2.5, true, PowerRounding::Nearest), 128);
  EXPECT_EQ(float_to_narrow(kType, 3, true, PowerRounding::Nearest), 129);
  EXPECT_EQ(float_to_narrow(kType, kInf), 0xfe);
  EXPECT_EQ(float_to_narrow(kType, kInf, false), 0xff);
  EXPECT_EQ(float_to_narrow(kType, 3e38), 0xfe);
  EXPECT_EQ(float_to_narrow(kType, 0), 0);
  EXPECT_EQ(float_to_narrow(kType, 0, false), 0xff);
}

Tensor cast(const Tensor& x, ElementType to) {
  return run_op_single({"Cast", {x}, make_attributes({{"to", onnx_type_code(to)}})});
}

TEST(NarrowFloat, CastGoesThroughEveryNarrowType) {
  const Tensor x = make_tensor<float>({3}, {0.5, -1, 4});
  for (const ElementType type : signed_types()) {
    SCOPED_TRACE(to_string(type));
    expect_near(cast(cast(x, type), ElementType::Float32), x);
    expect_values<int32_t>(cast(cast(x, type), ElementType::Int32), {3}, {0, -1, 4});
  }
  // from one narrow type to another
  const Tensor half = cast(cast(x, ElementType::Float4E2M1), ElementType::Float8E5M2);
  ASSERT_FALSE(half.empty());
  EXPECT_EQ(half.type(), ElementType::Float8E5M2);
  expect_near(cast(half, ElementType::Float32), x);
}

TEST(NarrowFloat, CastPacksIntegers) {
  const Tensor x = make_tensor<float>({5}, {-9, -8, 7.9, 8, 3});
  const Tensor packed = cast(x, ElementType::Int4);
  ASSERT_FALSE(packed.empty());
  EXPECT_EQ(packed.size_bytes(), 3u);
  expect_values<int8_t>(cast(packed, ElementType::Int8), {5}, {7, -8, -8, -8, 3});
  expect_values<float>(cast(cast(x, ElementType::UInt4), ElementType::Float32), {5},
                       {7, 8, 8, 8, 3});
  expect_values<int64_t>(cast(cast(x, ElementType::Int2), ElementType::Int64), {5},
                         {-1, 0, 0, 0, -1});
  expect_values<float>(cast(cast(make_ramp<float>({0}), ElementType::UInt2), ElementType::Float32),
                       {0}, {});
}

TEST(NarrowFloat, CastChecksItsAttributes) {
  expect_op_error({"Cast",
                   {make_ramp<float>({1})},
                   make_attributes({{"to", int64_t{24}}, {"round_mode", "away"}})},
                  "'away'");
}

}  // namespace
}  // namespace het::op_testing
