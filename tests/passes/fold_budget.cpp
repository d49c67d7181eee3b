#include "inference/passes/fold_budget.h"

#include <gtest/gtest.h>

#include <string>

#include "inference/passes/infer_shapes.h"

namespace het {
namespace {

constexpr int64_t kQuarterMebi = int64_t{1} << 22;
/// Bytes of one result of filled(): as many as folding keeps of a small input.
constexpr size_t kResultBytes = size_t{16} << 20;

/// 16 MiB of zeros out of one number.
Value* filled(Model& model, const std::string& name) {
  Value* count = model.add_constant(name + "_n", Tensor::from<int64_t>({1}, {kQuarterMebi}));
  return model.add_node(name, "ConstantOfShape", "", {count}, {name})->output();
}

size_t folded_count(const Model& model, const std::string& prefix) {
  size_t count = 0;
  for (const auto& value : model.values()) {
    count += value->is_constant() && value->name().starts_with(prefix) ? 1 : 0;
  }
  return count;
}

size_t folded_of(Model& model, int candidates) {
  for (int i = 0; i < candidates; ++i) {
    model.add_output("", filled(model, "zeros" + std::to_string(i)));
  }
  EXPECT_TRUE(infer_shapes(model).ok());
  return folded_count(model, "zeros") - static_cast<size_t>(candidates);  // without the "_n"
}

TEST(FoldBudget, ResultsOfAModelShareTheBytes) {
  // 128 MiB are 8 results.
  Model model;
  EXPECT_EQ(folded_of(model, 20), 8u);
}

TEST(FoldBudget, ConstantsOfTheFileRaiseIt) {
  // Eight bytes for each: 4 MiB give two results more.
  Model model;
  model.add_constant("w", *Tensor::allocate({ElementType::UInt8, {4 << 20}}));
  EXPECT_EQ(folded_of(model, 20), 10u);
}

TEST(FoldBudget, BytesThatConstantsShareCountOnce) {
  Model model;
  const Tensor whole = *Tensor::allocate({ElementType::UInt8, {4 << 20}});
  for (int i = 0; i < 64; ++i) {
    const int64_t offset = i * 4096;
    model.add_constant("w", *Tensor::view({ElementType::UInt8, {(4 << 20) - offset}},
                                          whole.buffer(), static_cast<size_t>(offset)));
  }
  EXPECT_EQ(folded_of(model, 20), 10u);
}

TEST(FoldBudget, NodesShareTheSteps) {
  // Each node touches 2^22 elements and one more; 2^25 steps, and the 128 that the constant of
  // eight bytes adds, are 8 times that, of which filled() takes one.
  Model model;
  Value* zeros = filled(model, "zeros");
  Attributes scalar;
  scalar.set("keepdims", int64_t{0});
  for (int i = 0; i < 200; ++i) {
    const std::string name = "sum" + std::to_string(i);
    model.add_output("", model.add_node(name, "ReduceSum", "", {zeros}, {name}, scalar)->output());
  }
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(folded_count(model, "sum"), 7u);
}

/// if (c) y = x expanded to the largest of 16 MiB of numbers, which are all 3, else the same.
Node* add_if(Model& model) {
  auto branch = std::make_shared<Model>();
  Attributes three;
  three.set("value", Tensor::from<int64_t>({1}, {3}));
  Value* count = branch->add_constant("n", Tensor::from<int64_t>({1}, {kQuarterMebi / 2}));
  Value* threes =
      branch->add_node("fill", "ConstantOfShape", "", {count}, {"threes"}, three)->output();
  Value* most = branch->add_node("max", "ReduceMax", "", {threes}, {"most"})->output();
  Value* one = branch->add_constant("one", Tensor::scalar(1.0f));
  Value* result = branch->add_node("expand", "Expand", "", {one, most}, {"r"})->output();
  branch->add_output("r", result);
  Value* condition = model.add_input("c", {ElementType::Bool, {}});
  Attributes branches;
  branches.set("then_branch", branch);
  branches.set("else_branch", branch);
  return model.add_node("if", "If", "", {condition}, {"y"}, branches);
}

TEST(FoldBudget, BodiesShareIt) {
  Model model;
  model.add_output("y", add_if(model)->output());
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(to_string(model.outputs()[0].value->desc()), "float32[3]");

  // The body's 16 MiB are not left any more: its output is sized when it runs.
  Model full;
  for (int i = 0; i < 8; ++i) {
    full.add_output("", filled(full, "zeros" + std::to_string(i)));
  }
  full.add_output("y", add_if(full)->output());
  ASSERT_TRUE(infer_shapes(full).ok());
  EXPECT_FALSE(full.outputs().back().value->desc().is_static());
}

TEST(FoldBudget, WithoutOneEverythingIsAllowed) {
  Model model;
  const Node* node = filled(model, "zeros")->producer();
  EXPECT_TRUE(FoldBudget::take(*node, size_t{1} << 40, int64_t{1} << 60));
  const FoldBudget budget(model);
  EXPECT_FALSE(FoldBudget::take(*node, size_t{1} << 40, 0));
  {
    const FoldBudget shared(model);
    EXPECT_TRUE(FoldBudget::take(*node, kResultBytes * 7, 0));
  }
  EXPECT_FALSE(FoldBudget::take(*node, kResultBytes * 2, 0));
}

}  // namespace
}  // namespace het
