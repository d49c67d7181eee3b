#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

using Body = std::shared_ptr<Model>;

/// A branch that reads the captured value "a" and gives one node's output.
Body branch(const std::string& op_type, const std::vector<Tensor>& constants = {},
            const Attributes& attributes = {}) {
  auto body = std::make_shared<Model>("branch");
  std::vector<Value*> inputs{body->add_input("a", {})};
  for (const Tensor& constant : constants) inputs.push_back(body->add_constant("c", constant));
  Node* node = body->add_node("inner", op_type, "", inputs, {"r"}, attributes);
  body->add_output("r", node->output());
  return body;
}

OpCall if_call(bool cond, const Tensor& a, const Body& then_branch, const Body& else_branch) {
  return {"If",
          {Tensor::scalar(cond), a},
          make_attributes({{"then_branch", then_branch},
                           {"else_branch", else_branch},
                           {"het.captures", std::vector<std::string>{"a"}}})};
}

TEST(If, OnlyTheTakenBranchRuns) {
  const Tensor a = make_tensor<float>({2}, {1, -2});
  const Body add = branch("Add", {Tensor::scalar(10.0f)});
  const Body neg = branch("Neg");
  expect_values<float>(run_op_single(if_call(true, a, add, neg)), {2}, {11, 8});
  expect_values<float>(run_op_single(if_call(false, a, add, neg)), {2}, {-1, 2});
}

TEST(If, TheOtherBranchMayRefuseItsShapes) {
  const Tensor a = make_tensor<float>({2}, {1, -2});
  const Body squeeze = branch("Squeeze", {int64_tensor({0})});  // needs a dimension of 1
  expect_values<float>(run_op_single(if_call(false, a, squeeze, branch("Neg"))), {2}, {-1, 2});
  expect_op_error(if_call(true, a, squeeze, branch("Neg")), "'inner' (Squeeze)");
}

TEST(If, AValueThatIsHandedThroughIsCopied) {
  const Tensor a = make_tensor<float>({2}, {1, -2});
  auto body = std::make_shared<Model>("branch");
  Value* x = body->add_input("a", {});
  body->add_output("a", x);
  const Tensor y = run_op_single(if_call(true, a, body, branch("Neg")));
  expect_values<float>(y, {2}, {1, -2});
  EXPECT_NE(y.bytes(), a.bytes());
}

Result<std::vector<TensorDesc>> inferred(const OpCall& call, const Tensor* cond) {
  Model model;
  const TensorDesc condition{ElementType::Bool, {}};
  const TensorDesc& a = call.inputs[1].desc();
  const Node* node =
      model.add_node("choice", "If", "", {model.add_input("c", condition), model.add_input("x", a)},
                     {"y"}, call.attributes);
  return infer_node(*node, {&condition, &a}, {cond, nullptr});
}

TEST(If, ShapesAreWhatBothBranchesAgreeOn) {
  const Tensor a = make_ramp<float>({2, 3});
  const Body first = branch("ReduceSum", {int64_tensor({1})});  // [2,1]
  const OpCall call = if_call(true, a, first, branch("Neg"));
  EXPECT_EQ(to_string((*inferred(call, nullptr))[0]), "float32[2,?]");
  const Tensor no = Tensor::scalar(false);
  EXPECT_EQ(to_string((*inferred(call, &no))[0]), "float32[2,3]");
  const OpCall ranks = if_call(true, a, branch("Flatten"), branch("Squeeze"));
  EXPECT_EQ(to_string((*inferred(ranks, nullptr))[0]), "float32[2,3]");
  const OpCall types = if_call(true, a, branch("Shape"), branch("Neg"));
  EXPECT_EQ((*inferred(types, nullptr))[0].type, ElementType::Undefined);
}

TEST(If, UnknownOperatorsInsideAreNamed) {
  const Tensor a = make_ramp<float>({2});
  const auto result = inferred(if_call(true, a, branch("Neg"), branch("SequenceAt")), nullptr);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), StatusCode::NotSupported);
  for (const char* part : {"'choice' (If)", "'else_branch'", "'inner' (SequenceAt)", "sequence"}) {
    EXPECT_NE(result.error().message().find(part), std::string::npos) << result.error().message();
  }
}

TEST(If, BadNodesAreRefused) {
  const Tensor a = make_ramp<float>({2});
  OpCall call = if_call(true, a, branch("Neg"), branch("Neg"));
  call.inputs[0] = make_tensor<bool>({2}, {1, 0});
  expect_op_error(call, "one element");
  call = if_call(true, a, branch("Neg"), branch("Neg"));
  call.attributes.erase("else_branch");
  expect_op_error(call, "'else_branch' is missing");
  call = if_call(true, a, branch("Neg"), branch("Neg"));
  call.attributes.erase("het.captures");
  expect_op_error(call, "has 1 inputs, but 0 values");
  call = if_call(true, a, branch("Neg"), branch("Neg"));
  call.outputs = 2;
  expect_op_error(call, "has 1 outputs, the node has 2");
}

}  // namespace
}  // namespace het::op_testing
