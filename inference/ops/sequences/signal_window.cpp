#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// w(i) = a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), with n = size, or size - 1 when symmetric.
struct WindowRow {
  std::string_view type;
  double a0;
  double a1;
  double a2;
};

constexpr std::array kWindowRows{
    WindowRow{"HannWindow", 0.5, 0.5, 0},
    WindowRow{"HammingWindow", 25.0 / 46, 1 - 25.0 / 46, 0},
    WindowRow{"BlackmanWindow", 0.42, 0.5, 0.08},
};

const WindowRow& window_row(std::string_view type) {
  for (const WindowRow& row : kWindowRows) {
    if (row.type == type) return row;
  }
  return kWindowRows.front();
}

Status infer_window(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"output_datatype", AttributeType::Int},
                                                  {"periodic", AttributeType::Int}}));
  HET_ASSIGN(const ElementType type,
             element_type_from_onnx(context.attributes().get_int("output_datatype", 1)));
  if (!kNumbers.contains(type)) {
    return error(StatusCode::NotSupported, "output_datatype {} is not supported", to_string(type));
  }
  HET_ASSIGN(const auto size, known_ints(context, 0, "size"));
  int64_t length = kUnknownDim;
  if (size) {
    if (size->size() != 1 || (*size)[0] < 0) {
      return error(StatusCode::InvalidArgument, "size {} must be one number >= 0",
                   to_string(*size));
    }
    length = (*size)[0];
  }
  context.set_output(0, type, {length});
  return {};
}

Status evaluate_window(EvaluateContext& context) {
  const WindowRow& row = window_row(context.node().op_type());
  Tensor& y = context.output(0);
  const bool periodic = context.attributes().get_int("periodic", 1) != 0;
  const int64_t n = y.element_count() - (periodic ? 0 : 1);
  const double step = n > 0 ? 2 * std::numbers::pi / static_cast<double>(n) : 0;
  return dispatch_numeric(y.type(), [&]<class T>() -> Status {
    T* dst = y.data<T>();
    for (int64_t i = 0; i < y.element_count(); ++i) {
      const double angle = step * static_cast<double>(i);
      // A symmetric window of one element is its middle.
      const double value =
          n > 0 ? row.a0 - row.a1 * std::cos(angle) + row.a2 * std::cos(2 * angle) : 1;
      dst[i] = numeric_cast<T>(value);
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_signal_window(OpRegistry& registry) {
  for (const WindowRow& row : kWindowRows) {
    registry.add({row.type, "", 17, 1, 1, infer_window, evaluate_window});
  }
}

}  // namespace het
