#include "inference/passes/fold_preprocess.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "inference/ops/onnx_type.h"
#include "inference/passes/insert_node.h"

namespace het {
namespace {

/// What stands between an input and the first convolution: v[c] = scale[c] * u[source[c]] +
/// shift[c].
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
  std::vector<size_t> source;

  explicit Affine(size_t channels) : scale(channels, 1.0), shift(channels, 0.0), source(channels) {
    std::iota(source.begin(), source.end(), size_t{0});
  }
  bool keeps_order() const { return std::ranges::is_sorted(source); }
  bool shifts() const {
    return std::ranges::any_of(shift, [](double value) { return value != 0.0; });
  }
  bool scales() const {
    return std::ranges::any_of(scale, [](double value) { return value != 1.0; });
  }
};

struct Chain {
  Value* entry = nullptr;  ///< the input, or what a Cast made of it
  size_t entry_axis = 0;   ///< of the channels there
  std::vector<Node*> folded;
  Node* convolution = nullptr;
  Affine affine;
};

bool is_op_of_type(const Node& node, std::string_view type) {
  return node.domain().empty() && node.op() != nullptr && node.op_type() == type;
}

/// One number per channel of a constant that broadcasts along all other axes of rank 4.
std::optional<std::vector<double>> channel_numbers(const Value* value, size_t axis,
                                                   size_t channels) {
  if (value == nullptr || !value->is_constant()) return std::nullopt;
  const Tensor& tensor = value->constant();
  if (!is_float(tensor.type()) || tensor.rank() > 4) return std::nullopt;
  const size_t first = 4 - static_cast<size_t>(tensor.rank());
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    const int64_t dim = tensor.shape()[i];
    if (dim != 1 && (first + i != axis || dim != static_cast<int64_t>(channels))) {
      return std::nullopt;
    }
  }
  const auto numbers = to_float_vector(tensor);
  if (!numbers || numbers->empty()) return std::nullopt;
  std::vector<double> result(numbers->begin(), numbers->end());
  if (result.size() == 1) result.assign(channels, result[0]);
  return result;
}

/// Continues `affine` by a per-channel Add, Sub, Mul or Div; false when the node is none.
bool append_arithmetic(const Node& node, const Value* x, size_t axis, Affine& affine) {
  const bool is_add = is_op_of_type(node, "Add");
  const bool is_sub = is_op_of_type(node, "Sub");
  const bool is_mul = is_op_of_type(node, "Mul");
  const bool is_div = is_op_of_type(node, "Div");
  if (!is_add && !is_sub && !is_mul && !is_div) return false;
  const bool x_first = node.input(0) == x;
  if (!x_first && is_div) return false;
  const auto numbers = channel_numbers(node.input(x_first ? 1 : 0), axis, affine.scale.size());
  if (!numbers) return false;
  if (is_div && std::ranges::any_of(*numbers, [](double n) { return n == 0.0; })) return false;
  for (size_t c = 0; c < numbers->size(); ++c) {
    const double n = (*numbers)[c];
    double& scale = affine.scale[c];
    double& shift = affine.shift[c];
    if (is_mul || is_div) {
      scale = is_mul ? scale * n : scale / n;
      shift = is_mul ? shift * n : shift / n;
    } else if (is_add || x_first) {
      shift += is_add ? n : -n;
    } else {
      scale = -scale;
      shift = n - shift;
    }
  }
  return true;
}

/// Continues `affine` by a Gather that permutes the channels; false when the node is none.
bool append_reorder(const Node& node, const Value* x, size_t axis, Affine& affine) {
  if (!is_op_of_type(node, "Gather") || node.input(0) != x || node.input(1) == nullptr ||
      !node.input(1)->is_constant()) {
    return false;
  }
  const int64_t gather_axis = node.attributes().get_int("axis", 0);
  if ((gather_axis < 0 ? gather_axis + 4 : gather_axis) != static_cast<int64_t>(axis)) return false;
  const Tensor& indices = node.input(1)->constant();
  const auto channels = static_cast<int64_t>(affine.source.size());
  const auto order = to_int64_vector(indices);
  if (!order || indices.rank() != 1 || indices.element_count() != channels) return false;
  Affine result(affine.source.size());
  std::vector<bool> seen(affine.source.size(), false);
  for (size_t c = 0; c < order->size(); ++c) {
    const int64_t from = (*order)[c] < 0 ? (*order)[c] + channels : (*order)[c];
    if (from < 0 || from >= channels || seen[static_cast<size_t>(from)]) return false;
    const auto index = static_cast<size_t>(from);
    seen[index] = true;
    result.scale[c] = affine.scale[index];
    result.shift[c] = affine.shift[index];
    result.source[c] = affine.source[index];
  }
  affine = std::move(result);
  return true;
}

