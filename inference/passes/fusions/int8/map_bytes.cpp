#include <algorithm>

#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// The bytes and numbers that a node computes with, or nothing where it reads anything else.
std::optional<ByteFunction> function_of(const Node& node, const StoredValue& dst) {
  const std::optional<ElementwiseNode> found = elementwise_of(node);
  if (!found) return std::nullopt;
  ByteFunction function{found->program, {}, {}, dst};
  for (const Value* operand : found->operands) {
    if (operand->is_constant() && operand->constant().element_count() == 1) {
      const auto value = to_float_vector(operand->constant());
      if (!value) return std::nullopt;
      function.operands.emplace_back(value->front());
      continue;
    }
    const std::optional<StoredValue> src = stored_behind(*operand);
    const bool is_first = function.src.stored == nullptr;
    if (!src ||
        (!is_first && (src->stored != function.src.stored || !same_steps(*src, function.src)))) {
      return std::nullopt;
    }
    function.src = *src;
    function.operands.emplace_back();
  }
  return function.src.stored == nullptr ? std::nullopt : std::optional(std::move(function));
}

}  // namespace

Status map_bytes(Model& model, ByteTable (*make_table)(const ByteFunction&)) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& quantise = *model.nodes()[k];
    const std::optional<StoredValue> dst = stored_by(&quantise);
    if (!dst) continue;
    const Value& real = *quantise.input(0);
    Node* const before = real.producer();
    if (before == nullptr) continue;
    std::optional<ByteFunction> function;
    if (const std::optional<StoredValue> src = stored_behind(real)) {
      function = ByteFunction{{}, {}, *src, *dst};
    } else {
      function = function_of(*before, *dst);
    }
    if (!function || function->src.stored->is_constant() ||
        function->src.stored->desc().shape != dst->stored->desc().shape) {
      continue;
    }
    const ByteTable table = make_table(*function);
    Value* const map = model.add_constant(
        quantise.name() + "/map",
        Tensor::from<uint8_t>({256}, std::vector<uint8_t>(table.begin(), table.end())));
    Node* const first = only_reader(model, real) == &quantise ? before : &quantise;
    replace(model, {first, &quantise, "MapBytes", "het", {function->src.stored, map}, {}});
  }
  return {};
}

}  // namespace het
