#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "devices/ref/ref_device.h"
#include "inference/core.h"
#include "inference/model/model.h"
#include "inference/requests/infer_request.h"
#include "tests/guarded_memory.h"

/// Small models, run on a device and on REF.
namespace het::device_testing {

using Ints = std::vector<int64_t>;

inline Attributes make_attributes(
    std::initializer_list<std::pair<std::string_view, Attribute>> list) {
  Attributes attributes;
  for (const auto& [name, value] : list) attributes.set(std::string(name), value);
  return attributes;
}

/// Normal values; the same seed gives the same tensor.
inline Tensor random_tensor(const Shape& shape, unsigned seed, float scale = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  Tensor tensor = *Tensor::allocate({ElementType::Float32, shape});
  for (float& value : tensor.values<float>()) value = normal(generator);
  return tensor;
}

template <class T>
Tensor random_bytes(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> uniform(std::numeric_limits<T>::min(),
                                             std::numeric_limits<T>::max());
  Tensor tensor = *Tensor::allocate({element_type_of<T>(), shape});
  for (T& value : tensor.template values<T>()) value = static_cast<T>(uniform(generator));
  return tensor;
}

/// Adds nodes by a line each.
class ModelMaker {
 public:
  explicit ModelMaker(std::string name = "test") : model_(std::move(name)) {}

  Value* input(const Shape& shape, ElementType type = ElementType::Float32) {
    return model_.add_input("x" + std::to_string(model_.inputs().size()), {type, shape});
  }
  Value* constant(Tensor content) {
    return model_.add_constant("c" + std::to_string(constants_++), std::move(content));
  }
  Value* random(const Shape& shape, float scale = 1.0f) {
    return constant(random_tensor(shape, 100 + constants_, scale));
  }
  Value* ints(const Ints& values) {
    return constant(Tensor::from<int64_t>({static_cast<int64_t>(values.size())}, values));
  }
  Value* op(const std::string& type, std::vector<Value*> inputs, Attributes attributes = {},
            const std::string& domain = "") {
    const std::string name = type + std::to_string(nodes_++);
    return model_
        .add_node(name, type, domain, std::move(inputs), {name + "_y"}, std::move(attributes))
        ->output();
  }
  std::vector<Value*> split(const std::string& type, std::vector<Value*> inputs, size_t outputs,
                            Attributes attributes = {}) {
    const std::string name = type + std::to_string(nodes_++);
    std::vector<std::string> names;
    for (size_t i = 0; i < outputs; ++i) names.push_back(name + "_y" + std::to_string(i));
    return model_.add_node(name, type, "", std::move(inputs), names, std::move(attributes))
        ->outputs();
  }
  /// A convolution with random weights, 'same' padding for odd kernels.
  Value* conv(Value* x, int64_t ic, int64_t oc, int64_t kernel = 1, int64_t group = 1) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(ic / group * kernel * kernel));
    return op("Conv", {x, random({oc, ic / group, kernel, kernel}, scale), random({oc})},
              make_attributes({{"pads", Ints(4, kernel / 2)}, {"group", group}}));
  }
  void output(Value* value) {
    model_.add_output("y" + std::to_string(model_.outputs().size()), value);
  }
  Model& model() { return model_; }

 private:
  Model model_;
  unsigned constants_ = 0;
  unsigned nodes_ = 0;
};

/// A fixture sets device_ before SetUp() of this class.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override { ref_ = *ref::make_device(core_, ""); }

  std::shared_ptr<CompiledModel> compile(const Model& model, const Properties& properties = {}) {
    auto compiled = device_->compile_model(model, properties, nullptr);
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }

  static std::vector<Tensor> infer(CompiledModel& compiled, const std::vector<Tensor>& inputs,
                                   std::vector<ProfileRow>* rows = nullptr) {
    auto request = compiled.create_infer_request();
    EXPECT_TRUE(request) << request.error().message();
    if (!request) return {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE((*request)->set_input(i, inputs[i]).ok());
    }
    const Status status = (*request)->infer();
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < compiled.outputs().size(); ++i) {
      outputs.push_back((*request)->output(i));
    }
    if (rows) *rows = (*request)->profiling();
    return outputs;
  }

  static std::vector<Tensor> random_inputs(const Model& model) {
    std::vector<Tensor> inputs;
    for (const ModelInput& input : model.inputs()) {
      const TensorDesc& desc = input.value->desc();
      const auto seed = static_cast<unsigned>(7 + inputs.size());
      if (desc.type == ElementType::UInt8) {
        inputs.push_back(random_bytes<uint8_t>(desc.shape, seed));
      } else if (desc.type == ElementType::Int8) {
        inputs.push_back(random_bytes<int8_t>(desc.shape, seed));
      } else {
        inputs.push_back(random_tensor(desc.shape, seed));
      }
      // Nobody reads behind what a user gives.
      inputs.back() = guarded_copy(inputs.back());
    }
    return inputs;
  }

  /// Runs on the device and on REF and compares; `tolerance` is a part of the output's largest
  /// magnitude. Returns the profile, so that tests can see which kernels ran.
  std::vector<ProfileRow> compare(const Model& model, float tolerance = 2e-5f,
                                  Properties properties = {}) {
    properties["PERF_COUNT"] = "YES";
    const std::vector<Tensor> inputs = random_inputs(model);
    std::vector<ProfileRow> rows;
    const auto compiled = compile(model, properties);
    if (!compiled) return {};
    const std::vector<Tensor> got = infer(*compiled, inputs, &rows);
    auto reference = ref_->compile_model(model, {}, nullptr);
    EXPECT_TRUE(reference) << reference.error().message();
    if (!reference) return rows;
    const std::vector<Tensor> wanted = infer(**reference, inputs);
    EXPECT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
      compare_tensors(got[i], wanted[i], tolerance, i);
    }
    return rows;
  }

  static void compare_tensors(const Tensor& got, const Tensor& wanted, float tolerance, size_t i) {
    ASSERT_EQ(to_string(got.desc()), to_string(wanted.desc())) << "output " << i;
    const std::vector<float> a = *to_float_vector(got);
    const std::vector<float> b = *to_float_vector(wanted);
    float range = 0.0f;
    for (const float value : b) range = std::max(range, std::abs(value));
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_LE(std::abs(a[k] - b[k]), tolerance * std::max(range, 1e-3f))
          << "output " << i << " at " << k << ": " << a[k] << " instead of " << b[k];
    }
  }

  /// The implementation that ran a node.
  static std::string implementation(const std::vector<ProfileRow>& rows, const std::string& node) {
    for (const ProfileRow& row : rows) {
      if (row.node_name == node) return row.exec_type;
    }
    return "no row";
  }
  static size_t count_type(const std::vector<ProfileRow>& rows, const std::string& layer_type) {
    return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [&](const ProfileRow& row) {
      return row.layer_type == layer_type && row.status == ProfileStatus::Executed;
    }));
  }

  Core core_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Device> ref_;
};

}  // namespace het::device_testing
