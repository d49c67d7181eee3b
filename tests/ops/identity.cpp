#include "op_testing.h"

namespace het::op_testing {
namespace {

TEST(Identity, CopiesEveryType) {
  expect_near(run_op_single({"Identity", {make_ramp<int16_t>({2, 2})}}),
              make_ramp<int16_t>({2, 2}));
  expect_values<bool>(run_op_single({"Identity", {make_tensor<bool>({0}, {})}}), {0}, {});
  Tensor packed = *Tensor::allocate({ElementType::Int4, {3}});
  packed.bytes()[0] = std::byte{0x21};
  packed.bytes()[1] = std::byte{0x03};
  const Tensor copy = run_op_single({"Identity", {packed}});
  ASSERT_FALSE(copy.empty());
  EXPECT_EQ(copy.type(), ElementType::Int4);
  EXPECT_EQ(copy.bytes()[0], std::byte{0x21});
  EXPECT_EQ(copy.bytes()[1], std::byte{0x03});
}

}  // namespace
}  // namespace het::op_testing
