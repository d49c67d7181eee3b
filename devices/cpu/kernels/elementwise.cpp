#include <algorithm>
#include <array>

#include "devices/cpu/kernels/typed_elementwise.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/moves/broadcast_walk.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/int8/byte_elementwise.h"

namespace het::cpu {
namespace {

/// Threads share blocks of so many values; below a few of them starting the
/// team costs about as much as the work.
constexpr int64_t kBlockValues = 512;
constexpr int64_t kGrainBlocks = 8;
/// Pixels of a block of channels from which on threads share them.
constexpr int64_t kFewestShared = 128;

/// Computes in float32; operands and results in bfloat16 and bytes are converted on the way.
class ElementwiseKernel final : public Kernel {
 public:
  /// `types`: those of the operands.
  ElementwiseKernel(const ByteElementwise& expression, std::vector<ElementType> types,
                    const TensorSpec& dst, BroadcastSpace space)
      : code_(make_elementwise_code(expression.program)),
        types_(std::move(types)),
        steps_(expression.operands),
        dst_type_(dst.type),
        dst_scale_{expression.result.scale, static_cast<float>(expression.result.zero),
                   dst.type == ElementType::Int8},
        space_(std::move(space)) {
    if (is_blocked(dst.format)) {
      block_ = block_of(dst.format);
      padded_from_ = dst.shape[1] % block_;
      blocks_ = (dst.shape[1] + block_ - 1) / block_;
      images_ = dst.shape[0];
      pixels_ = element_count(std::span(dst.shape).subspan(2));
      planes_ = images_ * blocks_;
    }
  }

  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (dst_type_ == ElementType::BFloat16) {
      run(args, reinterpret_cast<BFloat16*>(args.outputs[0]));
    } else if (dst_type_ != ElementType::Float32) {
      run(args, args.outputs[0]);
    } else {
      run(args, reinterpret_cast<float*>(args.outputs[0]));
    }
    return {};
  }

 private:
  template <class T>
  void run(const KernelArgs& args, T* dst) const {
    if (planes_ > 1 && pixels_ >= kFewestShared) {
      // Threads get the rows that they most likely wrote in the step before.
      const int64_t grain = kGrainBlocks * kBlockValues / (planes_ * block_) + 1;
      parallel_for(pixels_, grain, [&](int64_t begin, int64_t end) {
        run_part(args, begin * block_, end * block_, planes_, dst);
      });
    } else {
      const int64_t blocks = (space_.count + kBlockValues - 1) / kBlockValues;
      parallel_for(blocks, kGrainBlocks, [&](int64_t begin, int64_t end) {
        run_part(args, begin * kBlockValues, std::min(end * kBlockValues, space_.count), 1, dst);
      });
    }
    if (padded_from_ > 0) clear_padding(dst);
  }

  /// The values [first, end) of each plane.
  template <class T>
  void run_part(const KernelArgs& args, int64_t first, int64_t end, int64_t planes, T* dst) const {
    alignas(64) std::array<float, BroadcastReader::kCopied> copies[kMaxElementwiseRegisters];
    std::array<BroadcastReader, kMaxElementwiseRegisters> readers;
    std::array<ElementwiseSource, kMaxElementwiseRegisters> sources;
    for (size_t i = 0; i < code_.operands; ++i) {
      readers[i] = {space_, i, types_[i], args.inputs[i],
                    reinterpret_cast<std::byte*>(copies[i].data())};
    }
    const int64_t plane = space_.count / planes;
    // All of them lie one behind the other.
    if (end - first == plane) {
      end = space_.count;
      planes = 1;
    }
    for (int64_t p = 0; p < planes; ++p) {
      for (int64_t at = p * plane + first; at < p * plane + end;) {
        int64_t count = p * plane + end - at;
        for (size_t i = 0; i < code_.operands; ++i) {
          count = std::min(count, readers[i].extent(at));
        }
        for (size_t i = 0; i < code_.operands; ++i) {
          sources[i] = readers[i].read(at, count);
          sources[i].scale = steps_[i].scale;
          sources[i].zero = static_cast<float>(steps_[i].zero);
        }
        run_values(sources.data(), dst + at, static_cast<size_t>(count));
        at += count;
      }
    }
  }

  template <class T>
  void run_values(const ElementwiseSource* sources, T* dst, size_t count) const {
    run_elementwise(code_, sources, dst, count);
  }
  void run_values(const ElementwiseSource* sources, std::byte* dst, size_t count) const {
    run_elementwise(code_, sources, dst_scale_, dst, count);
  }

  /// Padded channels stay zero, whatever the expression makes of zero.
  template <class T>
  void clear_padding(T* dst) const {
    for (int64_t n = 0; n < images_; ++n) {
      T* last = dst + ((n + 1) * blocks_ - 1) * pixels_ * block_;
      for (int64_t i = 0; i < pixels_; ++i) {
        std::fill(last + i * block_ + padded_from_, last + (i + 1) * block_, T());
      }
    }
  }

