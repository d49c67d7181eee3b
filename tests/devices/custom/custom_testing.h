#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "inference/requests/infer_request.h"
#include "tests/devices/core_testing.h"
#include "tests/devices/device_testing.h"

/// Devices of users' libraries: MYDEV of examples/custom_device, and FAULTDEV, which is the same
/// with faults (fault_device.c).
namespace het::custom_testing {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;
using device_testing::random_tensor;

/// A file of the build.
inline std::string built_file(const std::string& name) {
  const char* root = std::getenv("HET_BUILD_ROOT");
  EXPECT_NE(root, nullptr) << "HET_BUILD_ROOT names the build folder";
  return std::string(root != nullptr ? root : "") + "/" + name;
}

inline std::string mydev() {
  return built_file("examples/custom_device/mydev.so");
}

/// Of the tests: "fault_device", "library_size" ...
inline std::string test_library(const std::string& name) {
  return built_file("tests/devices/" + name + ".so");
}

/// A core of its own that knows both devices.
class CustomDeviceTest : public device_testing::CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    for (const std::string& library : {mydev(), test_library("fault_device")}) {
      const Status status = core_.add_device_library(library);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }

  static std::vector<Tensor> inputs_of(const Model& model) {
    std::vector<Tensor> inputs;
    for (const ModelInput& input : model.inputs()) {
      inputs.push_back(random_tensor(input.value->desc().shape,
                                     static_cast<unsigned>(20 + inputs.size()), 1.0f));
    }
    return inputs;
  }
  std::vector<Tensor> expected_of(const Model& model) {
    const auto request = compile(model, "REF")->create_infer_request();
    const std::vector<Tensor> inputs = inputs_of(model);
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_TRUE((*request)->set_input(i, inputs[i]).ok());
    EXPECT_TRUE((*request)->infer().ok());
    std::vector<Tensor> outputs;
    for (const Tensor& output : (*request)->outputs()) outputs.push_back(*output.clone());
    return outputs;
  }
  static void expect_near(const Tensor& got, const Tensor& expected) {
    ASSERT_EQ(got.shape(), expected.shape());
    const auto a = *to_float_vector(got);
    const auto b = *to_float_vector(expected);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5f + 1e-5f * std::abs(b[i]));
  }
  /// The request's inputs are filled in place, so that they stay where the device wants them.
  static void fill(InferRequest& request, const std::vector<Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      Tensor place = request.input(i);
      ASSERT_TRUE(copy_tensor(inputs[i], place).ok());
    }
  }
  /// REF's results, in a few executions of one request.
  void expect_results_of_ref(const Model& model, CompiledModel& compiled, int runs = 3) {
    const std::vector<Tensor> expected = expected_of(model);
    auto request = compiled.create_infer_request();
    ASSERT_TRUE(request) << request.error().message();
    fill(**request, inputs_of(model));
    for (int run = 0; run < runs; ++run) {
      const Status status = (*request)->infer();
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < expected.size(); ++i) expect_near((*request)->output(i), expected[i]);
    }
  }

  /// All operators of the device: Conv (strides, pads, bias), Relu, Add and Mul with broadcasting,
  /// Sigmoid, MatMul; two outputs.
  static std::unique_ptr<Model> everything() {
    ModelMaker maker("everything");
    Value* x = maker.op("Relu", {maker.conv(maker.input({1, 3, 8, 6}), 3, 4, 3)});
    Value* y = maker.op("Conv", {x, maker.random({5, 4, 2, 2})},
                        make_attributes({{"strides", Ints{2, 1}}, {"dilations", Ints{1, 2}}}));
    y = maker.op("Add", {y, maker.random({5, 1, 1})});
    Value* z = maker.op("MatMul", {maker.op("Mul", {y, maker.random({1})}), maker.random({4, 7})});
    maker.output(maker.op("Sigmoid", {z}));
    maker.output(x);
    return maker.model().clone();
  }
  /// MYDEV has no Tanh and no Softmax: Conv -> Tanh -> Conv -> Softmax.
  static std::unique_ptr<Model> mixed() {
    ModelMaker maker("mixed");
    Value* x = maker.op("Tanh", {maker.conv(maker.input({1, 3, 6, 6}), 3, 4, 3)});
    maker.output(maker.op("Softmax", {maker.op("Relu", {maker.conv(x, 4, 4)})}));
    return maker.model().clone();
  }
};

}  // namespace het::custom_testing
