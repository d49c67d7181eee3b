#include <algorithm>
#include <utility>
#include <vector>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/unary.h"

namespace het {
namespace {

constexpr size_t kChannels = 1;

bool is_convolution(const Node* node) {
  return is_op(node, "Conv") || is_op(node, "ConvTranspose");
}

/// True when most channels come straight from convolutions that nothing else reads: there what is
/// moved costs nothing.
bool joins_convolutions(const Model& model, const Node& concat) {
  int64_t found = 0;
  for (const Value* part : concat.inputs()) {
    if (is_convolution(part->producer()) && only_reader(model, *part) != nullptr) {
      found += part->desc().shape[kChannels];
    }
  }
  return 2 * found > concat.output()->desc().shape[kChannels];
}

bool is_float_picture(const Value* value) {
  return value != nullptr && !value->is_constant() && value->desc().is_static() &&
         value->desc().type == ElementType::Float32 && value->desc().shape.size() >= 3 &&
         element_count(value->desc().shape) > 0;
}

/// A Concat of channels of floats.
bool joins_channels(const Node& node) {
  if (!is_op(&node, "Concat") || node.outputs().size() != 1 || node.inputs().size() < 2) {
    return false;
  }
  const int64_t axis = node.attributes().get_int("axis", 0);
  const auto rank = static_cast<int64_t>(node.output()->desc().shape.size());
  return (axis < 0 ? axis + rank : axis) == static_cast<int64_t>(kChannels) &&
         is_float_picture(node.output()) && std::ranges::all_of(node.inputs(), is_float_picture);
}

/// `part` behind a node of two operands, the second with a value per channel, which does a part of
/// `reader`'s work.
Value* scaled_part(Model& model, const Node& reader, Value* part, const std::string& type,
                   const std::string& name, std::vector<float> values) {
  Shape shape(part->desc().shape.size(), 1);
  shape[kChannels] = static_cast<int64_t>(values.size());
  Value* constant = model.add_constant(name + "/values", Tensor::from<float>(shape, values));
  Node* node = model.add_node(name, type, "", {part, constant}, {name});
  model.set_desc(node->output(), part->desc());
  node->set_affinity(reader.affinity());
  node->add_original_names(reader.original_names());
  return node->output();
}

/// Every part with what `reader` does to it.
std::vector<Value*> moved_parts(Model& model, const Node& concat, const Node& reader,
                                const std::optional<ChannelAffine>& affine) {
  std::vector<Value*> parts;
  std::ptrdiff_t first = 0;
  for (Value* part : concat.inputs()) {
    const std::string name = fmt::format("{}/{}", reader.name(), parts.size());
    if (!affine) {
      Node* node = model.add_node(name, reader.op_type(), reader.domain(), reader.inputs(), {name},
                                  reader.attributes());
      for (size_t i = 0; i < reader.inputs().size(); ++i) {
        if (reader.input(i) == concat.output()) model.set_input(node, i, part);
      }
      model.set_desc(node->output(), part->desc());
      node->set_affinity(reader.affinity());
      node->add_original_names(reader.original_names());
      parts.push_back(node->output());
      continue;
    }
    const std::ptrdiff_t end = first + part->desc().shape[kChannels];
    const auto of_part = [&](const std::vector<float>& all) {
      return std::vector<float>(all.begin() + first, all.begin() + end);
    };
    Value* scaled =
        scaled_part(model, reader, part, "Mul", name + "/scale", of_part(affine->scale));
    parts.push_back(
        scaled_part(model, reader, scaled, "Add", name + "/shift", of_part(affine->shift)));
    first = end;
  }
  return parts;
}

void move(Model& model, Node& concat) {
  if (!joins_channels(concat)) return;
  Node* reader = only_reader(model, *concat.output());
  if (reader == nullptr || reader->outputs().size() != 1 ||
      reader->output()->desc() != concat.output()->desc() || !joins_convolutions(model, concat)) {
    return;
  }
  const std::optional<ChannelAffine> affine = affine_of(*reader, *concat.output(), kChannels);
  if (!affine && !unary_of(reader)) return;
  std::vector<Value*> parts = moved_parts(model, concat, *reader, affine);
  replace(model, {&concat, reader, "Concat", "", std::move(parts), concat.attributes()});
}

}  // namespace

Status move_before_concat(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (!is_detached(node)) move(model, node);
  }
  return {};
}

}  // namespace het
