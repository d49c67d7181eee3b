#include "inference/writers/express_fake_quantize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "inference/ops/op.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

enum : size_t { kX, kInputLow, kInputHigh, kOutputLow, kOutputHigh };

/// Levels that a byte holds.
constexpr int64_t kMostLevels = 256;
/// How far a zero may lie from a level, in levels: limits are stored in float16 sometimes.
constexpr double kTolerance = 1e-2;

/// Where limits lie: one for all, or one for each index of an axis, counted from the end.
struct Place {
  size_t count = 1;
  int64_t axis = 0;  ///< negative; 0: there is none
};

std::optional<Place> place_of(const Tensor& limit) {
  Place place;
  const Shape& shape = limit.shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (place.axis != 0 || shape[i] == 0) return std::nullopt;
    place.axis = static_cast<int64_t>(i) - static_cast<int64_t>(shape.size());
    place.count = static_cast<size_t>(shape[i]);
  }
  return place;
}

/// Levels between two limits: value = (level - zero) * scale.
struct Grid {
  std::vector<float> scales;
  std::vector<int64_t> zeros;
};

/// Nothing where no level is zero, or where limits are not below each other.
std::optional<Grid> grid_of(const Node& node, size_t low_input, size_t count, int64_t levels) {
  const auto lows = node.input(low_input)->constant().values<float>();
  const auto highs = node.input(low_input + 1)->constant().values<float>();
  Grid grid;
  for (size_t i = 0; i < count; ++i) {
    const double low = lows[lows.size() == 1 ? 0 : i];
    const double high = highs[highs.size() == 1 ? 0 : i];
    const double scale = (high - low) / static_cast<double>(levels - 1);
    if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
    const double zero = -low / scale;
    const double nearest = std::nearbyint(zero);
    if (!(nearest >= 0 && nearest < static_cast<double>(levels)) ||
        std::abs(zero - nearest) > kTolerance) {
      return std::nullopt;
    }
    grid.scales.push_back(static_cast<float>(scale));
    grid.zeros.push_back(static_cast<int64_t>(nearest));
  }
  return grid;
}

/// A FakeQuantize as numbers of 8 bits.
struct ByteForm {
  Place place;
  Grid input;
  Grid output;
  ElementType type = ElementType::UInt8;
  int64_t shift = 0;  ///< stored = level - shift
  bool fills = true;  ///< the levels are all that the type holds
};

std::optional<ByteForm> byte_form(const Node& node) {
  const int64_t levels = node.attributes().get_int("levels", 2);
  if (levels > kMostLevels) return std::nullopt;
  ByteForm form;
  for (size_t i = kInputLow; i <= kOutputHigh; ++i) {
    const Value& limit = *node.input(i);
    if (!limit.is_constant() || limit.constant().type() != ElementType::Float32) {
      return std::nullopt;
    }
    const std::optional<Place> place = place_of(limit.constant());
    if (!place) return std::nullopt;
    if (place->axis == 0) continue;
    if (form.place.axis != 0 && form.place.axis != place->axis) return std::nullopt;
    form.place = *place;
  }
  auto input = grid_of(node, kInputLow, form.place.count, levels);
  auto output = grid_of(node, kOutputLow, form.place.count, levels);
  if (!input || !output) return std::nullopt;
  form.input = std::move(*input);
  form.output = std::move(*output);
  const int64_t middle = levels / 2;
  const auto is_middle = [&](int64_t zero) { return zero == middle; };
  if (std::ranges::all_of(form.input.zeros, is_middle) &&
      std::ranges::all_of(form.output.zeros, is_middle)) {
    form.type = ElementType::Int8;
    form.shift = middle;
  }
  form.fills = levels == kMostLevels;
  return form;
}

class Expression {
 public:
  Expression(Model& model, Node& node) : model_(model), node_(node) {}

  Value* add(const std::string& suffix, const char* type, std::vector<Value*> inputs,
             Attributes attributes = {}) {
    Node* added = model_.add_node(node_.name() + suffix, type, "", std::move(inputs),
                                  {node_.output()->name() + suffix}, std::move(attributes));
    added->add_original_names(node_.original_names());
    return added->output();
  }
  Value* constant(const std::string& suffix, Tensor content) {
    return model_.add_constant(node_.name() + suffix, std::move(content));
  }

  /// x within the limits, the first of which is the lower.
  Value* bounded() {
    Value* const raised = add("/raised", "Max", {node_.input(kX), node_.input(kInputLow)});
    return add("/bounded", "Min", {raised, node_.input(kInputHigh)});
  }

