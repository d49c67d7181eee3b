#include <algorithm>
#include <optional>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/fourier.h"

namespace het {
namespace {

using Complex = std::complex<double>;

struct DftDims {
  bool inverse = false;
  bool onesided = false;
  int64_t length = 0;  ///< of the transform
  int64_t output_length = 0;
  size_t axis = 0;
  AxisSplit split;  ///< of the input without its last dimension
  Shape output_shape;
};

Result<int64_t> single(const std::vector<int64_t>& values, std::string_view name) {
  if (values.size() == 1) return values.front();
  return error(StatusCode::InvalidArgument, "{} has {} values, but must have one", name,
               values.size());
}

/// `x` is [..., 1 or 2]; `length` empty: the default.
Result<DftDims> dft_dims(const Attributes& attributes, const Shape& x,
                         std::optional<int64_t> length, int64_t axis) {
  DftDims dims;
  dims.inverse = attributes.get_int("inverse", 0) != 0;
  dims.onesided = attributes.get_int("onesided", 0) != 0;
  const auto rank = static_cast<int64_t>(x.size());
  HET_ASSIGN(const int64_t at, normalize_axis(axis, rank));
  if (at == rank - 1 || (x.back() != 1 && x.back() != 2)) {
    return error(StatusCode::ShapeMismatch,
                 "axis {} of an input of shape {}: the last dimension holds the real and imaginary "
                 "parts, so it must be 1 or 2 and is no axis",
                 axis, to_string(x));
  }
  if (dims.onesided && x.back() != (dims.inverse ? 2 : 1)) {
    return error(StatusCode::InvalidArgument,
                 "a onesided {} needs {} input, but the shape is {}; set onesided to 0",
                 dims.inverse ? "inverse transform" : "transform",
                 dims.inverse ? "complex" : "real", to_string(x));
  }
  dims.axis = static_cast<size_t>(at);
  const int64_t given = x[dims.axis];
  dims.length = length.value_or(dims.onesided && dims.inverse ? 2 * (given - 1) : given);
  if (dims.length < 1 || dims.length > kMaxTransformLength) {
    return error(StatusCode::InvalidArgument,
                 "a transform of {} values over a dimension of {}: the length must be 1 to {}",
                 dims.length, given, kMaxTransformLength);
  }
  const bool half = dims.onesided && !dims.inverse;
  dims.output_length = half ? dims.length / 2 + 1 : dims.length;
  HET_ASSIGN(dims.split, axis_split(Shape(x.begin(), x.end() - 1), at));
  dims.output_shape = x;
  dims.output_shape[dims.axis] = dims.output_length;
  dims.output_shape.back() = dims.onesided && dims.inverse ? 1 : 2;
  HET_TRY(checked_element_count(dims.output_shape));
  return dims;
}

Status infer_dft(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(),
                           {{"inverse", AttributeType::Int}, {"onesided", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "input", kFloatTypes));
  HET_TRY(check_rank(context, 0, "input", 2, kAnyRank));
  std::optional<int64_t> length;
  int64_t axis = -2;
  bool known = true;
  if (context.has_input(1)) {
    HET_ASSIGN(const auto values, known_ints(context, 1, "dft_length"));
    known = values.has_value();
    if (known) {
      HET_ASSIGN(length, single(*values, "dft_length"));
    }
  }
  if (context.has_input(2)) {
    HET_ASSIGN(const auto values, known_ints(context, 2, "axis"));
    known = known && values.has_value();
    if (values) {
      HET_ASSIGN(axis, single(*values, "axis"));
    }
  }
  if (!known) {
    context.set_output(0, context.type(0), unknown_shape(context.rank(0)));
    return {};
  }
  HET_ASSIGN(DftDims dims, dft_dims(context.attributes(), context.shape(0), length, axis));
  context.set_output(0, context.type(0), std::move(dims.output_shape));
  return {};
}

/// The second half of a real signal's spectrum is the first one's, mirrored and conjugated; what
/// cannot have an imaginary part has none.
void complete_spectrum(std::vector<Complex>& spectrum) {
  const size_t n = spectrum.size();
  spectrum[0] = spectrum[0].real();
  if (n % 2 == 0) spectrum[n / 2] = spectrum[n / 2].real();
  for (size_t k = 1; k < n - k; ++k) spectrum[n - k] = std::conj(spectrum[k]);
}

/// In double. Order: outer, inner, then along the axis.
Status evaluate_dft(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  std::optional<int64_t> length;
  int64_t axis = -2;
  if (context.has_input(1)) {
    HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(context.input(1)));
    HET_ASSIGN(length, single(values, "dft_length"));
  }
  if (context.has_input(2)) {
    HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(context.input(2)));
    HET_ASSIGN(axis, single(values, "axis"));
  }
  HET_ASSIGN(const DftDims dims, dft_dims(context.attributes(), x.shape(), length, axis));
  HET_ASSIGN(const std::vector<double> src, to_double_vector(x));
  Tensor& y = context.output(0);
  std::vector<double> dst(static_cast<size_t>(y.element_count()));
  const int64_t parts = x.shape().back();
  const int64_t y_parts = dims.output_shape.back();
  const bool real_result = dims.onesided && dims.inverse;
  const int64_t usable = real_result ? dims.length / 2 + 1 : dims.length;
  const int64_t count = std::min(dims.split.length, usable);
  for (int64_t outer = 0; outer < dims.split.outer; ++outer) {
    for (int64_t inner = 0; inner < dims.split.inner; ++inner) {
      const auto at = [&](int64_t line, int64_t i, int64_t per_element) {
        return static_cast<size_t>(((outer * line + i) * dims.split.inner + inner) * per_element);
      };
      std::vector<Complex> signal(static_cast<size_t>(dims.length));
      for (int64_t i = 0; i < count; ++i) {
        const size_t from = at(dims.split.length, i, parts);
        signal[static_cast<size_t>(i)] = {src[from], parts == 2 ? src[from + 1] : 0.0};
      }
      if (real_result) complete_spectrum(signal);
      const std::vector<Complex> result = fourier_transform(signal, dims.inverse);
      for (int64_t i = 0; i < dims.output_length; ++i) {
        const size_t to = at(dims.output_length, i, y_parts);
        dst[to] = result[static_cast<size_t>(i)].real();
        if (y_parts == 2) dst[to + 1] = result[static_cast<size_t>(i)].imag();
      }
    }
  }
  return store_doubles(dst, y);
}

}  // namespace

HET_REGISTRATION void register_dft(OpRegistry& registry) {
  registry.add({"DFT", "", 20, 1, 3, infer_dft, evaluate_dft});
}

}  // namespace het
