#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor constant(std::string_view name, const Attribute& value) {
  return run_op_single({"Constant", {}, make_attributes({{name, value}})});
}

TEST(Constant, EveryAttribute) {
  expect_near(constant("value", make_ramp<uint8_t>({2, 2})), make_ramp<uint8_t>({2, 2}));
  expect_values<float>(constant("value_float", 1.5f), {}, {1.5});
  expect_values<int64_t>(constant("value_int", int64_t{7}), {}, {7});
  expect_values<float>(constant("value_floats", Floats{1, 2}), {2}, {1, 2});
  expect_values<int64_t>(constant("value_ints", Ints{}), {0}, {});
  expect_op_error({"Constant", {}}, "none of value");
  expect_op_error({"Constant", {}, make_attributes({{"value", 1.0f}})}, "'value' is a float");
}

}  // namespace
}  // namespace het::op_testing
