#include "devices/cpu/loops/box_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/box_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Boxes [first, first + lanes of D) against box `i`.
template <class D>
HWY_INLINE bool overlaps(D d, const BoxArrays& boxes, size_t i, size_t first, float threshold) {
  const auto x_min = hn::LoadU(d, boxes.x_min + first);
  const auto y_min = hn::LoadU(d, boxes.y_min + first);
  const auto x_max = hn::LoadU(d, boxes.x_max + first);
  const auto y_max = hn::LoadU(d, boxes.y_max + first);
  const auto width = hn::Sub(hn::Min(x_max, hn::Set(d, boxes.x_max[i])),
                             hn::Max(x_min, hn::Set(d, boxes.x_min[i])));
  const auto height = hn::Sub(hn::Min(y_max, hn::Set(d, boxes.y_max[i])),
                              hn::Max(y_min, hn::Set(d, boxes.y_min[i])));
  const auto zero = hn::Zero(d);
  const auto meet = hn::And(hn::Gt(width, zero), hn::Gt(height, zero));
  const auto both = hn::Mul(width, height);
  const float own = (boxes.x_max[i] - boxes.x_min[i]) * (boxes.y_max[i] - boxes.y_min[i]);
  const auto area = hn::Mul(hn::Sub(x_max, x_min), hn::Sub(y_max, y_min));
  const auto all = hn::Sub(hn::Add(hn::Set(d, own), area), both);
  const auto ratio = hn::IfThenElseZero(meet, hn::Div(both, all));
  return !hn::AllFalse(d, hn::Gt(ratio, hn::Set(d, threshold)));
}

bool any(const BoxArrays& boxes, size_t i, size_t count, float threshold) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    if (overlaps(d, boxes, i, k, threshold)) return true;
  }
  for (; k < count; ++k) {
    if (overlaps(hn::CappedTag<float, 1>(), boxes, i, k, threshold)) return true;
  }
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(any);

bool overlaps_any(const BoxArrays& boxes, size_t i, size_t count, float threshold) {
  return HWY_DYNAMIC_DISPATCH(any)(boxes, i, count, threshold);
}

}  // namespace het::cpu
#endif
