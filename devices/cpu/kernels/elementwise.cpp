#include <algorithm>
#include <array>
#include <type_traits>

#include "devices/cpu/kernels/typed_elementwise.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/half_loops.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/passes/fusions/elementwise_program.h"

namespace het::cpu {
namespace {

/// Chunks below this many values stay on one thread: starting the team costs about as much.
constexpr int64_t kGrainChunks = 16;

/// How an operand is walked beside the output's memory, outermost dimension first. Repeated: rows
/// along the last dimension come again and again along the one before it, as those of one value per
/// channel do in blocks and with the channels last. Filled: one value along the last dimension.
struct Walk {
  enum class Kind : uint8_t { Same, Scalar, Strided, Repeated, Filled } kind = Kind::Same;
  std::vector<int64_t> strides;
};

/// Output memory as nested loops shared by all operands; neighbouring dimensions that all walk
/// alike are merged.
struct Space {
  std::vector<int64_t> dims;
  std::vector<Walk> walks;
  int64_t count = 1;
};

Space make_space(const TensorSpec& dst, const std::vector<std::vector<int64_t>>& strides) {
  const std::vector<int64_t> dims = physical_dims(dst);
  Space space;
  space.walks.resize(strides.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    space.count *= dims[d];
    if (dims[d] == 1) continue;
    bool merge = !space.dims.empty();
    for (size_t i = 0; merge && i < strides.size(); ++i) {
      merge = space.walks[i].strides.back() == strides[i][d] * dims[d];
    }
    if (merge) {
      space.dims.back() *= dims[d];
      for (size_t i = 0; i < strides.size(); ++i) space.walks[i].strides.back() = strides[i][d];
    } else {
      space.dims.push_back(dims[d]);
      for (size_t i = 0; i < strides.size(); ++i) space.walks[i].strides.push_back(strides[i][d]);
    }
  }
  if (space.dims.empty()) {
    space.dims.push_back(1);
    for (Walk& walk : space.walks) walk.strides.push_back(0);
  }
  const std::vector<int64_t> dense = row_major_strides(space.dims);
  for (Walk& walk : space.walks) {
    const bool scalar =
        std::all_of(walk.strides.begin(), walk.strides.end(), [](int64_t s) { return s == 0; });
    const size_t rank = space.dims.size();
    const bool repeated = rank >= 2 && walk.strides[rank - 1] == 1 && walk.strides[rank - 2] == 0;
    walk.kind = scalar                     ? Walk::Kind::Scalar
                : walk.strides == dense    ? Walk::Kind::Same
                : repeated                 ? Walk::Kind::Repeated
                : walk.strides.back() == 0 ? Walk::Kind::Filled
                                           : Walk::Kind::Strided;
  }
  return space;
}

void load_row(const float* src, int64_t count, float* dst) {
  std::copy_n(src, count, dst);
}

void load_row(const BFloat16* src, int64_t count, float* dst) {
  bfloat16_to_float_row(src, static_cast<size_t>(count), dst);
}

/// Makes `times` copies of the `count` values at `dst`, the first one included, behind one another.
void repeat_row(float* dst, int64_t count, int64_t times) {
  for (int64_t made = 1; made < times; made *= 2) {
    std::copy_n(dst, count * std::min(made, times - made), dst + count * made);
  }
}

/// Copies `count` values that the operand shows from output position `begin` on.
template <class T>
void gather(const Space& space, const Walk& walk, const T* src, int64_t begin, int64_t count,
            float* dst) {
  std::array<int64_t, 16> position{};
  const size_t rank = space.dims.size();
  int64_t offset = 0;
  for (size_t d = rank; d-- > 0;) {
    position[d] = begin % space.dims[d];
    begin /= space.dims[d];
    offset += position[d] * walk.strides[d];
  }
  const int64_t inner = space.dims[rank - 1];
  const int64_t step = walk.strides[rank - 1];
  const bool repeats = rank >= 2 && walk.strides[rank - 2] == 0;
  while (count > 0) {
    const int64_t run = std::min(inner - position[rank - 1], count);
    if (step == 1) {
      load_row(src + offset, run, dst);
    } else if (step == 0) {
      std::fill_n(dst, run, static_cast<float>(src[offset]));
    } else {
      for (int64_t i = 0; i < run; ++i) dst[i] = src[offset + i * step];
    }
    if (repeats && run == inner) {  // whole rows: all but the last of them need no look at src
      const int64_t rows = std::min(space.dims[rank - 2] - position[rank - 2], count / inner);
      repeat_row(dst, inner, rows);
      position[rank - 2] += rows - 1;
      dst += inner * (rows - 1);
      count -= inner * (rows - 1);
    }
    dst += run;
    count -= run;
    offset += run * step;
    position[rank - 1] += run;
    for (size_t d = rank; d-- > 0 && position[d] == space.dims[d];) {
      offset -= position[d] * walk.strides[d];
      position[d] = 0;
      if (d == 0) return;
      ++position[d - 1];
      offset += walk.strides[d - 1];
    }
  }
}

/// Values of a chunk: whole rows where that many fit, so that every chunk repeats the same ones.
int64_t chunk_values(const Space& space) {
  constexpr auto kMost = static_cast<int64_t>(kElementwiseChunk);
  const bool repeats = std::ranges::any_of(
      space.walks, [](const Walk& walk) { return walk.kind == Walk::Kind::Repeated; });
  const int64_t row = space.dims.back();
  return repeats && row <= kMost ? kMost / row * row : kMost;
}

/// Computes in float32; operands and results in bfloat16 are converted chunk by chunk.
class ElementwiseKernel final : public Kernel {
 public:
  /// `types`: Float32 or BFloat16, of the operands.
  ElementwiseKernel(ElementwiseProgram program, std::vector<ElementType> types,
                    const TensorSpec& dst, Space space)
      : program_(std::move(program)),
        types_(std::move(types)),
        dst_type_(dst.type),
        space_(std::move(space)),
        chunk_(chunk_values(space_)) {
    const int64_t block = block_of(dst.format);
    if (block > 1 && dst.shape[1] % block != 0) {
      padded_from_ = dst.shape[1] % block;
      block_ = block;
      blocks_ = (dst.shape[1] + block - 1) / block;
      images_ = dst.shape[0];
      pixels_ = 1;
      for (size_t i = 2; i < dst.shape.size(); ++i) pixels_ *= dst.shape[i];
    }
  }

  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (dst_type_ == ElementType::BFloat16) {
      run(args, reinterpret_cast<BFloat16*>(args.outputs[0]));
    } else {
      run(args, reinterpret_cast<float*>(args.outputs[0]));
    }
    return {};
  }

