#include <algorithm>
#include <memory>
#include <unordered_map>

#include "inference/ops/quantisation/quantization.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

using ByteTable = std::array<uint8_t, 256>;

/// By the bits of a byte.
int number_of(size_t bits, ElementType type) {
  return type == ElementType::Int8 ? static_cast<int8_t>(bits) : static_cast<int>(bits);
}

/// A float value as a function of some bytes; of none for a number.
struct ByteFunction {
  Value* source = nullptr;
  ByteValues values;
};

bool is_map(const Node* node) {
  return node != nullptr && node->op_type() == "MapBytes" && node->domain() == "het" &&
         !is_detached(*node);
}

/// Asked for values in the order of their nodes, or chains of nodes would be as deep a recursion.
class ByteFunctions {
 public:
  explicit ByteFunctions(RunOnBytes run) : run_(run) {}

  /// Null where there is none.
  const ByteFunction* of(const Value& value) {
    const auto known = known_.find(&value);
    if (known != known_.end()) return known->second.get();
    const std::optional<ByteFunction> found = find(value);
    auto& kept = known_[&value];
    if (found) kept = std::make_unique<ByteFunction>(*found);
    return kept.get();
  }

 private:
  std::optional<ByteFunction> find(const Value& value) {
    if (value.is_constant()) return number(value.constant());
    const Node* const node = value.producer();
    if (node == nullptr || is_detached(*node)) return std::nullopt;
    if (const std::optional<StoredValue> stored = stored_behind(value)) return dequantised(*stored);
    const std::optional<ElementwiseNode> elementwise = elementwise_of(*node);
    if (!elementwise) return std::nullopt;
    ByteFunction made;
    std::vector<ByteValues> operands;
    for (const Value* operand : elementwise->operands) {
      const ByteFunction* const function = of(*operand);
      if (function == nullptr) return std::nullopt;
      if (function->source != nullptr) {
        const bool is_other = made.source != nullptr && made.source != function->source;
        if (is_other || operand->desc().shape != value.desc().shape) return std::nullopt;
        made.source = function->source;
      }
      operands.push_back(function->values);
    }
    run_(elementwise->program, operands, made.values);
    return made;
  }

  static std::optional<ByteFunction> number(const Tensor& constant) {
    if (constant.element_count() != 1) return std::nullopt;
    const auto value = to_float_vector(constant);
    if (!value) return std::nullopt;
    ByteFunction made;
    made.values.fill(value->front());
    return made;
  }

  static std::optional<ByteFunction> dequantised_number(const StoredValue& stored) {
    std::optional<ByteFunction> made = number(stored.stored->constant());
    if (!made) return std::nullopt;
    for (float& value : made->values) {
      value = (value - static_cast<float>(stored.zero)) * stored.scale;
    }
    return made;
  }

  /// Of the bytes, or of those that a table made them of.
  static std::optional<ByteFunction> dequantised(const StoredValue& stored) {
    if (stored.stored->is_constant()) return dequantised_number(stored);
    const Node* const node = stored.stored->producer();
    ByteFunction made{is_map(node) ? node->input(0) : stored.stored, {}};
    for (size_t i = 0; i < made.values.size(); ++i) {
      const size_t bits = is_map(node) ? node->input(1)->constant().data<uint8_t>()[i] : i;
      made.values[i] =
          static_cast<float>(number_of(bits, stored.type()) - stored.zero) * stored.scale;
    }
    return made;
  }

  RunOnBytes run_;
  std::unordered_map<const Value*, std::unique_ptr<ByteFunction>> known_;
};

ByteTable quantised(const ByteValues& values, const StoredValue& dst) {
  ByteTable table;
  std::ranges::transform(values, table.begin(), [&](float value) {
    const float quotient = value / dst.scale;
    return dst.type() == ElementType::Int8
               ? static_cast<uint8_t>(saturate_quantized<int8_t>(quotient, dst.zero))
               : saturate_quantized<uint8_t>(quotient, dst.zero);
  });
  return table;
}

/// What nobody reads any more is a part of the map.
void take_over(Model& model, Node* last, Node& map) {
  std::vector<Node*> left = {last};
  while (!left.empty()) {
    Node* const node = left.back();
    left.pop_back();
    if (node == nullptr || is_detached(*node) || !elementwise_of(*node) ||
        is_read(model, *node->output())) {
      continue;
    }
    map.add_original_names(node->original_names());
    for (const Value* input : node->inputs()) {
      if (input != nullptr) left.push_back(input->producer());
    }
    detach(model, *node);
  }
}

}  // namespace

Status map_bytes(Model& model, RunOnBytes run) {
  ByteFunctions functions(run);
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    const std::optional<StoredValue> dst = stored_by(&node);
    if (!dst) {
      if (const Value* const output = node.output()) functions.of(*output);
      continue;
    }
    const Value& real = *node.input(0);
    const ByteFunction* const function = functions.of(real);
    if (function == nullptr || function->source == nullptr ||
        function->source->desc().shape != dst->stored->desc().shape) {
      continue;
    }
    const ByteTable table = quantised(function->values, *dst);
    Value* const map = model.add_constant(
        node.name() + "/map",
        Tensor::from<uint8_t>({256}, std::vector<uint8_t>(table.begin(), table.end())));
    Node* const made =
        replace(model, {&node, &node, "MapBytes", "het", {function->source, map}, {}});
    take_over(model, real.producer(), *made);
  }
  return {};
}

}  // namespace het
