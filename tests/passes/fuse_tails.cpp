#include <gtest/gtest.h>

#include "inference/passes/fusions/passes.h"
#include "inference/passes/infer_shapes.h"
#include "inference/passes/print_model.h"

namespace het {
namespace {

/// A product, an activation that not every device takes, a sum and another activation.
class FuseTails : public testing::Test {
 protected:
  void SetUp() override {
    Value* x = model_.add_input("x", {ElementType::Float32, {2, 3}});
    Value* y = model_.add_input("y", {ElementType::Float32, {2, 2}});
    Value* w = model_.add_constant("w", Tensor::from<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
    Value* a = model_.add_node("product", "MatMul", "", {x, w}, {"a"})->output();
    Value* b = model_.add_node("erf", "Erf", "", {a}, {"b"})->output();
    Value* c = model_.add_node("sum", "Add", "", {y, b}, {"c"})->output();
    Value* d = model_.add_node("relu", "Relu", "", {c}, {"d"})->output();
    model_.add_output("d", d);
    ASSERT_TRUE(infer_shapes(model_).ok());
  }

  std::string fused(const TailRules& rules) {
    EXPECT_TRUE(fuse_tails(model_, rules).ok());
    model_.remove_unused();
    EXPECT_TRUE(model_.sort().ok());
    std::string types;
    for (const auto& node : model_.nodes()) types += node->op_type() + " ";
    return types;
  }

  Model model_;
};

TEST_F(FuseTails, WithoutLimitsAllGoesIntoTheProduct) {
  EXPECT_EQ(fused({}), "MatMul ");
  const Node& product = *model_.nodes()[0];
  EXPECT_EQ(product.domain(), "het");
  EXPECT_EQ(product.attributes().get_strings("tail"),
            (std::vector<std::string>{"Erf", "Sum", "Relu"}));
  EXPECT_EQ(product.input(kTailSumInput)->name(), "y");
}

TEST_F(FuseTails, ATailHasNoMoreStepsThanTheDeviceTakes) {
  TailRules rules;
  rules.most_steps = 1;
  EXPECT_EQ(fused(rules), "MatMul Add Relu ");
}

TEST_F(FuseTails, WhatTheDeviceDoesNotTakeStays) {
  TailRules rules;
  rules.takes = [](const FusedTail& tail) {
    return tail.back().sum || tail.back().expression.kind != ElementwiseKind::Erf;
  };
  const std::string before = print_model(model_);
  EXPECT_EQ(fused(rules), "MatMul Erf Add Relu ");
  EXPECT_EQ(print_model(model_), before);
}

TEST_F(FuseTails, ANodeThatNoKernelRunsIsNotMade) {
  TailRules rules;
  rules.can_run = [](const Node& node) { return node.input(kTailSumInput) == nullptr; };
  EXPECT_EQ(fused(rules), "MatMul Add Relu ");
  EXPECT_EQ(model_.nodes()[0]->attributes().get_strings("tail"), std::vector<std::string>{"Erf"});
}

}  // namespace
}  // namespace het
