#include "inference/passes/fusions/int8/int8_product.h"

#include <algorithm>

#include "inference/ops/products/conv.h"

namespace het {
namespace {

bool is_convolution(const Node& node) {
  const std::string& type = node.op_type();
  return type == "Int8Conv" || type == "RoundedConv" || type == "Conv";
}

/// Each channel of the picture, once for each of its filters; null where it has one.
Node* repeat_channels(Model& model, Replacement& convolution) {
  Value* picture = convolution.inputs[0];
  const Shape& shape = picture->desc().shape;
  const int64_t filters = convolution.inputs[1]->desc().shape[0];
  const int64_t group = convolution.attributes.get_int("group", 1);
  if (shape.size() != 4 || group == 1 || group != shape[1] || filters <= group) return nullptr;
  std::vector<int64_t> channels(static_cast<size_t>(filters));
  for (size_t k = 0; k < channels.size(); ++k) {
    channels[k] = static_cast<int64_t>(k) / (filters / group);
  }
  const Node& first = *convolution.first;
  Attributes attributes;
  attributes.set("channels", std::move(channels));
  Node* made = model.add_node(first.name() + "/channels", "ChannelGather", "het", {picture},
                              {picture->name() + "/repeated"}, std::move(attributes));
  made->set_affinity(first.affinity());
  made->add_original_names(first.original_names());
  model.set_desc(made->output(),
                 {picture->desc().type, {shape[0], filters, shape[2], shape[3]}, Layout::Plain});
  convolution.inputs[0] = made->output();
  convolution.attributes.set("group", filters);
  return made;
}

}  // namespace

Node* replace_by_product(Model& model, const Int8Rules& rules, Replacement replacement) {
  Node* repeated = nullptr;
  if (rules.repeats_channels && replacement.op_type == "Int8Conv") {
    repeated = repeat_channels(model, replacement);
  }
  Node* made = replace_if(model, rules.can_run, std::move(replacement));
  if (made == nullptr && repeated != nullptr) detach(model, *repeated);
  return made;
}

bool is_int8_product(const Node& node) {
  return node.domain() == "het" &&
         (node.op_type() == "Int8Conv" || node.op_type() == "Int8MatMul") &&
         node.input(kInt8ScalesInput) != nullptr;
}

bool is_unfinished_product(const Node& node) {
  return is_int8_product(node) && node.output()->desc().type == ElementType::Float32 &&
         node.input(kTailSumInput) == nullptr;
}

bool is_padded(const Node& node) {
  if (!is_convolution(node)) return false;
  const auto window =
      conv_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape);
  const auto is_some = [](int64_t pad) { return pad != 0; };
  return !window || std::ranges::any_of(window->pads_begin, is_some) ||
         std::ranges::any_of(window->pads_end, is_some);
}

bool is_pixelwise(const Node& node) {
  if (!is_convolution(node) || is_padded(node)) return false;
  const Shape& weights = node.input(1)->desc().shape;
  const auto window = conv_attributes(node, node.input(0)->desc().shape, weights);
  const auto is_one = [](int64_t size) { return size == 1; };
  return window && window->group == 1 && std::ranges::all_of(window->strides, is_one) &&
         std::all_of(weights.begin() + 2, weights.end(), is_one);
}

Int8Product int8_product_of(const Node& node) {
  const Attributes& a = node.attributes();
  Int8Product product;
  const auto ints = [&](const char* name) {
    const std::vector<int64_t> values = a.get_ints(name, {});
    return std::vector<int32_t>(values.begin(), values.end());
  };
  product.src_zero = static_cast<int32_t>(a.get_int("src_zero", 0));
  product.src_zeros = ints("src_zeros");
  product.weights_zero = static_cast<int32_t>(a.get_int("weights_zero", 0));
  product.dst_scales = a.get_floats("dst_scales", {a.get_float("dst_scale", 1.0f)});
  product.dst_zero = static_cast<int32_t>(a.get_int("dst_zero", 0));
  product.dst_zeros = ints("dst_zeros");
  product.sum_scale = a.get_float("sum_scale", 1.0f);
  product.sum_zero = static_cast<int32_t>(a.get_int("sum_zero", 0));
  product.tail = tail_of(a);
  for (TailStep& step : product.tail) {
    // ONNX' own Round has no number.
    const bool rounds = !step.sum && step.expression.kind == ElementwiseKind::Round;
    if (rounds && step.expression.alpha == 0.0f) step.expression.alpha = 1.0f;
  }
  return product;
}

void set_int8_product(Attributes& attributes, const Int8Product& product) {
  const auto set_int = [&](const char* name, int32_t value) {
    if (value != 0) attributes.set(name, int64_t{value});
  };
  const auto set_float = [&](const char* name, float value) {
    if (value != 1.0f) attributes.set(name, value);
  };
  const auto set_ints = [&](const char* name, const std::vector<int32_t>& values) {
    if (!values.empty()) attributes.set(name, std::vector<int64_t>(values.begin(), values.end()));
  };
  set_int("src_zero", product.src_zero);
  set_ints("src_zeros", product.src_zeros);
  set_int("weights_zero", product.weights_zero);
  if (product.dst_scales.size() == 1) {
    set_float("dst_scale", product.dst_scales[0]);
  } else {
    attributes.set("dst_scales", product.dst_scales);
  }
  set_int("dst_zero", product.dst_zero);
  set_ints("dst_zeros", product.dst_zeros);
  set_float("sum_scale", product.sum_scale);
  set_int("sum_zero", product.sum_zero);
  if (!product.tail.empty()) set_tail(attributes, product.tail);
}

void set_steps(Int8Product& product, const StoredValue& stored) {
  product.dst_scales = stored.channel_scales;
  if (product.dst_scales.empty()) product.dst_scales = {stored.scale};
  product.dst_zero = stored.zero;
  product.dst_zeros = stored.channel_zeros;
}

}  // namespace het
