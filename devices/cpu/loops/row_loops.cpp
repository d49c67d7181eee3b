#include "devices/cpu/loops/row_loops.h"

#include <algorithm>
#include <cmath>

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

void weigh(const float* const* rows, const float* weights, size_t taps, size_t count, float* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V sum = hn::Mul(hn::LoadU(d, rows[0] + i), hn::Set(d, weights[0]));
    for (size_t t = 1; t < taps; ++t) {
      sum = hn::MulAdd(hn::LoadU(d, rows[t] + i), hn::Set(d, weights[t]), sum);
    }
    hn::StoreU(sum, d, dst + i);
  }
  for (; i < count; ++i) {
    V sum = hn::Mul(hn::Set(d, rows[0][i]), hn::Set(d, weights[0]));
    for (size_t t = 1; t < taps; ++t) {
      sum = hn::MulAdd(hn::Set(d, rows[t][i]), hn::Set(d, weights[t]), sum);
    }
    dst[i] = hn::GetLane(sum);
  }
}

void weigh_each(const float* src, const int32_t* index, const float* weights, size_t taps,
                size_t pixels, size_t lanes, float* dst) {
  const hn::CappedTag<float, 8> d;
  const size_t step = hn::Lanes(d);
  for (size_t x = 0; x < pixels; ++x) {
    const float* w = weights + x * taps;
    const int32_t* at = index + x * taps;
    for (size_t next = 0; next < lanes; next += step) {
      // The last vector may begin in the one before.
      const size_t i = std::min(next, lanes - step);
      auto sum =
          hn::Mul(hn::LoadU(d, src + static_cast<size_t>(at[0]) * lanes + i), hn::Set(d, w[0]));
      for (size_t t = 1; t < taps; ++t) {
        sum = hn::MulAdd(hn::LoadU(d, src + static_cast<size_t>(at[t]) * lanes + i),
                         hn::Set(d, w[t]), sum);
      }
      hn::StoreU(sum, d, dst + x * lanes + i);
    }
  }
}

void gather_each(const float* src, const int32_t* index, const float* weights, size_t taps,
                 size_t pixels, float* dst) {
  const D d;
  const hn::RebindToSigned<D> di;
  const size_t lanes = hn::Lanes(d);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    V sum = hn::Mul(hn::GatherIndex(d, src, hn::LoadU(di, index + x)), hn::LoadU(d, weights + x));
    for (size_t t = 1; t < taps; ++t) {
      const size_t at = t * pixels + x;
      sum = hn::MulAdd(hn::GatherIndex(d, src, hn::LoadU(di, index + at)),
                       hn::LoadU(d, weights + at), sum);
    }
    hn::StoreU(sum, d, dst + x);
  }
  for (; x < pixels; ++x) {
    V sum = hn::Mul(hn::Set(d, src[index[x]]), hn::Set(d, weights[x]));
    for (size_t t = 1; t < taps; ++t) {
      const size_t at = t * pixels + x;
      sum = hn::MulAdd(hn::Set(d, src[index[at]]), hn::Set(d, weights[at]), sum);
    }
    dst[x] = hn::GetLane(sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(reduce);
HWY_EXPORT(weigh);
HWY_EXPORT(weigh_each);
HWY_EXPORT(gather_each);

float reduce_row(Accumulation kind, const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(reduce)(kind, values, count);
}

void weigh_rows(const float* const* rows, const float* weights, size_t taps, size_t count,
                float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh)(rows, weights, taps, count, dst);
}

void weigh_pixels(const float* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_each)(src, index, weights, taps, pixels, lanes, dst);
}

void weigh_gathered(const float* src, const int32_t* index, const float* weights, size_t taps,
                    size_t pixels, float* dst) {
  HWY_DYNAMIC_DISPATCH(gather_each)(src, index, weights, taps, pixels, dst);
}

}  // namespace het::cpu
#endif
