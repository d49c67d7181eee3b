#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "inference/requests/infer_request.h"
#include "tests/devices/core_testing.h"
#include "tests/devices/device_testing.h"
#include "tests/hetero/wrapped_device.h"

/// Models on HETERO over real and wrapped devices.
namespace het::hetero {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;
using device_testing::random_tensor;

/// FAST and OTHER stand for accelerators beside the real devices.
class HeteroDeviceTest : public device_testing::CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    add_wrapped_device(core_, "FAST", fast_);
    add_wrapped_device(core_, "OTHER", other_);
  }

  static void refuse_types(WrappedBehaviour& behaviour, std::vector<std::string> types) {
    behaviour.refuse = [types](const Model&, const Node& node) -> std::string {
      return std::ranges::count(types, node.op_type()) > 0 ? "no " + node.op_type() + " here" : "";
    };
  }

  static std::vector<Tensor> inputs_of(const CompiledModel& model) {
    std::vector<Tensor> inputs;
    for (const Port& port : model.inputs()) {
      inputs.push_back(
          random_tensor(port.desc.shape, static_cast<unsigned>(20 + inputs.size()), 1.0f));
    }
    return inputs;
  }
  static std::vector<Tensor> infer(InferRequest& request, const std::vector<Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(request.set_input(i, inputs[i]).ok());
    }
    const Status status = request.infer();
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < request.compiled_model().outputs().size(); ++i) {
      outputs.push_back(*request.output(i).clone());
    }
    return outputs;
  }
  /// The same bits as REF gives, in a few executions of one request.
  void expect_results_of_ref(const Model& model, CompiledModel& compiled) {
    const auto ref = compile(model, "REF");
    auto wanted = ref->create_infer_request();
    auto request = compiled.create_infer_request();
    ASSERT_TRUE(request) << request.error().message();
    const std::vector<Tensor> inputs = inputs_of(*ref);
    const std::vector<Tensor> expected = infer(**wanted, inputs);
    for (int run = 0; run < 3; ++run) {
      const std::vector<Tensor> got = infer(**request, inputs);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].desc(), expected[i].desc());
        EXPECT_EQ(std::memcmp(got[i].bytes(), expected[i].bytes(), got[i].size_bytes()), 0)
            << "output " << i << " of execution " << run;
      }
    }
  }

  /// Two branches that meet: Relu -> {Sigmoid, Tanh} -> Add.
  static std::unique_ptr<Model> diamond() {
    ModelMaker maker("diamond");
    Value* x = maker.op("Relu", {maker.input({1, 8, 4, 4})});
    maker.output(maker.op("Add", {maker.op("Sigmoid", {x}), maker.op("Tanh", {x})}));
    return maker.model().clone();
  }

  std::shared_ptr<WrappedBehaviour> fast_ = std::make_shared<WrappedBehaviour>();
  std::shared_ptr<WrappedBehaviour> other_ = std::make_shared<WrappedBehaviour>();
};

}  // namespace het::hetero
