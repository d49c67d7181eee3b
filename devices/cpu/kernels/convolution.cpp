#include <algorithm>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/plan/summed_step.h"
#include "devices/cpu/products/activated_kernel.h"
#include "devices/cpu/products/dense.h"
#include "devices/cpu/products/depthwise.h"
#include "devices/cpu/products/pointwise.h"
#include "devices/cpu/products/winograd.h"
#include "inference/base/registration.h"
#include "inference/ops/products/conv.h"
#include "inference/ops/products/conv_transpose.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {
namespace {

struct Chosen {
  Primitive primitive;
  Format src = Format::Plain;
  Format dst = Format::Plain;
};

std::optional<Chosen> with_known_formats(Result<Primitive> primitive, const ConvolutionSpec& spec) {
  if (!primitive) return std::nullopt;
  const auto src = format_of(*primitive->desc(DNNL_ARG_SRC), spec.src);
  const auto dst = format_of(*primitive->desc(DNNL_ARG_DST), spec.dst);
  if (!src || !dst) return std::nullopt;
  return Chosen{std::move(*primitive), *src, *dst};
}

/// Pictures with few channels are read as they come.
constexpr int64_t kPlainChannels = 4;

/// False for oneDNN's reference and for what it does with products of copied pixels.
bool is_direct(const Chosen& chosen) {
  const std::string& name = chosen.primitive.implementation;
  return is_generated(name) && name.find("gemm") == std::string::npos;
}

std::optional<Chosen> with_generated_code(const ConvolutionSpec& spec) {
  auto chosen = with_known_formats(make_convolution(spec), spec);
  if (chosen && !is_direct(*chosen)) return std::nullopt;
  return chosen;
}

/// Channels beyond those of the tensor fill the last block. Infinities make them NaN where they are
/// computed, and a convolution that reads them spoils all of its results.
bool pads_channels(Format format, const TensorSpec& spec) {
  return is_blocked(format) && spec.shape[1] % block_of(format) != 0;
}

/// Blocked formats where oneDNN has generated code for them, then its own choice; when it wants
/// formats that nobody else has, blocked and plain ones in any implementation. Depthwise ones are
/// as fast on channels that lie last, as behind int8 products (`home`).
Result<Chosen> choose(PlanBuilder& builder, ConvolutionSpec spec, Format home) {
  const auto may_take = [&](const std::optional<Chosen>& chosen) {
    if (!chosen || builder.options().non_finite != NonFinite::Kept) return chosen.has_value();
    return !pads_channels(chosen->src, spec.src) && !pads_channels(chosen->dst, spec.dst);
  };
  if (home == Format::ChannelsLast && spec.groups > 1 && spec.groups == spec.src.shape[1]) {
    ConvolutionSpec last = spec;
    last.src_format = home;
    last.dst_format = home;
    if (auto chosen = with_generated_code(last); may_take(chosen)) return std::move(*chosen);
  }
  if (spec.src.type == ElementType::Float32 && !builder.options().preferred_formats) {
    // oneDNN's first choice is channels-last; blocked kernels are as fast, and concatenations and
    // splits of channels then cost nothing.
    ConvolutionSpec blocked = spec;
    blocked.dst_format = builder.options().blocked;
    // Generated code for sources of few channels reads them as they come.
    std::vector<Format> src_formats = {builder.options().blocked};
    if (spec.src.shape[1] < block_of(builder.options().blocked)) {
      src_formats.insert(src_formats.begin() + (spec.src.shape[1] <= kPlainChannels ? 0 : 1),
                         Format::Plain);
    }
    for (const Format src : src_formats) {
      blocked.src_format = src;
      if (auto chosen = with_generated_code(blocked); may_take(chosen)) return std::move(*chosen);
    }
  }
  if (auto chosen = with_known_formats(make_convolution(spec), spec); may_take(chosen)) {
    return std::move(*chosen);
  }
  for (const Format format : {builder.options().blocked, Format::Plain}) {
    spec.src_format = format;
    spec.dst_format = format;
    if (auto chosen = with_known_formats(make_convolution(spec), spec); may_take(chosen)) {
      return std::move(*chosen);
    }
  }
  Result<Primitive> last = make_convolution(spec);
  if (!last) return tl::unexpected(last.error());
  return error(StatusCode::NotSupported, "oneDNN has no convolution for {} -> {}",
               to_string(spec.src), to_string(spec.dst));
}

/// So many groups of a convolution are computed as one, for groups of fewer channels than a block,
/// of which oneDNN has no generated code; 1 where that cannot be.
int64_t groups_to_join(const ConvolutionSpec& spec) {
  constexpr int64_t kBlock = 16;
  if (spec.transposed || spec.groups <= 1) return 1;
  const int64_t channels = std::max(spec.weights[1], spec.weights[0] / spec.groups);
  int64_t joined = 1;
  for (int64_t r = 2; r * channels <= kBlock; ++r) {
    if (spec.groups % r == 0) joined = r;
  }
  return joined;
}

ConvolutionSpec with_joined_groups(ConvolutionSpec spec, int64_t joined) {
  spec.groups /= joined;
  spec.weights[1] *= joined;
  return spec;
}

/// The weights [oc,ic/groups,...] with zeros for the channels of the other groups that are joined.
Result<Tensor> joined_weights(const Tensor& weights, int64_t groups, int64_t joined) {
  Shape shape = weights.shape();
  const int64_t outputs = shape[0] / groups;
  const int64_t row = element_count(shape) / std::max<int64_t>(shape[0], 1);
  shape[1] *= joined;
  HET_ASSIGN(Tensor wide, Tensor::allocate({ElementType::Float32, shape}));
  const auto from = weights.values<float>();
  const auto to = wide.values<float>();
  std::ranges::fill(to, 0.0f);
  for (int64_t o = 0; o < shape[0]; ++o) {
    const int64_t place = o * row * joined + o / outputs % joined * row;
    std::copy_n(from.begin() + o * row, row, to.begin() + place);
  }
  return wide;
}

Status fill_window(const Node& node, ConvolutionSpec& spec) {
  if (spec.transposed) {
    HET_ASSIGN(const ConvTransposeAttributes attributes,
               conv_transpose_attributes(node, spec.src.shape, spec.weights));
    spec.groups = attributes.group;
    spec.strides = attributes.strides;
    spec.dilations = attributes.dilations;
    spec.pads_begin = attributes.pads_begin;
    spec.pads_end = attributes.pads_end;
    return {};
  }
  HET_ASSIGN(const ConvAttributes attributes, conv_attributes(node, spec.src.shape, spec.weights));
  spec.groups = attributes.group;
  spec.strides = attributes.strides;
  spec.dilations = attributes.dilations;
  spec.pads_begin = attributes.pads_begin;
  spec.pads_end = attributes.pads_end;
  return {};
}

constexpr std::string_view kDirect = "direct";

/// `type` is that of the direct algorithm.
std::string choice_key_of(const WinogradShape& shape, ElementType type) {
  return fmt::format("conv3x3 {} n:{} ic:{} {}x{} oc:{} {}x{} pad:{},{}{}", to_string(type),
                     shape.n, shape.ic, shape.ih, shape.iw, shape.oc, shape.oh, shape.ow,
                     shape.pad_top, shape.pad_left, shape.stride == 2 ? " s:2" : "");
}

std::optional<WinogradShape> ruled_winograd(const WinogradShape& shape, ElementType type) {
  return choose_winograd(shape, type == ElementType::BFloat16 ? bfloat16_speed() : 1.0);
}

/// Where direct convolutions of this type have their values: blocks, or channels last.
Format usual_format(const PlanOptions& options, ElementType type) {
  return type == ElementType::BFloat16 ? Format::ChannelsLast : options.blocked;
}

/// The convolution as a Winograd one where that may be, whichever variant is faster.
std::optional<WinogradShape> allowed_winograd(const PlanOptions& options,
                                              const ConvolutionSpec& spec) {
  // What is rounded to levels depends on the order in which products are added.
  if (!options.fast_algorithms || options.preferred_formats) return std::nullopt;
  if (options.non_finite == NonFinite::Kept) return std::nullopt;
  return winograd_shape(spec, block_of(options.blocked));
}

/// The measured variant, else that of the fixed rule; nothing for the direct algorithm.
std::optional<WinogradShape> chosen_winograd(const PlanBuilder& builder, const WinogradShape& shape,
                                             ElementType type) {
  const std::optional<std::string> choice = builder.choice(choice_key_of(shape, type));
  if (choice == kDirect) return std::nullopt;
  for (const WinogradShape& variant : winograd_variants(shape)) {
    if (choice == winograd_name(variant)) return variant;
  }
  return ruled_winograd(shape, type);
}

/// A source is read as it lies where that can be; results lie where direct convolutions have
/// theirs.
void choose_winograd_formats(PlanBuilder& builder, const Value& src, ConvolutionSpec& spec) {
  const PlanOptions& options = builder.options();
  const TensorSpec& home = builder.home(src);
  const Format usual = usual_format(options, spec.weights_type);
  const bool is_read = (home.format == options.blocked || home.format == Format::ChannelsLast) &&
                       (home.type == ElementType::Float32 || home.type == spec.weights_type);
  spec.src_format = is_read ? home.format : usual;
  if (is_read) spec.src.type = home.type;
  spec.dst_format = usual;
}

/// True when the Winograd algorithm is faster, and planned.
Result<bool> plan_winograd(PlanBuilder& builder, const Node& node, ConvolutionSpec spec) {
  choose_winograd_formats(builder, *node.input(0), spec);
  std::optional<WinogradShape> shape = allowed_winograd(builder.options(), spec);
  if (shape) shape = chosen_winograd(builder, *shape, spec.weights_type);
  if (!shape) return false;
  const Value* bias = node.input(kTailBiasInput);
  HET_ASSIGN(auto kernel, make_winograd_kernel(*shape, node.input(1)->constant(),
                                               bias ? bias->constant() : Tensor(),
                                               tail_of(node.attributes()), builder.packing(node)));
  HET_TRY(add_summed_step(builder, node, node.input(kTailSumInput), std::move(kernel),
                          {*spec.src_format, spec.src.type}, {*spec.dst_format, spec.dst.type}));
  return true;
}

/// True when a 1x1 convolution in bfloat16 is planned as a product of our own, for a tail that
/// oneDNN takes long for.
Result<bool> plan_dense(PlanBuilder& builder, const Node& node, const ConvolutionSpec& spec) {
  // What is rounded to levels depends on the order in which products are added.
  if (builder.options().preferred_formats) return false;
  constexpr Format kFormat = Format::ChannelsLast;
  const auto tail = dense_tail(tail_of(node.attributes()));
  const auto shape = dense_shape(spec);
  if (!tail || !shape || !prefers_dense(*shape, *tail)) return false;
  const Value* bias = node.input(kTailBiasInput);
  HET_ASSIGN(auto kernel,
             make_dense_kernel(*shape, node.input(1)->constant(), 1, shape->k,
                               bias ? bias->constant() : Tensor(), *tail, builder.packing(node)));
  HET_TRY(add_summed_step(builder, node, node.input(kTailSumInput), std::move(kernel),
                          {kFormat, spec.src.type}, {kFormat, spec.dst.type}));
  return true;
}

/// True when a 1x1 convolution in float32 is planned as a product of our own.
Result<bool> plan_pointwise(PlanBuilder& builder, const Node& node, const ConvolutionSpec& spec) {
  const PlanOptions& options = builder.options();
  const auto shape = pointwise_shape(spec, block_of(options.blocked));
  // What is rounded to levels depends on the order in which products are added.
  if (!shape || options.preferred_formats || node.input(kTailSlopesInput) != nullptr ||
      shape->ic <= kPlainChannels || !prefers_pointwise(*shape)) {
    return false;
  }
  if (options.non_finite == NonFinite::Kept &&
      (pads_channels(options.blocked, spec.src) || pads_channels(options.blocked, spec.dst))) {
    return false;
  }
  const Value* bias = node.input(kTailBiasInput);
  HET_ASSIGN(auto kernel, make_pointwise_kernel(*shape, node.input(1)->constant(),
                                                bias ? bias->constant() : Tensor(),
                                                tail_of(node.attributes()), builder.packing(node)));
  if (kernel == nullptr) return false;
  const StepSide blocked{options.blocked, ElementType::Float32};
  HET_TRY(add_summed_step(builder, node, node.input(kTailSumInput), std::move(kernel), blocked,
                          blocked));
  return true;
}

/// Where our depthwise kernel reads a value: in blocks, unless its neighbours have the channels
/// last, as oneDNN's bfloat16 kernels do.
Format depthwise_format(PlanBuilder& builder, const Value& src, ElementType type) {
  const int64_t lanes = depthwise_lanes();
  if (type == ElementType::BFloat16 || builder.home(src).format == Format::ChannelsLast) {
    return Format::ChannelsLast;
  }
  // oneDNN's blocks are smaller than our vectors when it is kept from some instructions.
  const Format blocked = builder.options().blocked;
  return block_of(blocked) % lanes == 0 ? blocked : Format::Blocked16;
}

constexpr std::string_view kOneDnn = "onednn";
constexpr std::string_view kOwn = "own";

/// Activations count: they take as long as the sums, in either kernel.
std::string choice_key_of(const DepthwiseShape& shape, const std::vector<DepthwiseOp>& ops) {
  std::string key =
      fmt::format("depthwise {} n:{} c:{} {}x{} k:{}x{} s:{},{} d:{},{} {}x{} pad:{},{}",
                  to_string(shape.src), shape.n, shape.channels, shape.ih, shape.iw, shape.kh,
                  shape.kw, shape.stride_y, shape.stride_x, shape.dilation_y, shape.dilation_x,
                  shape.oh, shape.ow, shape.pad_top, shape.pad_left);
  for (const DepthwiseOp& op : ops) key += fmt::format(" op:{}", static_cast<int>(op.kind));
  return key;
}

/// True where our kernel was measured to be faster than oneDNN's, else by the fixed rule.
bool prefers_own(const PlanBuilder& builder, const DepthwiseShape& shape,
                 const std::vector<DepthwiseOp>& ops) {
  // What is rounded to levels depends on the order in which products are added.
  if (shape.src == ElementType::Float32 && builder.options().preferred_formats) return false;
  if (const auto choice = builder.choice(choice_key_of(shape, ops))) return choice == kOwn;
  return choose_depthwise(shape);
}

/// The shape as our kernel computes it in the fastest way that the plan allows.
std::optional<DepthwiseShape> own_depthwise_shape(const PlanOptions& options,
                                                  const ConvolutionSpec& spec, Format format) {
  auto shape = depthwise_shape(spec, format);
  if (!shape) return shape;
  shape->multiplies_pairs = options.non_finite != NonFinite::Kept && has_depthwise_pairs(*shape);
  return shape;
}

/// True when a depthwise kernel of our own is planned: for slopes per channel, where it is faster,
/// and with `onednn` where that has no generated code, as for large dilations.
Result<bool> plan_depthwise(PlanBuilder& builder, const Node& node, const ConvolutionSpec& spec,
                            const Chosen* onednn) {
  const Value* slopes = node.input(kTailSlopesInput);
  if (spec.src.shape.size() != 4 || node.output()->desc().shape.size() != 4) return false;
  const Format format = depthwise_format(builder, *node.input(0), spec.src.type);
  const auto shape = own_depthwise_shape(builder.options(), spec, format);
  if (!shape) return false;
  auto ops = depthwise_ops(*shape, spec.post_ops);
  if (!ops) return false;
  if (slopes != nullptr) {
    HET_ASSIGN(const std::vector<float> values, to_float_vector(slopes->constant()));
    ops->push_back(
        {DepthwiseOp::Kind::PRelu, 0.0f, 0.0f, pack_depthwise(*shape, values.data(), 1)});
  } else if (onednn != nullptr) {
    if (is_direct(*onednn)) return false;
  } else if (!prefers_own(builder, *shape, *ops)) {
    return false;
  }
  const Value* bias = node.input(kTailBiasInput);
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), format, spec.src.type));
  const TensorId out =
      builder.write(*node.output(), {spec.dst.type, node.output()->desc().shape, format});
  builder.add_step(node,
                   make_depthwise_kernel(*shape, node.input(1)->constant(),
                                         bias ? bias->constant() : Tensor(), std::move(*ops)),
                   {in}, {out});
  return true;
}

