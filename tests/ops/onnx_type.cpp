#include "inference/ops/onnx_type.h"

#include "op_testing.h"

namespace het::op_testing {
namespace {

TEST(OnnxType, CodesGoBothWays) {
  for (const ElementType type :
       {ElementType::Bool, ElementType::Float32, ElementType::UInt64, ElementType::BFloat16,
        ElementType::Float8E8M0, ElementType::Int2}) {
    const auto back = element_type_from_onnx(onnx_type_code(type));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, type);
  }
  EXPECT_EQ(*element_type_from_onnx(1), ElementType::Float32);
  EXPECT_EQ(*element_type_from_onnx(11), ElementType::Float64);
  EXPECT_FALSE(element_type_from_onnx(0));
}

}  // namespace
}  // namespace het::op_testing
