#include "devices/cpu/onednn/onednn.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>

#include "devices/cpu/formats/huge_pages.h"
#include "devices/cpu/onednn/blocked_layout.h"
#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/onednn/onednn_version.h"
#include "devices/cpu/threads/openmp_calls.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/log.h"
#include "inference/readers/mapped_file.h"

namespace het::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Tag = memory::format_tag;

memory::data_type data_type(ElementType type) {
  switch (type) {
    case ElementType::Float32:
      return memory::data_type::f32;
    case ElementType::Float16:
      return memory::data_type::f16;
    case ElementType::BFloat16:
      return memory::data_type::bf16;
    case ElementType::Int32:
      return memory::data_type::s32;
    case ElementType::Int8:
      return memory::data_type::s8;
    case ElementType::UInt8:
      return memory::data_type::u8;
    default:
      return memory::data_type::undef;
  }
}

/// A scalar is a vector of one for oneDNN.
memory::dims dims_of(const Shape& shape) {
  return shape.empty() ? memory::dims{1} : memory::dims(shape.begin(), shape.end());
}

Tag format_tag(Format format, size_t rank) {
  if (rank < 3) format = Format::Plain;
  switch (format) {
    case Format::ChannelsLast:
      return rank == 3 ? Tag::acb : rank == 4 ? Tag::acdb : rank == 5 ? Tag::acdeb : Tag::undef;
    case Format::Blocked8:
      return rank == 3   ? Tag::aBc8b
             : rank == 4 ? Tag::aBcd8b
             : rank == 5 ? Tag::aBcde8b
                         : Tag::undef;
    case Format::Blocked16:
      return rank == 3   ? Tag::aBc16b
             : rank == 4 ? Tag::aBcd16b
             : rank == 5 ? Tag::aBcde16b
                         : Tag::undef;
    case Format::Plain:
      break;
  }
  return Tag::undef;
}

memory::desc any_desc(const TensorSpec& spec) {
  return memory::desc(dims_of(spec.shape), data_type(spec.type), Tag::any);
}

memory::desc wanted_desc(const TensorSpec& spec, const std::optional<Format>& format) {
  if (!format) return any_desc(spec);
  TensorSpec fixed = spec;
  fixed.format = *format;
  return memory_desc(fixed);
}