/// In one type throughout. Nothing where oneDNN has no such convolution.
Result<std::optional<ConvolutionSpec>> convolution_spec(const Node& node, ElementType type) {
  const Value& src = *node.input(0);
  const Value& weights = *node.input(1);
  const Value* bias = node.input(kTailBiasInput);
  const Value& dst = *node.output();
  if (src.desc().type != ElementType::Float32 || !weights.is_constant() ||
      (bias != nullptr && !bias->is_constant())) {
    return std::optional<ConvolutionSpec>();
  }
  ConvolutionSpec spec;
  spec.transposed = node.op_type() == "ConvTranspose";
  spec.src = {type, src.desc().shape, Format::Plain};
  spec.dst = {type, dst.desc().shape, Format::Plain};
  spec.weights = weights.desc().shape;
  spec.weights_type = type;
  if (bias) spec.bias_type = ElementType::Float32;
  HET_TRY(fill_window(node, spec));
  spec.post_ops = post_ops_of(tail_of(node.attributes()));
  return std::optional(std::move(spec));
}

Result<MeasuredKernel> make_measured_direct(ConvolutionSpec spec, Format format,
                                            std::vector<PostOp> post_ops = {}) {
  spec.src_format = format;
  spec.dst_format = format;
  spec.post_ops = std::move(post_ops);
  spec.bias_type.reset();
  HET_ASSIGN(Primitive primitive, make_convolution(spec));
  HET_ASSIGN(const Tensor weights, weights_for_measuring(spec.weights));
  ConvolutionSpec plain = spec;
  plain.weights_type = ElementType::Float32;
  HET_ASSIGN(dnnl::memory packed,
             pack_constant(weights, plain_weights_desc(plain), *primitive.desc(DNNL_ARG_WEIGHTS)));
  using Source = PrimitiveOperand::Source;
  std::vector<PrimitiveOperand> operands = {
      {Source::Input, DNNL_ARG_SRC, 0, {}},
      {Source::Output, DNNL_ARG_DST, 0, {}},
      {Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)}};
  spec.src.format = format;
  spec.dst.format = format;
  return MeasuredKernel{
      make_primitive_kernel(std::move(primitive), std::move(operands)), {spec.src}, spec.dst};
}

