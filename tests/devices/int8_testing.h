#pragma once

#include <cmath>
#include <vector>

#include "tests/devices/device_testing.h"

namespace het::device_testing {

/// Models between QuantizeLinear and DequantizeLinear; Base is a DeviceTest.
template <class Base>
class Int8Test : public Base {
 protected:
  Value* scale(float value) { return maker_.constant(Tensor::scalar(value)); }
  Value* zero(int value) { return maker_.constant(Tensor::scalar(static_cast<uint8_t>(value))); }
  Value* quantise(Value* x, float step, int zero_point) {
    return maker_.op("QuantizeLinear", {x, scale(step), zero(zero_point)});
  }
  Value* dequantise(Value* x, float step, int zero_point) {
    return maker_.op("DequantizeLinear", {x, scale(step), zero(zero_point)});
  }
  /// A byte input as floats.
  Value* stored_input(const Shape& shape, float step, int zero_point) {
    return dequantise(maker_.input(shape, ElementType::UInt8), step, zero_point);
  }
  /// Random int8 with one scale for each of dimension `axis`: 0.002, 0.0025, ...
  Value* weights(const Shape& shape, int64_t axis, unsigned seed = 5) {
    std::vector<float> scales;
    for (int64_t c = 0; c < shape[static_cast<size_t>(axis)]; ++c) {
      scales.push_back(0.002f + 0.0005f * static_cast<float>(c % 7));
    }
    const auto count = static_cast<int64_t>(scales.size());
    return maker_.op("DequantizeLinear",
                     {maker_.constant(random_bytes<int8_t>(shape, seed)),
                      maker_.constant(Tensor::from<float>({count}, scales)),
                      maker_.constant(Tensor::from<int8_t>(
                          {count}, std::vector<int8_t>(static_cast<size_t>(count), 0)))},
                     make_attributes({{"axis", axis}}));
  }

  /// Byte outputs lie within one step of REF's, floats within `tolerance`; the profile.
  std::vector<ProfileRow> compare_steps(float tolerance = 1e-4f, Properties properties = {}) {
    properties.insert(properties_.begin(), properties_.end());
    properties["PERF_COUNT"] = "YES";
    const Model& model = maker_.model();
    const std::vector<Tensor> inputs = Base::random_inputs(model);
    std::vector<ProfileRow> rows;
    const auto compiled = Base::compile(model, properties);
    if (compiled == nullptr) return rows;
    const std::vector<Tensor> got = Base::infer(*compiled, inputs, &rows);
    const auto reference = Base::ref_->compile_model(model, {}, nullptr);
    const std::vector<Tensor> wanted = Base::infer(**reference, inputs);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].desc(), wanted[i].desc());
      const auto a = *to_float_vector(got[i]);
      const auto b = *to_float_vector(wanted[i]);
      const float limit = got[i].type() == ElementType::Float32 ? tolerance : 1.0f;
      size_t extreme = 0;
      for (size_t k = 0; k < a.size(); ++k) {
        EXPECT_LE(std::abs(a[k] - b[k]), limit) << "output " << i << " at " << k;
        if (std::abs(a[k] - b[k]) > limit) return rows;
        extreme += b[k] == 0.0f || b[k] == 255.0f ? 1 : 0;
      }
      EXPECT_LT(extreme, a.size() * 3 / 4) << "a test of saturation only";
    }
    return rows;
  }

  ModelMaker maker_;
  Properties properties_;  ///< of every compare_steps()
};

}  // namespace het::device_testing
