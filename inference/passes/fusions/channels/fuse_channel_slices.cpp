#include <algorithm>

#include "inference/ops/movement/transpose.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

Node* static_reader(const Model& model, const Value& value, std::string_view type) {
  Node* reader = only_reader(model, value);
  return is_op(reader, type) && reader->output()->desc().is_static() ? reader : nullptr;
}

/// Reshape, Transpose, Reshape: groups of neighbouring channels, those at the same place of each
/// behind one another in [group, N, C / group, ...].
struct Groups {
  Node* split = nullptr;
  Node* swap = nullptr;
  Node* join = nullptr;
  int64_t group = 0;
};

std::optional<Groups> groups_of(const Model& model, Node* split) {
  if (!is_op(split, "Reshape") || !split->output()->desc().is_static() ||
      !split->input(0)->desc().is_static()) {
    return std::nullopt;
  }
  const Shape& whole = split->input(0)->desc().shape;
  const Shape& parts = split->output()->desc().shape;
  if (whole.size() < 3 || parts.size() != 3 || parts[1] < 2 || whole[1] % parts[1] != 0 ||
      parts[0] * parts[1] != whole[0] * whole[1]) {
    return std::nullopt;
  }
  Groups groups{split, static_reader(model, *split->output(), "Transpose"), nullptr, parts[1]};
  if (groups.swap == nullptr) return std::nullopt;
  const auto perm = transpose_permutation(groups.swap->attributes(), 3);
  groups.join = static_reader(model, *groups.swap->output(), "Reshape");
  if (!perm || *perm != std::vector<int64_t>{1, 0, 2} || groups.join == nullptr) {
    return std::nullopt;
  }
  Shape joined = {parts[1], whole[0], whole[1] / parts[1]};
  joined.insert(joined.end(), whole.begin() + 2, whole.end());
  if (groups.join->output()->desc().shape != joined) return std::nullopt;
  return groups;
}

/// The one index that a Gather takes of dimension 0, which goes.
std::optional<int64_t> index_of(const Node& node, int64_t size) {
  if (!is_op(&node, "Gather") || node.attributes().get_int("axis", 0) != 0 ||
      node.input(1) == nullptr || !node.input(1)->is_constant() ||
      !node.input(1)->desc().shape.empty()) {
    return std::nullopt;
  }
  const auto values = to_int64_vector(node.input(1)->constant());
  if (!values) return std::nullopt;
  const int64_t index = values->front() < 0 ? values->front() + size : values->front();
  return index >= 0 && index < size ? std::optional(index) : std::nullopt;
}

}  // namespace

Status fuse_channel_slices(Model& model) {
  const size_t count = model.nodes().size();  // new nodes come last
  for (size_t k = 0; k < count; ++k) {
    const std::optional<Groups> groups = groups_of(model, model.nodes()[k].get());
    if (!groups) continue;
    const Value& joined = *groups->join->output();
    const bool is_output = std::ranges::any_of(
        model.outputs(), [&](const ModelOutput& output) { return output.value == &joined; });
    const std::vector<Node*> readers = joined.consumers();
    if (is_output || readers.empty() || !std::ranges::all_of(readers, [&](const Node* reader) {
          return reader->input(0) == &joined && index_of(*reader, groups->group);
        })) {
      continue;
    }
    Value* src = groups->split->input(0);
    const auto number = [&](const char* name, const Node& node, int64_t value) {
      return model.add_constant(node.name() + name, Tensor::from<int64_t>({1}, {value}));
    };
    for (Node* gather : readers) {
      const int64_t first = *index_of(*gather, groups->group);
      Node* made = replace(
          model,
          {gather,
           gather,
           "Slice",
           "",
           {src, number("/starts", *gather, first), number("/ends", *gather, src->desc().shape[1]),
            number("/axes", *gather, 1), number("/steps", *gather, groups->group)},
           {}});
      for (const Node* node : {groups->split, groups->swap, groups->join}) {
        made->add_original_names(node->original_names());
      }
    }
    for (Node* node : {groups->join, groups->swap, groups->split}) detach(model, *node);
  }
  return {};
}

}  // namespace het
