#include "inference/passes/remove_identities.h"

#include <gtest/gtest.h>

#include "inference/passes/infer_shapes.h"
#include "inference/passes/print_model.h"

namespace het {
namespace {

TEST(RemoveIdentities, BeforeAndAfter) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2, 3}});
  Value* a = model.add_node("id", "Identity", "", {x}, {"a"})->output();
  Value* b = model.add_node("drop", "Dropout", "", {a}, {"b", "mask"})->output();
  Value* shape = model.add_constant("shape", Tensor::from<int64_t>({2}, {2, -1}));
  Value* c = model.add_node("same", "Reshape", "", {b, shape}, {"c"})->output();
  Value* d = model.add_node("relu", "Relu", "", {c}, {"d"})->output();
  Value* e = model.add_node("last", "Identity", "", {d}, {"e"})->output();
  model.add_output("e", e);
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(print_model(model),
            "input x : float32[2,3]\n"
            "a = Identity(x) : float32[2,3]\n"
            "b, mask = Dropout(a) : float32[2,3], bool[2,3]\n"
            "c = Reshape(b, shape=[2,-1]) : float32[2,3]\n"
            "d = Relu(c) : float32[2,3]\n"
            "e = Identity(d) : float32[2,3]\n"
            "output e = e\n");
  EXPECT_EQ(remove_identities(model), 4u);
  EXPECT_EQ(print_model(model),
            "input x : float32[2,3]\n"
            "d = Relu(x) : float32[2,3]\n"
            "output e = d\n");
}

TEST(RemoveIdentities, NodesThatChangeSomethingStay) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2, 2}});
  Value* shape = model.add_constant("shape", Tensor::from<int64_t>({1}, {4}));
  Attributes swap;
  swap.set("perm", std::vector<int64_t>{1, 0});
  Attributes keep;
  keep.set("perm", std::vector<int64_t>{0, 1});
  Value* a = model.add_node("swap", "Transpose", "", {x}, {"a"}, swap)->output();
  Value* b = model.add_node("keep", "Transpose", "", {a}, {"b"}, keep)->output();
  Value* c = model.add_node("reverse", "Transpose", "", {b}, {"c"})->output();
  Value* d = model.add_node("flat", "Reshape", "", {c, shape}, {"d"})->output();
  model.add_output("d", d);
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_EQ(remove_identities(model), 1u);
  EXPECT_EQ(model.find_node("keep"), nullptr);
  EXPECT_EQ(model.nodes().size(), 3u);
}

/// As exporters write the largest of several pictures that get one size.
TEST(RemoveIdentities, ResizesThatLeaveThePicture) {
  const auto stay = [](const char* mode, std::vector<float> scales, std::vector<int64_t> sizes,
                       const char* places = "half_pixel", std::vector<float> roi = {}) {
    Model model;
    Value* x = model.add_input("x", {ElementType::Float32, {1, 2, 5, 7}});
    const auto floats = [&](const char* name, const std::vector<float>& values) -> Value* {
      if (values.empty()) return nullptr;
      return model.add_constant(name,
                                Tensor::from<float>({static_cast<int64_t>(values.size())}, values));
    };
    Value* last =
        sizes.empty() ? nullptr : model.add_constant("sizes", Tensor::from<int64_t>({4}, sizes));
    Attributes attributes;
    attributes.set("mode", std::string(mode));
    attributes.set("coordinate_transformation_mode", std::string(places));
    std::vector<Value*> inputs{x, floats("roi", roi), floats("scales", scales), last};
    model.add_output("y", model.add_node("r", "Resize", "", inputs, {"y"}, attributes)->output());
    EXPECT_TRUE(infer_shapes(model).ok());
    remove_identities(model);
    return model.nodes().size();
  };
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    EXPECT_EQ(stay(mode, {1, 1, 1, 1}, {}), 0u) << mode;
    EXPECT_EQ(stay(mode, {}, {1, 2, 5, 7}), 0u) << mode;
    EXPECT_EQ(stay(mode, {1, 1, 1, 1.1f}, {}), 1u) << mode << ": as many, but moved";
    EXPECT_EQ(stay(mode, {}, {1, 2, 10, 7}), 1u) << mode;
  }
  EXPECT_EQ(stay("linear", {}, {1, 2, 5, 7}, "tf_crop_and_resize", {0, 0, 0, 0, 1, 1, 1, 1}), 0u);
  EXPECT_EQ(stay("linear", {}, {1, 2, 5, 7}, "tf_crop_and_resize", {0, 0, 0, 0, 1, 1, 1, .5f}), 1u);
}

TEST(RemoveIdentities, NothingIsKnownWithoutShapes) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim}});
  Value* shape = model.add_constant("shape", Tensor::from<int64_t>({1}, {-1}));
  model.add_output("y", model.add_node("r", "Reshape", "", {x, shape}, {"y"})->output());
  EXPECT_EQ(remove_identities(model), 0u);
}

TEST(RemoveIdentities, DropoutWhoseMaskIsReadStays) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Node* dropout = model.add_node("drop", "Dropout", "", {x}, {"y", "mask"});
  model.add_output("y", dropout->output(0));
  model.add_output("mask", dropout->output(1));
  EXPECT_EQ(remove_identities(model), 0u);
}

TEST(RemoveIdentities, DropoutInTrainingModeStays) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Value* training = model.add_constant("training", Tensor::scalar(true));
  Node* dropout = model.add_node("drop", "Dropout", "", {x, nullptr, training}, {"y"});
  model.add_output("y", dropout->output(0));
  EXPECT_EQ(remove_identities(model), 0u);
}

}  // namespace
}  // namespace het
