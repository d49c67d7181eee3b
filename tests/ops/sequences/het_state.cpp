#include "inference/passes/fold_constants.h"
#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

const Attributes kVariable = make_attributes({{"variable_id", "v"}});

TEST(HetState, OneEvaluationHandsValuesOn) {
  const Tensor x = make_tensor<int32_t>({2}, {3, -4});
  expect_values<int32_t>(run_op_single({"ReadValue", {x}, kVariable, 1, "het"}), {2}, {3, -4});
  expect_values<int32_t>(run_op_single({"Assign", {x}, kVariable, 1, "het"}), {2}, {3, -4});
}

TEST(HetState, AVariableIsNoConstant) {
  Model model;
  Value* first = model.add_constant("first", make_tensor<float>({1}, {0}));
  Node* read = model.add_node("read", "ReadValue", "het", {first}, {"old"}, kVariable);
  const Result<bool> folded = fold_node(model, *read);
  ASSERT_TRUE(folded);
  EXPECT_FALSE(*folded);
}

TEST(HetState, RefusesBadInput) {
  const Tensor x = make_tensor<float>({1}, {0});
  expect_op_error({"ReadValue", {x}, {}, 1, "het"}, "variable_id");
  expect_op_error({"Assign", {x}, make_attributes({{"variable_id", ""}}), 1, "het"},
                  "variable_id is empty");
  expect_op_error({"ReadValue", {}, kVariable, 1, "het"}, "variable 'v' has no first value");
}

}  // namespace
}  // namespace het::op_testing
