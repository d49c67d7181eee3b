#include <algorithm>

#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Normalisations.
namespace het::ir {
namespace {

/// A vector of `size` ones or zeros.
Value* filled(LayerContext& context, std::string_view suffix, int64_t size, float value) {
  return context.constant(
      suffix, Tensor::from<float>({size}, std::vector<float>(static_cast<size_t>(size), value)));
}

/// (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps), step by step.
void normalize_in_steps(LayerContext& context, Value* axes, bool variance, bool inside, float eps) {
  Value* const x = context.input(0);
  Attributes mean = with("noop_with_empty_axes", int64_t{1});
  Value* const centred = context.add("Sub", {x, context.add("ReduceMean", {x, axes}, mean)});
  if (!variance) return context.finish("Identity", {centred});
  Value* const squares = context.add("Mul", {centred, centred});
  Value* spread = context.add("ReduceMean", {squares, axes}, mean);
  Value* const small = context.scalar("eps", context.input_type(0), static_cast<double>(eps));
  if (inside) spread = context.add("Add", {spread, small});
  spread = context.add("Sqrt", {spread});
  if (!inside) spread = context.add("Add", {spread, small});
  context.finish("Div", {centred, spread});
}

/// Over all spatial dimensions it is ONNX' InstanceNormalization without scale and shift.
bool normalize_instances(LayerContext& context, std::vector<int64_t> axes, float eps) {
  const Shape& x = context.input_shape(0);
  const auto rank = static_cast<int64_t>(x.size());
  if (rank < 3 || x[1] < 1 || x[1] > 65536 || context.input_type(0) != ElementType::Float32) {
    return false;
  }
  for (int64_t& axis : axes) axis = context.normalized(axis, rank);
  std::sort(axes.begin(), axes.end());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i) + 2) return false;
  }
  if (static_cast<int64_t>(axes.size()) != rank - 2) return false;
  context.finish("InstanceNormalization",
                 {context.input(0), filled(context, "scale", x[1], 1.0f),
                  filled(context, "shift", x[1], 0.0f)},
                 with("epsilon", eps));
  return true;
}