/// Where the channels are behind a Transpose of rank 4.
std::optional<size_t> transposed_axis(const Node& node, size_t axis) {
  const std::vector<int64_t> perm = node.attributes().get_ints("perm");
  if (!is_op_of_type(node, "Transpose") || perm.size() != 4) return std::nullopt;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] == static_cast<int64_t>(axis)) return i;
  }
  return std::nullopt;
}

bool has_foldable_weights(const Node& convolution) {
  for (size_t i = 1; i < convolution.inputs().size(); ++i) {
    const Value* value = convolution.input(i);
    if (value == nullptr) continue;
    if (!value->is_constant()) return false;
    const ElementType type = value->constant().type();
    if (type != ElementType::Float32 && type != ElementType::Float64) return false;
  }
  return convolution.input(1) != nullptr && convolution.input(1)->constant().rank() == 4;
}

/// Follows an input to the first convolution; nothing when something else is in the way.
std::optional<Chain> find_chain(const Model& model, size_t input_index) {
  const auto first_axis = channel_axis(model, input_index);
  if (!first_axis) return std::nullopt;
  Value* value = model.inputs()[input_index].value;
  size_t axis = *first_axis;
  Chain chain{value, axis, {}, nullptr, Affine(static_cast<size_t>(value->desc().shape[axis]))};
  while (value->consumers().size() == 1 && !model.is_output(value)) {
    Node* node = value->consumers()[0];
    if (is_op_of_type(*node, "Conv")) {
      const bool fits = node->input(0) == value && axis == 1 && has_foldable_weights(*node);
      chain.convolution = fits ? node : nullptr;
      break;
    }
    if (is_op_of_type(*node, "Cast") && chain.entry == value) {
      chain.entry = node->output();
    } else if (const auto next = transposed_axis(*node, axis)) {
      axis = *next;
    } else if (append_arithmetic(*node, value, axis, chain.affine) ||
               append_reorder(*node, value, axis, chain.affine)) {
      chain.folded.push_back(node);
    } else {
      break;
    }
    value = node->output();
  }
  if (chain.convolution == nullptr) return std::nullopt;
  return chain;
}

/// Puts the input's own normalisation in front of the chain's.
void prepend_normalisation(const PreprocessDesc& desc, Affine& affine) {
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    const size_t from = std::min<size_t>(affine.source[c], desc.mean.size() - 1);
    const double std = desc.std[from];
    const double gain = (static_cast<double>(desc.range_high) - desc.range_low) / 255.0 / std;
    const double offset = (static_cast<double>(desc.range_low) - desc.mean[from]) / std;
    affine.shift[c] += affine.scale[c] * offset;
    affine.scale[c] *= gain;
  }
}

void clear_normalisation(PreprocessDesc& desc) {
  const PreprocessDesc plain;
  desc.range_low = plain.range_low;
  desc.range_high = plain.range_high;
  desc.mean = plain.mean;
  desc.std = plain.std;
}

bool is_padded(const Node& convolution) {
  const std::string mode = convolution.attributes().get_string("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") return true;
  const std::vector<int64_t> pads = convolution.attributes().get_ints("pads");
  return std::ranges::any_of(pads, [](int64_t pad) { return pad != 0; });
}

template <class T>
void fold_weights(Model& model, Node& convolution, const Affine& affine, bool with_shift) {
  const Value& old_weights = *convolution.input(1);
  const Tensor& weights = old_weights.constant();
  const Shape& shape = weights.shape();
  const auto groups = static_cast<size_t>(convolution.attributes().get_int("group", 1));
  const auto oc = static_cast<size_t>(shape[0]);
  const auto ic = static_cast<size_t>(shape[1]);
  const auto taps = static_cast<size_t>(shape[2] * shape[3]);
  const std::span<const T> w = weights.values<T>();
  std::vector<T> folded(w.size());
  std::vector<double> bias(oc, 0.0);
  if (convolution.input(2) != nullptr) {
    const std::span<const T> old = convolution.input(2)->constant().values<T>();
    std::copy(old.begin(), old.end(), bias.begin());
  }
  for (size_t o = 0; o < oc; ++o) {
    const size_t group = o / (oc / groups);
    for (size_t i = 0; i < ic; ++i) {
      const size_t c = group * ic + i;
      const size_t to = groups == 1 ? affine.source[c] : i;
      for (size_t k = 0; k < taps; ++k) {
        const double weight = w[(o * ic + i) * taps + k];
        folded[(o * ic + to) * taps + k] = static_cast<T>(weight * affine.scale[c]);
        bias[o] += weight * affine.shift[c];
      }
    }
  }
  model.set_input(
      &convolution, 1,
      model.add_constant(old_weights.name() + "/folded", Tensor::from<T>(shape, folded)));
  if (!with_shift) return;
  const std::vector<T> new_bias(bias.begin(), bias.end());
  const std::string name = convolution.input(2) ? convolution.input(2)->name() + "/folded"
                                                : convolution.name() + "/bias";
  model.set_input(&convolution, 2,
                  model.add_constant(name, Tensor::from<T>({static_cast<int64_t>(oc)}, new_bias)));
}

