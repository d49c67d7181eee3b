#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/devices/device_testing.h"

namespace het::device_testing {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// NaN, infinities and zeros of both signs; Base is a DeviceTest. They go through kernels as
/// through the reference.
template <class Base>
class SpecialValues : public Base {
 protected:
  /// Values with all the special ones among them, from `start` on; never the same neighbours. No
  /// subnormal numbers, which CPU's streams take for 0.
  static Tensor values(const Shape& shape, size_t start) {
    const std::vector<float> special{kNan,   -kNan,   kInfinity, -kInfinity, 0.0f,
                                     -0.0f,  1e-30f,  -1e-30f,   3.4e38f,    -3.4e38f,
                                     100.0f, -100.0f, 1.5f,      -1.5f,      0.25f};
    Tensor made = *Tensor::allocate({ElementType::Float32, shape});
    size_t i = start;
    for (float& value : made.values<float>()) value = special[(i += 1 + i / 7) % special.size()];
    return made;
  }

  /// NaN where the reference has NaN, the same infinities, numbers close.
  void expect_same(const Model& model, const std::vector<Tensor>& inputs) {
    const auto compiled = Base::compile(model);
    ASSERT_NE(compiled, nullptr);
    const auto reference = Base::ref_->compile_model(model, {}, nullptr);
    ASSERT_TRUE(reference) << reference.error().message();
    const std::vector<Tensor> got = Base::infer(*compiled, inputs);
    const std::vector<Tensor> wanted = Base::infer(**reference, inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t o = 0; o < got.size(); ++o) {
      const auto a = *to_float_vector(got[o]);
      const auto b = *to_float_vector(wanted[o]);
      for (size_t i = 0; i < a.size(); ++i) {
        const bool is_same = std::isnan(b[i]) ? std::isnan(a[i])
                             : std::isinf(b[i])
                                 ? a[i] == b[i]
                                 : std::abs(a[i] - b[i]) <= 1e-5f * std::max(1.0f, std::abs(b[i]));
        EXPECT_TRUE(is_same) << "output " << o << " at " << i << ": " << a[i] << ", not " << b[i];
      }
    }
  }

  /// Numbers times a function of theirs, which is 0 or 1 far from 0: -infinity times 0 is NaN.
  void expect_gates() {
    const auto approximate = [](const char* way) {
      return make_attributes({{"approximate", std::string(way)}});
    };
    const std::vector<std::pair<const char*, Attributes>> gates{
        {"Gelu", approximate("none")},
        {"Gelu", approximate("tanh")},
        {"Swish", {}},
        {"HardSwish", {}},
        {"Mish", {}},
    };
    for (const auto& [type, attributes] : gates) {
      SCOPED_TRACE(type);
      ModelMaker maker;
      Value* x = maker.input({3, 37});
      maker.output(maker.op(type, {x}, attributes));
      maker.output(maker.op("Neg", {maker.op(type, {maker.op("Neg", {x})}, attributes)}));
      expect_same(maker.model(), {values({3, 37}, 1)});
    }
  }

  /// What rounds to bytes and back makes zero of NaN, and so does what exporters write behind
  /// Softmax.
  void expect_numbers_for_nan() {
    ModelMaker maker;
    Value* x = maker.input({2, 3, 5, 7});
    const auto number = [&](auto value) { return maker.constant(Tensor::scalar(value)); };
    const auto rounded = [&](Value* scale, Value* zero) {
      const Attributes axis = make_attributes({{"axis", int64_t{1}}});
      Value* q = maker.op("QuantizeLinear", {x, scale, zero}, axis);
      maker.output(maker.op("DequantizeLinear", {q, scale, zero}, axis));
    };
    rounded(number(0.5f), number(uint8_t{100}));
    rounded(maker.constant(Tensor::from<float>({3}, {0.5f, 0.25f, 2.0f})),
            maker.constant(Tensor::from<int8_t>({3}, {-3, 0, 5})));
    const auto guarded = [&](Value* guard, Value* other) {
      maker.output(maker.op("Where", {maker.op("IsNaN", {guard}), other, x}));
    };
    guarded(x, number(0.0f));
    guarded(x, number(2.5f));
    guarded(maker.op("Neg", {x}), number(1.0f));
    guarded(x, maker.constant(Tensor::from<float>({7}, {1, 2, 3, 4, 5, 6, 7})));
    expect_same(maker.model(), {values({2, 3, 5, 7}, 1)});
  }

