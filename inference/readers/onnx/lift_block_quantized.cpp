#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "inference/readers/onnx/lift_rules.h"
#include "inference/readers/onnx/packed_weights.h"

namespace het::onnx {
namespace {

/// What the four bits of bitsandbytes stand for, times the largest magnitude of the block: its
/// floats and its quantiles of a normal distribution (Dettmers et al., QLoRA, 2023, appendix E).
constexpr std::array<std::array<float, 16>, 2> kBnbNumbers = {
    {{0.0f, 5.208333333e-3f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f,
      -5.208333333e-3f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
     {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
      -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
      0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
      0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f}}};

/// Nothing where it lies outside.
std::optional<size_t> axis_of(int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

/// The numbers of GatherBlockQuantized, their zero points in the scales' shape (empty: none).
struct Blocks {
  Tensor numbers;
  Tensor zero_points;
};

Result<Blocks> blocks_of(const Value& data, const Tensor& scales, const Value* zero_points,
                         int64_t bits) {
  Blocks blocks;
  if (data.constant().type() != ElementType::UInt8) {
    blocks.numbers = data.constant();
    if (zero_points != nullptr) blocks.zero_points = zero_points->constant();
    return blocks;
  }
  if (unsigned_integer(bits) == ElementType::Undefined) {
    return error(StatusCode::NotSupported, "numbers of {} bits are not supported", bits);
  }
  const int64_t per_byte = 8 / bits;
  Shape shape = data.constant().shape();
  shape.back() *= per_byte;
  HET_ASSIGN(blocks.numbers, packed_numbers(data, bits, shape));
  if (zero_points == nullptr) {
    HET_ASSIGN(blocks.zero_points, middle_numbers(bits, scales.shape()));
    return blocks;
  }
  Shape padded = scales.shape();
  padded.back() = (padded.back() + per_byte - 1) / per_byte * per_byte;
  HET_ASSIGN(const Tensor rows, packed_numbers(*zero_points, bits, padded));
  HET_ASSIGN(blocks.zero_points, first_columns(rows, scales.shape().back()));
  return blocks;
}

}  // namespace

/// data, indices, scales, zero_points: rows of blocks are gathered with their scales and zero
/// points, and dequantised then.
void lift_gather_block_quantized(LiftContext& context) {
  const PendingNode& node = context.node();
  Value* const data = node.input(0);
  Value* const indices = node.input(1);
  Value* const scales = node.input(2);
  const Value* const zero_points = node.input(3);
  const auto is_constant = [](const Value* v) { return v != nullptr && v->is_constant(); };
  if (!is_constant(data) || indices == nullptr || !is_constant(scales) ||
      (zero_points != nullptr && !is_constant(zero_points))) {
    return context.refuse(
        "GatherBlockQuantized needs indices, and constants as data, scales and zero points");
  }
  const size_t rank = data->constant().shape().size();
  const auto gathered = axis_of(node.attributes.get_int("gather_axis", 0), rank);
  const auto quantized = axis_of(node.attributes.get_int("quantize_axis", 1), rank);
  if (!gathered || !quantized || *gathered == *quantized ||
      scales->constant().shape().size() != rank) {
    return context.refuse("the axes or the scales of GatherBlockQuantized do not fit its data");
  }
  const int64_t bits = node.attributes.get_int("bits", 4);
  if (data->constant().type() == ElementType::UInt8 && bits != 8 && *quantized != rank - 1) {
    return context.refuse("GatherBlockQuantized with packed data needs blocks along the last axis");
  }
  auto blocks = blocks_of(*data, scales->constant(), zero_points, bits);
  if (!blocks) return context.refuse(blocks.error().message());
  // Gather moves nothing smaller than a byte.
  for (Tensor* part : {&blocks->numbers, &blocks->zero_points}) {
    if (part->empty()) continue;
    auto bytes = as_bytes(*part);
    if (!bytes) return context.refuse(bytes.error().message());
    *part = *std::move(bytes);
  }
  const auto gather = [&](Value* from) {
    Attributes axis;
    axis.set("axis", static_cast<int64_t>(*gathered));
    return context.insert("Gather", {from, indices}, std::move(axis));
  };
  std::vector<Value*> inputs{gather(context.constant("numbers", blocks->numbers)), gather(scales)};
  if (!blocks->zero_points.empty()) {
    inputs.push_back(gather(context.constant("zero_points", blocks->zero_points)));
  }
  Attributes blocked;
  // The indices may have any rank: axes behind them are counted from the end.
  const auto axis = static_cast<int64_t>(*quantized);
  blocked.set("axis", *quantized > *gathered ? axis - static_cast<int64_t>(rank) : axis);
  blocked.set("block_size", node.attributes.get_int("block_size", 128));
  context.become("DequantizeLinear", std::move(inputs), std::move(blocked));
}

/// A, B, absmax: A times the transpose of B [N, K], which holds two numbers a byte, the first one
/// in the upper bits, scaled in blocks of the flat matrix.
void lift_matmul_bnb4(LiftContext& context) {
  const PendingNode& node = context.node();
  Value* const b = node.input(1);
  Value* const largest = node.input(2);
  const int64_t n = node.attributes.get_int("N", 0);
  const int64_t k = node.attributes.get_int("K", 0);
  const int64_t block = node.attributes.get_int("block_size", 0);
  const int64_t kind = node.attributes.get_int("quant_type", 1);
  const bool sane = n > 0 && n <= INT32_MAX && k > 0 && k <= INT32_MAX && block > 0 &&
                    block <= INT32_MAX && (kind == 0 || kind == 1) &&
                    node.attributes.get_int("transB", 1) == 1;
  if (!sane) {
    return context.refuse(
        fmt::format("MatMulBnb4 with N {}, K {}, block_size {}, quant_type {} is not supported", n,
                    k, block, kind));
  }
  if (node.input(0) == nullptr || b == nullptr || largest == nullptr || !largest->is_constant()) {
    return context.refuse("MatMulBnb4 needs A, B and absmax, the last two as constants");
  }
  const int64_t count = n * k;
  const auto packed = packed_numbers(*b, 4, {(count + 1) / 2 * 2});
  if (!packed) return context.refuse(packed.error().message());
  const auto magnitudes = to_float_vector(largest->constant());
  if (!magnitudes || static_cast<int64_t>(magnitudes->size()) != (count + block - 1) / block) {
    return context.refuse("absmax of MatMulBnb4 does not hold a number for each block");
  }
  auto weights = Tensor::allocate({ElementType::Float32, {n, k}, Layout::Plain});
  if (!weights) return context.refuse(weights.error().message());
  const auto& numbers = kBnbNumbers[static_cast<size_t>(kind)];
  const auto values = weights->values<float>();
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(packed->bytes()[i / 2]);
    const size_t number = i % 2 == 0 ? byte >> 4U : byte & 15U;
    values[static_cast<size_t>(i)] =
        numbers[number] * (*magnitudes)[static_cast<size_t>(i / block)];
  }
  Value* const real =
      context.insert("CastLike", {context.constant("weights", *std::move(weights)), node.input(0)});
  context.become("MatMul", {node.input(0), context.transpose(real, {1, 0})});
}

}  // namespace het::onnx
