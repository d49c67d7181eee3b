#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "inference/infer_request.h"
#include "inference/model.h"

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
