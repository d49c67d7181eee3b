#include <algorithm>

#include "inference/ops/movement/transpose.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

bool is_plain(const Node* node, std::string_view type) {
  return node != nullptr && node->op_type() == type && node->domain().empty() &&
         !is_detached(*node) && node->output()->desc().is_static();
}

/// True when `split` is `whole` with the channels cut into [group, channels / group].
bool splits_channels(const Shape& whole, const Shape& split) {
  if (whole.size() < 3 || split.size() != whole.size() + 1 || split[0] != whole[0]) return false;
  if (split[1] * split[2] != whole[1]) return false;
  return std::equal(whole.begin() + 2, whole.end(), split.begin() + 3);
}

/// [0, 2, 1, 3, ...]
bool swaps_channel_parts(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    const size_t wanted = i == 1 ? 2 : i == 2 ? 1 : i;
    if (perm[i] != static_cast<int64_t>(wanted)) return false;
  }
  return true;
}

using TakesType = bool (*)(ElementType type);

Status fuse_shuffles(Model& model, TakesType takes) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node* split = model.nodes()[k].get();
    if (!is_plain(split, "Reshape") || !takes(split->input(0)->desc().type)) {
      continue;
    }
    const Shape& whole = split->input(0)->desc().shape;
    const Shape& parts = split->output()->desc().shape;
    Node* swap = only_reader(model, *split->output());
    if (!splits_channels(whole, parts) || !is_plain(swap, "Transpose")) continue;
    const auto perm = transpose_permutation(swap->attributes(), static_cast<int64_t>(parts.size()));
    Node* join = only_reader(model, *swap->output());
    if (!perm || !swaps_channel_parts(*perm) || !is_plain(join, "Reshape") ||
        join->output()->desc().shape != whole) {
      continue;
    }
    Attributes attributes;
    attributes.set("group", parts[1]);
    const std::vector<std::string> names = swap->original_names();
    Node* made = replace(
        model, {split, join, "ChannelShuffle", "het", {split->input(0)}, std::move(attributes)});
    made->add_original_names(names);
    detach(model, *swap);
  }
  return {};
}

}  // namespace

Status fuse_channel_shuffles(Model& model) {
  return fuse_shuffles(model, [](ElementType type) { return type == ElementType::Float32; });
}

Status fuse_byte_shuffles(Model& model) {
  return fuse_shuffles(model, [](ElementType type) {
    return type == ElementType::UInt8 || type == ElementType::Int8;
  });
}

}  // namespace het