 private:
  template <class T>
  void run(const KernelArgs& args, T* dst) const {
    const int64_t chunks = (space_.count + chunk_ - 1) / chunk_;
    parallel_for(chunks, kGrainChunks, [&](int64_t begin, int64_t end) {
      alignas(64) std::array<std::array<float, kElementwiseChunk>, kMaxElementwiseRegisters> copies;
      std::array<const float*, kMaxElementwiseRegisters> operands{};
      alignas(64) std::array<float, kElementwiseChunk> results;
      std::array<int64_t, kMaxElementwiseRegisters> repeated{};
      repeated.fill(-1);
      for (size_t i = 0; i < program_.operands; ++i) operands[i] = copies[i].data();
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t first = chunk * chunk_;
        const int64_t count = std::min(chunk_, space_.count - first);
        for (size_t i = 0; i < program_.operands; ++i) {
          if (types_[i] == ElementType::BFloat16) {
            load(i, reinterpret_cast<const BFloat16*>(args.inputs[i]), first, count,
                 copies[i].data(), repeated[i]);
            continue;
          }
          const auto* src = reinterpret_cast<const float*>(args.inputs[i]);
          if (space_.walks[i].kind == Walk::Kind::Same) {
            operands[i] = src + first;
          } else {
            load(i, src, first, count, copies[i].data(), repeated[i]);
          }
        }
        if constexpr (std::is_same_v<T, float>) {
          run_elementwise_chunk(program_, operands.data(), dst + first, static_cast<size_t>(count));
        } else {
          run_elementwise_chunk(program_, operands.data(), results.data(),
                                static_cast<size_t>(count));
          float_to_bfloat16_row(results.data(), static_cast<size_t>(count), dst + first);
        }
      }
    });
    if (padded_from_ > 0) clear_padding(dst);
  }

  /// The values of operand `i` for a chunk, as dense floats in `copy`.
  template <class T>
  void load(size_t i, const T* src, int64_t first, int64_t count, float* copy,
            int64_t& held) const {
    const Walk& walk = space_.walks[i];
    switch (walk.kind) {
      case Walk::Kind::Same:
        load_row(src + first, count, copy);
        break;
      case Walk::Kind::Scalar:
        if (held < 0) std::fill_n(copy, kElementwiseChunk, static_cast<float>(*src));
        held = 0;
        break;
      case Walk::Kind::Strided:
        gather(space_, walk, src, first, count, copy);
        break;
      case Walk::Kind::Repeated:
      case Walk::Kind::Filled:
        repeat(walk, src, first, count, copy, held);
        break;
    }
  }

