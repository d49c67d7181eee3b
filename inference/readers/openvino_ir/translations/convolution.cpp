#include <algorithm>

#include "inference/readers/openvino_ir/translate.h"

/// Convolutions. Weights with a group dimension lose it; ONNX has the number of groups as
/// attribute.
namespace het::ir {
namespace {

std::string onnx_auto_pad(LayerContext& context) {
  const std::string mode = context.text("auto_pad", "explicit");
  if (mode == "explicit" || mode == "notset" || mode.empty()) return "NOTSET";
  if (mode == "same_upper") return "SAME_UPPER";
  if (mode == "same_lower") return "SAME_LOWER";
  if (mode == "valid") return "VALID";
  context.fail(Status(StatusCode::ParseError,
                      fmt::format("attribute 'auto_pad': '{}' is none of explicit, same_upper, "
                                  "same_lower and valid",
                                  mode)));
  return "NOTSET";
}

/// strides, dilations, pads and auto_pad.
Attributes window_attributes(LayerContext& context) {
  Attributes attributes;
  for (const char* name : {"strides", "dilations"}) {
    const std::vector<int64_t> values = context.integers(name);
    if (!values.empty()) attributes.set(name, values);
  }
  std::string auto_pad = onnx_auto_pad(context);
  if (auto_pad == "NOTSET") {
    std::vector<int64_t> pads = context.integers("pads_begin");
    const std::vector<int64_t> end = context.integers("pads_end");
    pads.insert(pads.end(), end.begin(), end.end());
    if (!pads.empty()) attributes.set("pads", std::move(pads));
  } else {
    attributes.set("auto_pad", std::move(auto_pad));
  }
  return attributes;
}

/// [groups, a, b, spatial ...] -> [groups * a, b, spatial ...] or, transposed, the same with a
/// standing for inputs; sets `group`. Null when the shape is not known.
Value* merge_groups(LayerContext& context, Attributes& attributes) {
  const Shape& shape = context.input_shape(1);
  if (shape.size() < 4 || !is_static(shape) || shape[0] < 1) {
    context.refuse(fmt::format("{} with weights of shape {}: the number of groups is not known",
                               context.layer().type, to_string(shape)));
    return context.input(1);
  }
  const auto merged = checked_element_count({shape[0], shape[1]});
  if (!merged) {
    context.fail(merged.error());
    return context.input(1);
  }
  std::vector<int64_t> dims{*merged};
  dims.insert(dims.end(), shape.begin() + 2, shape.end());
  attributes.set("group", shape[0]);
  return context.reshaped(context.input(1), dims);
}

void convolution(LayerContext& context) {
  context.finish("Conv", {context.input(0), context.input(1)}, window_attributes(context));
}

void group_convolution(LayerContext& context) {
  Attributes attributes = window_attributes(context);
  Value* const weights = merge_groups(context, attributes);
  context.finish("Conv", {context.input(0), weights}, std::move(attributes));
}

/// With the input output_shape and explicit pads, what is missing after the pads is padding of the
/// output, and what is too much is cut off behind; with auto_pad the pads are what output_shape
/// leaves over, as in ONNX.
void set_output_shape(LayerContext& context, const std::vector<int64_t>& kernel,
                      Attributes& attributes) {
  const std::vector<int64_t> wanted = context.required_integers(2, "an output shape");
  if (!context.refusal().empty()) return;
  if (const std::string pad = attributes.get_string("auto_pad", "VALID"); pad != "VALID") {
    // OpenVINO cuts the odd element in front for same_upper, ONNX behind.
    attributes.set("auto_pad", std::string(pad == "SAME_UPPER" ? "SAME_LOWER" : "SAME_UPPER"));
    attributes.set("output_shape", wanted);
    return;
  }
  const Shape& x = context.input_shape(0);
  const size_t rank = kernel.size();
  if (x.size() != rank + 2 || wanted.size() != rank || !is_static(Shape(x.begin() + 2, x.end())) ||
      !is_static(kernel)) {
    return context.refuse(
        "a transposed convolution with an output shape and explicit pads needs input and weights "
        "of "
        "known size; reshape the model to fixed sizes when converting it");
  }
  const auto strides = attributes.get_ints("strides", std::vector<int64_t>(rank, 1));
  const auto dilations = attributes.get_ints("dilations", std::vector<int64_t>(rank, 1));
  auto pads = attributes.get_ints("pads", std::vector<int64_t>(2 * rank, 0));
  if (strides.size() != rank || dilations.size() != rank || pads.size() != 2 * rank) return;
  std::vector<int64_t> padding;
  for (size_t i = 0; i < rank; ++i) {
    int64_t covered = 0;
    int64_t extent = 0;
    if (__builtin_mul_overflow(strides[i], x[i + 2] - 1, &covered) ||
        __builtin_mul_overflow(kernel[i] - 1, dilations[i], &extent) ||
        __builtin_add_overflow(covered, extent, &covered) ||
        __builtin_sub_overflow(covered, pads[i], &covered) ||
        __builtin_sub_overflow(covered, pads[i + rank], &covered) ||
        __builtin_add_overflow(covered, 1, &covered) ||
        __builtin_sub_overflow(wanted[i], covered, &padding.emplace_back())) {
      return context.fail(Status(StatusCode::ParseError, "its sizes overflow"));
    }
    if (padding.back() >= 0) continue;
    if (__builtin_sub_overflow(pads[i + rank], padding.back(), &pads[i + rank])) {
      return context.fail(Status(StatusCode::ParseError, "its sizes overflow"));
    }
    padding.back() = 0;
  }
  attributes.erase("auto_pad");
  attributes.set("pads", std::move(pads));
  attributes.set("output_padding", std::move(padding));
}

void transposed_convolution(LayerContext& context) {
  const bool grouped = context.layer().type == "GroupConvolutionBackpropData";
  Attributes attributes = window_attributes(context);
  const std::vector<int64_t> output_padding = context.integers("output_padding");
  if (!output_padding.empty()) attributes.set("output_padding", output_padding);
  Value* const weights = grouped ? merge_groups(context, attributes) : context.input(1);
  // Without an output shape there is nothing that "same" could mean: no pads.
  if (!context.has_input(2)) attributes.erase("auto_pad");
  if (context.has_input(2)) {
    const Shape& shape = context.input_shape(1);
    const size_t first = grouped ? 3 : 2;
    if (shape.size() > first) {
      set_output_shape(context, {shape.begin() + static_cast<ptrdiff_t>(first), shape.end()},
                       attributes);
    }
  }
  context.finish("ConvTranspose", {context.input(0), weights}, std::move(attributes));
}

/// Inputs: data, offsets, weights, mask. ONNX samples as bilinear_interpolation_pad says; without
/// it points less than a pixel outside count as zero, as our own operator of that name has it.
void deformable_convolution(LayerContext& context) {
  Attributes attributes = window_attributes(context);
  const int64_t group = context.integer("group", 1);
  const int64_t offset_group = context.integer("deformable_group", 1);
  attributes.set("group", group);
  attributes.set("offset_group", offset_group);
  std::vector<Value*> inputs{context.input(0), context.input(2), context.input(1)};
  if (context.has_input(3)) {
    inputs.push_back(nullptr);
    inputs.push_back(context.input(3));
  }
  const bool pads = context.flag("bilinear_interpolation_pad", false);
  context.finish("DeformConv", std::move(inputs), std::move(attributes), pads ? "" : "het");
}

constexpr Translation kConvolutionTable[] = {
    {"Convolution", convolution},
    {"GroupConvolution", group_convolution},
    {"ConvolutionBackpropData", transposed_convolution},
    {"GroupConvolutionBackpropData", transposed_convolution},
    {"DeformableConvolution", deformable_convolution},
};

}  // namespace

std::span<const Translation> convolution_translations() {
  return kConvolutionTable;
}

}  // namespace het::ir
