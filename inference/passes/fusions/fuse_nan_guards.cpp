#include <optional>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// The only number of a constant.
std::optional<float> number_of(const Value* value) {
  if (value == nullptr || !value->is_constant() || value->desc().type != ElementType::Float32 ||
      value->constant().element_count() != 1) {
    return std::nullopt;
  }
  return value->constant().values<float>()[0];
}

}  // namespace

Status fuse_nan_guards(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& choice = *model.nodes()[k];
    if (choice.op_type() != "Where" || !choice.domain().empty() || is_detached(choice)) continue;
    Node* test = choice.input(0)->producer();
    Value* x = choice.input(2);
    const std::optional<float> other = number_of(choice.input(1));
    if (test == nullptr || test->op_type() != "IsNaN" || test->input(0) != x || !other ||
        x->desc().type != ElementType::Float32 || choice.output()->desc() != x->desc()) {
      continue;
    }
    const bool is_read = only_reader(model, *test->output()) != &choice;
    replace(model, {&choice,
                    &choice,
                    "Elementwise",
                    "het",
                    {x},
                    to_attributes({1, {{ElementwiseKind::ReplaceNaN, 0, 0, *other}}})});
    if (!is_read) detach(model, *test);
  }
  return {};
}

}  // namespace het
