#include "hetero/placement/cut_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "inference/passes/prepare_model.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using testing::HasSubstr;
using testing::Not;

/// "A" computes Tanh, "B" Sigmoid; which of them are half is the test's.
class CutTypesTest : public testing::Test {
 protected:
  CutTypes choose(const Model& model, const std::vector<std::string>& devices) {
    const std::unique_ptr<Model> prepared = model.clone();
    EXPECT_TRUE(prepare_model(*prepared).ok());
    auto split = split_model(*prepared, devices);
    EXPECT_TRUE(split) << split.error().message();
    split_ = std::move(*split);
    CrossingRules rules;
    rules.is_half = [this](const std::string& device) { return half_.contains(device); };
    rules.half_is_cheaper = [this](const std::string&, const std::string&, const TensorDesc&) {
      return is_cheaper_;
    };
    auto types = choose_cut_types(split_, rules);
    EXPECT_TRUE(types) << types.error().message();
    return std::move(*types);
  }
  ElementType cut_type(const Model& model, const std::vector<std::string>& devices) {
    return choose(model, devices).descs.at(0).type;
  }

  Split split_;
  std::set<std::string> half_;
  std::optional<bool> is_cheaper_;
};

std::unique_ptr<Model> chain() {
  ModelMaker maker("chain");
  maker.output(maker.op("Sigmoid", {maker.op("Tanh", {maker.input({1, 8})})}));
  return maker.model().clone();
}

TEST_F(CutTypesTest, HalvesExchangeHalf) {
  const auto model = chain();
  EXPECT_EQ(cut_type(*model, {"A", "B"}), ElementType::Float32);
  half_ = {"A"};
  EXPECT_EQ(cut_type(*model, {"A", "B"}), ElementType::Float32);
  half_ = {"A", "B"};
  const CutTypes types = choose(*model, {"A", "B"});
  EXPECT_EQ(types.descs[0].type, ElementType::Float16);
  ASSERT_NE(types.models[0], nullptr);
  ASSERT_NE(types.models[1], nullptr);
  EXPECT_EQ(types.models[0]->outputs()[0].value->desc().type, ElementType::Float16);
  EXPECT_EQ(types.models[1]->inputs()[0].value->desc().type, ElementType::Float16);
  // What the application sees stays as it is.
  EXPECT_EQ(types.models[0]->inputs()[0].value->desc().type, ElementType::Float32);
  EXPECT_EQ(types.models[1]->outputs()[0].value->desc().type, ElementType::Float32);
}

TEST_F(CutTypesTest, WhatWasMeasuredDecidesWhereOneSideIsHalf) {
  const auto model = chain();
  for (const char* half : {"A", "B"}) {
    half_ = {half};
    is_cheaper_ = true;
    EXPECT_EQ(cut_type(*model, {"A", "B"}), ElementType::Float16);
    is_cheaper_ = false;
    EXPECT_EQ(cut_type(*model, {"A", "B"}), ElementType::Float32);
  }
  // Nothing may be lost.
  half_ = {};
  is_cheaper_ = true;
  EXPECT_EQ(cut_type(*model, {"A", "B"}), ElementType::Float32);
}

TEST_F(CutTypesTest, ATensorOfAnApplicationKeepsItsType) {
  ModelMaker maker("outputs");
  Value* const middle = maker.op("Tanh", {maker.input({1, 8})});
  maker.output(middle);
  maker.output(maker.op("Sigmoid", {middle}));
  half_ = {"A", "B"};
  EXPECT_EQ(cut_type(maker.model(), {"A", "B"}), ElementType::Float32);
}

TEST_F(CutTypesTest, OneConversionADevice) {
  // Two subgraphs of B read the value: each would convert it.
  ModelMaker maker("fan");
  Value* const middle = maker.op("Tanh", {maker.input({1, 8})});
  maker.output(maker.op("Sigmoid", {middle}));
  maker.output(maker.op("Sigmoid", {middle}));
  half_ = {"A"};
  is_cheaper_ = true;
  EXPECT_EQ(cut_type(maker.model(), {"A", "B", "B"}), ElementType::Float32);
  EXPECT_EQ(cut_type(maker.model(), {"A", "B", "C"}), ElementType::Float16);
}

