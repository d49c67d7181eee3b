#include "inference/writers/express_in_onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inference/model/model_equal.h"
#include "inference/ops/op.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/onnx_reader.h"
#include "inference/writers/onnx_writer.h"

/// The model computes the same afterwards, with operators of ONNX only.
namespace het {
namespace {

using testing::ElementsAre;

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from<float>(shape, values);
}

/// Numbers between the levels and beyond the limits.
Tensor ramp(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = -3.3f + 6.7f * static_cast<float>(i * 37 % values.size()) /
                            static_cast<float>(values.size());
  }
  return floats(shape, values);
}

std::vector<float> run(const Model& model, const Tensor& x) {
  const auto prepared = model.clone();
  EXPECT_TRUE(prepare_model(*prepared).ok());
  std::map<const Value*, Tensor> tensors;
  if (!prepared->inputs().empty()) tensors[prepared->inputs()[0].value] = x;
  for (const auto& node : prepared->nodes()) {
    std::vector<const Tensor*> inputs;
    for (const Value* input : node->inputs()) {
      inputs.push_back(input->is_constant() ? &input->constant() : &tensors.at(input));
    }
    auto outputs = evaluate_node(*node, inputs);
    if (!outputs) {
      ADD_FAILURE() << outputs.error().message();
      return {};
    }
    tensors[node->output()] = (*outputs)[0];
  }
  const Value* const output = prepared->outputs()[0].value;
  return *to_float_vector(output->is_constant() ? output->constant() : tensors.at(output));
}

std::vector<std::string> types(const Model& model) {
  std::vector<std::string> list;
  for (const auto& node : model.nodes()) list.push_back(node->op_type());
  return list;
}

/// Limits as {shape, low, high}, of the input and the output alike unless `output` is given.
struct Limits {
  Shape shape;
  std::vector<float> low;
  std::vector<float> high;
};

std::unique_ptr<Model> fake_quantize(const Shape& shape, bool is_weight, int64_t levels,
                                     const Limits& input, const Limits& output) {
  auto model = std::make_unique<Model>("m");
  Value* const x = is_weight ? model->add_constant("w", ramp(shape))
                             : model->add_input("x", {ElementType::Float32, shape});
  std::vector<Value*> inputs{x};
  for (const Limits& limits : {input, output}) {
    for (const auto& values : {limits.low, limits.high}) {
      inputs.push_back(model->add_constant("limit" + std::to_string(inputs.size()),
                                           floats(limits.shape, values)));
    }
  }
  Attributes attributes;
  attributes.set("levels", levels);
  Node* const node = model->add_node("quantise", "FakeQuantize", "het", inputs, {"y"}, attributes);
  model->add_output("y", node->output());
  return model;
}

/// `step` is the largest difference that may be: none, or a level where a number lies between two.
void expect_expressed(Model& model, const Tensor& x, float step,
                      const std::vector<std::string>& expected_types) {
  const std::vector<float> before = run(model, x);
  ASSERT_TRUE(express_in_onnx(model).ok());
  EXPECT_EQ(types(model), expected_types);
  EXPECT_TRUE(unknown_to_onnx_runtime(model).empty());
  const std::vector<float> after = run(model, x);
  ASSERT_EQ(after.size(), before.size());
  size_t other_levels = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_NEAR(after[i], before[i], step * 1.001f + 1e-6f) << i;
    if (std::abs(after[i] - before[i]) > step / 2 + 1e-6f) ++other_levels;
  }
  EXPECT_LE(other_levels, before.size() / 50);
}

TEST(ExpressInOnnx, LevelsOfUnsignedBytes) {
  const Limits limits{{}, {0}, {2.55f}};
  const auto model = fake_quantize({1, 4, 5, 5}, false, 256, limits, limits);
  expect_expressed(*model, ramp({1, 4, 5, 5}), 0.01f, {"QuantizeLinear", "DequantizeLinear"});
  EXPECT_EQ(model->nodes()[0]->input(2)->constant().type(), ElementType::UInt8);
}

TEST(ExpressInOnnx, LevelsOfSignedBytesForEachChannel) {
  const Limits limits{{1, 2, 1, 1}, {-1.28f, -2.56f}, {1.27f, 2.54f}};
  const auto model = fake_quantize({1, 2, 5, 5}, false, 256, limits, limits);
  expect_expressed(*model, ramp({1, 2, 5, 5}), 0.02f, {"QuantizeLinear", "DequantizeLinear"});
  const Tensor& zero = model->nodes()[0]->input(2)->constant();
  EXPECT_EQ(zero.type(), ElementType::Int8);
  EXPECT_THAT(*to_float_vector(zero), ElementsAre(0, 0));
  EXPECT_EQ(model->nodes()[0]->attributes().get_int("axis", 0), -3);
}

