#include "inference/passes/inline_constant_if.h"

#include <gtest/gtest.h>

#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"

namespace het {
namespace {

/// then: Relu(Add(x, 1)); else: Neg(x), where x is captured as "x".
Attributes branches() {
  auto then_branch = std::make_shared<Model>("then");
  Value* x = then_branch->add_input("x", {});
  Value* one = then_branch->add_constant("one", Tensor::scalar(1.0f));
  Value* sum = then_branch->add_node("add", "Add", "", {x, one}, {"sum"})->output();
  then_branch->add_output("r", then_branch->add_node("relu", "Relu", "", {sum}, {"r"})->output());
  auto else_branch = std::make_shared<Model>("else");
  Value* other = else_branch->add_input("x", {});
  else_branch->add_output("n", else_branch->add_node("neg", "Neg", "", {other}, {"n"})->output());
  Attributes attributes;
  attributes.set("then_branch", then_branch);
  attributes.set("else_branch", else_branch);
  attributes.set("het.captures", std::vector<std::string>{"x"});
  return attributes;
}

Model model_with_if(Value* (*make_condition)(Model&, Value*)) {
  Model model("m");
  Value* x = model.add_input("x", {ElementType::Float32, {2, 1}});
  Value* cond = make_condition(model, x);
  Value* y = model.add_node("choice", "If", "", {cond, x}, {"y"}, branches())->output();
  model.add_output("result", y);
  return model;
}

TEST(InlineConstantIf, TheTakenBranchReplacesTheNode) {
  Model model =
      model_with_if([](Model& m, Value*) { return m.add_constant("cond", Tensor::scalar(true)); });
  EXPECT_EQ(inline_constant_if(model), 1u);
  EXPECT_EQ(print_model(model),
            "input x : float32[2,1]\n"
            "choice/sum = Add(x, choice/one=1) : ?\n"
            "choice/r = Relu(choice/sum) : ?\n"
            "output result = choice/r\n");
  for (const auto& node : model.nodes()) {
    EXPECT_EQ(node->original_names().back(), "choice") << "queries are answered for the If";
  }
}

TEST(InlineConstantIf, OtherIfsStay) {
  Model model = model_with_if([](Model& m, Value*) {
    return m.add_input("c", {ElementType::Bool, {}});
  });
  const std::string before = print_model(model);
  EXPECT_EQ(inline_constant_if(model), 0u);
  EXPECT_EQ(print_model(model), before);
}

TEST(InlineConstantIf, LongNamesAreNotMultiplied) {
  // Five parts of the branch would each repeat the name of the If twice.
  for (const size_t bytes : {size_t{1000}, size_t{1} << 20}) {
    Model model;
    Value* x = model.add_input("x", {ElementType::Float32, {2, 1}});
    Value* cond = model.add_constant("cond", Tensor::scalar(true));
    const std::string name(bytes, 'n');
    model.add_output("y", model.add_node(name, "If", "", {cond, x}, {"y"}, branches())->output());
    EXPECT_EQ(inline_constant_if(model), bytes == 1000 ? 1u : 0u);
  }
}

/// The condition is x.shape[1] == 2, which is only known once shapes are.
Value* second_dimension_is_two(Model& m, Value* x) {
  Attributes from;
  from.set("start", int64_t{1});
  Value* size = m.add_node("size", "Shape", "", {x}, {"size"}, std::move(from))->output();
  Value* two = m.add_constant("two", Tensor::from<int64_t>({1}, {2}));
  return m.add_node("equal", "Equal", "", {size, two}, {"equal"})->output();
}

TEST(InlineConstantIf, PrepareModelInlinesWhatFoldingTells) {
  Model model = model_with_if(second_dimension_is_two);
  ASSERT_TRUE(prepare_model(model).ok());
  EXPECT_EQ(print_model(model),
            "input x : float32[2,1]\n"
            "choice/n = Neg(x) : float32[2,1]\n"
            "output result = choice/n\n");
}

TEST(InlineConstantIf, RefusedNodesInsideAreReportedForTheIf) {
  Model model("m");
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  auto body = std::make_shared<Model>("then");
  Value* inner = body->add_input("x", {});
  Value* odd = body->add_node("odd", "Frobnicate", "", {inner}, {"o"})->output();
  body->add_output("r", body->add_node("relu", "Relu", "", {odd}, {"r"})->output());
  Attributes attributes = branches();
  attributes.set("then_branch", body);
  Value* cond = model.add_constant("cond", Tensor::scalar(true));
  Node* node = model.add_node("choice", "If", "", {cond, x}, {"y"}, std::move(attributes));
  model.add_output("y", node->output());
  const std::unique_ptr<Model> prepared = model.clone();
  const auto failures = prepare_model_for_query(*prepared);
  ASSERT_TRUE(failures);
  const auto rows = query_rows(model, *prepared, *failures, "REF", [](const Node&) { return ""; });
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].supported());
  EXPECT_NE(rows[0].reason.find("'choice/odd' (Frobnicate)"), std::string::npos) << rows[0].reason;
}

}  // namespace
}  // namespace het