  ElementwiseCode code_;
  std::vector<ElementType> types_;
  std::vector<ByteSteps> steps_;
  ElementType dst_type_;
  ByteScale dst_scale_;
  BroadcastSpace space_;
  int64_t padded_from_ = 0;  ///< first padded channel of the last block; 0: no padding
  int64_t block_ = 1;
  int64_t blocks_ = 1;
  int64_t images_ = 0;
  int64_t pixels_ = 0;
  int64_t planes_ = 1;  ///< blocks of channels
};

/// The format of the first operand that covers the whole output and is not plain. Rows of tokens
/// that came out of a convolution become plain where they meet plain ones: what normalises and
/// multiplies them wants them so.
Format choose_format(PlanBuilder& builder, const std::vector<Value*>& operands,
                     const Shape& shape) {
  if (shape.size() < 3) return Format::Plain;
  Format chosen = Format::Plain;
  for (const Value* operand : operands) {
    if (operand->is_constant() || operand->desc().shape != shape) continue;
    const Format format = builder.home(*operand).format;
    if (format == Format::Plain && shape.size() == 3) return format;
    if (chosen == Format::Plain) chosen = format;
  }
  return chosen;
}

/// As which the kernel takes an operand.
ElementType operand_type(PlanBuilder& builder, const Value& operand) {
  if (operand.desc().type != ElementType::Float32) return operand.desc().type;
  return builder.home(operand).type == ElementType::BFloat16 ? ElementType::BFloat16
                                                             : ElementType::Float32;
}

/// The step of a node that reads these operands.
Result<bool> add_elementwise(PlanBuilder& builder, const Node& node,
                             const ByteElementwise& expression,
                             const std::vector<Value*>& operands) {
  const ElementwiseProgram& program = expression.program;
  if (program.operands + program.instructions.size() > kMaxElementwiseRegisters) return false;
  const Shape& shape = node.output()->desc().shape;
  if (shape.size() > 12) return false;
  TensorSpec dst{builder.kept_type(*node.output()), shape, choose_format(builder, operands, shape)};
  const auto is_byte = [](const ByteSteps& steps) { return !steps.is_float(); };
  const bool has_bytes =
      is_byte(expression.result) || std::ranges::any_of(expression.operands, is_byte);
  // Quantised zero is not zero, so values in the padding of blocks would not stay 0.
  if (has_bytes && is_blocked(dst.format)) dst.format = Format::ChannelsLast;
  std::vector<TensorId> inputs;
  std::vector<std::vector<int64_t>> strides;
  std::optional<size_t> overwritten;
  for (const Value* operand : operands) {
    TensorSpec wanted{operand_type(builder, *operand), operand->desc().shape, Format::Plain};
    wanted.format = builder.home(*operand).format;
    if (wanted.type != builder.home(*operand).type || broadcast_strides(wanted, dst).empty()) {
      wanted.format = dst.format;
    }
    if (broadcast_strides(wanted, dst).empty() && !shape.empty()) {
      // A lower rank broadcast along channels of a blocked output: give it the
      // output's rank.
      Shape padded = wanted.shape;
      padded.insert(padded.begin(), shape.size() - padded.size(), 1);
      const TensorSpec source{ElementType::Float32, padded, Format::Plain};
      TensorSpec target = source;
      target.format = dst.format;
      if (!operand->is_constant()) {
        dst.format = Format::Plain;
        inputs.clear();
        break;
      }
      HET_ASSIGN(Tensor reshaped, operand->constant().reshaped(padded));
      HET_ASSIGN(Tensor content, convert_constant(reshaped, target));
      inputs.push_back(builder.constant(std::move(content), target));
      strides.push_back(broadcast_strides(target, dst));
      continue;
    }
    HET_ASSIGN(inputs.emplace_back(), builder.read(*operand, wanted.format, wanted.type));
    strides.push_back(broadcast_strides(wanted, dst));
    if (wanted == dst && !overwritten) overwritten = inputs.size() - 1;
  }
  if (inputs.size() != operands.size()) {
    overwritten.reset();
    strides.clear();
    for (const Value* operand : operands) {
      const TensorSpec plain{operand_type(builder, *operand), operand->desc().shape, Format::Plain};
      HET_ASSIGN(inputs.emplace_back(), builder.read(*operand, Format::Plain, plain.type));
      strides.push_back(broadcast_strides(plain, dst));
      if (plain == dst && !overwritten) overwritten = inputs.size() - 1;
    }
  }
  BroadcastSpace space = make_broadcast_space(dst, strides);
  std::vector<ElementType> types;
  for (const TensorId id : inputs) types.push_back(builder.tensor(id).spec.type);
  const TensorId out = builder.write(*node.output(), dst);
  Step& step = builder.add_step(
      node,
      std::make_unique<ElementwiseKernel>(expression, std::move(types), dst, std::move(space)),
      std::move(inputs), {out});
  if (overwritten) {
    step.in_place = InPlace::Input;
    step.in_place_input = *overwritten;
  }
  return true;
}

Result<bool> plan_elementwise(PlanBuilder& builder, const Node& node) {
  const std::optional<ElementwiseNode> found = elementwise_of(node);
  if (!found) return plan_typed_elementwise(builder, node);
  const std::vector<ByteSteps> floats(found->operands.size());
  return add_elementwise(builder, node, {found->program, floats, {}}, found->operands);
}

Result<bool> plan_byte_elementwise(PlanBuilder& builder, const Node& node) {
  const std::optional<ByteElementwise> found = byte_elementwise_of(node);
  if (!found) return false;
  return add_elementwise(builder, node, *found, node.inputs());
}

}  // namespace

HET_REGISTRATION void register_elementwise(KernelRegistry& registry) {
  for (const char* type :
       {"Add",   "Sub",       "Mul",   "Div",     "Max",      "Min",         "Pow",       "PRelu",
        "Relu",  "LeakyRelu", "Clip",  "Sigmoid", "Tanh",     "HardSigmoid", "HardSwish", "Swish",
        "Elu",   "Gelu",      "Exp",   "Log",     "Sqrt",     "Reciprocal",  "Abs",       "Neg",
        "Floor", "Ceil",      "Round", "Erf",     "Softplus", "Mish"}) {
    registry.add("", type, plan_elementwise);
  }
  for (const char* type : {"Elementwise", "Swish", "HardSwish"}) {
    registry.add("het", type, plan_elementwise);
  }
  registry.add("het", "ElementwiseBytes", plan_byte_elementwise);
}

}  // namespace het::cpu
