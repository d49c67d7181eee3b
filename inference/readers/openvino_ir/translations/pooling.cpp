#include <algorithm>

#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Pooling over windows.
namespace het::ir {
namespace {

/// How many positions of one dimension a window has when the number is rounded up, and where the
/// last one starts. OpenVINO keeps a last window that starts in the padding, ONNX drops it.
struct Positions {
  int64_t count = 0;
  int64_t last_start = 0;
};
Positions rounded_up(int64_t padded, int64_t extent, int64_t stride) {
  const int64_t room = std::max<int64_t>(0, padded - extent);
  const int64_t count = (room + stride - 1) / stride + 1;
  return {count, (count - 1) * stride};
}

/// Rounding up as ONNX' ceil_mode, or, where ONNX would drop a window, as padding at the end. Gives
/// the pads that the input must get before, which is where they count but those at the end do not.
std::vector<int64_t> set_rounding(LayerContext& context, const std::vector<int64_t>& kernel,
                                  Attributes& attributes) {
  const std::string rounding = context.text("rounding_type", "floor");
  if (rounding == "floor") return {};
  attributes.set("ceil_mode", int64_t{1});
  const Shape& x = context.input_shape(0);
  const size_t rank = kernel.size();
  std::vector<int64_t> pads = attributes.get_ints("pads", std::vector<int64_t>(2 * rank, 0));
  const auto strides = attributes.get_ints("strides", std::vector<int64_t>(rank, 1));
  const auto dilations = attributes.get_ints("dilations", std::vector<int64_t>(rank, 1));
  if (rounding == "ceil_torch" || x.size() != rank + 2 || pads.size() != 2 * rank ||
      strides.size() != rank || dilations.size() != rank) {
    return {};
  }
  bool dropped = false;
  bool behind = false;  // a window lies behind the padded input
  constexpr int64_t kMost = int64_t{1} << 31;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = x[i + 2];
    for (const int64_t value : {strides[i], dilations[i], kernel[i]}) {
      if (value < 1 || value > kMost) return {};
    }
    for (const int64_t value : {in, pads[i], pads[i + rank]}) {
      if (value < 0 || value > kMost) return {};
    }
    const int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    const Positions last = rounded_up(in + pads[i] + pads[i + rank], extent, strides[i]);
    dropped = dropped || last.last_start >= in + pads[i];
    behind = behind || last.last_start >= in + pads[i] + pads[i + rank];
    pads[i + rank] = std::max(pads[i + rank], last.last_start + extent - in - pads[i]);
  }
  if (!dropped) return {};
  if (attributes.get_int("count_include_pad", 0) != 0) {
    if (behind) {
      context.refuse(
          "AvgPool that counts the padding and rounds up to a window behind the padded input is "
          "not supported: it is a window of nothing");
      return {};
    }
    // What is added for rounding up does not count, so the pads that do become part of the input.
    std::vector<int64_t> counted = attributes.get_ints("pads", std::vector<int64_t>(2 * rank, 0));
    attributes.erase("pads");
    attributes.erase("count_include_pad");
    return counted;
  }
  attributes.erase("ceil_mode");
  attributes.set("pads", std::move(pads));
  return {};
}

Attributes pool_attributes(LayerContext& context) {
  Attributes attributes;
  attributes.set("kernel_shape", context.integers("kernel"));
  for (const char* name : {"strides", "dilations"}) {
    const std::vector<int64_t> values = context.integers(name);
    if (!values.empty()) attributes.set(name, values);
  }
  const std::string mode = context.text("auto_pad", "explicit");
  if (mode == "same_upper" || mode == "same_lower") {
    attributes.set("auto_pad", std::string(mode == "same_upper" ? "SAME_UPPER" : "SAME_LOWER"));
    return attributes;
  }
  // No pads, but other than with ONNX' VALID the number of positions may be rounded up.
  if (mode == "valid") return attributes;
  std::vector<int64_t> pads = context.integers("pads_begin");
  const std::vector<int64_t> end = context.integers("pads_end");
  pads.insert(pads.end(), end.begin(), end.end());
  if (!pads.empty()) attributes.set("pads", std::move(pads));
  return attributes;
}

/// The input with pads around its spatial dimensions.
Value* padded(LayerContext& context, const std::vector<int64_t>& spatial) {
  if (spatial.empty()) return context.input(0);
  const auto rank = static_cast<ptrdiff_t>(spatial.size() / 2);
  std::vector<int64_t> pads(2, 0);
  pads.insert(pads.end(), spatial.begin(), spatial.begin() + rank);
  pads.insert(pads.end(), 2, 0);
  pads.insert(pads.end(), spatial.begin() + rank, spatial.end());
  return context.add("Pad", {context.input(0), context.integers_constant("pads", pads)});
}

void finish_pool(LayerContext& context, Attributes attributes, std::string op_type) {
  std::vector<int64_t> pads;
  if (!attributes.has("auto_pad")) {
    pads = set_rounding(context, attributes.get_ints("kernel_shape"), attributes);
  }
  context.finish(std::move(op_type), {padded(context, pads)}, std::move(attributes));
}

void max_pool(LayerContext& context) {
  Attributes attributes = pool_attributes(context);
  if (context.output_count() < 2) return finish_pool(context, std::move(attributes), "MaxPool");
  if (!attributes.has("auto_pad")) {
    set_rounding(context, attributes.get_ints("kernel_shape"), attributes);
  }
  // Indices count from dimension `axis` on; ONNX counts from the first.
  const int64_t rank = context.input_rank(0);
  const int64_t axis = context.normalized(context.integer("axis", 0), std::max<int64_t>(rank, 1));
  const std::vector<Value*> found =
      context.add_many("MaxPool", {context.input(0)}, 2, std::move(attributes));
  Value* indices = found[1];
  if (axis != 0) {
    const Shape& x = context.input_shape(0);
    const Shape plane(x.begin() + axis, x.end());
    Value* period = nullptr;
    if (is_static(plane)) {
      const auto count = checked_element_count(plane);
      if (!count || *count < 1) return context.refuse("its planes have no elements, or too many");
      period = context.constant("period", Tensor::scalar<int64_t>(*count));
    } else {
      Attributes from;
      from.set("start", axis);
      Attributes all;
      all.set("keepdims", int64_t{0});
      Value* const sizes = context.add("Shape", {context.input(0)}, std::move(from));
      period = context.add("ReduceProd", {sizes}, std::move(all));
    }
    indices = context.add("Mod", {indices, period});
  }
  context.finish_output(0, "Identity", {found[0]});
  Attributes to;
  to.set("to", onnx_type_code(context.type("index_element_type", "i64")));
  context.finish_output(1, "Cast", {indices}, std::move(to));
}

void avg_pool(LayerContext& context) {
  Attributes attributes = pool_attributes(context);
  // IR spells it with a dash, its documents sometimes with an underscore.
  const char* name = context.has("exclude-pad") ? "exclude-pad" : "exclude_pad";
  if (!context.flag(name, false)) attributes.set("count_include_pad", int64_t{1});
  finish_pool(context, std::move(attributes), "AveragePool");
}

/// Windows of equal size that cover the input; empty where there are none.
std::vector<int64_t> equal_windows(const Shape& x, const std::vector<int64_t>& wanted) {
  std::vector<int64_t> kernel;
  if (x.size() != wanted.size() + 2) return kernel;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t in = x[i + 2];
    if (in < 1 || wanted[i] < 1 || in % wanted[i] != 0) return {};
    kernel.push_back(in / wanted[i]);
  }
  return kernel;
}