  Status as_bytes(const ByteForm& form) {
    Attributes attributes;
    if (form.place.axis != 0) attributes.set("axis", form.place.axis);
    Value* const in_zero = zeros("/zero", form, form.input);
    Value* const out_zero =
        form.input.zeros == form.output.zeros ? in_zero : zeros("/output_zero", form, form.output);
    Value* const in_scale = scales("/scale", form, form.input);
    Value* const out_scale = form.input.scales == form.output.scales
                                 ? in_scale
                                 : scales("/output_scale", form, form.output);
    Value* const x = form.fills ? node_.input(kX) : bounded();
    Value* stored = add("/stored", "QuantizeLinear", {x, in_scale, in_zero}, attributes);
    if (has_constant_input()) {
      HET_ASSIGN(stored, folded(stored));
    }
    replace(model_, {&node_,
                     &node_,
                     "DequantizeLinear",
                     "",
                     {stored, out_scale, out_zero},
                     std::move(attributes)});
    return {};
  }

  /// The definition of FakeQuantize-1, an operator for each of its operations.
  void as_arithmetic() {
    const auto steps = static_cast<float>(node_.attributes().get_int("levels", 2) - 1);
    Value* const count =
        add("/steps_as", "CastLike", {constant("/steps", Tensor::scalar(steps)), node_.input(kX)});
    const auto range = [&](const std::string& suffix, size_t low) {
      return add(suffix, "Sub", {node_.input(low + 1), node_.input(low)});
    };
    Value* const x = node_.input(kX);
    Value* const above = add("/above", "Sub", {x, node_.input(kInputLow)});
    Value* const part = add("/part", "Div", {above, range("/input_range", kInputLow)});
    Value* const level = add("/level", "Round", {add("/position", "Mul", {part, count})});
    Value* const placed =
        add("/placed", "Mul",
            {add("/share", "Div", {level, count}), range("/output_range", kOutputLow)});
    Value* const inside = add("/inside", "Add", {placed, node_.input(kOutputLow)});
    const auto limit = [&](const std::string& suffix, const char* type) {
      return add(suffix, type, {node_.input(kInputLow), node_.input(kInputHigh)});
    };
    Value* const is_below = add("/is_below", "LessOrEqual", {x, limit("/least", "Min")});
    Value* const is_above = add("/is_above", "Greater", {x, limit("/most", "Max")});
    Value* const others = add("/others", "Where", {is_above, node_.input(kOutputHigh), inside});
    replace(model_, {&node_, &node_, "Where", "", {is_below, node_.input(kOutputLow), others}, {}});
  }

 private:
  /// Weights, perhaps stored in another type.
  bool has_constant_input() const {
    const Value& x = *node_.input(kX);
    return x.is_constant() ||
           (is_op(x.producer(), "Cast") && x.producer()->input(0)->is_constant());
  }

  /// The content of what constants alone decide.
  Result<Value*> folded(Value* value) {
    Node* const producer = value->producer();
    if (producer == nullptr) return value;
    std::vector<const Tensor*> inputs;
    for (Value* input : producer->inputs()) {
      HET_ASSIGN(const Value* const content, folded(input));
      if (!content->is_constant()) return value;
      inputs.push_back(&content->constant());
    }
    HET_ASSIGN(const std::vector<Tensor> outputs, evaluate_node(*producer, inputs));
    return model_.add_constant(value->name(), outputs[0]);
  }

  static Shape list_shape(const ByteForm& form) {
    return form.place.axis == 0 ? Shape{} : Shape{static_cast<int64_t>(form.place.count)};
  }
  Value* scales(const std::string& suffix, const ByteForm& form, const Grid& grid) {
    return constant(suffix, Tensor::from<float>(list_shape(form), grid.scales));
  }
  Value* zeros(const std::string& suffix, const ByteForm& form, const Grid& grid) {
    const Shape shape = list_shape(form);
    const auto stored = [&]<class T>(T) {
      std::vector<T> values;
      for (const int64_t zero : grid.zeros) values.push_back(static_cast<T>(zero - form.shift));
      return Tensor::from<T>(shape, values);
    };
    return constant(suffix, form.type == ElementType::Int8 ? stored(int8_t{}) : stored(uint8_t{}));
  }

  Model& model_;
  Node& node_;
};

}  // namespace

Status express_fake_quantize(Model& model, Node& node) {
  Expression expression(model, node);
  if (const std::optional<ByteForm> form = byte_form(node); form) {
    return expression.as_bytes(*form);
  }
  expression.as_arithmetic();
  return {};
}

}  // namespace het