Result<MeasuredKernel> make_measured_winograd(const WinogradShape& shape,
                                              const ConvolutionSpec& spec, Format format) {
  HET_ASSIGN(const Tensor weights, weights_for_measuring(spec.weights));
  HET_ASSIGN(auto kernel, make_winograd_kernel(shape, weights, {}, {}));
  return MeasuredKernel{std::move(kernel),
                        {{spec.src.type, spec.src.shape, format}},
                        {spec.dst.type, spec.dst.shape, format}};
}

Result<MeasuredKernel> make_measured_depthwise(const DepthwiseShape& shape,
                                               const std::vector<DepthwiseOp>& ops,
                                               const ConvolutionSpec& spec, Format format) {
  HET_ASSIGN(const Tensor weights, weights_for_measuring(spec.weights));
  return MeasuredKernel{make_depthwise_kernel(shape, weights, {}, ops),
                        {{spec.src.type, spec.src.shape, format}},
                        {spec.dst.type, spec.dst.shape, format}};
}

/// oneDNN's depthwise kernel or ours, for what may be either.
std::optional<LayerChoice> depthwise_choices(const Node& node, const ConvolutionSpec& spec,
                                             const PlanOptions& options) {
  if (options.preferred_formats || node.input(kTailSlopesInput) != nullptr ||
      !is_blocked(options.blocked)) {
    return std::nullopt;
  }
  const Format format = usual_format(options, spec.src.type);
  const auto shape = own_depthwise_shape(options, spec, format);
  if (!shape || shape->repeats > 1) return std::nullopt;
  const auto ops = depthwise_ops(*shape, spec.post_ops);
  if (!ops) return std::nullopt;
  // As they are planned: oneDNN's with a slow activation behind it.
  FusedTail tail = tail_of(node.attributes());
  const bool pads = spec.dst.shape[1] % block_of(options.blocked) != 0;
  const auto activation = slow_last_step(tail, pads);
  if (activation) tail.pop_back();
  LayerChoice layer;
  layer.key = choice_key_of(*shape, *ops);
  layer.work = static_cast<double>(shape->n * shape->channels * shape->oh) *
               static_cast<double>(shape->ow * shape->taps());
  layer.by_rule = choose_depthwise(*shape) ? kOwn : kOneDnn;
  layer.candidates = {
      {std::string(kOneDnn),
       [spec, format, tail, activation]() -> Result<MeasuredKernel> {
         HET_ASSIGN(MeasuredKernel direct, make_measured_direct(spec, format, post_ops_of(tail)));
         if (activation) {
           direct.kernel =
               make_activated_kernel(std::move(direct.kernel), *activation, direct.output);
         }
         return direct;
       }},
      {std::string(kOwn), [shape = *shape, ops = *ops, spec, format] {
         return make_measured_depthwise(shape, ops, spec, format);
       }}};
  return layer;
}

