#include "inference/decoders/first_convolution.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace het {
namespace {

constexpr size_t kMostCopies = 8;
constexpr size_t kMostTaps = 2048;  ///< weights of one filter
/// Neighbouring pixels, and channels, of natural pictures: rounded from their usual correlations.
constexpr double kNeighbours = 0.95;
constexpr double kChannels = 0.9;
/// A spread from here on means bytes, from kLeast to kUnits pixels of about one unit. Networks
/// whose input is known gave 0.3 to 1.1 and 35 to 44.
constexpr float kBytes = 12.0f;
constexpr float kUnits = 4.0f;
constexpr float kLeast = 0.15f;

const Node* single_consumer(const Value& value) {
  return value.consumers().size() == 1 ? value.consumers().front() : nullptr;
}

/// A constant's numbers, also where a Cast stands behind it.
std::vector<float> constant_numbers(const Value* value) {
  if (value != nullptr && !value->is_constant() && value->producer() != nullptr &&
      value->producer()->op_type() == "Cast")
    value = value->producer()->input(0);
  if (value == nullptr || !value->is_constant()) return {};
  Result<std::vector<float>> numbers = to_float_vector(value->constant());
  return numbers ? std::move(*numbers) : std::vector<float>{};
}

Shape weight_shape(const Value* value) {
  if (value->producer() != nullptr && value->producer()->op_type() == "Cast")
    value = value->producer()->input(0);
  return value->desc().shape;
}

/// The median of magnitudes; 0 for none.
float median(std::vector<float> values) {
  if (values.empty()) return 0.0f;
  for (float& value : values) value = std::abs(value);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The spread of what each filter makes of natural pictures whose pixels have the spread 1: the
/// root of w' C w with the covariance C of neighbouring pixels.
std::vector<float> filter_spreads(const std::vector<float>& weights, const Shape& shape) {
  const auto filters = static_cast<size_t>(shape[0]);
  const auto channels = static_cast<size_t>(shape[1]);
  const auto rows = static_cast<size_t>(shape[2]);
  const auto columns = static_cast<size_t>(shape[3]);
  const size_t places = rows * columns;
  std::vector<double> covariance(places * places);
  for (size_t a = 0; a < places; ++a) {
    for (size_t b = 0; b < places; ++b) {
      const auto along = [](size_t from, size_t to) {
        return static_cast<double>(from) - static_cast<double>(to);
      };
      covariance[a * places + b] =
          std::pow(kNeighbours,
                   std::hypot(along(a % columns, b % columns), along(a / columns, b / columns)));
    }
  }
  const auto variance = [&](const double* w) {
    double sum = 0.0;
    for (size_t a = 0; a < places; ++a) {
      sum += w[a] * w[a];  // a place with itself
      double others = 0.0;
      for (size_t b = a + 1; b < places; ++b) others += w[b] * covariance[a * places + b];
      sum += 2.0 * w[a] * others;
    }
    return sum;
  };
  // All channels share kChannels of what varies; the rest each has for itself.
  std::vector<float> spreads(filters);
  std::vector<double> together(places);
  std::vector<double> alone(places);
  for (size_t f = 0; f < filters; ++f) {
    std::ranges::fill(together, 0.0);
    double sum = 0.0;
    for (size_t c = 0; c < channels; ++c) {
      const float* const w = weights.data() + (f * channels + c) * places;
      for (size_t i = 0; i < places; ++i) together[i] += alone[i] = static_cast<double>(w[i]);
      sum += (1.0 - kChannels) * variance(alone.data());
    }
    sum += kChannels * variance(together.data());
    spreads[f] = static_cast<float>(std::sqrt(std::max(sum, 0.0)));
  }
  return spreads;
}

/// The spread that a convolution's results had in training: what its BatchNormalization recorded,
/// else about its biases.
float recorded_spread(const Node& convolution, size_t filters) {
  const Node* const next =
      convolution.output() == nullptr ? nullptr : single_consumer(*convolution.output());
  if (next != nullptr && next->op_type() == "BatchNormalization") {
    std::vector<float> variances = constant_numbers(next->input(4));
    // Those of a network that was never trained are all 1.
    const bool trained = std::ranges::any_of(
        variances, [&](float value) { return std::abs(value - variances.front()) > 1e-3f; });
    if (variances.size() != filters || !trained) return 0.0f;
    return std::sqrt(median(std::move(variances)));
  }
  std::vector<float> biases = convolution.inputs().size() > 2
                                  ? constant_numbers(convolution.input(2))
                                  : std::vector<float>{};
  if (biases.empty() && next != nullptr && next->op_type() == "Add") {
    biases = constant_numbers(next->input(0));
    if (biases.empty()) biases = constant_numbers(next->input(1));
  }
  return biases.size() == filters ? median(std::move(biases)) : 0.0f;
}

}  // namespace

std::optional<float> expected_pixel_spread(const Value& input) {
  const Node* node = single_consumer(input);
  for (size_t step = 0; node != nullptr && step < kMostCopies; ++step) {
    const std::string& type = node->op_type();
    if (type != "Cast" && type != "Identity" && type != "Transpose" && type != "Pad") break;
    node = node->output() == nullptr ? nullptr : single_consumer(*node->output());
  }
  if (node == nullptr || node->op_type() != "Conv" || node->input(1) == nullptr)
    return std::nullopt;
  const Shape shape = weight_shape(node->input(1));
  const std::vector<float> weights = constant_numbers(node->input(1));
  if (shape.size() != 4 || weights.empty() ||
      shape[1] * shape[2] * shape[3] > static_cast<int64_t>(kMostTaps))
    return std::nullopt;
  const float of_ones = median(filter_spreads(weights, shape));
  const float recorded = recorded_spread(*node, static_cast<size_t>(shape[0]));
  const float spread = recorded / of_ones;
  return std::isfinite(spread) && spread > 0.0f ? std::optional(spread) : std::nullopt;
}

PixelScale pixel_scale(const Value& input) {
  const float spread = expected_pixel_spread(input).value_or(0.0f);
  if (spread >= kBytes) return PixelScale::Bytes;
  return spread >= kLeast && spread <= kUnits ? PixelScale::Units : PixelScale::Unknown;
}

}  // namespace het
