#include "devices/gpu/kernels/products/int8_layer.h"

#include <algorithm>
#include <cmath>

#include "devices/gpu/kernels/convolution/convolution.h"
#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/ops/double_values.h"

namespace het::gpu {
namespace {

/// Products of two differences of bytes are at most 255 * 255: so many fit a sum of 32 bits.
constexpr int64_t kMostProducts = 32768;

bool is_convolution(const Node& node) {
  return node.op_type() == "Int8Conv";
}

bool is_byte(ElementType type) {
  return type == ElementType::UInt8 || type == ElementType::Int8;
}

std::string refuse_types(const Node& node) {
  if (!is_byte(node.input(0)->desc().type)) return "its source is not bytes";
  const ElementType type = node.output()->desc().type;
  if (!is_byte(type) && type != ElementType::Float32) {
    return fmt::format("int8 products with a result of {}", to_string(type));
  }
  for (const size_t i : {size_t{1}, kTailBiasInput, kInt8ScalesInput}) {
    const Value* const value = node.input(i);
    if (value != nullptr && !value->is_constant()) return "computed weights, biases or scales";
  }
  if (node.input(1)->desc().type != ElementType::Int8) return "its weights are not int8";
  const Value* const sum = node.input(kTailSumInput);
  if (sum != nullptr && sum->desc().type != type) return "it adds another type than its result's";
  return {};
}

/// As tail_text(), but results are rounded to multiples.
NumberedText tail_of_bytes(const FusedTail& tail) {
  KernelNumbers numbers;
  std::string text = "floatw tail(floatw x, floatw sum NUMBER_PARAMETERS) {\n";
  for (const TailStep& step : tail) {
    const ElementwiseInstruction& expression = step.expression;
    if (step.sum) {
      text += "  x += sum;\n";
    } else if (expression.kind == ElementwiseKind::Round) {
      text += fmt::format("  x = rint(x / {0}) * {0};\n", numbers.name(expression.alpha));
    } else {
      text += fmt::format("  x = {};\n", expression_text(expression, "x", "x", numbers));
    }
  }
  return {numbers.macros() + text + "  return x;\n}\n", numbers.values()};
}

/// A bias adds to the sums; nothing where it is all whole numbers, which `offsets` take then.
Result<std::vector<float>> split_bias(const Node& node, std::vector<double>& offsets) {
  if (node.input(kTailBiasInput) == nullptr) return std::vector<float>();
  HET_ASSIGN(const std::vector<double> bias,
             to_double_vector(node.input(kTailBiasInput)->constant()));
  const bool is_whole = std::ranges::all_of(
      bias, [](double value) { return value == std::trunc(value) && std::abs(value) < 0x1p31; });
  if (!is_whole) return std::vector<float>(bias.begin(), bias.end());
  for (size_t c = 0; c < offsets.size(); ++c) offsets[c] += bias[c];
  return std::vector<float>();
}

/// As many values as there are channels, `lanes` zeros behind them.
template <class T, class From>
Result<TensorId> channel_list(PlanBuilder& builder, const std::vector<From>& values,
                              int64_t channels, int64_t lanes) {
  std::vector<T> list(static_cast<size_t>(channels + lanes), T{});
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const From value = values[values.size() == 1 ? 0 : c];
    if constexpr (std::is_integral_v<T>) {
      // Sums wrap around as those of the operator do.
      list[c] = static_cast<T>(static_cast<uint32_t>(static_cast<int64_t>(value)));
    } else {
      list[c] = static_cast<T>(value);
    }
  }
  return builder.constant(Tensor::from<T>({channels + lanes}, list));
}

}  // namespace

bool Int8Layer::is_product() const {
  return group == 1 && window.kernel_count() == 1 && window.in == window.out &&
         window.strides[1] == 1 && window.strides[2] == 1 && window.pads[1] == 0 &&
         window.pads[2] == 0;
}

Result<Int8Layer> int8_layer_of(const Node& node) {
  Int8Layer layer;
  layer.product = int8_product_of(node);
  layer.src = node.input(0);
  layer.dst = node.output();
  if (adds_sum(layer.product.tail)) layer.sum = node.input(kTailSumInput);
  const Shape& x = layer.src->desc().shape;
  const Shape& w = node.input(1)->desc().shape;
  if (is_convolution(node)) {
    HET_ASSIGN(const Convolution conv, convolution_of(node));
    layer.n = conv.n;
    layer.ic = conv.ic;
    layer.oc = conv.oc;
    layer.group = conv.group;
    layer.window = conv.window;
    return layer;
  }
  if (w.size() != 2 || x.empty() || x.back() != w[0] || w[0] == 0) {
    return error(StatusCode::NotSupported, "a product of {} and {}", het::to_string(x),
                 het::to_string(w));
  }
  layer.ic = w[0];
  layer.oc = w[1];
  layer.format = Format::Plain;
  layer.window.in = {1, 1, element_count(x) / w[0]};
  layer.window.out = layer.window.in;
  layer.window.kernel = {1, 1, 1};
  layer.window.strides = {1, 1, 1};
  layer.window.dilations = {1, 1, 1};
  layer.window.pads = {0, 0, 0};
  return layer;
}

