#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het::test {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// A model's ports for a decoder: one NCHW picture input of the given size and float outputs.
struct DecodeCase {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Tensor> tensors;
  DecodeContext context;

  DecodeCase(int width, int height) {
    PreprocessDesc preprocess;
    inputs.push_back({"picture", {ElementType::Float32, {1, 3, height, width}}, preprocess});
    context.input_width = width;
    context.input_height = height;
    context.source_width = width;
    context.source_height = height;
    context.roi = {0, 0, width, height};
  }

  /// Adds an output filled with `value`; returns its elements.
  std::span<float> add(std::string name, const Shape& shape, float value = 0.0f) {
    Tensor tensor = Tensor::allocate({ElementType::Float32, shape}).value();
    outputs.push_back({std::move(name), tensor.desc(), std::nullopt});
    tensors.push_back(tensor);
    std::span<float> values = tensor.values<float>();
    std::fill(values.begin(), values.end(), value);
    return values;
  }

  Result<std::unique_ptr<Decoder>> create(const DecoderConfig& config) const {
    return create_decoder(config, inputs, outputs);
  }

  /// Creates and decodes; a failure is the test's.
  Results decode(const DecoderConfig& config) const {
    auto decoder = create(config);
    EXPECT_TRUE(decoder) << decoder.error().message();
    if (!decoder) return {};
    auto results = (*decoder)->decode(tensors, context);
    EXPECT_TRUE(results) << results.error().message();
    return results ? *results : Results{};
  }

  std::string create_error(const DecoderConfig& config) const {
    auto decoder = create(config);
    return decoder ? "" : decoder.error().message();
  }
};

inline DecoderConfig converter(std::string name) {
  DecoderConfig config;
  config.converter = std::move(name);
  return config;
}

inline void expect_box(const Detection& found, float x_min, float y_min, float x_max, float y_max,
                       float tolerance = 1e-3f) {
  EXPECT_NEAR(found.x_min, x_min, tolerance);
  EXPECT_NEAR(found.y_min, y_min, tolerance);
  EXPECT_NEAR(found.x_max, x_max, tolerance);
  EXPECT_NEAR(found.y_max, y_max, tolerance);
}

}  // namespace het::test
