#include "inference/passes/convert_ports.h"

#include <gtest/gtest.h>

#include "inference/passes/compress_weights.h"
#include "inference/passes/print_model.h"

namespace het {
namespace {

/// x -> Split(a, b), a -> Relu -> y
Model make_model() {
  Model model("ports");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 4, 5}, Layout::Plain});
  Node* split = model.add_node("split", "Split", "", {x}, {"a", "b"});
  model.add_output("y", model.add_node("relu", "Relu", "", {split->output(0)}, {"r"})->output());
  return model;
}

TEST(ConvertPorts, TypesAreConvertedInside) {
  Model model = make_model();
  ASSERT_TRUE(set_input_type(model, 0, ElementType::UInt8).ok());
  ASSERT_TRUE(set_output_type(model, 0, ElementType::Float16).ok());
  ASSERT_TRUE(set_input_type(model, 0, ElementType::UInt8).ok()) << "nothing to do";
  ASSERT_TRUE(model.sort().ok());
  EXPECT_EQ(print_model(model),
            "input x : uint8[1,3,4,5]\n"
            "x/Cast = Cast(x) {to=1} : ?\n"
            "a, b = Split(x/Cast) : ?, ?\n"
            "r = Relu(a) : ?\n"
            "y/Cast = Cast(r) {to=10} : ?\n"
            "output y = y/Cast\n");
}

TEST(ConvertPorts, TheLastChannelBecomesAConstant) {
  Model model = make_model();
  ASSERT_TRUE(append_constant_channel(model, 0, 1, 0.5f).ok());
  ASSERT_TRUE(model.sort().ok());
  const std::string text = print_model(model);
  EXPECT_NE(text.find("input x : float32[1,2,4,5]"), std::string::npos) << text;
  EXPECT_NE(text.find("x/Concat = Concat(x, x/Channel=float32[1,1,4,5]) {axis=1}"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Split(x/Concat)"), std::string::npos) << text;
  Model grey("grey");
  grey.add_output("y", grey.add_input("x", {ElementType::Float32, {1, 1, 4, 5}}));
  EXPECT_FALSE(append_constant_channel(grey, 0, 1, 0.5f).ok());
}

TEST(ConvertPorts, LayoutsAreDeclaredOrChanged) {
  Model model = make_model();
  model.set_dim_names(0, {"n", "c", "h", "w"});
  ASSERT_TRUE(set_input_layout(model, 0, "NCHW").ok());
  EXPECT_EQ(model.inputs()[0].value->desc().layout, Layout::NCHW);
  EXPECT_EQ(model.nodes().size(), 2u);
  ASSERT_TRUE(set_input_layout(model, 0, "NCHW->NHWC").ok());
  ASSERT_TRUE(model.sort().ok());
  EXPECT_EQ(model.inputs()[0].dim_names, (std::vector<std::string>{"n", "h", "w", "c"}));
  EXPECT_EQ(print_model(model),
            "input x : float32[1,4,5,3]\n"
            "x/Transpose = Transpose(x) {perm=[0,3,1,2]} : ?\n"
            "a, b = Split(x/Transpose) : ?, ?\n"
            "r = Relu(a) : ?\n"
            "output y = r\n");
  for (const char* wrong : {"NCH", "NCHC", "nchw", "NCHW->NHW", "NCHW->NHWD"}) {
    EXPECT_EQ(set_input_layout(model, 0, wrong).code(), StatusCode::InvalidArgument) << wrong;
  }
}

TEST(ConvertPorts, OutputsAreSelectedByNameNodeOrPort) {
  for (const char* name : {"split:1", "b"}) {
    Model model = make_model();
    ASSERT_TRUE(select_outputs(model, {name}).ok());
    EXPECT_EQ(model.outputs()[0].name, name);
    EXPECT_EQ(model.outputs()[0].value->name(), "b");
    EXPECT_EQ(model.nodes().size(), 1u) << "the Relu is not needed any more";
  }
  Model model = make_model();
  ASSERT_TRUE(select_outputs(model, {"y", "relu", "split:0"}).ok());
  EXPECT_EQ(model.outputs()[1].value->name(), "r");
  EXPECT_EQ(model.outputs()[2].value->name(), "a");
  for (const char* wrong : {"split", "split:2", "split:x", "nothing"}) {
    const Status status = select_outputs(model, {wrong});
    EXPECT_EQ(status.code(), StatusCode::NotFound) << wrong;
    EXPECT_NE(status.message().find("'split:0'"), std::string::npos) << status.message();
  }
}

TEST(CompressWeights, LargeFiniteWeightsBecomeFloat16) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {32}, Layout::Plain});
  std::vector<float> values(32, 0.1f);
  Value* w = model.add_constant("w", Tensor::from<float>({32}, values));
  values[3] = 70000.0f;
  Value* large = model.add_constant("large", Tensor::from<float>({32}, values));
  Value* small = model.add_constant("small", Tensor::from<float>({2}, {1, 2}));
  Value* a = model.add_node("a", "Mul", "", {x, w}, {"a"})->output();
  Value* b = model.add_node("b", "Add", "", {a, large}, {"b"})->output();
  model.add_output("b", b);
  model.add_output("small", small);
  const auto count = compress_weights(model);
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 1u);
  EXPECT_EQ(print_model(model),
            "input x : float32[32]\n"
            "w/float32 = Cast(w/float16=float16[32]) {to=1} : ?\n"
            "a = Mul(x, w/float32) : ?\n"
            "b = Add(a, large=float32[32]) : ?\n"
            "output b = b\n"
            "output small = small=[1,2]\n");
  EXPECT_EQ(model.find_value("w/float16")->constant().data<Float16>()[0].bits, 0x2e66u);  // 0.1
}

}  // namespace
}  // namespace het
