#include "devices/gpu/kernels/convolution/convolution.h"

#include <algorithm>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/ops/products/conv.h"
#include "inference/ops/products/conv_transpose.h"

namespace het::gpu {
namespace {

constexpr int64_t kMostPosition = int64_t{1} << 30;

template <class Resolved>
void take(Convolution& conv, const Resolved& resolved, const Shape& x) {
  conv.group = resolved.group;
  conv.oc = resolved.output_shape[1];
  conv.window = window3(resolved, std::span(x).subspan(2));
}

}  // namespace

bool Convolution::has_constants() const {
  return weights->is_constant() && (bias == nullptr || bias->is_constant());
}

double Convolution::work() const {
  const int64_t pixels = transposed ? window.in_count() : window.out_count();
  return static_cast<double>(n * pixels * group_ic()) *
         static_cast<double>(oc * window.kernel_count());
}

Result<Convolution> convolution_of(const Node& node) {
  Convolution conv;
  conv.transposed = node.op_type() == "ConvTranspose";
  conv.src = node.input(0);
  conv.weights = node.input(1);
  if (node.op_type() != "ConvInteger") conv.bias = node.input(kTailBiasInput);
  conv.tail = tail_of(node.attributes());
  if (adds_sum(conv.tail)) conv.sum = node.input(kTailSumInput);
  conv.dst = node.output();
  const Shape& x = conv.src->desc().shape;
  const Shape& w = conv.weights->desc().shape;
  if (conv.transposed) {
    HET_ASSIGN(const ConvTransposeAttributes resolved, conv_transpose_attributes(node, x, w));
    take(conv, resolved, x);
  } else {
    HET_ASSIGN(const ConvAttributes resolved, conv_attributes(node, x, w));
    take(conv, resolved, x);
  }
  conv.n = x[0];
  conv.ic = x[1];
  return conv;
}

std::string refuse_convolution(const Node& node) {
  const ElementType type = node.output()->desc().type;
  if (type != ElementType::Float32) return fmt::format("convolutions in {}", to_string(type));
  if (node.input(kTailSlopesInput) != nullptr) return "slopes per channel behind a convolution";
  return refuse_window(node);
}

std::string refuse_window(const Node& node) {
  const Result<Convolution> conv = convolution_of(node);
  if (!conv) return conv.error().message();
  return refuse_window(conv->window);
}

std::string refuse_window(const Window3& window) {
  for (size_t d = 0; d < 3; ++d) {
    const int64_t sizes = window.in[d] + window.out[d] + window.pads[d];
    const int64_t reach = std::max(window.in[d], window.out[d]) * window.strides[d] +
                          window.kernel[d] * window.dilations[d];
    if (std::max(sizes, reach) > kMostPosition) {
      return "its window reaches over more than 2^30 positions";
    }
  }
  return {};
}

Convolution without_tail(const Convolution& conv) {
  Convolution bare = conv;
  bare.tail.clear();
  bare.bias = nullptr;
  bare.sum = nullptr;
  return bare;
}

void generate_tail(ProgramText& program, const FusedTail& tail) {
  NumberedText made = tail_text(tail);
  program.generated = tail.empty() ? std::string() : std::string(*kernel_source("expressions"));
  program.generated += made.text;
  program.numbers = std::move(made.numbers);
}

std::string convolution_options(const PlanBuilder& builder, const Convolution& conv, size_t width) {
  const std::string storage = storage_option(builder.options().stored_type);
  const std::string vectors =
      width > 0 ? fmt::format("-DWIDTH={} {}", width, storage) : row_options(builder);
  return vectors + (conv.sum != nullptr ? " -DSUM" : "") + (conv.bias != nullptr ? " -DBIAS" : "");
}

Result<TailOperands> tail_operands(PlanBuilder& builder, const Convolution& conv,
                                   int64_t channels) {
  TailOperands operands;
  if (conv.bias != nullptr && conv.bias->is_constant() && channels > conv.oc) {
    HET_ASSIGN(std::vector<float> values, to_float_vector(conv.bias->constant()));
    values.resize(static_cast<size_t>(channels), 0.0f);
    HET_ASSIGN(operands.bias, builder.constant(Tensor::from<float>({channels}, values)));
  } else if (conv.bias != nullptr) {
    HET_ASSIGN(operands.bias, builder.read(*conv.bias, Format::Plain, ElementType::Float32));
  }
  if (conv.sum != nullptr) {
    HET_ASSIGN(operands.sum, builder.read(*conv.sum, Format::ChannelsLast));
  }
  return operands;
}

}  // namespace het::gpu