/// Version 1 has across_channels, version 6 axes.
void mvn(LayerContext& context) {
  const float eps = context.real("eps", 1e-9f);
  const bool variance = context.flag("normalize_variance", true);
  std::string mode = context.text("eps_mode", "inside_sqrt");
  std::transform(mode.begin(), mode.end(), mode.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool inside = mode == "inside_sqrt";
  std::optional<std::vector<int64_t>> axes;
  Value* list = nullptr;
  if (context.has_input(1)) {
    axes = context.constant_integers(1);
    list = context.integer_list(context.input(1));
  } else {
    axes.emplace();
    const int64_t first = context.flag("across_channels", false) ? 1 : 2;
    for (int64_t i = first; i < context.input_rank(0); ++i) axes->push_back(i);
    list = context.integers_constant("axes", *axes);
  }
  if (variance && inside && axes && normalize_instances(context, *axes, eps)) return;
  normalize_in_steps(context, list, variance, inside, eps);
}

void normalize_l2(LayerContext& context) {
  constexpr OwnAttribute kAttributes[] = {{"eps", OwnAttributeKind::Real},
                                          {"eps_mode", OwnAttributeKind::Text}};
  finish_own_operator(context, kAttributes);
}

/// x / (bias + alpha * mean)^beta, where the mean is that of the squares in a window of `size`
/// along each of the axes, zeros outside included: an average pool over the axes, moved to the end.
void lrn_over(LayerContext& context, const std::vector<int64_t>& axes, int64_t size) {
  const auto rank = static_cast<size_t>(context.input_rank(0));
  const ElementType type = context.input_type(0);
  Value* const x = context.input(0);
  Value* mean = context.add("Mul", {x, x});
  if (!axes.empty()) {
    std::vector<int64_t> order;
    for (size_t i = 0; i < rank; ++i) {
      const auto axis = static_cast<int64_t>(i);
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
    }
    // The pool wants two dimensions in front: what is missing is added, what is too many stays 1.
    const size_t kept = order.size();
    order.insert(order.end(), axes.begin(), axes.end());
    std::vector<int64_t> back(rank);
    for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    mean = context.transposed(mean, order);
    std::vector<int64_t> added;
    for (size_t i = kept; i < 2; ++i) added.push_back(static_cast<int64_t>(i - kept));
    if (!added.empty()) mean = context.unsqueezed(mean, added);
    const size_t spatial = rank + added.size() - 2;
    std::vector<int64_t> kernel(spatial, 1);
    std::vector<int64_t> pads(2 * spatial, 0);
    for (size_t i = spatial - axes.size(); i < spatial; ++i) {
      kernel[i] = size;
      pads[i] = (size - 1) / 2;
      pads[i + spatial] = size - 1 - pads[i];
    }
    Attributes attributes = with("kernel_shape", kernel);
    attributes.set("pads", pads);
    attributes.set("count_include_pad", int64_t{1});
    mean = context.add("AveragePool", {mean}, std::move(attributes));
    if (!added.empty()) {
      mean = context.add("Squeeze", {mean, context.integers_constant("added", added)});
    }
    mean = context.transposed(mean, back);
  }
  const auto number = [&](const char* name, float fallback) {
    return context.scalar(name, type, static_cast<double>(context.real(name, fallback)));
  };
  Value* const base = context.add(
      "Add", {context.add("Mul", {mean, number("alpha", 1e-4f)}), number("bias", 1.0f)});
  context.finish("Div", {x, context.add("Pow", {base, number("beta", 0.75f)})});
}

/// ONNX normalises over channels.
void lrn(LayerContext& context) {
  std::vector<int64_t> axes = context.required_integers(1, "axes");
  const int64_t rank = std::max<int64_t>(1, context.input_rank(0));
  for (int64_t& axis : axes) axis = context.normalized(axis, rank);
  if (!context.refusal().empty() || !context.status().ok()) return;
  const int64_t size = context.integer("size", 1);
  if (size < 1 || size > 1 << 16) {
    return context.fail(Status(StatusCode::ParseError, fmt::format("its size is {}", size)));
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (axes != std::vector<int64_t>{1} || rank < 3) return lrn_over(context, axes, size);
  Attributes attributes;
  for (const char* name : {"alpha", "beta", "bias"}) {
    if (context.has(name)) attributes.set(name, context.real(name, 0.0f));
  }
  attributes.set("size", size);
  context.finish("LRN", {context.input(0)}, std::move(attributes));
}

/// Version 1 of the operation may come as (gamma, beta, data, mean, variance): data is the one with
/// more than one dimension.
void batch_normalization(LayerContext& context) {
  const bool data_first = context.input_rank(0) > 1 || context.input_rank(2) <= 1;
  Value* const data = context.input(data_first ? 0 : 2);
  Value* const gamma = context.input(data_first ? 1 : 0);
  Value* const beta = context.input(data_first ? 2 : 1);
  const float eps = context.real(context.has("epsilon") ? "epsilon" : "eps", 1e-5f);
  context.finish("BatchNormalization", {data, gamma, beta, context.input(3), context.input(4)},
                 with("epsilon", eps));
}

/// x / sqrt(sum over channels of x^2 + bias)
void grn(LayerContext& context) {
  Value* const x = context.input(0);
  Value* const sum = context.add(
      "ReduceSum", {context.add("Mul", {x, x}), context.integers_constant("channels", {1})});
  Value* const bias = context.scalar("bias", context.input_type(0),
                                     static_cast<double>(context.real("bias", 1.0f)));
  context.finish("Div", {x, context.add("Sqrt", {context.add("Add", {sum, bias})})});
}

/// x / sqrt(mean of x^2 + eps) over the last dimension, times the scale.
void rms(LayerContext& context) {
  Value* const x = context.input(0);
  const float eps = context.real("epsilon", 1e-5f);
  Value* const mean = context.add(
      "ReduceMean", {context.add("Mul", {x, x}), context.integers_constant("axis", {-1})});
  Value* const small = context.scalar("eps", context.input_type(0), static_cast<double>(eps));
  Value* const root = context.add("Sqrt", {context.add("Add", {mean, small})});
  if (!context.has_input(1)) return context.finish("Div", {x, root});
  context.finish("Mul", {context.add("Div", {x, root}), context.input(1)});
}

void group_normalization(LayerContext& context) {
  Attributes attributes = with("num_groups", context.integer("num_groups", 1));
  attributes.set("epsilon", context.real("epsilon", 1e-5f));
  context.finish("GroupNormalization", {context.input(0), context.input(1), context.input(2)},
                 std::move(attributes));
}

constexpr Translation kNormalizationTable[] = {
    {"MVN", mvn},     {"NormalizeL2", normalize_l2},
    {"LRN", lrn},     {"BatchNormInference", batch_normalization},
    {"GRN", grn},     {"RMS", rms},
    {"RMSNorm", rms}, {"GroupNormalization", group_normalization},
};

}  // namespace

std::span<const Translation> normalization_translations() {
  return kNormalizationTable;
}

}  // namespace het::ir
