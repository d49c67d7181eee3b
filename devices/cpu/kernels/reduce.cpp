#include "inference/ops/reductions/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "devices/cpu/loops/column_loops.h"
#include "devices/cpu/loops/half_loops.h"
#include "devices/cpu/loops/row_loops.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Memory seen as [outer, length, inner]; `length` is reduced.
struct Split {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

/// Inner values whose results one thread has at once.
constexpr int64_t kInnerPart = 1024;
/// Values that are worth a thread.
constexpr int64_t kReduceGrain = 16384;

/// Pictures are reduced strip by strip, so that threads read the rows that they most likely wrote
/// in the step before; the strips' results come together at the end. Their number does not depend
/// on the team's, so neither do results.
int64_t strips_of(const Split& split) {
  constexpr int64_t kPixels = 128;
  constexpr int64_t kMostStrips = 16;
  constexpr int64_t kMostResults = 16384;
  if (split.inner <= 1 || split.inner > kInnerPart || split.length < kPixels ||
      split.outer * split.inner > kMostResults) {
    return 1;
  }
  return std::min(2 * (split.length / kPixels + 1), kMostStrips);
}

/// Of Float32 or BFloat16, to either; arithmetic is in float32. Loop order: strip, outer and part
/// of inner, then length.
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(Split split, ReduceKind kind, ElementType src, ElementType dst)
      : split_(split), kind_(kind), src_(src), dst_(dst), strips_(strips_of(split)) {
    switch (kind) {
      case ReduceKind::Max:
        accumulation_ = Accumulation::Max;
        break;
      case ReduceKind::Min:
        accumulation_ = Accumulation::Min;
        break;
      case ReduceKind::L1:
        accumulation_ = Accumulation::SumAbs;
        break;
      case ReduceKind::L2:
      case ReduceKind::SumSquare:
        accumulation_ = Accumulation::SumSquare;
        break;
      default:
        accumulation_ = Accumulation::Sum;
    }
  }

  std::string_view implementation() const override { return "own_simd"; }

  size_t scratch_bytes() const override {
    const int64_t results = strips_ > 1 ? strips_ * split_.outer * split_.inner : 0;
    return static_cast<size_t>(results) * sizeof(float);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (strips_ > 1) {
      reduce_strips(args);
      return {};
    }
    const int64_t parts = (split_.inner + kInnerPart - 1) / kInnerPart;
    const int64_t work = std::max<int64_t>(split_.length * std::min(split_.inner, kInnerPart), 1);
    parallel_for(split_.outer * parts, std::max<int64_t>(kReduceGrain / work, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t first = k % parts * kInnerPart;
                     const int64_t count = std::min(kInnerPart, split_.inner - first);
                     std::array<float, kInnerPart> results;
                     reduce_part(args, k / parts, {0, split_.length}, first, count, results.data());
                     finish(args, k / parts * split_.inner + first, count, results.data());
                   }
                 });
    return {};
  }

 private:
  /// Of the dimension that is reduced.
  struct Range {
    int64_t begin, end;
  };

  void reduce_strips(const KernelArgs& args) const {
    auto* const partial = reinterpret_cast<float*>(args.scratch);
    const int64_t results = split_.outer * split_.inner;
    const int64_t work = split_.length * split_.inner / strips_;
    parallel_for(strips_ * split_.outer, std::max<int64_t>(kReduceGrain / work, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t strip = k / split_.outer;
                     const Range range{split_.length * strip / strips_,
                                       split_.length * (strip + 1) / strips_};
                     reduce_part(args, k % split_.outer, range, 0, split_.inner,
                                 partial + k * split_.inner);
                   }
                 });
    for (int64_t first = 0; first < results; first += kInnerPart) {
      const int64_t count = std::min(kInnerPart, results - first);
      std::array<float, kInnerPart> values;
      reduce_columns(joining(), partial + first, strips_, results, count, values.data());
      finish(args, first, count, values.data());
    }
  }

  /// What makes one result of two.
  Accumulation joining() const {
    const bool is_extreme =
        accumulation_ == Accumulation::Max || accumulation_ == Accumulation::Min;
    return is_extreme ? accumulation_ : Accumulation::Sum;
  }

  void reduce_part(const KernelArgs& args, int64_t outer, Range range, int64_t first, int64_t count,
                   float* results) const {
    const int64_t from = (outer * split_.length + range.begin) * split_.inner + first;
    const int64_t length = range.end - range.begin;
    if (src_ == ElementType::BFloat16) {
      const auto* src = reinterpret_cast<const BFloat16*>(args.inputs[0]) + from;
      if (split_.inner == 1) {
        results[0] = reduce_narrow_row(src);
      } else {
        reduce_columns(accumulation_, src, length, split_.inner, count, results);
      }
    } else if (const auto* src = reinterpret_cast<const float*>(args.inputs[0]) + from;
               split_.inner == 1) {
      results[0] = reduce_row(accumulation_, src, static_cast<size_t>(length));
    } else {
      reduce_columns(accumulation_, src, length, split_.inner, count, results);
    }
  }

  /// Part by part, as floats.
  float reduce_narrow_row(const BFloat16* src) const {
    std::array<float, kInnerPart> part;
    std::array<float, 2> results{};
    for (int64_t first = 0; first < split_.length; first += kInnerPart) {
      const auto count = static_cast<size_t>(std::min(kInnerPart, split_.length - first));
      bfloat16_to_float_row(src + first, count, part.data());
      results[1] = reduce_row(accumulation_, part.data(), count);
      results[0] = first == 0 ? results[1] : reduce_row(joining(), results.data(), 2);
    }
    return results[0];
  }

  /// Stores results from number `first` on.
  void finish(const KernelArgs& args, int64_t first, int64_t count, float* values) const {
    if (kind_ == ReduceKind::Mean) {
      const auto length = static_cast<float>(split_.length);
      for (int64_t i = 0; i < count; ++i) values[i] /= length;
    }
    if (kind_ == ReduceKind::L2) {
      for (int64_t i = 0; i < count; ++i) values[i] = std::sqrt(values[i]);
    }
    if (dst_ == ElementType::BFloat16) {
      auto* dst = reinterpret_cast<BFloat16*>(args.outputs[0]) + first;
      float_to_bfloat16_row(values, static_cast<size_t>(count), dst);
    } else {
      std::copy_n(values, count, reinterpret_cast<float*>(args.outputs[0]) + first);
    }
  }

  Split split_;
  ReduceKind kind_;
  ElementType src_, dst_;
  int64_t strips_;
  Accumulation accumulation_ = Accumulation::Sum;
};

