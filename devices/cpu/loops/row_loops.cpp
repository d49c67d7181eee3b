#include "devices/cpu/loops/row_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/row_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

template <class Step, class Join>
HWY_INLINE float reduce_with(const float* values, size_t count, float first, Step step, Join join) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  // Four independent chains hide the latency of the addition.
  V chains[4] = {hn::Set(d, first), hn::Set(d, first), hn::Set(d, first), hn::Set(d, first)};
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k)
      chains[k] = step(chains[k], hn::LoadU(d, values + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes) chains[0] = step(chains[0], hn::LoadU(d, values + i));
  for (; i < count; ++i) {
    // A lone value in lane 0; the others hold what changes nothing.
    const V rest = hn::IfThenElse(hn::FirstN(d, 1), hn::Set(d, values[i]), hn::Set(d, first));
    chains[1] = step(chains[1], rest);
  }
  return join(d, hn::Add(chains[0], chains[1]), hn::Add(chains[2], chains[3]));
}

template <class Pick>
HWY_INLINE float extreme(const float* values, size_t count, Pick pick) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V best = hn::Set(d, values[0]);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) best = pick(best, hn::LoadU(d, values + i));
  for (; i < count; ++i) best = pick(best, hn::Set(d, values[i]));
  HWY_ALIGN float all[hn::MaxLanes(d)];
  hn::Store(best, d, all);
  float result = all[0];
  for (size_t k = 1; k < lanes; ++k) {
    result = hn::GetLane(pick(hn::Set(d, result), hn::Set(d, all[k])));
  }
  return result;
}

float reduce(Accumulation kind, const float* values, size_t count) {
  const auto join = [](D d, V a, V b) { return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b))); };
  switch (kind) {
    case Accumulation::Sum:
      return reduce_with(
          values, count, 0.0f, [](V a, V b) { return hn::Add(a, b); }, join);
    case Accumulation::SumSquare:
      return reduce_with(
          values, count, 0.0f, [](V a, V b) { return hn::MulAdd(b, b, a); }, join);
    case Accumulation::SumAbs:
      return reduce_with(
          values, count, 0.0f, [](V a, V b) { return hn::Add(a, hn::Abs(b)); }, join);
    case Accumulation::Max:
      return extreme(values, count, [](V a, V b) { return max_or_nan(a, b); });
    case Accumulation::Min:
      return extreme(values, count, [](V a, V b) { return min_or_nan(a, b); });
  }
  return 0.0f;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(reduce);

float reduce_row(Accumulation kind, const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(reduce)(kind, values, count);
}

}  // namespace het::cpu
#endif
