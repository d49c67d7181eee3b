#include "inference/passes/multiply_adds.h"

#include <gtest/gtest.h>

#include "inference/passes/infer_shapes.h"

namespace het {
namespace {

Value* factor(Model& model, const char* name, Shape shape) {
  return model.add_input(name, {ElementType::Float32, std::move(shape)});
}

/// Of a model with this node alone.
std::optional<double> work_alone(Model& model, const char* type, std::vector<Value*> inputs,
                                 const Attributes& attributes = {}) {
  model.add_output("y",
                   model.add_node("n", type, "", std::move(inputs), {"y"}, attributes)->output());
  EXPECT_TRUE(infer_shapes(model).ok());
  const std::vector<ProductWork> works = product_works(model);
  EXPECT_EQ(works.size(), 1u);
  EXPECT_EQ(works.at(0).node->name(), "n");
  return works.at(0).multiply_adds;
}

TEST(MultiplyAdds, Convolutions) {
  {
    Model model;
    Attributes attributes;
    attributes.set("strides", std::vector<int64_t>{2, 2});
    attributes.set("group", int64_t{2});
    // 6 x 3 x 4 results of 2 x 3 x 3 taps each.
    EXPECT_EQ(work_alone(model, "Conv",
                         {factor(model, "x", {1, 4, 7, 9}), factor(model, "w", {6, 2, 3, 3})},
                         attributes),
              6 * 3 * 4 * 2 * 9);
  }
  Model model;
  // Each of 4 x 5 x 5 values is spread over 3 channels of 2 x 2 results.
  EXPECT_EQ(work_alone(model, "ConvTranspose",
                       {factor(model, "x", {1, 4, 5, 5}), factor(model, "w", {4, 3, 2, 2})}),
            4 * 25 * 3 * 4);
}

TEST(MultiplyAdds, Matrices) {
  {
    Model model;
    EXPECT_EQ(work_alone(model, "MatMul",
                         {factor(model, "a", {2, 1, 5, 7}), factor(model, "b", {3, 7, 4})}),
              2 * 3 * 5 * 7 * 4);
  }
  {
    Model model;
    EXPECT_EQ(work_alone(model, "MatMul", {factor(model, "a", {7}), factor(model, "b", {7})}), 7);
  }
  {
    Model model;
    Attributes attributes;
    attributes.set("transA", int64_t{1});
    EXPECT_EQ(work_alone(model, "Gemm", {factor(model, "a", {7, 5}), factor(model, "b", {7, 4})},
                         attributes),
              7 * 5 * 4);
  }
  {
    Model model;
    EXPECT_EQ(work_alone(model, "Gemm", {factor(model, "a", {5, 7}), factor(model, "b", {7, 4})}),
              7 * 5 * 4);
  }
  Model model;
  Attributes attributes;
  attributes.set("equation", std::string("bij,bjk->bik"));
  EXPECT_EQ(work_alone(model, "Einsum",
                       {factor(model, "a", {2, 3, 4}), factor(model, "b", {2, 4, 5})}, attributes),
            2 * 3 * 4 * 5);
}

TEST(MultiplyAdds, WhatIsNoProductDoesNotCountAndUnknownSizesAreNotKnown) {
  Model model;
  Value* open = factor(model, "open", {1, kUnknownDim});
  Value* relu = model.add_node("r", "Relu", "", {open}, {"r"})->output();
  EXPECT_EQ(work_alone(model, "MatMul", {relu, factor(model, "w", {3, 2})}), std::nullopt);
}

}  // namespace
}  // namespace het