/// Weights whose shape fits the channels, so that the loops above stay inside.
bool fits(const Chain& chain) {
  const Node& convolution = *chain.convolution;
  const Shape& shape = convolution.input(1)->constant().shape();
  const int64_t groups = convolution.attributes().get_int("group", 1);
  const auto channels = static_cast<int64_t>(chain.affine.scale.size());
  const Value* bias = convolution.input(2);
  return groups >= 1 && shape[0] % groups == 0 && shape[1] <= channels && channels % groups == 0 &&
         shape[1] == channels / groups && (groups == 1 || chain.affine.keeps_order()) &&
         (bias == nullptr || (bias->constant().type() == convolution.input(1)->constant().type() &&
                              bias->constant().element_count() == shape[0]));
}

/// A constant of the type that `type` says, shaped to broadcast along `axis` of rank 4.
Value* channel_constant(Model& model, const std::string& name, ElementType type, size_t axis,
                        const std::vector<double>& numbers) {
  Shape shape(4 - axis, 1);
  shape[0] = static_cast<int64_t>(numbers.size());
  const std::vector<float> floats(numbers.begin(), numbers.end());
  switch (type) {
    case ElementType::Float64:
      return model.add_constant(name, Tensor::from<double>(shape, numbers));
    case ElementType::Float16:
      return model.add_constant(
          name, Tensor::from<Float16>(shape, std::vector<Float16>(floats.begin(), floats.end())));
    case ElementType::BFloat16:
      return model.add_constant(
          name, Tensor::from<BFloat16>(shape, std::vector<BFloat16>(floats.begin(), floats.end())));
    default:
      return model.add_constant(name, Tensor::from<float>(shape, floats));
  }
}

bool fold_input(Model& model, size_t input_index) {
  std::optional<Chain> chain = find_chain(model, input_index);
  if (!chain || !fits(*chain)) return false;
  const ModelInput& input = model.inputs()[input_index];
  const bool has_picture = input.preprocess.has_value();
  Affine& affine = chain->affine;
  if (has_picture) prepend_normalisation(*input.preprocess, affine);
  const bool keeps_mean = affine.shifts() && is_padded(*chain->convolution);
  // A mean that has to stay and is alone there already gains nothing.
  if (!affine.scales() && affine.keeps_order() && (keeps_mean || !affine.shifts())) return false;
  if (keeps_mean && std::ranges::any_of(affine.scale, [](double scale) { return scale == 0.0; })) {
    return false;
  }

  std::vector<double> mean(affine.scale.size(), 0.0);
  for (size_t c = 0; c < mean.size() && keeps_mean; ++c) {
    mean[affine.source[c]] = -affine.shift[c] / affine.scale[c];
  }
  if (chain->convolution->input(1)->constant().type() == ElementType::Float32) {
    fold_weights<float>(model, *chain->convolution, affine, affine.shifts() && !keeps_mean);
  } else {
    fold_weights<double>(model, *chain->convolution, affine, affine.shifts() && !keeps_mean);
  }
  for (Node* node : chain->folded) {
    Value* x = node->input(0)->is_constant() ? node->input(1) : node->input(0);
    chain->convolution->add_original_names(node->original_names());
    model.replace_uses(node->output(), x);
  }
  model.remove_unused();  // so that names are free again
  const ElementType type = input.value->desc().type;
  if (has_picture) {
    PreprocessDesc desc = *input.preprocess;
    clear_normalisation(desc);
    if (keeps_mean && is_float(type)) {
      for (size_t c = 0; c < std::min(mean.size(), desc.mean.size()); ++c) {
        desc.mean[c] = static_cast<float>(mean[c]);
      }
    }
    model.set_preprocess(input_index, desc);
  }
  if (keeps_mean && !(has_picture && is_float(type))) {
    const std::string name = input.value->name() + "/mean";
    Value* constant =
        channel_constant(model, name + "/values", chain->convolution->input(1)->constant().type(),
                         chain->entry_axis, mean);
    insert_behind(model, chain->entry, name, "Sub", {constant});
  }
  return true;
}