bool is_supported(ReduceKind kind) {
  return kind != ReduceKind::Prod && kind != ReduceKind::LogSum && kind != ReduceKind::LogSumExp;
}

Result<bool> plan_reduce(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& shape = src.desc().shape;
  if (src.desc().type != ElementType::Float32 || element_count(shape) == 0) return false;
  if (node.input(1) != nullptr && !node.input(1)->is_constant()) return false;
  HET_ASSIGN(const ReduceAttributes attributes,
             reduce_attributes(node, shape, node.input(1) ? &node.input(1)->constant() : nullptr));
  const std::vector<int64_t>& axes = attributes.axes;
  if (!is_supported(attributes.kind) || axes.empty()) return false;
  if (axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size())) return false;

  const auto rank = static_cast<int64_t>(shape.size());
  Format format = builder.home(src).format;
  const bool all_spatial = rank >= 3 && axes.front() == 2 && axes.back() == rank - 1;
  const bool is_last = format == Format::ChannelsLast;
  if (!all_spatial || !(is_last || (is_blocked(format) && attributes.keepdims))) {
    format = Format::Plain;
  }
  const std::vector<int64_t> dims = physical_dims({ElementType::Float32, shape, format});
  // In front of the channels when these lie last.
  const int64_t shift = format == Format::ChannelsLast ? -1 : 0;
  Split split;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    const int64_t size = dims[static_cast<size_t>(d)];
    (d < axes.front() + shift   ? split.outer
     : d <= axes.back() + shift ? split.length
                                : split.inner) *= size;
  }
  const ElementType from = builder.home(src).type;
  const ElementType to = builder.kept_type(dst);
  HET_ASSIGN(const TensorId in, builder.read(src, format, from));
  // Without pixels the channels lie as plain ones do.
  if (format == Format::ChannelsLast) format = Format::Plain;
  const TensorId out = builder.write(dst, {to, dst.desc().shape, format});
  builder.add_step(node, std::make_unique<ReduceKernel>(split, attributes.kind, from, to), {in},
                   {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_reduce(KernelRegistry& registry) {
  for (const char* type : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1",
                           "ReduceL2", "ReduceSumSquare"}) {
    registry.add("", type, plan_reduce);
  }
}

}  // namespace het::cpu
