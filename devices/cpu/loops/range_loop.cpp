#include "devices/cpu/loops/range_loop.h"

#include <algorithm>
#include <cmath>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/range_loop.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// Min() and Max() give their second operand, or the number, where one is NaN. `zeros` becomes NaN
/// once a value is not finite.
HWY_INLINE void take(D d, V value, V& low, V& high, V& zeros) {
  low = hn::Min(value, low);
  high = hn::Max(value, high);
  zeros = hn::MulAdd(value, hn::Zero(d), zeros);
}

ValueRange range_values(const float* values, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V low[2] = {hn::Zero(d), hn::Zero(d)};
  V high[2] = {hn::Zero(d), hn::Zero(d)};
  V zeros[2] = {hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    take(d, hn::LoadU(d, values + i), low[0], high[0], zeros[0]);
    take(d, hn::LoadU(d, values + i + lanes), low[1], high[1], zeros[1]);
  }
  ValueRange range{hn::GetLane(hn::MinOfLanes(d, hn::Min(low[0], low[1]))),
                   hn::GetLane(hn::MaxOfLanes(d, hn::Max(high[0], high[1]))),
                   hn::AllTrue(d, hn::Eq(hn::Add(zeros[0], zeros[1]), hn::Zero(d)))};
  for (; i < count; ++i) {
    range.lowest = std::min(range.lowest, values[i]);
    range.highest = std::max(range.highest, values[i]);
    range.is_finite = range.is_finite && std::isfinite(values[i]);
  }
  return range;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(range_values);

ValueRange range_row(const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(range_values)(values, count);
}

}  // namespace het::cpu
#endif
