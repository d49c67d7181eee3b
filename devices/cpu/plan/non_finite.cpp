#include "devices/cpu/plan/non_finite.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>

#include "devices/cpu/loops/finite_loop.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {
namespace {

/// Elements that are worth a thread of the team.
constexpr int64_t kFiniteGrain = int64_t{1} << 16;

template <class Bits>
bool all_finite_of(bool (*loop)(const Bits*, size_t), const std::byte* data, int64_t count) {
  const auto* bits = reinterpret_cast<const Bits*>(data);
  std::atomic<bool> all{true};
  parallel_for(count, kFiniteGrain, [&](int64_t begin, int64_t end) {
    if (!loop(bits + begin, static_cast<size_t>(end - begin))) all = false;
  });
  return all;
}

/// Operators of ONNX that move, choose, add up or scale what is finite, or bound it.
constexpr std::string_view kKeepFinite[] = {"Add",
                                            "And",
                                            "ArgMax",
                                            "ArgMin",
                                            "AveragePool",
                                            "BatchNormalization",
                                            "Cast",
                                            "CastLike",
                                            "Clip",
                                            "Compress",
                                            "Concat",
                                            "Conv",
                                            "ConvTranspose",
                                            "Cos",
                                            "CumSum",
                                            "DepthToSpace",
                                            "DequantizeLinear",
                                            "Dropout",
                                            "Einsum",
                                            "Expand",
                                            "Flatten",
                                            "GRU",
                                            "Gather",
                                            "GatherElements",
                                            "GatherND",
                                            "Gemm",
                                            "GlobalAveragePool",
                                            "GlobalMaxPool",
                                            "GridSample",
                                            "GroupNormalization",
                                            "Identity",
                                            "InstanceNormalization",
                                            "LRN",
                                            "LSTM",
                                            "LayerNormalization",
                                            "LogSoftmax",
                                            "MatMul",
                                            "Max",
                                            "MaxPool",
                                            "MaxRoiPool",
                                            "Mean",
                                            "Min",
                                            "Mul",
                                            "OneHot",
                                            "Pad",
                                            "QuantizeLinear",
                                            "RMSNormalization",
                                            "RNN",
                                            "ReduceL1",
                                            "ReduceMax",
                                            "ReduceMean",
                                            "ReduceMin",
                                            "ReduceSum",
                                            "Reshape",
                                            "Resize",
                                            "ReverseSequence",
                                            "RoiAlign",
                                            "RotaryEmbedding",
                                            "ScatterElements",
                                            "ScatterND",
                                            "Shape",
                                            "Sign",
                                            "Sin",
                                            "Slice",
                                            "Softmax",
                                            "SpaceToDepth",
                                            "Split",
                                            "Squeeze",
                                            "Sub",
                                            "Sum",
                                            "Tile",
                                            "TopK",
                                            "Transpose",
                                            "Trilu",
                                            "Unsqueeze",
                                            "Where"};

/// Those of this project that passes make: products, their copies and attention.
constexpr std::string_view kKeepFiniteOfHet[] = {
    "Attention", "ChannelGather", "ChannelShuffle", "Conv",   "ConvTranspose", "FakeQuantize",
    "Gemm",      "Int8Conv",      "Int8MatMul",     "MatMul", "RoundedConv"};

bool may_leave_finite(const ElementwiseInstruction& step, const ElementwiseNode& node) {
  switch (step.kind) {
    case ElementwiseKind::Div: {
      // Scales in the model are no divisions by 0.
      const size_t divisor = step.b;
      if (divisor >= node.operands.size() || !node.operands[divisor]->is_constant()) return true;
      const auto values = to_float_vector(node.operands[divisor]->constant());
      return !values || std::ranges::any_of(*values, [](float v) { return v == 0.0f; });
    }
    case ElementwiseKind::Pow:
    case ElementwiseKind::Exp:
    case ElementwiseKind::Log:
    case ElementwiseKind::Sqrt:
    case ElementwiseKind::Reciprocal:
      return true;
    case ElementwiseKind::Clip:
      return false;
    default:
      return !std::isfinite(step.alpha) || !std::isfinite(step.beta);
  }
}

bool tail_may_leave_finite(const Node& node) {
  const FusedTail tail = tail_of(node.attributes());
  return std::ranges::any_of(tail, [](const TailStep& step) {
    return !step.sum && may_leave_finite(step.expression, {});
  });
}

bool is_number(const Attribute& attribute) {
  if (const auto* one = std::get_if<float>(&attribute)) return std::isfinite(*one);
  if (const auto* list = std::get_if<std::vector<float>>(&attribute)) {
    return std::ranges::all_of(*list, [](float value) { return std::isfinite(value); });
  }
  return true;
}

}  // namespace

bool all_finite(ElementType type, const std::byte* data, int64_t count) {
  switch (type) {
    case ElementType::Float32:
      return all_finite_of(all_finite_float32, data, count);
    case ElementType::Float16:
      return all_finite_of(all_finite_float16, data, count);
    case ElementType::BFloat16:
      return all_finite_of(all_finite_bfloat16, data, count);
    case ElementType::Float64:
      return all_finite_of(all_finite_float64, data, count);
    default:
      return true;
  }
}

bool may_leave_finite(const Node& node) {
  const auto& attributes = node.attributes();
  // Limits of -inf and inf bound nothing; a padding of -inf is one.
  const bool is_bounded =
      std::ranges::all_of(attributes, [](const auto& entry) { return is_number(entry.second); });
  if (const auto chain = elementwise_of(node)) {
    return std::ranges::any_of(
        chain->program.instructions,
        [&](const ElementwiseInstruction& step) { return may_leave_finite(step, *chain); });
  }
  if (!is_bounded) return true;
  const auto is_in = [&](const auto& list) { return std::ranges::count(list, node.op_type()) > 0; };
  if (node.domain().empty()) return !is_in(kKeepFinite);
  if (node.domain() != "het" || !is_in(kKeepFiniteOfHet)) return true;
  return tail_may_leave_finite(node);
}

}  // namespace het::cpu
