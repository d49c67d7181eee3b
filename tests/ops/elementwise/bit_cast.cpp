#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(BitCast, KeepsTheBits) {
  const auto cast = [](const Tensor& x, int64_t to) {
    return OpCall{"BitCast", {x}, make_attributes({{"to", to}})};
  };
  expect_values<int32_t>(run_op_single(cast(make_tensor<float>({1}, {1}), 6)), {1}, {0x3f800000});
  expect_values<Float16>(run_op_single(cast(make_tensor<uint16_t>({1}, {0x3c00}), 10)), {1}, {1});
  expect_values<bool>(run_op_single(cast(make_tensor<uint8_t>({2}, {2, 0}), 9)), {2}, {1, 0});
  expect_op_error(cast(make_ramp<float>({1}), 7), "differ in width");
}

}  // namespace
}  // namespace het::op_testing
