#include "inference/decoders/graph_normalisation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/decoders/known_normalisations.h"

namespace het {
namespace {

constexpr size_t kMostSteps = 16;

/// The only node that computes with a value, apart from what asks for its shape.
const Node* only_reader(const Value& value) {
  const Node* reader = nullptr;
  for (const Node* consumer : value.consumers()) {
    if (consumer->op_type() == "Shape" || consumer == reader) continue;
    if (reader != nullptr) return nullptr;
    reader = consumer;
  }
  return reader;
}

bool copies_pixels(const std::string& type) {
  constexpr std::string_view kCopies[] = {"Cast",    "Identity", "Transpose",
                                          "Reshape", "Squeeze",  "Unsqueeze",
                                          "Resize",  "Pad",      "DequantizeLinear"};
  return std::ranges::find(kCopies, type) != std::end(kCopies);
}

/// A constant operand as a number for each of three channels.
std::optional<std::array<float, 3>> channels_of(const Value* value) {
  if (value == nullptr || !value->is_constant()) return std::nullopt;
  const int64_t count = element_count(value->desc().shape);
  if (count != 1 && count != 3) return std::nullopt;
  const Result<std::vector<float>> numbers = to_float_vector(value->constant());
  if (!numbers) return std::nullopt;
  std::array<float, 3> channels{};
  for (size_t c = 0; c < 3; ++c) channels[c] = (*numbers)[count == 1 ? 0 : c];
  return channels;
}

/// y = scale * x + shift, for each channel.
struct Affine {
  std::array<float, 3> scale{1, 1, 1};
  std::array<float, 3> shift{0, 0, 0};

  bool is_identity() const {
    return scale == std::array<float, 3>{1, 1, 1} && shift == std::array<float, 3>{0, 0, 0};
  }
  /// Appends a node that reads `value`; false when it is none of these.
  bool append(const Node& node, const Value& value) {
    const bool first = node.input(0) == &value;
    const std::string& type = node.op_type();
    const bool known = type == "Sub" || type == "Add" || type == "Mul" || (type == "Div" && first);
    const auto operand = known ? channels_of(node.input(first ? 1 : 0)) : std::nullopt;
    if (!operand) return false;
    for (size_t c = 0; c < 3; ++c) {
      const float number = (*operand)[c];
      if (type == "Sub" && !first) {
        scale[c] = -scale[c];
        shift[c] = number - shift[c];
      } else if (type == "Sub") {
        shift[c] -= number;
      } else if (type == "Add") {
        shift[c] += number;
      } else {
        const float factor = type == "Mul" ? number : 1.0f / number;
        scale[c] *= factor;
        shift[c] *= factor;
      }
    }
    return true;
  }
};

/// The range of pixels that a shift and a scale bring to numbers that networks work with: a few
/// units around 0, or bytes around 0 where only a mean goes.
std::optional<PixelEvidence> evidence_of(const Affine& affine) {
  const float mean = -affine.shift[0] / affine.scale[0];
  const float last_mean = -affine.shift[2] / affine.scale[2];
  if (!std::isfinite(mean) || !std::isfinite(last_mean)) return std::nullopt;
  const auto fits = [&](float high) {
    const float low_end = affine.shift[0];
    const float high_end = affine.scale[0] * high + affine.shift[0];
    return std::max(std::abs(low_end), std::abs(high_end)) <= 4.0f &&
           std::abs(high_end - low_end) >= 0.5f;
  };
  PixelEvidence evidence;
  const bool only_mean = affine.scale[0] == 1.0f && mean > 50.0f && mean < 200.0f;
  if (only_mean || fits(255.0f)) {
    evidence.range_high = 255.0f;
    evidence.what = only_mean ? "the graph subtracts a mean of 0..255"
                              : "the graph brings pixels of 0..255 to its own range";
  } else if (fits(1.0f)) {
    evidence.range_high = 1.0f;
    evidence.what = "the graph normalises pixels of 0..1";
  } else {
    return std::nullopt;
  }
  // Pictures have more red than blue, by the means of every large data set.
  if (std::abs(mean - last_mean) > 0.01f * evidence.range_high)
    evidence.order = mean > last_mean ? ColorOrder::RGB : ColorOrder::BGR;
  return evidence;
}

/// What the numbers that a quantiser saw tell of the range of pixels.
std::optional<PixelEvidence> evidence_of_range(float low, float high) {
  const auto near = [](float value, float wanted, float tolerance) {
    return std::abs(value - wanted) <= tolerance;
  };
  PixelEvidence evidence;
  evidence.what = "the range of its quantised input says so";
  if (near(low, 0.0f, 0.05f) && near(high, 1.0f, 0.1f)) {
    evidence.range_high = 1.0f;
  } else if (near(low, 0.0f, 10.0f) && near(high, 255.0f, 40.0f)) {
    evidence.range_high = 255.0f;
  } else if (near(low, -1.0f, 0.1f) && near(high, 1.0f, 0.1f)) {
    evidence.mean.fill(127.5f);
    evidence.std.fill(127.5f);
  } else if (near(low, -2.1f, 0.4f) && near(high, 2.6f, 0.5f)) {
    evidence.range_high = 1.0f;
    evidence.mean = kImageNetMean;
    evidence.std = kImageNetStd;
    evidence.order = ColorOrder::RGB;
  } else {
    return std::nullopt;
  }
  return evidence;
}

/// The same where both ends are equal whatever the pixels were: the largest magnitude alone. One is
/// 0..1 or -1..1 and tells nothing.
std::optional<PixelEvidence> evidence_of_magnitude(float most) {
  if (std::abs(most - 255.0f) <= 40.0f) return evidence_of_range(0.0f, 255.0f);
  if (std::abs(most - 2.64f) <= 0.3f) return evidence_of_range(-2.1f, 2.64f);
  return std::nullopt;
}

std::optional<PixelEvidence> evidence_of_quantiser(const Node& node) {
  const auto low = channels_of(node.input(1));
  const auto high = channels_of(node.input(2));
  if (!low || node.input(2) == nullptr) return std::nullopt;
  if (node.op_type() == "FakeQuantize") {
    return high ? evidence_of_range((*low)[0], (*high)[0]) : std::nullopt;
  }
  // QuantizeLinear: scale and zero point. A signed one without a zero point is symmetric.
  const ElementType type = node.input(2)->desc().type;
  const bool is_signed = type == ElementType::Int8;
  if (!high || (!is_signed && type != ElementType::UInt8)) return std::nullopt;
  const float scale = (*low)[0];
  const float zero = (*high)[0];
  if (is_signed && zero == 0.0f) return evidence_of_magnitude(127.0f * scale);
  const float least = is_signed ? -128.0f : 0.0f;
  return evidence_of_range((least - zero) * scale, (least + 255.0f - zero) * scale);
}

}  // namespace

std::optional<PixelEvidence> pixel_evidence(const Value& input) {
  Affine affine;
  const Value* value = &input;
  for (size_t step = 0; step < kMostSteps; ++step) {
    const Node* node = only_reader(*value);
    if (node == nullptr) break;
    const std::string& type = node->op_type();
    if ((type == "QuantizeLinear" || type == "FakeQuantize") && node->input(0) == value) {
      if (!affine.is_identity()) break;
      if (auto evidence = evidence_of_quantiser(*node)) return evidence;
    } else if (!copies_pixels(type) && !affine.append(*node, *value)) {
      break;
    }
    value = node->output();
  }
  return affine.is_identity() ? std::nullopt : evidence_of(affine);
}

}  // namespace het