TEST(ExpressInOnnx, FewerLevelsAreBounded) {
  const Limits limits{{}, {-1.27f}, {1.27f}};
  const auto model = fake_quantize({1, 2, 5, 5}, false, 255, limits, limits);
  expect_expressed(*model, ramp({1, 2, 5, 5}), 0.01f,
                   {"Max", "Min", "QuantizeLinear", "DequantizeLinear"});
}

TEST(ExpressInOnnx, WeightsBecomeStoredBytes) {
  const Limits limits{{2, 1, 1, 1}, {-1.27f, -2.54f}, {1.27f, 2.54f}};
  const auto model = fake_quantize({2, 3, 3, 3}, true, 255, limits, limits);
  expect_expressed(*model, {}, 0.02f, {"DequantizeLinear"});
  const Tensor& stored = model->nodes()[0]->input(0)->constant();
  EXPECT_EQ(stored.type(), ElementType::Int8);
  EXPECT_EQ(stored.shape(), (Shape{2, 3, 3, 3}));
}

/// Other limits of the output, with another zero.
TEST(ExpressInOnnx, OutputLimitsAreThoseOfDequantizeLinear) {
  const auto model =
      fake_quantize({1, 2, 5, 5}, false, 256, {{}, {0}, {2.55f}}, {{}, {-1.0f}, {4.1f}});
  expect_expressed(*model, ramp({1, 2, 5, 5}), 0.02f, {"QuantizeLinear", "DequantizeLinear"});
}

/// No level is zero; limits the wrong way round; more levels than a byte holds.
TEST(ExpressInOnnx, OtherLevelsAreArithmetic) {
  const std::vector<std::string> arithmetic{
      "CastLike", "Sub", "Sub", "Div",         "Mul", "Round",   "Div",   "Sub",
      "Mul",      "Add", "Min", "LessOrEqual", "Max", "Greater", "Where", "Where"};
  const auto expect = [&](int64_t levels, const Limits& limits, float step) {
    SCOPED_TRACE(levels);
    const auto model = fake_quantize({1, 2, 5, 5}, false, levels, limits, limits);
    const std::vector<float> before = run(*model, ramp({1, 2, 5, 5}));
    ASSERT_TRUE(express_in_onnx(*model).ok());
    EXPECT_THAT(types(*model), testing::UnorderedElementsAreArray(arithmetic));
    const std::vector<float> after = run(*model, ramp({1, 2, 5, 5}));
    for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], step) << i;
  };
  expect(256, {{}, {0.3f}, {2.0f}}, 1e-5f);
  expect(4, {{}, {-0.5f}, {2.0f}}, 1e-5f);
  expect(256, {{}, {2.0f}, {-1.0f}}, 1e-5f);
  expect(65536, {{}, {-2.0f}, {2.0f}}, 1e-3f);
}

TEST(ExpressInOnnx, NormalizeL2) {
  for (const std::string mode : {"add", "max"}) {
    Model model("m");
    Value* const x = model.add_input("x", {ElementType::Float32, {1, 4, 3}});
    Value* const axes =
        model.add_constant("axes", Tensor::from<int64_t>({1}, std::vector<int64_t>{1}));
    Attributes attributes;
    attributes.set("eps", 0.5f);
    attributes.set("eps_mode", mode);
    model.add_output(
        "y", model.add_node("norm", "NormalizeL2", "het", {x, axes}, {"y"}, attributes)->output());
    expect_expressed(
        model, ramp({1, 4, 3}), 0,
        {"Mul", "ReduceSum", "CastLike", mode == "add" ? "Add" : "Max", "Sqrt", "Div"});
  }
}

TEST(OldestOpset, IsTheOneThatBroughtTheNewestOperatorOrType) {
  const auto opset = [](const char* op_type, ElementType type, Attributes attributes = {}) {
    Model model("m");
    Value* const x = model.add_input("x", {type, {1, 4}});
    model.add_output("y", model.add_node("n", op_type, "", {x}, {"y"}, attributes)->output());
    return oldest_opset(model);
  };
  EXPECT_EQ(opset("Relu", ElementType::Float32), 20);
  EXPECT_EQ(opset("GroupNormalization", ElementType::Float32), 21);
  EXPECT_EQ(opset("DequantizeLinear", ElementType::UInt16), 21);
  EXPECT_EQ(opset("Swish", ElementType::Float32), 24);
  EXPECT_EQ(opset("RMSNormalization", ElementType::Float16), 23);
  EXPECT_EQ(opset("Relu", ElementType::BFloat16), 27);
  Attributes rounds;
  rounds.set("to", int64_t{1});
  rounds.set("round_mode", std::string("up"));
  EXPECT_EQ(opset("Cast", ElementType::Float32, rounds), 27);
}