Result<std::vector<double>> per_channel(const std::vector<float>& numbers, size_t channels,
                                        std::string_view what, std::string_view input) {
  if (numbers.size() != 1 && numbers.size() != channels) {
    return error(StatusCode::InvalidArgument,
                 "input '{}' has {} channels, but {} {} values are given", input, channels,
                 numbers.size(), what);
  }
  std::vector<double> result(numbers.begin(), numbers.end());
  if (result.size() == 1) result.assign(channels, result[0]);
  return result;
}

/// Where a float picture enters the model: the input, or what the Cast behind it gives.
std::pair<Value*, ElementType> float_entry(const Model& model, size_t input_index) {
  Value* value = model.inputs()[input_index].value;
  const ElementType type = value->desc().type;
  if (is_float(type) || value->consumers().size() != 1 || model.is_output(value)) {
    return {value, type};
  }
  const Node& node = *value->consumers()[0];
  if (!is_op_of_type(node, "Cast")) return {value, type};
  const auto to = element_type_from_onnx(node.attributes().get_int("to", 0));
  return {node.output(), to ? *to : type};
}

}  // namespace

Result<bool> move_normalisation(Model& model, size_t input_index) {
  const ModelInput& input = model.inputs()[input_index];
  const ElementType type = input.value->desc().type;
  if (!input.preprocess || is_float(type)) return false;
  PreprocessDesc desc = *input.preprocess;
  clear_normalisation(desc);
  if (desc == *input.preprocess || !is_float(float_entry(model, input_index).second)) return false;
  HET_ASSIGN(const size_t axis, channel_axis(model, input_index));
  const PreprocessDesc& old = *input.preprocess;
  // (low + x * gain - mean) / std = (x - (mean - low) / gain) / (std / gain)
  const double gain = (static_cast<double>(old.range_high) - old.range_low) / 255.0;
  std::vector<float> mean;
  std::vector<float> scale;
  const int64_t channels = std::min<int64_t>(input.value->desc().shape[axis], 3);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    mean.push_back(static_cast<float>((static_cast<double>(old.mean[c]) - old.range_low) / gain));
    scale.push_back(static_cast<float>(old.std[c] / gain));
  }
  HET_TRY(add_normalisation(model, input_index, mean, scale));
  model.set_preprocess(input_index, desc);
  return true;
}

Status add_normalisation(Model& model, size_t input_index, const std::vector<float>& mean,
                         const std::vector<float>& scale) {
  if (mean.empty() && scale.empty()) return {};
  const Value& input = *model.inputs()[input_index].value;
  HET_ASSIGN(const size_t axis, channel_axis(model, input_index));
  const TensorDesc& desc = input.desc();
  const auto [value, type] = float_entry(model, input_index);
  if (!is_float(type)) {
    return error(StatusCode::NotSupported,
                 "input '{}' {} cannot be normalised: mean and scale need a float input",
                 input.name(), to_string(desc));
  }
  const auto channels = static_cast<size_t>(desc.shape[axis]);
  const std::string name = input.name();
  // The last one comes first: each goes in front of what is there.
  if (!scale.empty()) {
    HET_ASSIGN(const auto numbers, per_channel(scale, channels, "scale", name));
    if (std::ranges::any_of(numbers, [](double number) { return number == 0.0; })) {
      return error(StatusCode::InvalidArgument, "input '{}' cannot be divided by a scale of 0",
                   name);
    }
    Value* constant = channel_constant(model, name + "/scale/values", type, axis, numbers);
    insert_behind(model, value, name + "/scale", "Div", {constant});
  }
  if (!mean.empty()) {
    HET_ASSIGN(const auto numbers, per_channel(mean, channels, "mean", name));
    Value* constant = channel_constant(model, name + "/mean/values", type, axis, numbers);
    insert_behind(model, value, name + "/mean", "Sub", {constant});
  }
  return {};
}

Status reverse_channels(Model& model, size_t input_index) {
  Value* value = model.inputs()[input_index].value;
  HET_ASSIGN(const size_t axis, channel_axis(model, input_index));
  const int64_t channels = value->desc().shape[axis];
  std::vector<int64_t> order(static_cast<size_t>(channels));
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  Attributes attributes;
  attributes.set("axis", static_cast<int64_t>(axis));
  const std::string name = value->name() + "/reverse_channels";
  Value* indices = model.add_constant(name + "/order", Tensor::from<int64_t>({channels}, order));
  insert_behind(model, value, name, "Gather", {indices}, std::move(attributes));
  return {};
}

size_t fold_preprocess(Model& model) {
  size_t changed = 0;
  for (size_t i = 0; i < model.inputs().size(); ++i) changed += fold_input(model, i) ? 1 : 0;
  if (changed > 0) model.remove_unused();
  return changed;
}

}  // namespace het
