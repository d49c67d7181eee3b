// Functions of floats. Included by loops after hwy/highway.h, once per
// instruction set.
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

/// exp(x) for x from -87 to 88, with a relative error of 1.2e-7; anything for
/// NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_limited(D d, V x) {
  // exp(x) = 2^n exp(r) with |r| <= log(2) / 2. The sum with `whole` has n in
  // its lowest bits.
  const hn::RebindToSigned<D> bits;
  const V whole = hn::Set(d, 12582912.0f);  // 1.5 * 2^23
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), whole);
  const V n = hn::Sub(shifted, whole);
  // log(2) in two parts; n times the first is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  // Minimax for the relative error, which is 3e-9 without rounding.
  const V square = hn::Mul(r, r);
  const V low = hn::MulAdd(hn::Set(d, 0.1666652113199234f), r, hn::Set(d, 0.4999999403953552f));
  const V middle =
      hn::MulAdd(hn::Set(d, 0.00836874544620514f), r, hn::Set(d, 0.04166838899254799f));
  const V high = hn::MulAdd(hn::Set(d, 0.0013814540579915047f), square, middle);
  const V tail = hn::MulAdd(high, square, low);
  const V p = hn::Add(hn::MulAdd(tail, square, r), hn::Set(d, 1.0f));
  const auto power = hn::ShiftLeft<23>(hn::BitCast(bits, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, p), power));
}

/// 1 / (1 + exp(-x)) for a number; anything for NaN. Below -88 the result is
/// that of -88, the smallest normal number or 0, not NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_of_number(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V limited = clamped(hn::Neg(x), hn::Set(d, -87.0f), hn::Set(d, 88.0f));
  return hn::Div(one, hn::Add(one, exp_of_limited(d, limited)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  return nan_of(x, sigmoid_of_number(d, x));
}

/// The quotient of two polynomials in x^2, an absolute error of 3.5e-7 with
/// rounding.
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