/// Direct or Winograd, for what may be either; whose kernel, for depthwise ones.
std::optional<LayerChoice> convolution_choices(const Node& node, const PlanOptions& options) {
  const auto found = convolution_spec(node, options.precision);
  if (!found || !*found) return std::nullopt;
  ConvolutionSpec spec = **found;
  const ElementType type = spec.weights_type;
  const Format format = usual_format(options, type);
  spec.src_format = format;
  spec.dst_format = format;
  const std::optional<WinogradShape> shape = allowed_winograd(options, spec);
  if (!shape) return depthwise_choices(node, **found, options);
  LayerChoice layer;
  layer.key = choice_key_of(*shape, type);
  layer.work = 9.0 * static_cast<double>(shape->n * shape->oh * shape->ow * shape->ic) *
               static_cast<double>(shape->oc);
  const auto ruled = ruled_winograd(*shape, type);
  layer.by_rule = ruled ? winograd_name(*ruled) : std::string(kDirect);
  const auto add = [&](std::string name, auto make) {
    layer.candidates.push_back({std::move(name), std::move(make)});
  };
  add(std::string(kDirect), [spec, format] { return make_measured_direct(spec, format); });
  for (const WinogradShape& variant : winograd_variants(*shape)) {
    add(winograd_name(variant),
        [variant, spec, format] { return make_measured_winograd(variant, spec, format); });
  }
  return layer;
}

