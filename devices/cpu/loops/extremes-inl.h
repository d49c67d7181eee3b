// Minima, maxima and limits that hand NaN on. Included by loops after hwy/highway.h, once per
// instruction set.
#include <hwy/highway.h>

#if defined(HET_EXTREMES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_EXTREMES_INL_H
#undef HET_EXTREMES_INL_H
#else
#define HET_EXTREMES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Max() and Min() give their second operand on x86 where one is NaN, and the one that is a number
// on Arm and where Highway has no vectors.
#if HWY_ARCH_ARM || HWY_TARGET == HWY_SCALAR
constexpr bool kExtremesLoseNan = true;
#else
constexpr bool kExtremesLoseNan = false;
#endif

/// `y`, which is computed from x, or NaN where x is: for functions whose arithmetic loses it.
template <class V>
HWY_INLINE V nan_of(V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// The larger of two, NaN where one is.
template <class V>
HWY_INLINE V max_or_nan(V a, V b) {
  const V larger = kExtremesLoseNan ? nan_of(b, hn::Max(a, b)) : hn::Max(a, b);
  return hn::IfThenElse(hn::IsNaN(a), a, larger);
}

/// The smaller of two, NaN where one is.
template <class V>
HWY_INLINE V min_or_nan(V a, V b) {
  const V smaller = kExtremesLoseNan ? nan_of(b, hn::Min(a, b)) : hn::Min(a, b);
  return hn::IfThenElse(hn::IsNaN(a), a, smaller);
}

/// max(x, low) and min(x, high) with a limit that is a number; NaN where x is. On x86 as fast as
/// Max().
template <class V>
HWY_INLINE V at_least(V x, V low) {
  return kExtremesLoseNan ? nan_of(x, hn::Max(x, low)) : hn::Max(low, x);
}
template <class V>
HWY_INLINE V at_most(V x, V high) {
  return kExtremesLoseNan ? nan_of(x, hn::Min(x, high)) : hn::Min(high, x);
}
template <class V>
HWY_INLINE V clamped(V x, V low, V high) {
  return at_most(at_least(x, low), high);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
