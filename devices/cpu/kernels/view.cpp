#include <algorithm>

#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// True when the value's format goes on: it is that of the result, too, where pixels get other
/// dimensions and channels are untouched, and whoever reads the result has a use for it. Rows of
/// pixels are joined and split as planes, unless they become tokens.
bool keeps_format(const Value& from, const Value& to) {
  const Shape& before = from.desc().shape;
  const Shape& after = to.desc().shape;
  const size_t rank = after.size();
  if (before.size() < 3 || rank < 3 || rank > 5 || before[0] != after[0] || before[1] != after[1]) {
    return false;
  }
  return rank > 3 || std::ranges::all_of(to.consumers(), [](const Node* reader) {
           return reader->op_type() == "Transpose";
         });
}

/// Other dimensions over the same elements: nothing runs.
Result<bool> plan_view(PlanBuilder& builder, const Node& node) {
  const Value& from = *node.input(0);
  const Value& to = *node.output();
  if (from.is_constant() || from.desc().type != to.desc().type || node.outputs().size() > 1) {
    return false;
  }
  const ElementType type = builder.moved_type(from, to);
  const Format format = keeps_format(from, to) ? builder.home(from).format : Format::Plain;
  HET_ASSIGN(const TensorId source, builder.read(from, format, type));
  builder.write_view(to, {type, to.desc().shape, format}, source, 0);
  return true;
}

}  // namespace

HET_REGISTRATION void register_view(KernelRegistry& registry) {
  for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) {
    registry.add("", type, plan_view);
  }
}

}  // namespace het::cpu