/// Plain pooling where the input can be divided into equal windows; else an operator of our own,
/// which also gives the places of the largest elements.
void adaptive_pool(LayerContext& context) {
  const bool average = context.layer().type == "AdaptiveAvgPool";
  const std::vector<int64_t> wanted = context.constant_integers(1).value_or(std::vector<int64_t>());
  const bool global = !wanted.empty() && std::all_of(wanted.begin(), wanted.end(),
                                                     [](int64_t size) { return size == 1; });
  const std::vector<int64_t> kernel = equal_windows(context.input_shape(0), wanted);
  constexpr OwnAttribute kAttributes[] = {{"index_element_type", OwnAttributeKind::Type}};
  if (!global && kernel.empty()) return finish_own_operator(context, kAttributes);
  Attributes attributes;
  if (!global) {
    attributes.set("kernel_shape", kernel);
    attributes.set("strides", kernel);
  }
  context.finish_output(
      0, fmt::format("{}{}Pool", global ? "Global" : "", average ? "Average" : "Max"),
      {context.input(0)}, std::move(attributes));
  if (average || context.output_count() < 2) return;
  Attributes own =
      with("index_element_type", std::string(to_string(context.type("index_element_type", "i64"))));
  const std::vector<Value*> found = context.add_many(
      "AdaptiveMaxPool", {context.input(0), context.input(1)}, 2, std::move(own), "het");
  context.set_output(1, found[1]);
}

constexpr Translation kPoolingTable[] = {
    {"MaxPool", max_pool},
    {"AvgPool", avg_pool},
    {"AdaptiveAvgPool", adaptive_pool},
    {"AdaptiveMaxPool", adaptive_pool},
};

}  // namespace

std::span<const Translation> pooling_translations() {
  return kPoolingTable;
}

}  // namespace het::ir
