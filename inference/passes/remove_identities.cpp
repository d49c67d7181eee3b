#include "inference/passes/remove_identities.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "inference/ops/windows/resize.h"

namespace het {
namespace {

bool is_inference_dropout(const Node& node) {
  if (node.output(1) != nullptr && !node.output(1)->consumers().empty()) return false;
  const Value* training_mode = node.input(2);
  if (training_mode == nullptr) return true;
  return training_mode->is_constant() && training_mode->constant().type() == ElementType::Bool &&
         training_mode->constant().element_count() == 1 && !*training_mode->constant().data<bool>();
}

bool keeps_order(const Node& node) {
  const std::vector<int64_t> perm = node.attributes().get_ints("perm");
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return !perm.empty();
}

/// Operators that are identities exactly when they change neither type nor shape.
bool only_relabels(std::string_view op_type) {
  return op_type == "Reshape" || op_type == "Flatten" || op_type == "Squeeze" ||
         op_type == "Unsqueeze" || op_type == "Expand" || op_type == "Cast" ||
         op_type == "CastLike";
}

/// A Resize that leaves each element in its place.
bool keeps_places(const Node& node) {
  std::array<const Tensor*, 3> parameters{};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Value* value = node.input(i + 1);
    if (value != nullptr && !value->is_constant()) return false;
    if (value != nullptr) parameters[i] = &value->constant();
  }
  const Result<ResizeSettings> settings = resize_settings(node.attributes());
  if (!settings) return false;
  const auto dims = resize_dims(*settings, node.input(0)->desc().shape, parameters[0],
                                parameters[1], parameters[2]);
  return dims && std::ranges::all_of(*dims, [&](const ResizeDim& dim) {
           return dim.is_identity(settings->coordinates);
         });
}

bool same_desc(const Node& node) {
  const TensorDesc& x = node.input(0)->desc();
  return x.is_static() && x == node.output()->desc();
}

bool is_identity(const Node& node) {
  if (!node.domain().empty() || node.op() == nullptr) return false;
  if (node.input(0) == nullptr || node.outputs().empty()) return false;
  const std::string& type = node.op_type();
  if (type == "Identity") return true;
  if (type == "Dropout") return is_inference_dropout(node);
  if (type == "Concat") return node.inputs().size() == 1;
  if (type == "Transpose") return keeps_order(node);
  if (type == "Resize") return same_desc(node) && keeps_places(node);
  return only_relabels(type) && same_desc(node);
}

}  // namespace

size_t remove_identities(Model& model) {
  size_t removed = 0;
  for (const auto& node : model.nodes()) {
    if (!is_identity(*node)) continue;
    // The mask of a Dropout counts as used when it is an output of the model.
    if (node->output(1) != nullptr && model.is_output(node->output(1))) continue;
    model.replace_uses(node->output(), node->input(0));
    ++removed;
  }
  if (removed > 0) model.remove_unused();
  return removed;
}

}  // namespace het
