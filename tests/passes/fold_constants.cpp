#include "inference/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "inference/passes/infer_shapes.h"
#include "inference/passes/print_model.h"

namespace het {
namespace {

Attributes ints(const char* name, std::vector<int64_t> values) {
  Attributes attributes;
  attributes.set(name, std::move(values));
  return attributes;
}

Attributes axis(int64_t value) {
  Attributes attributes;
  attributes.set("axis", value);
  return attributes;
}

TEST(FoldConstants, BeforeAndAfter) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Value* a = model.add_constant("a", Tensor::from<float>({2}, {1, 2}));
  Value* b = model.add_constant("b", Tensor::from<float>({2}, {3, 4}));
  Value* sum = model.add_node("sum", "Add", "", {a, b}, {"sum"})->output();
  Value* negated = model.add_node("neg", "Neg", "", {sum}, {"negated"})->output();
  Value* y = model.add_node("mul", "Mul", "", {x, negated}, {"y"})->output();
  model.add_output("y", y);
  EXPECT_EQ(print_model(model),
            "input x : float32[2]\n"
            "sum = Add(a=[1,2], b=[3,4]) : ?\n"
            "negated = Neg(sum) : ?\n"
            "y = Mul(x, negated) : ?\n"
            "output y = y\n");
  ASSERT_TRUE(fold_constants(model).ok());
  EXPECT_EQ(print_model(model),
            "input x : float32[2]\n"
            "y = Mul(x, negated=[-4,-6]) : ?\n"
            "output y = y\n");
}

TEST(FoldConstants, ShapeArithmeticOfAStaticValue) {
  // What exporters write for x.view(x.size(0), -1).
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2, 3, 4}});
  Value* shape = model.add_node("shape", "Shape", "", {x}, {"shape"})->output();
  Value* zero = model.add_constant("zero", Tensor::from<int64_t>({1}, {0}));
  Value* rest = model.add_constant("rest", Tensor::from<int64_t>({1}, {-1}));
  Value* first =
      model.add_node("gather", "Gather", "", {shape, zero}, {"first"}, axis(0))->output();
  Value* target = model.add_node("cat", "Concat", "", {first, rest}, {"target"}, axis(0))->output();
  Value* y = model.add_node("reshape", "Reshape", "", {x, target}, {"y"})->output();
  Value* size = model.add_node("size", "Size", "", {x}, {"size"})->output();
  model.add_output("y", y);
  model.add_output("size", size);
  ASSERT_TRUE(infer_shapes(model).ok());
  model.remove_unused();
  EXPECT_EQ(print_model(model),
            "input x : float32[2,3,4]\n"
            "y = Reshape(x, target=[2,-1]) : float32[2,12]\n"
            "output y = y\n"
            "output size = size=24\n");
}

TEST(FoldConstants, ShapeTakesStartAndEnd) {
  const auto folded = [](int64_t start, int64_t end) {
    Model model;
    Value* x = model.add_input("x", {ElementType::Float32, {2, 3, 4}});
    Attributes attributes;
    attributes.set("start", start);
    attributes.set("end", end);
    Node* node = model.add_node("shape", "Shape", "", {x}, {"shape"}, attributes);
    Value* shape = node->output();
    EXPECT_TRUE(*fold_node(model, *node));
    return *to_int64_vector(shape->constant());
  };
  EXPECT_EQ(folded(1, 3), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(folded(-1, 100), (std::vector<int64_t>{4}));
  EXPECT_EQ(folded(-100, -1), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(folded(2, 1), (std::vector<int64_t>{}));
}

TEST(FoldConstants, UnknownShapesAreNotFolded) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim, 3}});
  Node* node = model.add_node("shape", "Shape", "", {x}, {"shape"});
  EXPECT_FALSE(*fold_node(model, *node));
}

TEST(FoldConstants, DequantizeLinearStays) {
  Model model;
  Value* w = model.add_constant("w", Tensor::from<int8_t>({2}, {1, 2}));
  Value* scale = model.add_constant("scale", Tensor::scalar(0.5f));
  Node* node = model.add_node("dq", "DequantizeLinear", "", {w, scale}, {"y"});
  EXPECT_FALSE(*fold_node(model, *node));
}

TEST(FoldConstants, LargeResultsAreNotFolded) {
  // 32 MiB out of a few bytes: computed when needed, not kept in the model.
  Model model;
  Value* one = model.add_constant("one", Tensor::from<float>({1}, {1}));
  Value* shape = model.add_constant("shape", Tensor::from<int64_t>({1}, {8 << 20}));
  Node* expand = model.add_node("expand", "Expand", "", {one, shape}, {"y"});
  EXPECT_FALSE(*fold_node(model, *expand));
  // The same size is folded where it is no more than a few times the inputs.
  Tensor large = *Tensor::allocate({ElementType::Float32, {8 << 20}});
  for (float& v : large.values<float>()) v = 1;
  Value* big = model.add_constant("big", large);
  Node* negate = model.add_node("neg", "Neg", "", {big}, {"z"});
  EXPECT_TRUE(*fold_node(model, *negate));
}

TEST(FoldConstants, CastLikeNeedsTheTypeOnly) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float16, {2}});
  Value* one = model.add_constant("one", Tensor::scalar(1.5f));
  Node* node = model.add_node("cast", "CastLike", "", {one, x}, {"y"});
  ASSERT_NE(node->op(), nullptr) << node->unsupported_reason();
  Value* y = node->output();
  ASSERT_TRUE(*fold_node(model, *node));
  EXPECT_EQ(y->constant().type(), ElementType::Float16);
  EXPECT_EQ(*to_float_vector(y->constant()), (std::vector<float>{1.5f}));
}

TEST(FoldConstants, FailuresNameTheNode) {
  Model model;
  Value* a = model.add_constant("a", Tensor::from<float>({2}, {1, 2}));
  Value* b = model.add_constant("b", Tensor::from<float>({3}, {1, 2, 3}));
  Value* y = model.add_node("bad_sum", "Add", "", {a, b}, {"y"})->output();
  model.add_output("y", y);
  const Status status = fold_constants(model);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("node 'bad_sum' (Add)"), std::string::npos) << status.message();
}

TEST(FoldConstants, ReshapeOfAConstantSharesNothingWithTheFile) {
  Model model;
  Value* w = model.add_constant("w", Tensor::from<float>({4}, {1, 2, 3, 4}));
  Value* axes = model.add_constant("axes", Tensor::from<int64_t>({1}, {0}));
  Value* y = model.add_node("unsqueeze", "Unsqueeze", "", {w, axes}, {"y"})->output();
  Value* t = model.add_node("t", "Transpose", "", {y}, {"t"}, ints("perm", {1, 0}))->output();
  model.add_output("t", t);
  ASSERT_TRUE(fold_constants(model).ok());
  EXPECT_EQ(print_model(model), "output t = t=[1,2,3,4]\n");
  EXPECT_EQ(to_string(t->desc()), "float32[4,1]");
}

}  // namespace
}  // namespace het
