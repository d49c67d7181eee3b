// Activations with as few instructions as their accuracy allows: what stands behind most products
// of today's models. NaN stays NaN. Included by loops after hwy/highway.h, once per instruction
// set.
#include <hwy/highway.h>

#include "devices/cpu/loops/extremes-inl.h"

#if defined(HET_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_ACTIVATION_INL_H
#undef HET_ACTIVATION_INL_H
#else
#define HET_ACTIVATION_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// How near results are: a few units in the last place of float32 (2e-7), or less than a tenth of
/// what rounding to bfloat16 costs (2e-4, of 2e-3).
enum class Accuracy { Float32, BFloat16 };

/// The polynomial with these terms, the highest power first.
template <class D, class V, size_t N>
HWY_INLINE V polynomial(D d, V x, const float (&terms)[N]) {
  V sum = hn::Set(d, terms[0]);
#pragma GCC unroll 16
  for (size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, hn::Set(d, terms[i]));
  return sum;
}

/// 2^x for x in [-126, 127], any number for NaN: a polynomial over [-1/2, 1/2] (minimax of the
/// relative error, by Remez' algorithm), shifted by a whole number of powers.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V bounded_exp2(D d, V x) {
  const hn::RebindToSigned<D> whole;
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the lowest bits.
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(x, magic);
  const V r = hn::Sub(x, hn::Sub(shifted, magic));
  V p;
  if constexpr (kAccuracy == Accuracy::Float32) {
    constexpr float kTerms[] = {0.00132764264f, 0.00967558699f, 0.0555071376f,
                                0.240221189f,   0.693146967f,   1.00000007f};
    p = polynomial(d, r, kTerms);
  } else {
    constexpr float kTerms[] = {0.0551714038f, 0.242613014f, 0.693261167f, 0.999927961f};
    p = polynomial(d, r, kTerms);
  }
  const auto power = hn::ShiftLeft<23>(hn::BitCast(whole, shifted));
  const V result = hn::BitCast(d, hn::Add(hn::BitCast(whole, p), power));
  return result;
}

/// exp(x) for x in [-87, 88]: 2^n e^r, where the rounding of x * log2(e) must not count.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V bounded_exp(D d, V x) {
  const hn::RebindToSigned<D> whole;
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  const V r = hn::NegMulAdd(n, hn::Set(d, 0.693147182f), x);
  constexpr float kTerms[] = {0.00829761947f, 0.0419156293f, 0.166675765f,
                              0.499988927f,   0.999999691f,  1.00000007f};
  const auto power = hn::ShiftLeft<23>(hn::BitCast(whole, shifted));
  const V result = hn::BitCast(d, hn::Add(hn::BitCast(whole, polynomial(d, r, kTerms)), power));
  return nan_of(x, result);
}

/// 1 / x for x from 1 to 1e38.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V bounded_reciprocal(D d, V x) {
#if HWY_TARGET <= HWY_AVX3
  const V y = hn::ApproximateReciprocal(x);  // 14 bits
  if constexpr (kAccuracy == Accuracy::BFloat16) return y;
  return hn::MulAdd(y, hn::NegMulAdd(x, y, hn::Set(d, 1.0f)), y);
#else
  return hn::Div(hn::Set(d, 1.0f), x);
#endif
}

/// 1 / (1 + 2^x); beyond +-126 the result is that there, and for NaN any number.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V falling_power(D d, V x) {
  const V limited = clamped(x, hn::Set(d, -126.0f), hn::Set(d, 126.0f));
  const V power = bounded_exp2<kAccuracy>(d, limited);
  return bounded_reciprocal<kAccuracy>(d, hn::Add(power, hn::Set(d, 1.0f)));
}

constexpr float kLog2OfE = 1.44269504f;

/// 1 / (1 + exp(-x))
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V fast_sigmoid(D d, V x) {
  return nan_of(x, falling_power<kAccuracy>(d, hn::Mul(x, hn::Set(d, -kLog2OfE))));
}

/// x * sigmoid(alpha * x). The gate is never below 2^-126, so of x below -1e30 something down to -4
/// is left instead of 0, and of -infinity itself instead of NaN.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V fast_swish(D d, V x, float alpha) {
  return hn::Mul(x, falling_power<kAccuracy>(d, hn::Mul(x, hn::Set(d, -kLog2OfE * alpha))));
}

/// tanh(x) = 2 sigmoid(2 x) - 1, and near 0, which stays 0, the first terms of its series.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V fast_tanh(D d, V x) {
  constexpr float kTerms[] = {-17.0f / 315.0f, 2.0f / 15.0f, -1.0f / 3.0f, 1.0f};
  const V near = hn::Mul(x, polynomial(d, hn::Mul(x, x), kTerms));
  const V half = falling_power<kAccuracy>(d, hn::Mul(x, hn::Set(d, -2.0f * kLog2OfE)));
  const V far = hn::MulAdd(half, hn::Set(d, 2.0f), hn::Set(d, -1.0f));
  // NaN is not far, either.
  return hn::IfThenElse(hn::Ge(hn::Abs(x), hn::Set(d, 0.25f)), far, near);
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which is x * sigmoid of twice that.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V fast_gelu_tanh(D d, V x) {
  constexpr float kFirst = -2.0f * 0.797884561f * kLog2OfE;
  const V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715f * kFirst), hn::Set(d, kFirst));
  return hn::Mul(x, falling_power<kAccuracy>(d, hn::Mul(x, inner)));
}

/// x / 2 * (1 + erf(x / sqrt(2))). erf(x / sqrt(2)) is x times a polynomial in x^2, fitted for the
/// least largest error, up to some |x|, and +-1 beyond; its error is below 8e-7, or 3e-5.
template <Accuracy kAccuracy, class D, class V = hn::Vec<D>>
HWY_INLINE V fast_gelu_erf(D d, V x) {
  constexpr float kEnd = kAccuracy == Accuracy::Float32 ? 5.0f : 4.25f;
  const V near = clamped(x, hn::Set(d, -kEnd), hn::Set(d, kEnd));
  const V t = hn::MulAdd(hn::Mul(near, near), hn::Set(d, 2.0f / (kEnd * kEnd)), hn::Set(d, -1.0f));
  V p;
  if constexpr (kAccuracy == Accuracy::Float32) {
    constexpr float kTerms[] = {0.0012174418f, -0.00322653858f, 0.00344564305f, -0.00537113202f,
                                0.0128209655f, -0.0223286923f,  0.0328043799f,  -0.0465373011f,
                                0.062884337f,  -0.0808852152f,  0.103041045f,   -0.140592561f,
                                0.282727575f};
    p = polynomial(d, t, kTerms);
  } else {
    constexpr float kTerms[] = {0.00492560453f, -0.0128112567f, 0.017165742f,
                                -0.028219214f,  0.051184911f,   -0.0787023158f,
                                0.11140188f,    -0.161523011f,  0.331870756f};
    p = polynomial(d, t, kTerms);
  }
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  const V one = hn::CopySign(hn::Set(d, 1.0f), x);
  const V erf = hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(d, kEnd)), one, hn::Mul(near, p));
  return hn::MulAdd(half, erf, half);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
