#include <algorithm>
#include <limits>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/products/products.h"
#include "inference/base/registration.h"
#include "inference/ops/products/conv.h"

namespace het::gpu {
namespace {

enum : size_t { kX, kW, kOffset, kBias, kMask };

/// A deformable convolution as sampling and one product for each group.
struct DeformConv {
  Window3 window;
  int64_t n = 1;
  int64_t ic = 1;
  int64_t oc = 1;
  int64_t group = 1;
  int64_t offset_group = 1;

  int64_t group_oc() const { return oc / group; }
  int64_t pixels() const { return n * window.out_count(); }
  /// Elements of a group's rows.
  int64_t depth() const { return ic / group * window.kernel_count(); }
};

Result<DeformConv> deform_conv_of(const Node& node) {
  const Shape& x = node.input(kX)->desc().shape;
  HET_ASSIGN(const ConvAttributes conv, conv_attributes(node, x, node.input(kW)->desc().shape));
  DeformConv made;
  made.window = window3(conv, std::span(x).subspan(2));
  made.n = x[0];
  made.ic = x[1];
  made.oc = conv.output_shape[1];
  made.group = conv.group;
  made.offset_group = node.attributes().get_int("offset_group", 1);
  return made;
}

std::string refuse_deform_conv(const Node& node) {
  constexpr int64_t kMostFloatPosition = int64_t{1} << 24;  // positions are float
  for (const Value* value : node.inputs()) {
    if (value == nullptr || value->desc().type == ElementType::Float32) continue;
    return fmt::format("DeformConv of {} has no GPU kernel, only that of float32",
                       to_string(value->desc().type));
  }
  if (node.input(kX)->desc().shape.size() != 4) return "it is not over two dimensions";
  const Value* const bias = node.input(kBias);
  if (!node.input(kW)->is_constant() || (bias != nullptr && !bias->is_constant())) {
    return "its weights or bias are computed at run time";
  }
  const Result<DeformConv> conv = deform_conv_of(node);
  if (!conv) return conv.error().message();
  if (conv->pixels() > std::numeric_limits<int32_t>::max() / conv->depth() / conv->group) {
    return "what it samples has more than 2^31 elements";
  }
  for (size_t d = 1; d < 3; ++d) {
    const Window3& window = conv->window;
    const int64_t reach = std::max({window.in[d], window.out[d] * window.strides[d],
                                    window.kernel[d] * window.dilations[d]}) +
                          window.pads[d];
    if (reach > kMostFloatPosition) return "its window reaches over more than 2^24 positions";
  }
  return {};
}

/// Every output pixel's samples as a row, [n, pixel, channel, tap].
Result<TensorId> sampled_rows(PlanBuilder& builder, const Node& node, const DeformConv& conv) {
  HET_ASSIGN(const TensorId src, builder.read(*node.input(kX), Format::ChannelsLast));
  HET_ASSIGN(const TensorId offsets,
             builder.read(*node.input(kOffset), Format::Plain, ElementType::Float32));
  TensorId mask = kNoTensor;
  if (node.input(kMask) != nullptr) {
    HET_ASSIGN(mask, builder.read(*node.input(kMask), Format::Plain, ElementType::Float32));
  }
  const ElementType type = builder.options().stored_type;
  const TensorId rows =
      builder.temporary({type, {conv.pixels(), conv.depth() * conv.group}, Format::Plain});
  const Window3& window = conv.window;
  const int64_t group_channels = conv.ic / conv.offset_group;
  const size_t chunks =
      groups_of(group_channels, static_cast<int64_t>(builder.hardware().vector_width()));
  Launch launch;
  launch.text.file = "deform_conv";
  launch.text.options = row_options(builder) + (node.domain() == "het" ? " -DBORDER" : "");
  launch.kernel = "deform_columns";
  launch.args = {Read{src}, Read{offsets}, Read{mask}, Write{rows}};
  for (const int64_t value :
       {conv.pixels(), static_cast<int64_t>(chunks), conv.ic, group_channels, window.in[1],
        window.in[2], window.out[1], window.out[2], window.kernel[1], window.kernel[2],
        window.strides[1], window.strides[2], window.dilations[1], window.dilations[2],
        window.pads[1], window.pads[2]}) {
    launch.args.emplace_back(as_int(value));
  }
  launch.global[0] =
      static_cast<size_t>(conv.pixels() * conv.offset_group * window.kernel_count()) * chunks;
  launch.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(launch)));
  return rows;
}

/// A part of a constant, along its first dimension.
Result<Tensor> part_of(const Tensor& whole, int64_t part, int64_t parts) {
  Shape shape = whole.shape();
  shape[0] /= parts;
  HET_ASSIGN(const std::vector<float> values, to_float_vector(whole));
  const auto length = static_cast<std::ptrdiff_t>(element_count(shape));
  const auto begin = values.begin() + part * length;
  return Tensor::from<float>(shape, std::vector<float>(begin, begin + length));
}

Status plan_deform_conv(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const DeformConv conv, deform_conv_of(node));
  HET_ASSIGN(const TensorId rows, sampled_rows(builder, node, conv));
  const TensorId dst = builder.write(*node.output(), Format::ChannelsLast);
  const int64_t depth = conv.depth();
  for (int64_t g = 0; g < conv.group; ++g) {
    HET_ASSIGN(const Tensor weights, part_of(node.input(kW)->constant(), g, conv.group));
    Product product;
    product.m = conv.pixels();
    product.n = conv.group_oc();
    product.k = depth;
    product.left = rows;
    product.left_steps = {0, depth * conv.group, 1};
    product.left_offsets = {g * depth};
    product.right_constant = &weights;
    product.right_steps = {0, 1, depth};
    if (const Value* const bias = node.input(kBias)) {
      HET_ASSIGN(const Tensor part, part_of(bias->constant(), g, conv.group));
      HET_ASSIGN(const std::vector<float> values, to_float_vector(part));
      HET_ASSIGN(product.bias, builder.stored_constant(values));
      product.bias_column = 1;
    }
    product.result = dst;
    product.result_offsets = {g * conv.group_oc()};
    product.result_row = conv.oc;
    HET_TRY(add_product(builder, node, product));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_deform_conv(KernelRegistry& registry) {
  registry.add("", "DeformConv", {refuse_deform_conv, plan_deform_conv});
  registry.add("het", "DeformConv", {refuse_deform_conv, plan_deform_conv});
}

}  // namespace het::gpu