/// GroupNormalization of opset 18 means something else, in a body as well; and what is unknown
/// there is told.
TEST(OldestOpset, LooksIntoBodies) {
  auto body = std::make_shared<Model>("then");
  Value* const inner = body->add_input("x", {ElementType::Float32, {1, 4, 2, 2}});
  Value* const norm = body->add_node("norm", "GroupNormalization", "", {inner}, {"n"})->output();
  body->add_output("r", body->add_node("reorg", "ReorgYolo", "het", {norm}, {"r"})->output());
  Model model("m");
  Value* const condition = model.add_input("c", {ElementType::Bool, {}});
  Attributes attributes;
  attributes.set("then_branch", body);
  model.add_output("y", model.add_node("if", "If", "", {condition}, {"y"}, attributes)->output());
  EXPECT_EQ(oldest_opset(model), 21);
  EXPECT_THAT(unknown_to_onnx_runtime(model),
              ElementsAre("het.ReorgYolo (node 'reorg') is no operator of ONNX Runtime"));
}

/// Read back, it is the same model.
TEST(OldestOpset, MeansTheSameByEveryNode) {
  Model model("m");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 2, 4, 4}});
  Attributes window;
  window.set("kernel_shape", std::vector<int64_t>{2, 2});
  x = model.add_node("pool", "AveragePool", "", {x}, {"p"}, window)->output();
  x = model.add_node("round", "Round", "", {x}, {"r"})->output();
  x = model.add_node("shape", "Shape", "", {x}, {"s"})->output();
  model.add_output("y", x);
  const std::string path = testing::TempDir() + "/oldest_opset.onnx";
  OnnxWriteOptions options;
  options.opset = oldest_opset(model);
  ASSERT_TRUE(write_onnx(model, path, options).ok());
  const auto copy = read_onnx(path);
  ASSERT_TRUE(copy) << copy.error().message();
  EXPECT_EQ(model_difference(model, **copy), "");
}

/// ONNX Runtime has no kernel for a grid of another type than the picture's.
TEST(ExpressInOnnx, GridOfAnotherType) {
  Model model("m");
  Value* const x = model.add_input("x", {ElementType::Float32, {1, 1, 3, 4}});
  Value* const grid = model.add_constant(
      "grid", Tensor::from<double>({1, 2, 2, 2}, {-1, -0.5, 0.25, 0.125, 0.5, -0.75, 1, 0}));
  Attributes attributes;
  attributes.set("align_corners", int64_t{1});
  model.add_output(
      "y", model.add_node("sample", "GridSample", "", {x, grid}, {"y"}, attributes)->output());
  expect_expressed(model, ramp({1, 1, 3, 4}), 0, {"CastLike", "GridSample"});
}

TEST(ExpressInOnnx, WholeNumbersAreConvolvedByNobodyElse) {
  for (const ElementType type : {ElementType::Float32, ElementType::Int32}) {
    Model model("m");
    Value* const x = model.add_input("x", {type, {1, 1, 3, 3}});
    Value* const w = model.add_constant("w", *Tensor::allocate({type, {1, 1, 1, 1}}));
    model.add_output("y", model.add_node("conv", "Conv", "", {x, w}, {"y"})->output());
    const std::vector<std::string> told = unknown_to_onnx_runtime(model);
    if (type == ElementType::Float32) {
      EXPECT_TRUE(told.empty());
    } else {
      ASSERT_EQ(told.size(), 1u);
      EXPECT_NE(told[0].find("Conv of int32 (node 'conv')"), std::string::npos) << told[0];
    }
  }
}

/// In a model with open sizes nobody may know the types yet.
TEST(ExpressInOnnx, GridOfAnUnknownType) {
  Model model("m");
  Value* const x = model.add_input("x", {ElementType::Float32, {1, 1, kUnknownDim, 4}});
  Value* const picture = model.add_node("a", "Relu", "", {x}, {"p"})->output();
  Value* const grid = model.add_node("b", "Mystery", "", {x}, {"g"})->output();
  ASSERT_EQ(grid->desc().type, ElementType::Undefined);
  model.add_output("y",
                   model.add_node("sample", "GridSample", "", {picture, grid}, {"y"})->output());
  ASSERT_TRUE(express_in_onnx(model).ok());
  EXPECT_TRUE(std::ranges::any_of(model.nodes(),
                                  [](const auto& node) { return node->op_type() == "CastLike"; }));
}

TEST(ExpressInOnnx, TellsWhatOnnxRuntimeLacks) {
  Model model("m");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 4, 2, 2}});
  for (const char* name : {"first", "second"}) {
    Attributes attributes;
    attributes.set("stride", int64_t{1});
    x = model.add_node(name, "ReorgYolo", "het", {x}, {name}, attributes)->output();
  }
  model.add_output("y", x);
  ASSERT_TRUE(express_in_onnx(model).ok());
  EXPECT_THAT(
      unknown_to_onnx_runtime(model),
      ElementsAre("het.ReorgYolo (node 'first' and 1 more) is no operator of ONNX Runtime"));
}

}  // namespace
}  // namespace het
