#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "inference/model/model.h"
#include "inference/requests/infer_request.h"

namespace het::gpu_testing {

inline constexpr int64_t kChainElements = 4099;

/// y[i] = LeakyRelu_i(x) of 4099 elements, each with a factor of its own: as many different
/// generated kernels as outputs.
inline std::unique_ptr<Model> chains(int count) {
  auto model = std::make_unique<Model>("chains");
  Value* x = model->add_input("x", {ElementType::Float32, {1, kChainElements}});
  for (int i = 0; i < count; ++i) {
    Attributes attributes;
    attributes.set("alpha", 0.5f / static_cast<float>(i + 1));
    const std::string name = "relu" + std::to_string(i);
    Value* y =
        model->add_node(name, "LeakyRelu", "", {x}, {name + "_y"}, std::move(attributes))->output();
    model->add_output("y" + std::to_string(i), y);
  }
  return model;
}

/// Bytes to bytes by products whose exact sums decide every bit: convolutions, of which one has
/// weights that do not fit int8, a depthwise one and a product of matrices, of unsigned and signed
/// bytes.
inline std::unique_ptr<Model> products_of_bytes() {
  auto model = std::make_unique<Model>("products of bytes");
  uint32_t state = 1;
  const auto number = [&](const std::string& name, auto value) {
    return model->add_constant(name, Tensor::scalar(value));
  };
  // Weights have the type of their zero point.
  const auto add = [&]<class T, class W>(const std::string& name, const std::string& type, Value* x,
                                         T zero, const Shape& shape, W weights_zero,
                                         Attributes attributes) {
    Tensor weights = *Tensor::allocate({element_type_of<W>(), shape});
    for (W& value : weights.template values<W>()) {
      state = state * 1664525 + 1013904223;
      value = static_cast<W>(state >> 24);
    }
    Value* scale = number(name + "_s", 0.01f);
    Value* point = number(name + "_z", zero);
    Value* y = model
                   ->add_node(name, type, "",
                              {x, scale, point, model->add_constant(name + "_w", weights), scale,
                               number(name + "_n", weights_zero), number(name + "_d", 0.5f), point},
                              {name + "_y"}, std::move(attributes))
                   ->output();
    model->add_output("out_" + name, y);
    return y;
  };
  Attributes window;
  window.set("pads", std::vector<int64_t>(4, 1));
  Attributes grouped = window;
  grouped.set("group", int64_t{24});
  constexpr uint8_t kMiddle = 128;
  constexpr int8_t kNone = 0;
  Value* x = model->add_input("x", {ElementType::UInt8, {1, 20, 9, 8}});
  Value* y = add("conv", "QLinearConv", x, kMiddle, {24, 20, 3, 3}, kNone, window);
  add("depthwise", "QLinearConv", y, kMiddle, {24, 1, 3, 3}, kNone, grouped);
  add("around_100", "QLinearConv", x, kMiddle, {7, 20, 3, 3}, uint8_t{100}, window);
  Value* m = model->add_input("m", {ElementType::Int8, {5, 37}});
  add("product", "QLinearMatMul", m, int8_t{-3}, {37, 19}, kNone, {});
  return model;
}

inline float chain_input(int64_t k, float phase = 0.0f) {
  return std::sin(static_cast<float>(k) * 0.37f + phase) * 3.0f;
}

inline void fill_input(InferRequest& request, float phase = 0.0f) {
  float* const x = request.input(0).data<float>();
  for (int64_t k = 0; k < kChainElements; ++k) x[k] = chain_input(k, phase);
}

/// Internal, with the place, when an output is not that of fill_input().
inline Status check_outputs(InferRequest& request, float phase = 0.0f) {
  for (size_t i = 0; i < request.compiled_model().outputs().size(); ++i) {
    const float* const y = request.output(i).data<float>();
    for (int64_t k = 0; k < kChainElements; ++k) {
      const float x = chain_input(k, phase);
      const float wanted = x < 0.0f ? x * (0.5f / static_cast<float>(i + 1)) : x;
      if (std::abs(y[k] - wanted) <= 1e-5f) continue;
      return Status(StatusCode::Internal,
                    fmt::format("output {} at {}: {} instead of {}", i, k, y[k], wanted));
    }
  }
  return {};
}

inline Status run_and_check(InferRequest& request, float phase = 0.0f) {
  fill_input(request, phase);
  const Status status = request.infer();
  return status.ok() ? check_outputs(request, phase) : status;
}

}  // namespace het::gpu_testing
