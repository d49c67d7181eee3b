// Functions of floats. Included by loops after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "devices/cpu/loops/extremes-inl.h"

#if defined(HET_FLOAT_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_FLOAT_FUNCTIONS_INL_H
#undef HET_FLOAT_FUNCTIONS_INL_H
#else
#define HET_FLOAT_FUNCTIONS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// x times the quotient of two polynomials in x^2, an absolute error of 3.5e-7 with rounding; exact
/// from 3.92 on, where float32 cannot tell it from 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf(D d, V x) {
  const V limited = clamped(x, hn::Set(d, -3.92f), hn::Set(d, 3.92f));
  const V t = hn::Mul(limited, limited);
  V p = hn::MulAdd(hn::Set(d, 2.0498964659054764e-06f), t, hn::Set(d, 0.0002849119482561946f));
  V q = hn::MulAdd(hn::Set(d, 3.8091289752628654e-05f), t, hn::Set(d, 0.001162830856628716f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.0037668112199753523f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.014971582219004631f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.05275235325098038f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.1141204982995987f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.19043400883674622f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.5021004676818848f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.1283791065216064f));
  q = hn::MulAdd(q, t, hn::Set(d, 1.0f));
  const V near = hn::Div(hn::Mul(limited, p), q);
  const auto is_far = hn::Ge(hn::Abs(x), hn::Set(d, 3.92f));
  return hn::IfThenElse(is_far, hn::CopySign(hn::Set(d, 1.0f), x), near);
}

/// log(1 + exp(x)).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V soft_plus(D d, V x) {
  // max(x, 0) + log(1 + exp(-|x|)) stays exact where exp(x) overflows.
  const V zero = hn::Zero(d);
  const V e = hn::Exp(d, hn::Max(hn::Neg(hn::Abs(x)), hn::Set(d, -88.0f)));
  return nan_of(x, hn::Add(hn::Max(x, zero), hn::Log1p(d, e)));
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
