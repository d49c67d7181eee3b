#include "tests/oracle/special_values.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "inference/ops/double_values.h"

namespace het::oracle {
namespace {

/// The smallest number of a type that is not subnormal.
double smallest_normal(ElementType type) {
  switch (type) {
    case ElementType::Float16:
      return std::ldexp(1, -14);
    case ElementType::Float64:
      return std::numeric_limits<double>::min();
    default:
      return std::ldexp(1, -126);
  }
}

}  // namespace

const std::vector<SpecialException>& special_exceptions() {
  static const std::vector<SpecialException> exceptions{
      {"", "LeakyRelu", kInfinities, "a slope of 0 is Relu, not 0 * infinity"},
      {"", "PRelu", kInfinities, "a slope of 0 is Relu, not 0 * infinity"},
      {"", "QuantizeLinear", kNan, "ONNX does not say what integer NaN is"},
      {"com.microsoft", "QuantizeLinear", kNan, "as for ONNX's"},
      {"", "GridSample", kNan | kInfinities, "as for Resize"},
      {"", "Resize", kNan | kInfinities,
       "whether a pixel of weight 0 counts is left open: REF leaves it out, vector loops do not"},
      {"", "RoiAlign", kNan | kInfinities, "as for Resize"},
      {"com.microsoft", "CropAndResize", kNan | kInfinities, "as for Resize"},
      {"het", "ROIAlign", kNan | kInfinities, "as for Resize"},
      {"het", "ROIAlignRotated", kNan | kInfinities, "as for Resize"},
      {"", "Unique", kSubnormals, "the number of values depends on what counts as 0"},
  };
  return exceptions;
}

uint8_t allowed_specials(const Generator& generator, int64_t choice) {
  constexpr uint8_t kChoices[] = {kAllSpecials, kNan, kInfinities, kZeros | kSubnormals};
  uint8_t specials = kChoices[choice];
  for (const SpecialException& exception : special_exceptions()) {
    if (exception.domain != generator.domain || exception.type != generator.type) continue;
    specials = static_cast<uint8_t>(specials & ~exception.not_drawn);
  }
  return specials;
}

std::vector<double> special_values(uint8_t specials, ElementType type) {
  std::vector<double> values;
  if ((specials & kNan) != 0) values.push_back(std::numeric_limits<double>::quiet_NaN());
  if ((specials & kInfinities) != 0) {
    values.push_back(std::numeric_limits<double>::infinity());
    values.push_back(-std::numeric_limits<double>::infinity());
  }
  if ((specials & kZeros) != 0) {
    values.push_back(0.0);
    values.push_back(-0.0);
  }
  if ((specials & kSubnormals) != 0) {
    values.push_back(smallest_normal(type) / 4);
    values.push_back(-smallest_normal(type) / 4);
  }
  return values;
}

Tensor without_subnormals(const Tensor& tensor) {
  Tensor result = *tensor.clone();
  // Those of half are ordinary numbers where arithmetic is in float32.
  if (!is_float(tensor.type()) || tensor.type() == ElementType::Float16) return result;
  std::vector<double> values = *to_double_vector(tensor);
  const double least = smallest_normal(tensor.type());
  for (double& value : values) {
    if (std::abs(value) < least) value = std::copysign(0.0, value);
  }
  [[maybe_unused]] const Status status = store_doubles(values, result);
  assert(status.ok());
  return result;
}

}  // namespace het::oracle