  /// A number at a limit or beyond it is the limit's, whatever the other limits are.
  void expect_limits_without_numbers() {
    const std::vector<std::array<float, 4>> limits{
        {0, kInfinity, -0.0f, kNan}, {-1, 1, kNan, 2}, {-kInfinity, 1, 0, 1},
        {-1, 1, -1, kInfinity},      {kNan, 1, -1, 1}, {-1, 1, 0, 1}};
    for (const std::array<float, 4>& four : limits) {
      SCOPED_TRACE(testing::PrintToString(four));
      ModelMaker maker;
      std::vector<Value*> inputs{maker.input({3, 37})};
      for (const float limit : four) inputs.push_back(maker.constant(Tensor::scalar(limit)));
      maker.output(
          maker.op("FakeQuantize", inputs, make_attributes({{"levels", int64_t{5}}}), "het"));
      expect_same(maker.model(), {values({3, 37}, 1)});
    }
  }

  /// The largest of a region or a bin is NaN where there is one, wherever it lies.
  void expect_maxima_of_regions() {
    ModelMaker maker;
    Value* x = maker.input({1, 3, 7, 9});
    Value* regions =
        maker.constant(Tensor::from<float>({3, 5}, {0, 0, 0, 8, 6, 0, 1, 1, 5, 4, 0, 2, 0, 3, 6}));
    const std::vector<int64_t> pooled{2, 3};
    maker.output(maker.op("MaxRoiPool", {x, regions}, make_attributes({{"pooled_shape", pooled}})));
    maker.output(maker.op("ROIPooling", {x, regions},
                          make_attributes({{"pooled_h", pooled[0]},
                                           {"pooled_w", pooled[1]},
                                           {"method", std::string("max")},
                                           {"spatial_scale", 1.0f}}),
                          "het"));
    maker.output(maker.op("AdaptiveMaxPool", {x, maker.ints(pooled)}, {}, "het"));
    expect_same(maker.model(), {values({1, 3, 7, 9}, 1)});
    expect_same(maker.model(), {values({1, 3, 7, 9}, 4)});
  }

  /// A row of attention without keys is 0, and so is one whose products are all -infinity; one with
  /// NaN has keys.
  void expect_rows_of_attention() {
    ModelMaker maker;
    Value* query = maker.input({1, 1, 2, 4});
    Value* key = maker.input({1, 1, 3, 4});
    Value* value = maker.input({1, 1, 3, 4});
    Value* mask = maker.input({2, 3});
    maker.output(maker.op("Attention", {query, key, value, mask}));
    const Tensor masks = Tensor::from<float>(
        {2, 3}, {-kInfinity, kNan, -kInfinity, -kInfinity, -kInfinity, -kInfinity});
    expect_same(maker.model(), {random_tensor({1, 1, 2, 4}, 1), random_tensor({1, 1, 3, 4}, 2),
                                random_tensor({1, 1, 3, 4}, 3), masks});
    Tensor infinite = random_tensor({1, 1, 3, 4}, 2);
    for (float& number : infinite.values<float>()) number = kInfinity;
    const Tensor signs = Tensor::from<float>({1, 1, 2, 4}, {-1, -2, -1, -1, 1, -1, 1, 1});
    const Tensor none = Tensor::from<float>({2, 3}, {0, 0, 0, -kInfinity, -kInfinity, -kInfinity});
    expect_same(maker.model(), {signs, infinite, random_tensor({1, 1, 3, 4}, 3), none});
  }
};

}  // namespace het::device_testing
