#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

enum : size_t { kFakeQuantizeX, kInputLow, kInputHigh, kOutputLow, kOutputHigh, kInputs };
constexpr std::array<std::string_view, kInputs> kFakeQuantizeNames{"X", "input_low", "input_high",
                                                                   "output_low", "output_high"};

/// More levels could not be told apart in float.
constexpr int64_t kMaxLevels = int64_t{1} << 24;

Status infer_fake_quantize(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"levels", AttributeType::Int, true},
                                                  {"auto_broadcast", AttributeType::String}}));
  const int64_t levels = context.attributes().get_int("levels", 0);
  if (levels < 2 || levels > kMaxLevels) {
    return error(StatusCode::InvalidArgument, "levels is {}, but must be from 2 to {}", levels,
                 kMaxLevels);
  }
  const std::string mode = context.attributes().get_string("auto_broadcast", "numpy");
  if (mode != "numpy" && mode != "none") {
    return error(StatusCode::NotSupported,
                 "auto_broadcast is '{}', but only numpy and none are supported", mode);
  }
  for (size_t i = 0; i < kInputs; ++i) {
    HET_TRY(check_input(context, i, kFakeQuantizeNames[i], kFloatTypes));
    HET_TRY(check_same_type(context, kFakeQuantizeX, i));
    if (mode == "none" && context.shape(i) != context.shape(kFakeQuantizeX)) {
      return error(StatusCode::ShapeMismatch,
                   "{} has shape {} and X {}, but auto_broadcast none needs equal shapes",
                   kFakeQuantizeNames[i], to_string(context.shape(i)),
                   to_string(context.shape(kFakeQuantizeX)));
    }
    HET_ASSIGN(const Shape both, broadcast(context.shape(kFakeQuantizeX), context.shape(i)));
    if (both != context.shape(kFakeQuantizeX)) {
      return error(StatusCode::ShapeMismatch,
                   "{} has shape {}, which cannot be broadcast to X's shape {}",
                   kFakeQuantizeNames[i], to_string(context.shape(i)),
                   to_string(context.shape(kFakeQuantizeX)));
    }
  }
  context.set_output(0, context.type(kFakeQuantizeX), context.shape(kFakeQuantizeX));
  return {};
}

/// The definition of FakeQuantize-1, in its order of operations: the position of x in the input
/// range, rounded to a level (halves to even), is placed in the output range.
template <class Real>
Real fake_quantize(Real x, Real input_low, Real input_high, Real output_low, Real output_high,
                   Real steps) {
  if (x <= std::min(input_low, input_high)) return output_low;
  if (x > std::max(input_low, input_high)) return output_high;
  const Real level = std::nearbyint((x - input_low) / (input_high - input_low) * steps);
  return level / steps * (output_high - output_low) + output_low;
}

/// In the input's type (float for half types), so that values between two levels go where
/// OpenVINO's go. NaN stays NaN.
/// docs.openvino.ai, operation specification FakeQuantize-1.
Status evaluate_fake_quantize(EvaluateContext& context) {
  const Tensor& x = context.input(kFakeQuantizeX);
  std::array<Shape, kInputs> shapes;
  for (size_t i = 0; i < kInputs; ++i) shapes[i] = context.input(i).shape();
  const BroadcastPlan plan = plan_broadcast(x.shape(), shapes);
  const int64_t length = plan.dims.back();
  std::array<int64_t, kInputs> steps{};
  for (size_t i = 0; i < kInputs; ++i) steps[i] = plan.strides[i].back();
  const int64_t levels = context.attributes().get_int("levels", 2);
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    using Real = ArithmeticType<T>;
    std::array<const T*, kInputs> src{};
    for (size_t i = 0; i < kInputs; ++i) src[i] = context.input(i).data<T>();
    T* dst = context.output(0).data<T>();
    for_each_row<kInputs>(plan, [&](int64_t at, const std::array<int64_t, kInputs>& offsets) {
      const auto value = [&](size_t input, int64_t i) {
        return static_cast<Real>(src[input][offsets[input] + i * steps[input]]);
      };
      for (int64_t i = 0; i < length; ++i) {
        dst[at + i] = numeric_cast<T>(fake_quantize<Real>(
            value(kFakeQuantizeX, i), value(kInputLow, i), value(kInputHigh, i),
            value(kOutputLow, i), value(kOutputHigh, i), static_cast<Real>(levels - 1)));
      }
    });
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_fake_quantize(OpRegistry& registry) {
  registry.add(
      {"FakeQuantize", "het", 1, kInputs, kInputs, infer_fake_quantize, evaluate_fake_quantize});
}

}  // namespace het
