#include "inference/ops/products/conv.h"

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/products/conv_loops.h"
#include "inference/ops/type_dispatch.h"

namespace het {

Status check_conv_ranks(const Shape& x, const Shape& w) {
  if (x.size() >= 3 && x.size() <= 5 && w.size() == x.size()) return {};
  return error(StatusCode::ShapeMismatch,
               "x has shape {} and w {}; both must have the same rank of 3 to 5 (1 to 3 spatial "
               "dimensions)",
               to_string(x), to_string(w));
}

Result<std::vector<int64_t>> conv_kernel(const Attributes& attributes, const Shape& w) {
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  const std::vector<int64_t> declared = attributes.get_ints("kernel_shape", kernel);
  if (declared == kernel) return kernel;
  return error(StatusCode::ShapeMismatch, "kernel_shape is {}, but w has shape {}",
               to_string(declared), to_string(w));
}

Result<ConvAttributes> conv_attributes(const Node& node, const Shape& x, const Shape& w) {
  HET_TRY(check_attributes(node.attributes(), {{"auto_pad", AttributeType::String},
                                               {"dilations", AttributeType::Ints},
                                               {"group", AttributeType::Int},
                                               {"kernel_shape", AttributeType::Ints},
                                               {"pads", AttributeType::Ints},
                                               {"strides", AttributeType::Ints}}));
  HET_TRY(check_conv_ranks(x, w));
  ConvAttributes conv;
  conv.group = node.attributes().get_int("group", 1);
  if (conv.group < 1 || conv.group > kMaxWindowValue || w[0] % conv.group != 0 ||
      x[1] % conv.group != 0 || x[1] / conv.group != w[1]) {
    return error(StatusCode::ShapeMismatch,
                 "{} groups do not fit x of shape {} and w of shape {}: w must be [oc, ic / group, "
                 "...] and the channels multiples of group",
                 conv.group, to_string(x), to_string(w));
  }
  HET_ASSIGN(const std::vector<int64_t> kernel, conv_kernel(node.attributes(), w));
  HET_ASSIGN(static_cast<Window&>(conv),
             resolve_window(node.attributes(), std::span(x).subspan(2), kernel, false));
  conv.output_shape = {x[0], w[0]};
  conv.output_shape.insert(conv.output_shape.end(), conv.output.begin(), conv.output.end());
  HET_TRY(checked_element_count(conv.output_shape));
  return conv;
}

Status check_bias(const InferContext& context, size_t index, int64_t channels) {
  if (!context.has_input(index) || context.shape(index) == Shape{channels}) return {};
  return error(StatusCode::ShapeMismatch, "B has shape {}, but must be [{}], one per channel",
               to_string(context.shape(index)), channels);
}

Status check_conv_inputs(const InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_input(context, 1, "W", kFloatTypes));
  HET_TRY(check_optional_input(context, 2, "B", kFloatTypes));
  HET_TRY(check_same_type(context, 0, 1));
  return context.has_input(2) ? check_same_type(context, 0, 2) : Status();
}

Status set_conv_output(InferContext& context, Shape shape) {
  HET_TRY(check_bias(context, 2, shape[1]));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

namespace {

Status infer_conv(InferContext& context) {
  HET_TRY(check_conv_inputs(context));
  HET_ASSIGN(ConvAttributes conv,
             conv_attributes(context.node(), context.shape(0), context.shape(1)));
  return set_conv_output(context, std::move(conv.output_shape));
}

/// Sums in double.
Status evaluate_conv(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  HET_ASSIGN(const ConvAttributes conv, conv_attributes(context.node(), x.shape(), w.shape()));
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    const T* weights = w.data<T>();
    const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* dst = context.output(0).data<T>();
    convolve<double>(
        conv, x.shape(), [&](int64_t i) { return static_cast<double>(src[i]); },
        [&](int64_t i, int64_t) { return static_cast<double>(weights[i]); },
        [&](int64_t i, int64_t oc, double sum) {
          dst[i] = numeric_cast<T>(bias ? sum + static_cast<double>(bias[oc]) : sum);
        });
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_conv(OpRegistry& registry) {
  registry.add({"Conv", "", 22, 2, 3, infer_conv, evaluate_conv});
}

}  // namespace het