std::string refuse_int8(const Node& node) {
  if (std::string reason = refuse_types(node); !reason.empty()) return reason;
  const Result<Int8Layer> layer = int8_layer_of(node);
  if (!layer) return layer.error().message();
  if (!layer->product.src_zeros.empty() || !layer->product.dst_zeros.empty()) {
    return "a zero point for each channel";
  }
  const Window3& window = layer->window;
  if (window.in[0] != 1 || window.kernel[0] != 1 || window.out[0] != 1) {
    return "three spatial dimensions";
  }
  if (is_convolution(node)) {
    if (std::string reason = refuse_window(window); !reason.empty()) return reason;
  }
  if (layer->group_ic() * window.kernel_count() > kMostProducts) {
    return fmt::format("sums of more than {} products of bytes", kMostProducts);
  }
  return {};
}

std::vector<int8_t> int8_weights_of(const Node& node) {
  const Tensor& stored = node.input(1)->constant();
  const auto values = stored.values<int8_t>();
  std::vector<int8_t> weights(values.begin(), values.end());
  if (is_convolution(node)) return weights;
  const auto depth = static_cast<size_t>(stored.shape()[0]);
  const auto channels = static_cast<size_t>(stored.shape()[1]);
  for (size_t k = 0; k < depth; ++k) {
    for (size_t c = 0; c < channels; ++c) weights[c * depth + k] = values[k * channels + c];
  }
  return weights;
}

ProgramText int8_program(PlanBuilder& builder, const Int8Layer& layer, std::string file) {
  ProgramText text;
  text.file = std::move(file);
  text.options = row_options(builder);
  if (builder.context().works(Feature::IntegerDotProduct)) {
    text.options += " -DDOT_PRODUCT " + builder.context().options_of(Feature::IntegerDotProduct);
  }
  // Defined in the text, not by options, so that layers of all kinds become one program.
  std::string& lines = text.generated;
  lines = fmt::format("#define SOURCE {}\n#define DOT_BYTES dot_4x8packed_{}s_int\n",
                      c_type(layer.src->desc().type), layer.is_signed() ? "s" : "u");
  if (layer.is_requantised()) {
    const bool is_signed = layer.dst->desc().type == ElementType::Int8;
    lines += fmt::format("#define RESULT {}\n#define LOWEST {}\n#define HIGHEST {}\n",
                         c_type(layer.dst->desc().type), is_signed ? "-128.0f" : "0.0f",
                         is_signed ? "127.0f" : "255.0f");
    if (!layer.product.tail.empty()) lines += "#define STEPS\n";
  }
  if (layer.sum != nullptr) lines += "#define SUM\n";
  if (layer.product.weights_zero != 0) lines += "#define WEIGHTS_ZERO\n";
  if (!layer.product.tail.empty()) lines += *kernel_source("expressions");
  NumberedText tail = tail_of_bytes(layer.product.tail);
  lines += tail.text;
  text.numbers = std::move(tail.numbers);
  lines += *kernel_source("int8_results");
  return text;
}

Result<std::vector<KernelArg>> int8_result_args(PlanBuilder& builder, const Node& node,
                                                const Int8Layer& layer, int64_t lanes) {
  const Int8Product& product = layer.product;
  // Each sum is over (x - src_zero) * (w - weights_zero), of which x * w is added at run time.
  const std::vector<int8_t> weights = int8_weights_of(node);
  const auto row = static_cast<size_t>(layer.group_ic() * layer.window.kernel_count());
  std::vector<double> offsets(static_cast<size_t>(layer.oc));
  for (size_t c = 0; c < offsets.size(); ++c) {
    int64_t sum = -static_cast<int64_t>(row) * product.weights_zero;
    for (size_t i = 0; i < row; ++i) sum += weights[c * row + i];
    offsets[c] = -static_cast<double>(sum * product.src_zero);
  }
  HET_ASSIGN(std::vector<float> biases, split_bias(node, offsets));
  HET_ASSIGN(std::vector<float> scales, to_float_vector(node.input(kInt8ScalesInput)->constant()));
  TensorId steps = kNoTensor;
  if (layer.is_requantised() && !product.tail.empty()) {
    HET_ASSIGN(steps, channel_list<float>(builder, product.dst_scales, layer.oc, lanes));
  } else if (layer.is_requantised()) {
    scales.resize(static_cast<size_t>(layer.oc), scales.front());
    for (size_t c = 0; c < scales.size(); ++c) {
      scales[c] /= product.dst_scales[product.dst_scales.size() == 1 ? 0 : c];
    }
  }
  if (biases.empty()) biases = {0.0f};
  HET_ASSIGN(const TensorId offset_list, channel_list<int32_t>(builder, offsets, layer.oc, lanes));
  HET_ASSIGN(const TensorId scale_list, channel_list<float>(builder, scales, layer.oc, lanes));
  HET_ASSIGN(const TensorId bias_list, channel_list<float>(builder, biases, layer.oc, lanes));
  TensorId sum = kNoTensor;
  if (layer.sum != nullptr) {
    HET_ASSIGN(sum, builder.read(*layer.sum, layer.format));
  }
  const TensorId dst = builder.write(*layer.dst, layer.format);
  return std::vector<KernelArg>{Read{offset_list},
                                Read{scale_list},
                                Read{bias_list},
                                Read{steps},
                                Read{sum},
                                Write{dst},
                                cl_float{product.sum_scale},
                                cl_float{static_cast<float>(product.sum_zero)},
                                cl_float{static_cast<float>(product.dst_zero)}};
}

}  // namespace het::gpu