Result<bool> plan_convolution(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& weights = *node.input(1);
  const Value* bias = node.input(kTailBiasInput);
  const Value* sum = node.input(kTailSumInput);
  const Value& dst = *node.output();
  HET_ASSIGN(std::optional<ConvolutionSpec> possible,
             convolution_spec(node, builder.options().precision));
  if (!possible) return false;
  ConvolutionSpec& spec = *possible;
  spec.dst.type = builder.kept_type(dst);
  HET_ASSIGN(const bool planned, plan_winograd(builder, node, spec));
  if (planned) return true;
  HET_ASSIGN(const bool dense, plan_dense(builder, node, spec));
  if (dense) return true;
  HET_ASSIGN(const bool pointwise, plan_pointwise(builder, node, spec));
  if (pointwise) return true;
  HET_ASSIGN(const bool own, plan_depthwise(builder, node, spec, nullptr));
  if (own) return true;
  if (node.input(kTailSlopesInput) != nullptr) {
    return error(StatusCode::Internal, "{}: no kernel takes slopes per channel for {} -> {}",
                 node.name(), to_string(spec.src), to_string(spec.dst));
  }
  if (spec.src.shape.size() == 3) add_height(spec);
  FusedTail tail = tail_of(node.attributes());
  std::optional<ElementwiseInstruction> activation;
  if (!builder.options().preferred_formats) {
    const bool pads = dst.desc().shape[1] % block_of(builder.options().blocked) != 0;
    activation = slow_last_step(tail, pads);
  }
  ConvolutionSpec onednn = spec;
  if (activation) {
    tail.pop_back();
    onednn.post_ops = post_ops_of(tail);
  }
  Result<Chosen> chosen = choose(builder, onednn, builder.home(src).format);
  if (!chosen) {
    if (node.op() != nullptr) return false;
    return tl::unexpected(chosen.error());
  }
  if (pads_channels(chosen->dst, spec.dst)) chosen->primitive.keeps_non_finite = false;
  HET_ASSIGN(const bool instead, plan_depthwise(builder, node, spec, &*chosen));
  if (instead) return true;
  int64_t joined = 1;
  // Zeros times what is not finite would reach other groups.
  if (!is_direct(*chosen) && builder.options().non_finite != NonFinite::Kept) {
    joined = groups_to_join(onednn);
  }
  if (joined > 1) {
    const ConvolutionSpec wide = with_joined_groups(onednn, joined);
    Result<Chosen> other = choose(builder, wide, builder.home(src).format);
    if (other && is_direct(*other)) {
      chosen = std::move(other);
      chosen->primitive.keeps_non_finite = false;
      onednn = wide;
    } else {
      joined = 1;
    }
  }

  std::vector<PrimitiveOperand> operands = {
      {PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
      {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}};
  ConvolutionSpec plain = onednn;
  plain.weights_type = ElementType::Float32;
  const NodePacking packing = builder.packing(node);
  Tensor content = weights.constant();
  // An imported model has them packed.
  if (joined > 1 && (packing.constants == nullptr || !packing.constants->replays())) {
    HET_ASSIGN(content, joined_weights(content, spec.groups, joined));
  }
  HET_ASSIGN(dnnl::memory packed, pack_constant(packing, content, plain_weights_desc(plain),
                                                *chosen->primitive.desc(DNNL_ARG_WEIGHTS)));
  operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)});
  if (bias) {
    const dnnl::memory::desc& wanted = *chosen->primitive.desc(DNNL_ARG_BIAS);
    HET_ASSIGN(dnnl::memory values, pack_constant(packing, bias->constant(), wanted, wanted));
    operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_BIAS, 0, std::move(values)});
  }
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(src, chosen->src, spec.src.type));
  std::optional<size_t> sum_input;
  if (sum) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*sum, chosen->dst, spec.dst.type));
    sum_input = 1;
  }
  const TensorId out = builder.write(dst, {spec.dst.type, dst.desc().shape, chosen->dst});
  auto kernel = make_primitive_kernel(std::move(chosen->primitive), std::move(operands), sum_input);
  if (activation) {
    kernel = make_activated_kernel(std::move(kernel), *activation, builder.tensor(out).spec);
  }
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (sum) {
    step.in_place = InPlace::Input;
    step.in_place_input = 1;
  }
  return true;
}

}  // namespace

HET_REGISTRATION void register_convolution(KernelRegistry& registry) {
  for (const char* domain : {"", "het"}) {
    registry.add(domain, "Conv", plan_convolution);
    registry.add(domain, "ConvTranspose", plan_convolution);
    registry.add_choices(domain, "Conv", convolution_choices);
  }
}

}  // namespace het::cpu
