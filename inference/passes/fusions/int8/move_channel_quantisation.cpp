#include <algorithm>
#include <array>

#include "inference/ops/movement/slice.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// Scales and zero points of the channels of a picture.
struct ChannelList {
  std::vector<float> scales;
  std::vector<int32_t> zeros;

  void append(const StoredValue& value, int64_t channels) {
    const auto count = static_cast<size_t>(channels);
    for (size_t c = 0; c < count; ++c) {
      scales.push_back(value.channel_scales.empty() ? value.scale : value.channel_scales[c]);
      zeros.push_back(value.channel_zeros.empty() ? value.zero : value.channel_zeros[c]);
    }
  }
  ChannelList part(int64_t first, int64_t count) const {
    const auto begin = static_cast<size_t>(first);
    const auto end = static_cast<size_t>(first + count);
    return {{scales.begin() + static_cast<ptrdiff_t>(begin),
             scales.begin() + static_cast<ptrdiff_t>(end)},
            {zeros.begin() + static_cast<ptrdiff_t>(begin),
             zeros.begin() + static_cast<ptrdiff_t>(end)}};
  }
};

bool is_picture(const Value* value) {
  return value != nullptr && value->desc().is_static() && value->desc().shape.size() == 4 &&
         value->desc().type == ElementType::Float32;
}

/// `real` is read from the bytes `stored`, each channel with steps of its own.
void read_channels(Model& model, Value& real, Value* stored, const ChannelList& list) {
  const auto channels = std::ssize(list.scales);
  const std::string name = real.name() + "/dequantised";
  Value* const scales =
      model.add_constant(name + "/scales", Tensor::from<float>({channels}, list.scales));
  const auto zeros_of = [&]<class T>(T) {
    return Tensor::from<T>({channels}, std::vector<T>(list.zeros.begin(), list.zeros.end()));
  };
  Value* const zeros = model.add_constant(name + "/zeros", stored->desc().type == ElementType::Int8
                                                               ? zeros_of(int8_t{})
                                                               : zeros_of(uint8_t{}));
  Attributes attributes;
  attributes.set("axis", int64_t{1});
  Node* made = model.add_node(name, "DequantizeLinear", "", {stored, scales, zeros}, {name},
                              std::move(attributes));
  model.set_desc(made->output(), real.desc());
  model.replace_uses(&real, made->output());
}

/// The node of bytes that stands for `node`, with outputs of the same shapes.
Node* channels_on_bytes(Model& model, const Node& node, std::vector<Value*> inputs,
                        ElementType type) {
  std::vector<std::string> names;
  for (const Value* output : node.outputs()) names.push_back(output->name() + "/stored");
  Node* made =
      model.add_node(node.name(), node.op_type(), "", std::move(inputs), names, node.attributes());
  made->set_affinity(node.affinity());
  made->add_original_names(node.original_names());
  for (size_t i = 0; i < names.size(); ++i) {
    model.set_desc(made->outputs()[i], {type, node.outputs()[i]->desc().shape, Layout::Plain});
  }
  return made;
}

/// Channels of bytes that have different steps are concatenated as bytes.
void sink_channel_concat(Model& model, Node& node) {
  const auto axis = normalize_axis(node.attributes().get_int("axis", 0), 4);
  if (!is_picture(node.output()) || !axis || *axis != 1) return;
  ChannelList list;
  std::vector<Value*> inputs;
  for (const Value* input : node.inputs()) {
    const std::optional<StoredValue> part = stored_behind(*input, Steps::PerTensorOrChannel);
    if (!part || (!inputs.empty() && part->type() != inputs[0]->desc().type)) return;
    list.append(*part, input->desc().shape[1]);
    inputs.push_back(part->stored);
  }
  const ElementType type = inputs[0]->desc().type;
  Node* const made = channels_on_bytes(model, node, std::move(inputs), type);
  read_channels(model, *node.output(), made->output(), list);
  detach(model, node);
}

/// Parts of the channels of bytes, each channel with steps of its own, are taken from the bytes.
void sink_part(Model& model, Node& node, const std::vector<int64_t>& begins) {
  const std::optional<StoredValue> src = stored_behind(*node.input(0), Steps::PerTensorOrChannel);
  if (!src || src->channel_scales.empty()) return;
  ChannelList list;
  list.append(*src, node.input(0)->desc().shape[1]);
  std::vector<Value*> inputs = node.inputs();
  inputs[0] = src->stored;
  Node* const made = channels_on_bytes(model, node, std::move(inputs), src->type());
  for (size_t i = 0; i < begins.size(); ++i) {
    Value& part = *node.outputs()[i];
    read_channels(model, part, made->outputs()[i], list.part(begins[i], part.desc().shape[1]));
  }
  detach(model, node);
}

void sink_channel_split(Model& model, Node& node) {
  const auto axis = normalize_axis(node.attributes().get_int("axis", 0), 4);
  if (!std::ranges::all_of(node.outputs(), is_picture) || !axis || *axis != 1) return;
  std::vector<int64_t> begins;
  int64_t next = 0;
  for (const Value* part : node.outputs()) {
    begins.push_back(next);
    next += part->desc().shape[1];
  }
  sink_part(model, node, begins);
}

/// Of neighbouring channels.
void sink_channel_slice(Model& model, Node& node) {
  if (!is_picture(node.output()) || !is_picture(node.input(0))) return;
  std::array<const Tensor*, 5> numbers = {};
  for (size_t i = 1; i < numbers.size(); ++i) {
    const Value* const value = node.input(i);
    if (value == nullptr) continue;
    if (!value->is_constant()) return;
    numbers[i] = &value->constant();
  }
  if (numbers[1] == nullptr || numbers[2] == nullptr) return;
  const Shape& from = node.input(0)->desc().shape;
  const auto range = slice_range(from, *numbers[1], *numbers[2], numbers[3], numbers[4]);
  if (range && range->steps[1] == 1) sink_part(model, node, {range->starts[1]});
}

}  // namespace

Status move_channel_quantisation(Model& model) {
  // New nodes come last and are visited too. Whatever sinks moves towards the outputs, so this
  // ends.
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (!node.domain().empty() || is_detached(node) || node.inputs().empty() ||
        node.input(0) == nullptr) {
      continue;
    }
    if (node.op_type() == "Concat") sink_channel_concat(model, node);
    if (node.op_type() == "Split") sink_channel_split(model, node);
    if (node.op_type() == "Slice") sink_channel_slice(model, node);
  }
  return {};
}

}  // namespace het
