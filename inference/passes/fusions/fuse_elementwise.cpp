#include <algorithm>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

constexpr size_t kMaxOperands = 8;

/// The program of `reader` with the program of `producer` put in place of operand `index`.
std::optional<ElementwiseNode> inlined(const ElementwiseNode& reader, size_t index,
                                       const ElementwiseNode& producer) {
  ElementwiseNode result;
  const auto add_operand = [&](Value* value) {
    const auto found = std::find(result.operands.begin(), result.operands.end(), value);
    if (found != result.operands.end()) {
      return static_cast<size_t>(found - result.operands.begin());
    }
    result.operands.push_back(value);
    return result.operands.size() - 1;
  };
  // First the operands of both, because registers of operands come first.
  std::vector<size_t> producer_registers;
  for (Value* operand : producer.operands) producer_registers.push_back(add_operand(operand));
  std::vector<size_t> reader_registers;
  for (size_t i = 0; i < reader.operands.size(); ++i) {
    reader_registers.push_back(i == index ? 0 : add_operand(reader.operands[i]));
  }
  result.program.operands = result.operands.size();
  const auto append = [&](const ElementwiseProgram& program, std::vector<size_t>& registers) {
    for (ElementwiseInstruction instruction : program.instructions) {
      instruction.a = static_cast<uint8_t>(registers[instruction.a]);
      instruction.b =
          is_binary(instruction.kind) ? static_cast<uint8_t>(registers[instruction.b]) : uint8_t{0};
      result.program.instructions.push_back(instruction);
      registers.push_back(result.program.operands + result.program.instructions.size() - 1);
    }
  };
  append(producer.program, producer_registers);
  reader_registers[index] = producer_registers.back();
  append(reader.program, reader_registers);
  if (result.operands.size() > kMaxOperands ||
      result.program.operands + result.program.instructions.size() > kMaxElementwiseRegisters) {
    return std::nullopt;
  }
  return result;
}

/// Merges one producer into `node`; true when it did.
bool merge(Model& model, Node& node) {
  const std::optional<ElementwiseNode> reader = elementwise_of(node);
  if (!reader) return false;
  for (size_t i = 0; i < reader->operands.size(); ++i) {
    Value* operand = reader->operands[i];
    Node* before = operand->producer();
    if (before == nullptr || operand->desc().shape != node.output()->desc().shape) continue;
    // Read several times by this node still counts as one reader.
    const auto& uses = operand->consumers();
    const bool only_here =
        std::all_of(uses.begin(), uses.end(), [&](const Node* n) { return n == &node; });
    const auto& outputs = model.outputs();
    const bool is_output = std::any_of(outputs.begin(), outputs.end(),
                                       [&](const ModelOutput& o) { return o.value == operand; });
    if (!only_here || is_output) continue;
    const std::optional<ElementwiseNode> producer = elementwise_of(*before);
    if (!producer) continue;
    std::optional<ElementwiseNode> merged = inlined(*reader, i, *producer);
    if (!merged) continue;
    replace(model, {before, &node, "Elementwise", "het", merged->operands,
                    to_attributes(merged->program)});
    return true;
  }
  return false;
}

}  // namespace

Status fuse_elementwise(Model& model) {
  // Merged nodes come last and are visited again.
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (!is_detached(node)) merge(model, node);
  }
  return {};
}

}  // namespace het