  /// gather() unless `copy` holds the same values already: those of place `held` in front of the
  /// dimensions that repeat them, or of none (-1).
  template <class T>
  void repeat(const Walk& walk, const T* src, int64_t first, int64_t count, float* copy,
              int64_t& held) const {
    const size_t rank = space_.dims.size();
    const int64_t row = walk.kind == Walk::Kind::Filled ? 1 : space_.dims[rank - 1];
    const int64_t plane =
        walk.kind == Walk::Kind::Filled ? space_.dims[rank - 1] : row * space_.dims[rank - 2];
    const int64_t place = first / plane;
    const bool whole =
        chunk_ % row == 0 && first % row == 0 && (first + count - 1) / plane == place;
    if (whole && held == place) return;
    gather(space_, walk, src, first, count, copy);
    held = whole && count == chunk_ ? place : -1;
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

  ElementwiseProgram program_;
  std::vector<ElementType> types_;
  ElementType dst_type_;
  Space space_;
  int64_t chunk_;
  int64_t padded_from_ = 0;  ///< first padded channel of the last block; 0: no padding
  int64_t block_ = 1;
  int64_t blocks_ = 1;
  int64_t images_ = 0;
  int64_t pixels_ = 0;
};

/// The format of the largest operand that covers the whole output and is not plain.
Format choose_format(PlanBuilder& builder, const ElementwiseNode& node, const Shape& shape) {
  if (shape.size() < 3) return Format::Plain;
  for (const Value* operand : node.operands) {
    if (operand->is_constant() || operand->desc().shape != shape) continue;
    const Format format = builder.home(*operand).format;
    if (format != Format::Plain) return format;
  }
  return Format::Plain;
}

/// As which the kernel takes an operand.
ElementType operand_type(PlanBuilder& builder, const Value& operand) {
  return builder.home(operand).type == ElementType::BFloat16 ? ElementType::BFloat16
                                                             : ElementType::Float32;
}

Result<bool> plan_elementwise(PlanBuilder& builder, const Node& node) {
  const std::optional<ElementwiseNode> found = elementwise_of(node);
  if (!found) return plan_typed_elementwise(builder, node);
  const ElementwiseProgram& program = found->program;
  if (program.operands + program.instructions.size() > kMaxElementwiseRegisters) return false;
  const Shape& shape = node.output()->desc().shape;
  if (shape.size() > 12) return false;
  TensorSpec dst{builder.kept_type(*node.output()), shape, choose_format(builder, *found, shape)};
  std::vector<TensorId> inputs;
  std::vector<std::vector<int64_t>> strides;
  std::optional<size_t> overwritten;
  for (const Value* operand : found->operands) {
    TensorSpec wanted{operand_type(builder, *operand), operand->desc().shape, Format::Plain};
    wanted.format = builder.home(*operand).format;
    if (wanted.type != builder.home(*operand).type || broadcast_strides(wanted, dst).empty()) {
      wanted.format = dst.format;
    }
    if (broadcast_strides(wanted, dst).empty() && !shape.empty()) {
      // A lower rank broadcast along channels of a blocked output: give it the output's rank.
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
  if (inputs.size() != found->operands.size()) {
    overwritten.reset();
    strides.clear();
    for (const Value* operand : found->operands) {
      const TensorSpec plain{operand_type(builder, *operand), operand->desc().shape, Format::Plain};
      HET_ASSIGN(inputs.emplace_back(), builder.read(*operand, Format::Plain, plain.type));
      strides.push_back(broadcast_strides(plain, dst));
      if (plain == dst && !overwritten) overwritten = inputs.size() - 1;
    }
  }
  Space space = make_space(dst, strides);
  std::vector<ElementType> types;
  for (const TensorId id : inputs) types.push_back(builder.tensor(id).spec.type);
  const TensorId out = builder.write(*node.output(), dst);
  Step& step = builder.add_step(
      node, std::make_unique<ElementwiseKernel>(program, std::move(types), dst, std::move(space)),
      std::move(inputs), {out});
  if (overwritten) {
    step.in_place = InPlace::Input;
    step.in_place_input = *overwritten;
  }
  return true;
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
}

}  // namespace het::cpu