Status append_post_op(dnnl::post_ops& ops, const PostOp& op) {
  const auto eltwise = [&](algorithm kind, float alpha, float beta) {
    onednn::append_eltwise(ops, kind, alpha, beta);
  };
  switch (op.kind) {
    case PostOp::Kind::Sum:
      ops.append_sum(op.alpha, static_cast<int32_t>(op.beta));
      return {};
    case PostOp::Kind::Relu:
      eltwise(algorithm::eltwise_relu, op.alpha, 0.0f);
      return {};
    case PostOp::Kind::Clip:
      eltwise(onednn::kClip, op.alpha, op.beta);
      return {};
    case PostOp::Kind::Linear:
      eltwise(algorithm::eltwise_linear, op.alpha, op.beta);
      return {};
    case PostOp::Kind::Sigmoid:
      eltwise(algorithm::eltwise_logistic, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Tanh:
      eltwise(algorithm::eltwise_tanh, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Swish:
      eltwise(algorithm::eltwise_swish, op.alpha, 0.0f);
      return {};
    case PostOp::Kind::HardSwish:
      eltwise(algorithm::eltwise_hardswish, 1.0f / 6.0f, 0.5f);
      return {};
    case PostOp::Kind::Elu:
      eltwise(algorithm::eltwise_elu, op.alpha, 0.0f);
      return {};
    case PostOp::Kind::GeluErf:
      eltwise(algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::GeluTanh:
      eltwise(algorithm::eltwise_gelu_tanh, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Exp:
      eltwise(algorithm::eltwise_exp, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Abs:
      eltwise(algorithm::eltwise_abs, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Sqrt:
      eltwise(algorithm::eltwise_sqrt, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Square:
      eltwise(algorithm::eltwise_square, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::SoftPlus:
      eltwise(algorithm::eltwise_soft_relu, 1.0f, 0.0f);
      return {};
    case PostOp::Kind::Mish:
      eltwise(algorithm::eltwise_mish, 0.0f, 0.0f);
      return {};
    case PostOp::Kind::Round:
      eltwise(algorithm::eltwise_round, 0.0f, 0.0f);
      return {};
  }
  return error(StatusCode::Internal, "unknown post-op {}", static_cast<int>(op.kind));
}

/// oneDNN counts what a dilation adds: 0 is dense.
memory::dims excess_dilations(const std::vector<int64_t>& dilations) {
  memory::dims dims(dilations.begin(), dilations.end());
  for (auto& d : dims) --d;
  return dims;
}

dnnl::primitive_attr plain_attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

struct ProductAttributes {
  dnnl::primitive_attr attr = plain_attributes();
  onednn::Constants constants;
};

/// `channels_mask` has the bits of the weights' dimensions that make up the channels.
Result<ProductAttributes> product_attributes(const std::vector<PostOp>& post_ops,
                                             const Quantisation& quantisation, int64_t channels,
                                             int channels_mask) {
  ProductAttributes made;
  if (!post_ops.empty()) {
    dnnl::post_ops ops;
    for (const PostOp& op : post_ops) HET_TRY(append_post_op(ops, op));
    made.attr.set_post_ops(ops);
  }
  if (quantisation.scales.empty()) return made;
  if (quantisation.scales.size() != 1 &&
      static_cast<int64_t>(quantisation.scales.size()) != channels) {
    return error(StatusCode::Internal, "{} scales for {} channels", quantisation.scales.size(),
                 channels);
  }
  made.constants = onednn::set_quantisation(made.attr, quantisation, channels_mask);
  return made;
}

Primitive finished(const dnnl::primitive_desc_base& desc) {
  Primitive result;
  result.primitive = dnnl::primitive(desc.get());
  result.implementation = desc.impl_info_str();
  result.scratch_bytes = desc.scratchpad_desc().get_size();
  if (result.scratch_bytes > 0) {
    result.descs.emplace_back(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  }
  result.descs.emplace_back(DNNL_ARG_SRC, desc.src_desc(0));
  result.descs.emplace_back(DNNL_ARG_DST, desc.dst_desc(0));
  return result;
}

/// A convolution or a matrix product for which no code has been generated yet.
struct Product {
  dnnl::primitive_desc desc;
  onednn::Constants constants;
  bool bias = false;
};

Primitive finished(Product product) {
  Primitive result = finished(product.desc);
  result.descs.emplace_back(DNNL_ARG_WEIGHTS, product.desc.weights_desc(0));
  if (product.bias) result.descs.emplace_back(DNNL_ARG_BIAS, product.desc.weights_desc(1));
  result.constants = std::move(product.constants);
  return result;
}

Primitive with_post_ops(Primitive made, ElementType src, const std::vector<PostOp>& post_ops) {
  made.keeps_non_finite = !is_float(src) || keep_non_finite(post_ops);
  return made;
}

/// oneDNN reports what it cannot do by exceptions; none leaves this file.
template <class Make>
auto guarded(std::string_view what, const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const dnnl::error& failure) {
    return error(StatusCode::NotSupported, "oneDNN cannot make this {}: {}", what, failure.what());
  }
}

memory::desc weights_desc(const ConvolutionSpec& spec, bool any) {
  // oneDNN wants [groups,] OC, IC, kernel...; a transposed convolution of ONNX stores IC, OC.
  const bool grouped = spec.groups > 1;
  memory::dims dims;
  if (grouped) dims.push_back(spec.groups);
  const int64_t first = spec.weights[0];
  const int64_t second = spec.weights[1];
  const int64_t oc = spec.transposed ? second : first / spec.groups;
  const int64_t ic = spec.transposed ? first / spec.groups : second;
  dims.push_back(oc);
  dims.push_back(ic);
  for (size_t i = 2; i < spec.weights.size(); ++i) dims.push_back(spec.weights[i]);
  const memory::data_type type = data_type(spec.weights_type);
  if (any) return memory::desc(dims, type, Tag::any);
  int64_t kernel = 1;
  for (size_t i = 2; i < spec.weights.size(); ++i) kernel *= spec.weights[i];
  memory::dims strides;
  if (grouped) strides.push_back(oc * ic * kernel);
  strides.push_back(spec.transposed ? kernel : ic * kernel);
  strides.push_back(spec.transposed ? oc * kernel : kernel);
  for (size_t i = 2; i < spec.weights.size(); ++i) {
    kernel /= spec.weights[i];
    strides.push_back(kernel);
  }
  return memory::desc(dims, type, strides);
}

/// A convolution of bytes with 3 or 4 channels and windows of more than a pixel, but no patches.
bool is_over_pictures(const ConvolutionSpec& spec) {
  constexpr int64_t kLargestWindow = 7;
  const auto window = std::span(spec.weights).subspan(2);
  const int64_t channels = spec.src.shape[1];
  return spec.weights_type == ElementType::Int8 && !spec.transposed && spec.groups == 1 &&
         (channels == 3 || channels == 4) && std::ranges::max(window) > 1 &&
         std::ranges::max(window) <= kLargestWindow;
}

/// Both kinds have the same constructors.
template <class Primary>
Product describe_convolution(const ConvolutionSpec& spec, algorithm kind,
                             ProductAttributes attributes) {
  const memory::desc src = wanted_desc(spec.src, spec.src_format);
  const memory::desc dst = wanted_desc(spec.dst, spec.dst_format);
  const memory::desc weights = weights_desc(spec, true);
  const memory::dims strides(spec.strides.begin(), spec.strides.end());
  const memory::dims dilations = excess_dilations(spec.dilations);
  const memory::dims begin(spec.pads_begin.begin(), spec.pads_begin.end());
  const memory::dims end(spec.pads_end.begin(), spec.pads_end.end());
  memory::desc bias;
  if (spec.bias_type) {
    bias = memory::desc({spec.dst.shape[1]}, data_type(*spec.bias_type), Tag::a);
  }
  return {onednn::describe_convolution<Primary>(is_over_pictures(spec), attributes.attr,
                                                dnnl::prop_kind::forward_inference, kind, src,
                                                weights, bias, dst, strides, dilations, begin, end),
          std::move(attributes.constants), spec.bias_type.has_value()};
}

Result<Product> describe(const ConvolutionSpec& spec) {
  return guarded("convolution", [&]() -> Result<Product> {
    const int channels_mask = spec.groups > 1 ? 3 : 1;  // groups and their output channels
    HET_ASSIGN(ProductAttributes attributes, product_attributes(spec.post_ops, spec.quantisation,
                                                                spec.dst.shape[1], channels_mask));
    if (spec.transposed) {
      return describe_convolution<dnnl::deconvolution_forward>(
          spec, algorithm::deconvolution_direct, std::move(attributes));
    }
    return describe_convolution<dnnl::convolution_forward>(spec, algorithm::convolution_direct,
                                                           std::move(attributes));
  });
}

}  // namespace

const memory::desc* Primitive::desc(int argument) const {
  for (const auto& [key, value] : descs) {
    if (key == argument) return &value;
  }
  return nullptr;
}

bool onednn_runs_on_teams() {
  static const bool done = [] {
    const bool on_teams = run_regions_on_teams(reinterpret_cast<const void*>(&dnnl_version));
    if (!on_teams) {
      log(LogLevel::Warning,
          "this oneDNN was not built with GNU OpenMP: it has threads of its own beside device "
          "CPU's");
    }
    return on_teams;
  }();
  return done;
}

const dnnl::engine& cpu_engine() {
  // Never destroyed: compiled models may outlive the end of main().
  static const auto* const engine = [] {
    (void)onednn_runs_on_teams();
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

memory::desc memory_desc(const TensorSpec& spec) {
  const Tag tag = format_tag(spec.format, spec.shape.size());
  const memory::dims dims = dims_of(spec.shape);
  if (tag != Tag::undef) return memory::desc(dims, data_type(spec.type), tag);
  const std::vector<int64_t> strides = row_major_strides(Shape(dims.begin(), dims.end()));
  return memory::desc(dims, data_type(spec.type), memory::dims(strides.begin(), strides.end()));
}

std::optional<Format> format_of(const memory::desc& desc, const TensorSpec& spec) {
  for (const Format format :
       {Format::Plain, Format::Blocked16, Format::ChannelsLast, Format::Blocked8}) {
    TensorSpec candidate = spec;
    candidate.format = format;
    if (spec.shape.size() < 3 && format != Format::Plain) continue;
    if (memory_desc(candidate) == desc) return format;
  }
  return std::nullopt;
}

void add_height(ConvolutionSpec& spec) {
  const auto insert = [](std::vector<int64_t>& list, int64_t value) {
    list.insert(list.begin(), value);
  };
  insert(spec.strides, 1);
  insert(spec.dilations, 1);
  insert(spec.pads_begin, 0);
  insert(spec.pads_end, 0);
  spec.weights.insert(spec.weights.begin() + 2, 1);
  spec.src.shape.insert(spec.src.shape.begin() + 2, 1);
  spec.dst.shape.insert(spec.dst.shape.begin() + 2, 1);
}

Result<Primitive> make_convolution(const ConvolutionSpec& spec) {
  HET_ASSIGN(Product product, describe(spec));
  return guarded("convolution", [&]() -> Result<Primitive> {
    return with_post_ops(finished(std::move(product)), spec.src.type, spec.post_ops);
  });
}

Result<std::string> convolution_implementation(const ConvolutionSpec& spec) {
  HET_ASSIGN(const Product product, describe(spec));
  return std::string(product.desc.impl_info_str());
}

memory::desc plain_weights_desc(const ConvolutionSpec& spec) {
  return weights_desc(spec, false);
}

Result<Primitive> make_pooling(const PoolingSpec& spec) {
  return guarded("pooling", [&]() -> Result<Primitive> {
    const algorithm kind = spec.kind == PoolingSpec::Kind::Max ? algorithm::pooling_max
                           : spec.kind == PoolingSpec::Kind::AverageIncludePadding
                               ? algorithm::pooling_avg_include_padding
                               : algorithm::pooling_avg_exclude_padding;
    const memory::dims kernel(spec.kernel.begin(), spec.kernel.end());
    const memory::dims strides(spec.strides.begin(), spec.strides.end());
    const memory::dims begin(spec.pads_begin.begin(), spec.pads_begin.end());
    const memory::dims end(spec.pads_end.begin(), spec.pads_end.end());
    return finished(onednn::describe_pooling(plain_attributes(), kind, memory_desc(spec.src),
                                             memory_desc(spec.dst), strides, kernel,
                                             excess_dilations(spec.dilations), begin, end));
  });
}

namespace {

memory::desc matrix_desc(const TensorSpec& spec, bool transposed) {
  const memory::dims dims = dims_of(spec.shape);
  std::vector<int64_t> strides = row_major_strides(spec.shape);
  if (transposed) {
    const size_t rank = spec.shape.size();
    strides[rank - 1] = spec.shape[rank - 2];
    strides[rank - 2] = 1;
  }
  return memory::desc(dims, data_type(spec.type), memory::dims(strides.begin(), strides.end()));
}

}  // namespace

namespace {

Result<Product> describe(const MatMulSpec& spec) {
  return guarded("matrix product", [&]() -> Result<Product> {
    const int channels_mask = 1 << (spec.weights.shape.size() - 1);
    HET_ASSIGN(
        ProductAttributes attributes,
        product_attributes(spec.post_ops, spec.quantisation, spec.dst.shape.back(), channels_mask));
    const memory::desc src = matrix_desc(spec.src, spec.src_transposed);
    const memory::desc weights = spec.weights_packed
                                     ? any_desc(spec.weights)
                                     : matrix_desc(spec.weights, spec.weights_transposed);
    const memory::desc dst = matrix_desc(spec.dst, false);
    memory::desc bias;
    if (spec.bias_type) {
      TensorSpec bias_spec{*spec.bias_type, spec.bias, Format::Plain};
      bias = matrix_desc(bias_spec, false);
    }
    return Product{onednn::describe<dnnl::matmul>(attributes.attr, src, weights, bias, dst),
                   std::move(attributes.constants), spec.bias_type.has_value()};
  });
}

}  // namespace

Result<Primitive> make_matmul(const MatMulSpec& spec) {
  HET_ASSIGN(Product product, describe(spec));
  return guarded("matrix product", [&]() -> Result<Primitive> {
    return with_post_ops(finished(std::move(product)), spec.src.type, spec.post_ops);
  });
}

Result<std::string> matmul_implementation(const MatMulSpec& spec) {
  HET_ASSIGN(const Product product, describe(spec));
  return std::string(product.desc.impl_info_str());
}

memory::desc plain_weights_desc(const MatMulSpec& spec) {
  return matrix_desc(spec.weights, spec.weights_transposed);
}

Result<Primitive> make_softmax(const TensorSpec& spec, int64_t axis, bool logarithm) {
  return guarded("softmax", [&]() -> Result<Primitive> {
    const memory::desc both = memory_desc(spec);
    const algorithm kind = logarithm ? algorithm::softmax_log : algorithm::softmax_accurate;
    return finished(onednn::describe<onednn::Softmax>(plain_attributes(),
                                                      dnnl::prop_kind::forward_inference, kind,
                                                      both, both, static_cast<int>(axis)));
  });
}

Result<Primitive> make_reorder(const TensorSpec& src, const TensorSpec& dst) {
  return guarded("reorder", [&]() -> Result<Primitive> {
    return finished(dnnl::reorder::primitive_desc(cpu_engine(), memory_desc(src), cpu_engine(),
                                                  memory_desc(dst), plain_attributes()));
  });
}

Result<Tensor> bias_of_sums(const Tensor& sums, const Quantisation& quantisation) {
  return onednn::bias_of_sums(sums, quantisation.scales);
}

namespace {

/// Constants up to here are packed by pack_blocked(): oneDNN would generate code for each shape,
/// which takes longer, and keep it.
constexpr size_t kOwnPackingBytes = size_t{256} << 10;

/// True when it was a case for pack_blocked().
bool pack_small(const Tensor& plain, const memory::desc& plain_desc, const memory::desc& wanted,
                memory& dst) {
  if (wanted.get_size() > kOwnPackingBytes) return false;
  const std::optional<BlockedLayout> from = onednn::blocked_layout(plain_desc);
  const std::optional<BlockedLayout> to = onednn::blocked_layout(wanted);
  if (!from || !to || !from->blocks.empty() || from->padded != from->dims ||
      from->dims != to->dims) {
    return false;
  }
  pack_blocked(reinterpret_cast<const float*>(plain.bytes()), from->strides, *to,
               static_cast<float*>(dst.get_data_handle()));
  return true;
}

}  // namespace

Result<memory> pack_constant(const Tensor& plain, const memory::desc& plain_desc,
                             const memory::desc& wanted) {
  try {
    memory dst(wanted, cpu_engine());
    if (plain_desc == wanted) {
      std::memcpy(dst.get_data_handle(), plain.bytes(), wanted.get_size());
      return dst;
    }
    if (pack_small(plain, plain_desc, wanted, dst)) return dst;
    // The sums that oneDNN keeps behind bytes have gaps, which it leaves as they were; an exported
    // model must not hold what this process had there.
    if (onednn::data_type_of(wanted) == memory::data_type::s8) {
      std::memset(dst.get_data_handle(), 0, wanted.get_size());
    }
    prefer_huge_pages(dst.get_data_handle(), wanted.get_size());
    std::optional<AloneScope> alone;
    if (wanted.get_size() < kSharedPackingBytes) alone.emplace();
    memory src(plain_desc, cpu_engine(), plain.bytes());
    dnnl::stream stream(cpu_engine());
    dnnl::reorder(src, dst).execute(stream, src, dst);
    stream.wait();
    // The model has it still, but only another compilation would look at it.
    release_file_pages({plain.bytes(), plain.size_bytes()});
    return dst;
  } catch (const dnnl::error& failure) {
    return error(StatusCode::Internal, "oneDNN cannot pack a constant of {}: {}",
                 het::to_string(plain.desc()), failure.what());
  }
}

Result<memory> pack_constant(const NodePacking& packing, const Tensor& plain,
                             const memory::desc& plain_desc, const memory::desc& wanted) {
  HET_ASSIGN(const std::byte* const ready, packing.ready(wanted.get_size()));
  if (ready != nullptr) {
    // Only read; the plan keeps it.
    return memory(wanted, cpu_engine(), const_cast<std::byte*>(ready));
  }
  HET_ASSIGN(memory made, pack_constant(plain, plain_desc, wanted));
  packing.note({static_cast<const std::byte*>(made.get_data_handle()), wanted.get_size()});
  return made;
}

namespace {

/// Memory objects and the argument list of one request, bound to pointers.
struct PrimitiveState final : KernelState {
  struct Binding {
    memory object;
    void* address = nullptr;
    PrimitiveOperand::Source source;
    size_t index = 0;
    bool scratch = false;
  };
  std::vector<Binding> bindings;
  std::vector<dnnl_exec_arg_t> arguments;
  dnnl::stream stream;
};

class PrimitiveKernel final : public Kernel {
 public:
  PrimitiveKernel(Primitive primitive, std::vector<PrimitiveOperand> operands,
                  std::optional<size_t> sum_input)
      : primitive_(std::move(primitive)), operands_(std::move(operands)), sum_input_(sum_input) {
    if (const memory::desc* dst = primitive_.desc(DNNL_ARG_DST)) dst_bytes_ = dst->get_size();
    // A desc is as large as a small constant; those of constants are not asked for any more.
    for (const PrimitiveOperand& operand : operands_) {
      if (operand.source != PrimitiveOperand::Source::Constant) continue;
      std::erase_if(primitive_.descs,
                    [&](const auto& desc) { return desc.first == operand.argument; });
    }
    primitive_.descs.shrink_to_fit();
  }

  std::string_view implementation() const override { return primitive_.implementation; }
  size_t scratch_bytes() const override { return primitive_.scratch_bytes; }
  bool keeps_non_finite() const override { return primitive_.keeps_non_finite; }

  Result<std::unique_ptr<KernelState>> create_state() const override {
    try {
      auto state = std::make_unique<PrimitiveState>();
      state->stream = dnnl::stream(cpu_engine());
      for (const PrimitiveOperand& operand : operands_) {
        PrimitiveState::Binding binding;
        binding.source = operand.source;
        binding.index = operand.index;
        binding.object =
            operand.source == PrimitiveOperand::Source::Constant
                ? operand.constant
                : memory(*primitive_.desc(operand.argument), cpu_engine(), DNNL_MEMORY_NONE);
        state->arguments.push_back({operand.argument, binding.object.get()});
        state->bindings.push_back(std::move(binding));
      }
      if (const memory::desc* scratch = primitive_.desc(DNNL_ARG_SCRATCHPAD)) {
        PrimitiveState::Binding binding;
        binding.scratch = true;
        binding.source = PrimitiveOperand::Source::Input;
        binding.object = memory(*scratch, cpu_engine(), DNNL_MEMORY_NONE);
        state->arguments.push_back({DNNL_ARG_SCRATCHPAD, binding.object.get()});
        state->bindings.push_back(std::move(binding));
      }
      for (const auto& [argument, constant] : primitive_.constants) {
        state->arguments.push_back({argument, constant.get()});
      }
      return std::unique_ptr<KernelState>(std::move(state));
    } catch (const dnnl::error& failure) {
      return error(StatusCode::OutOfMemory,
                   "oneDNN cannot make the memory objects of a request: {}", failure.what());
    }
  }

  Status execute(const KernelArgs& args, KernelState* kernel_state) const override {
    auto& state = static_cast<PrimitiveState&>(*kernel_state);
    if (sum_input_ && args.inputs[*sum_input_] != args.outputs[0]) {
      const std::byte* from = args.inputs[*sum_input_];
      std::byte* to = args.outputs[0];
      parallel_for(static_cast<int64_t>(dst_bytes_), 1 << 16, [&](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      });
    }
    for (PrimitiveState::Binding& binding : state.bindings) {
      void* address = nullptr;
      if (binding.scratch) {
        address = args.scratch;
      } else if (binding.source == PrimitiveOperand::Source::Input) {
        address = args.inputs[binding.index];
      } else if (binding.source == PrimitiveOperand::Source::Output) {
        address = args.outputs[binding.index];
      } else {
        continue;
      }
      if (address == binding.address) continue;
      // Costs a pass over the padding, so only when the memory has changed.
      if (dnnl_memory_set_data_handle(binding.object.get(), address) != dnnl_success) {
        return error(StatusCode::Internal, "oneDNN refused the memory of an operand");
      }
      binding.address = address;
    }
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.primitive.get(), state.stream.get(),
                               static_cast<int>(state.arguments.size()), state.arguments.data());
    if (status != dnnl_success) {
      return error(StatusCode::Internal, "oneDNN primitive {} failed with status {}",
                   primitive_.implementation, static_cast<int>(status));
    }
    return {};
  }

 private:
  Primitive primitive_;
  std::vector<PrimitiveOperand> operands_;
  std::optional<size_t> sum_input_;
  size_t dst_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_primitive_kernel(Primitive primitive,
                                              std::vector<PrimitiveOperand> operands,
                                              std::optional<size_t> sum_input) {
  return std::make_unique<PrimitiveKernel>(std::move(primitive), std::move(operands), sum_input);
}

bool has_bfloat16() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
}

bool has_bfloat16_arithmetic() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_bf16;
}

double bfloat16_speed() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (isa >= dnnl::cpu_isa::avx512_core_amx) return 16.0;
  // Without instructions for it values are widened.
  return isa >= dnnl::cpu_isa::avx512_core_bf16 ? 2.0 : 1.0;
}

std::string onednn_description() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{} {} isa {:#x}", version.major, version.minor, version.patch,
                     version.hash, static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

bool has_exact_int8() {
  return onednn::has_vnni(dnnl::get_effective_cpu_isa());
}

Format preferred_blocked_format() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? Format::Blocked16
                                                                     : Format::Blocked8;
}

}  // namespace het::cpu
