#include <array>
#include <cmath>
#include <string_view>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

constexpr std::array<std::string_view, 5> kMelNames{"num_mel_bins", "dft_length", "sample_rate",
                                                    "lower_edge_hertz", "upper_edge_hertz"};

Status check_single(std::string_view name, const Shape& shape) {
  if (element_count(shape) == 1) return {};
  return error(StatusCode::ShapeMismatch, "{} has shape {}, but must be one number", name,
               to_string(shape));
}

Status infer_mel_weight_matrix(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"output_datatype", AttributeType::Int}}));
  HET_ASSIGN(const ElementType type,
             element_type_from_onnx(context.attributes().get_int("output_datatype", 1)));
  if (!kNumbers.contains(type)) {
    return error(StatusCode::NotSupported, "output_datatype {} is not supported", to_string(type));
  }
  for (size_t i = 0; i < kMelNames.size(); ++i) {
    HET_TRY(check_input(context, i, kMelNames[i], i < 3 ? kIndexTypes : kFloatTypes));
    HET_TRY(check_single(kMelNames[i], context.shape(i)));
  }
  HET_ASSIGN(const auto bins, known_ints(context, 0, kMelNames[0]));
  HET_ASSIGN(const auto length, known_ints(context, 1, kMelNames[1]));
  Shape shape = unknown_shape(2);
  if (bins && length) {
    if ((*bins)[0] < 0 || (*length)[0] < 0 || (*bins)[0] > INT32_MAX || (*length)[0] > INT32_MAX) {
      return error(StatusCode::InvalidArgument, "{} mel bins of a transform of {} values",
                   (*bins)[0], (*length)[0]);
    }
    shape = {(*length)[0] / 2 + 1, (*bins)[0]};
  }
  context.set_output(0, type, std::move(shape));
  return {};
}

double mel_of(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}

double hertz_of(double mel) {
  return 700 * (std::pow(10.0, mel / 2595) - 1);
}

/// A triangle with peak 1 for every mel bin, between spectrogram bins that are evenly spaced in
/// mels and rounded down, as ONNX' reference implementation places them: there are
/// num_mel_bins + 2 steps between the edges.
Status evaluate_mel_weight_matrix(EvaluateContext& context) {
  std::array<double, 5> values{};
  for (size_t i = 0; i < values.size(); ++i) {
    HET_ASSIGN(const std::vector<double> content, to_double_vector(context.input(i)));
    values[i] = content.at(0);
  }
  const double mel_bins = values[0];
  const double length = values[1];
  const double rate = values[2];
  const double lower = values[3];
  const double upper = values[4];
  Tensor& y = context.output(0);
  const int64_t rows = y.shape()[0];
  const int64_t columns = y.shape()[1];
  const bool sane = rate > 0 && lower >= 0 && upper >= lower;
  const double low = mel_of(lower);
  const double step = (mel_of(upper) - low) / (mel_bins + 2);
  const auto bin = [&](int64_t i) {
    return static_cast<int64_t>(
        std::floor((length + 1) * hertz_of(low + step * static_cast<double>(i)) / rate));
  };
  if (!sane || !((length + 1) * upper / rate < static_cast<double>(INT32_MAX)) ||
      bin(columns + 1) > rows) {
    return error(StatusCode::InvalidArgument,
                 "the edges {} to {} Hz do not lie within the {} bins of a transform of {} values "
                 "at {} samples per second",
                 lower, upper, rows, length, rate);
  }
  std::vector<double> weights(static_cast<size_t>(y.element_count()));
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t left = bin(i);
    const int64_t center = bin(i + 1);
    const int64_t right = bin(i + 2);
    const auto weight = [&](int64_t row) -> double& {
      return weights[static_cast<size_t>(row * columns + i)];
    };
    const auto share = [](int64_t part, int64_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    for (int64_t j = left; j < center; ++j) weight(j) = share(j - left, center - left);
    if (center < rows) weight(center) = 1;
    for (int64_t j = center; j < right; ++j) weight(j) = share(right - j, right - center);
  }
  return store_doubles(weights, y);
}

}  // namespace

HET_REGISTRATION void register_mel_weight_matrix(OpRegistry& registry) {
  registry.add(
      {"MelWeightMatrix", "", 17, 5, 5, infer_mel_weight_matrix, evaluate_mel_weight_matrix});
}

}  // namespace het