/// On OpenCL, with float16 storage there.
class HeteroHalfTest : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    const std::vector<std::string> devices = core_.available_devices();
    if (std::ranges::count(devices, "GPU") + std::ranges::count(devices, "GPU.0") == 0) {
      GTEST_SKIP() << "needs a GPU; HETERO_GPU_ALLOW_CPU=1 takes OpenCL on a CPU";
    }
  }

  static std::unique_ptr<Model> model() {
    ModelMaker maker("there_and_back");
    Value* x = maker.input({1, 4, 32, 32});
    for (const char* type : {"Tanh", "Sigmoid", "Tanh"}) x = maker.op(type, {x});
    maker.output(x);
    return maker.model().clone();
  }
  static Properties properties(const std::string& policy) {
    return {{"HETERO_AFFINITY",
             R"({"rules":[{"type":"Tanh","device":"GPU"},{"type":"Sigmoid","device":"CPU"}]})"},
            {"HETERO_POLICY", policy},
            {"HETERO_EXPLAIN", "YES"},
            {"PERF_COUNT", "YES"},
            {"GPU.INFERENCE_PRECISION_HINT", "f16"}};
  }
};

TEST_F(HeteroHalfTest, ResultsStayWithinHalfPrecisionWhateverCrosses) {
  const auto model = this->model();
  const auto compiled = compile(*model, "HETERO:GPU,CPU", properties("latency"));
  const auto ref = compile(*model, "REF");
  ASSERT_NE(compiled, nullptr);
  const std::string text = property(*compiled, "HETERO_PLAN");
  auto request = compiled->create_infer_request();
  auto wanted = ref->create_infer_request();
  ASSERT_TRUE(request);
  const std::vector<Tensor> inputs = inputs_of(*ref);
  const Tensor result = infer(**request, inputs)[0];
  const Tensor expected = infer(**wanted, inputs)[0];
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_NEAR(result.values<float>()[at], expected.values<float>()[at], 2e-3);
  }
  // Conversions have rows of their own where the other side does them.
  const bool as_half = text.find("float16[1,4,32,32]") != std::string::npos;
  size_t casts = 0;
  for (const ProfileRow& row : (*request)->profiling()) {
    casts += row.node_name.find("/Cast") != std::string::npos;
  }
  EXPECT_EQ(casts > 0, as_half) << text;
}

TEST_F(HeteroHalfTest, OneHalfDeviceExchangesFloatWhereNothingIsMeasured) {
  const auto model = this->model();
  Properties half = properties("priority");
  half.erase("HETERO_EXPLAIN");
  half["CPU.INFERENCE_PRECISION_HINT"] = "f32";
  const auto mixed = compile(*model, "HETERO:GPU,CPU", half);
  ASSERT_NE(mixed, nullptr);
  EXPECT_THAT(property(*mixed, "HETERO_PLAN"), Not(HasSubstr("float16")));
}

TEST_F(HeteroHalfTest, AHintForAllGoesToThoseThatComputeInIt) {
  const auto model = this->model();
  Properties hint = properties("priority");
  hint.erase("GPU.INFERENCE_PRECISION_HINT");
  hint["INFERENCE_PRECISION_HINT"] = "f16";
  const auto split = compile(*model, "HETERO:GPU,CPU", hint);
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(property(*split, "GPU.INFERENCE_PRECISION_HINT"), "f16");
  EXPECT_NE(property(*split, "CPU.INFERENCE_PRECISION_HINT"), "f16");
  const auto both = compile(*model, "MULTI:GPU,CPU", {{"INFERENCE_PRECISION_HINT", "f16"}});
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(property(*both, "EXECUTION_DEVICES"), "GPU CPU");
  hint["CPU.INFERENCE_PRECISION_HINT"] = "f16";
  const auto refused = core_.compile_model(*model, "HETERO:GPU,CPU", hint);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("device CPU does not compute in f16"));
}

TEST_F(HeteroDeviceTest, HalfDevicesExchangeHalfAndNoMoreIsLost) {
  ModelMaker maker("pair");
  maker.output(maker.op("Sigmoid", {maker.op("Tanh", {maker.input({1, 64})})}));
  refuse_types(*fast_, {"Sigmoid"});
  const auto compiled = compile(
      maker.model(), "HETERO:FAST,OTHER",
      {{"FAST.INFERENCE_PRECISION_HINT", "f16"}, {"OTHER.INFERENCE_PRECISION_HINT", "f16"}});
  const auto ref = compile(maker.model(), "REF");
  ASSERT_NE(compiled, nullptr);
  EXPECT_THAT(property(*compiled, "HETERO_PLAN"), HasSubstr("float16[1,64]"));
  auto request = compiled->create_infer_request();
  auto wanted = ref->create_infer_request();
  ASSERT_TRUE(request);
  const std::vector<Tensor> inputs = inputs_of(*ref);
  const Tensor result = infer(**request, inputs)[0];
  const Tensor expected = infer(**wanted, inputs)[0];
  float largest = 0;
  for (size_t i = 0; i < 64; ++i) {
    largest = std::max(largest, std::abs(result.values<float>()[i] - expected.values<float>()[i]));
  }
  // Rounded once to 11 bits on the way: some, but not much.
  EXPECT_GT(largest, 0.0f);
  EXPECT_LT(largest, 5e-4f);
}

}  // namespace
}  // namespace het::hetero
