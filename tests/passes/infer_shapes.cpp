#include "inference/passes/infer_shapes.h"

#include <gtest/gtest.h>

#include "inference/passes/print_model.h"

namespace het {
namespace {

TEST(InferShapes, FollowsTheGraph) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 8, 8}});
  Value* w = model.add_constant("w", *Tensor::allocate({ElementType::Float32, {4, 3, 3, 3}}));
  Attributes strides;
  strides.set("strides", std::vector<int64_t>{2, 2});
  Value* c = model.add_node("conv", "Conv", "", {x, w}, {"c"}, strides)->output();
  Value* y = model.add_node("relu", "Relu", "", {c}, {"y"})->output();
  model.add_output("y", y);
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(print_model(model),
            "input x : float32[1,3,8,8]\n"
            "c = Conv(x, w=float32[4,3,3,3]) {strides=[2,2]} : float32[1,4,3,3]\n"
            "y = Relu(c) : float32[1,4,3,3]\n"
            "output y = y\n");
}

TEST(InferShapes, SortsFirst) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Node* last = model.add_node("last", "Abs", "", {x}, {"y"});
  Node* first = model.add_node("first", "Neg", "", {x}, {"n"});
  model.set_input(last, 0, first->output());
  model.add_output("y", last->output());
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(model.nodes()[0]->name(), "first");
  EXPECT_EQ(to_string(last->output()->desc()), "float32[2]");
}

TEST(InferShapes, ACycleIsAnError) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Node* a = model.add_node("a", "Add", "", {x, x}, {"u"});
  Node* b = model.add_node("b", "Neg", "", {a->output()}, {"v"});
  model.set_input(a, 1, b->output());
  model.add_output("v", b->output());
  EXPECT_EQ(infer_shapes(model).code(), StatusCode::ParseError);
}

TEST(InferShapes, UnknownInputsLeaveOutputsUndefined) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim, 3}});
  Value* y = model.add_node("relu", "Relu", "", {x}, {"y"})->output();
  model.add_output("y", y);
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_FALSE(y->desc().is_static());
  ASSERT_TRUE(model.reshape({{"x", {2, 3}}}).ok());
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(to_string(y->desc()), "float32[2,3]");
}

TEST(InferShapes, WhatDependsOnDataIsSizedAtRunTime) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 4}});
  Value* shape = model.add_input("shape", {ElementType::Int64, {2}});
  Value* r = model.add_node("reshape", "Reshape", "", {x, shape}, {"r"})->output();
  Value* y = model.add_node("relu", "Relu", "", {r}, {"y"})->output();
  model.add_output("y", y);
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_FALSE(r->desc().is_static());
  EXPECT_FALSE(y->desc().is_static());
}

TEST(InferShapes, ErrorsNameNodeAndModel) {
  Model model("detector");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 8, 8}});
  Value* w = model.add_constant("w", *Tensor::allocate({ElementType::Float32, {4, 5, 3, 3}}));
  model.add_output("y", model.add_node("head", "Conv", "", {x, w}, {"y"})->output());
  const Status status = infer_shapes(model);
  ASSERT_FALSE(status.ok());
  for (const char* part : {"model 'detector'", "node 'head' (Conv)"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

TEST(InferShapes, FailuresAreListedOnRequest) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Value* a = model.add_node("odd", "Frobnicate", "", {x}, {"a"})->output();
  Value* b = model.add_node("relu", "Relu", "", {a}, {"b"})->output();
  Value* c = model.add_node("fine", "Neg", "", {x}, {"c"})->output();
  model.add_output("b", b);
  model.add_output("c", c);
  std::vector<NodeFailure> failures;
  ASSERT_TRUE(infer_shapes(model, &failures).ok());
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].node->name(), "odd");
  EXPECT_EQ(failures[0].status.code(), StatusCode::NotSupported);
  EXPECT_NE(failures[0].status.message().find("Frobnicate is unknown"), std::string::npos);
  EXPECT_FALSE(b->desc().is_static());
  EXPECT_TRUE(c->desc().is_static());
}

}  // namespace
}  // namespace het
