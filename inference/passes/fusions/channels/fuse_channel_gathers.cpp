#include <algorithm>
#include <numeric>
#include <optional>

#include "inference/ops/movement/slice.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

bool is_shuffle(const Node& node) {
  return node.op_type() == "ChannelShuffle" && node.domain() == "het" && !is_detached(node);
}

/// The values whose channels a shuffle reads: those that are concatenated for it alone, or its
/// input.
struct Sources {
  Node* concat = nullptr;
  std::vector<Value*> values;
};

Sources sources_of(const Model& model, const Node& shuffle) {
  Value* src = shuffle.input(0);
  Node* producer = src->producer();
  if (!is_op(producer, "Concat") || only_reader(model, *src) != &shuffle) return {nullptr, {src}};
  const int64_t axis = producer->attributes().get_int("axis", 0);
  if (axis != 1 && axis + static_cast<int64_t>(src->desc().shape.size()) != 1) {
    return {nullptr, {src}};
  }
  return {producer, producer->inputs()};
}

/// Channel of the shuffle's input for every one of its output.
std::vector<int64_t> shuffled_channels(const Node& shuffle) {
  const int64_t count = shuffle.input(0)->desc().shape[1];
  const int64_t group = shuffle.attributes().get_int("group", 1);
  std::vector<int64_t> channels;
  for (int64_t c = 0; c < count; ++c) {
    channels.push_back(c % group * (count / group) + c / group);
  }
  return channels;
}

/// What a Slice takes when it takes channels only.
std::optional<SliceRange> channels_of_slice(const Node& node) {
  if (!is_op(&node, "Slice") || !node.output()->desc().is_static()) return std::nullopt;
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) return std::nullopt;
  }
  const auto optional = [&](size_t i) {
    return node.input(i) != nullptr ? &node.input(i)->constant() : nullptr;
  };
  const Shape& from = node.input(0)->desc().shape;
  auto range = slice_range(from, node.input(1)->constant(), node.input(2)->constant(), optional(3),
                           optional(4));
  if (!range) return std::nullopt;
  for (size_t d = 0; d < from.size(); ++d) {
    if (d != 1 && (range->shape[d] != from[d] || range->steps[d] != 1)) return std::nullopt;
  }
  return range->shape[1] > 0 ? std::optional(std::move(*range)) : std::nullopt;
}

/// The slices that read a value, or none when it has other readers.
std::vector<Node*> slices_of(const Model& model, const Value& value) {
  const bool is_output = std::ranges::any_of(
      model.outputs(), [&](const ModelOutput& output) { return output.value == &value; });
  const std::vector<Node*> readers = value.consumers();
  const bool all = std::ranges::all_of(readers, [&](const Node* reader) {
    return reader->input(0) == &value && channels_of_slice(*reader).has_value();
  });
  return all && !is_output ? readers : std::vector<Node*>();
}

void gather(Model& model, Node& node, const Sources& sources, std::vector<int64_t> channels,
            const std::vector<const Node*>& parts) {
  Attributes attributes;
  attributes.set("channels", std::move(channels));
  Node* made =
      replace(model, {&node, &node, "ChannelGather", "het", sources.values, std::move(attributes)});
  for (const Node* part : parts) {
    if (part != nullptr) made->add_original_names(part->original_names());
  }
}

}  // namespace

Status fuse_channel_gathers(Model& model) {
  const size_t count = model.nodes().size();  // new nodes come last
  for (size_t k = 0; k < count; ++k) {
    Node* shuffle = model.nodes()[k].get();
    if (!is_shuffle(*shuffle)) continue;
    const Sources sources = sources_of(model, *shuffle);
    const std::vector<int64_t> channels = shuffled_channels(*shuffle);
    const std::vector<Node*> slices = slices_of(model, *shuffle->output());
    if (slices.empty()) {
      if (sources.concat == nullptr) continue;
      gather(model, *shuffle, sources, channels, {sources.concat});
    } else {
      for (Node* slice : slices) {
        const SliceRange range = *channels_of_slice(*slice);
        std::vector<int64_t> picked;
        for (int64_t c = 0; c < range.shape[1]; ++c) {
          picked.push_back(channels[static_cast<size_t>(range.starts[1] + c * range.steps[1])]);
        }
        gather(model, *slice, sources, std::move(picked), {sources.concat, shuffle});
      }
      detach(model, *shuffle);
    }
    if (sources.concat != nullptr) detach(model, *sources.concat);
  }
  return {};
}

}  // namespace het
