#include "devices/cpu/loops/elementwise_loop.h"

#include <algorithm>
#include <cmath>

#include "inference/ops/elementwise/as_read.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/elementwise_loop.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "devices/cpu/loops/extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V sigmoid(D d, V x) {
  // exp of a clamped argument: below -88 the result is the smallest normal number, not NaN.
  const V limited = clamped(hn::Neg(x), hn::Set(d, -88.0f), hn::Set(d, 88.0f));
  const V one = hn::Set(d, 1.0f);
  return nan_of(x, hn::Div(one, hn::Add(one, hn::Exp(d, limited))));
}

/// Abramowitz and Stegun 7.1.26, absolute error 1.5e-7.
HWY_INLINE V erf(D d, V x) {
  const V magnitude = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3275911f), magnitude, one));
  V p = hn::MulAdd(hn::Set(d, 1.061405429f), t, hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const V square = hn::Min(hn::Mul(magnitude, magnitude), hn::Set(d, 80.0f));
  const V tail = hn::Mul(hn::Mul(p, t), hn::Exp(d, hn::Neg(square)));
  return hn::CopySign(hn::Sub(one, tail), x);
}

HWY_INLINE V soft_plus(D d, V x) {
  // max(x, 0) + log(1 + exp(-|x|)) stays exact where exp(x) overflows.
  const V zero = hn::Zero(d);
  const V e = hn::Exp(d, hn::Max(hn::Neg(hn::Abs(x)), hn::Set(d, -88.0f)));
  return nan_of(x, hn::Add(hn::Max(x, zero), hn::Log1p(d, e)));
}

template <class F>
HWY_INLINE void unary(const float* a, float* dst, size_t count, F f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  // Registers are padded to whole vectors, so the last one may run over.
  for (size_t i = 0; i < count; i += lanes) hn::StoreU(f(d, hn::LoadU(d, a + i)), d, dst + i);
}

template <class F>
HWY_INLINE void binary(const float* a, const float* b, float* dst, size_t count, F f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i += lanes) {
    hn::StoreU(f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, dst + i);
  }
}

/// One instruction over whole vectors.
void run(const ElementwiseInstruction& op, const float* a, const float* b, float* dst, size_t n) {
  const float alpha = op.alpha;
  const float beta = op.beta;
  switch (op.kind) {
    case ElementwiseKind::Add:
      return binary(a, b, dst, n, [](D, V x, V y) { return hn::Add(x, y); });
    case ElementwiseKind::Sub:
      return binary(a, b, dst, n, [](D, V x, V y) { return hn::Sub(x, y); });
    case ElementwiseKind::Mul:
      return binary(a, b, dst, n, [](D, V x, V y) { return hn::Mul(x, y); });
    case ElementwiseKind::Div:
      return binary(a, b, dst, n, [](D, V x, V y) { return hn::Div(x, y); });
    case ElementwiseKind::Max:
      return binary(a, b, dst, n, [](D, V x, V y) { return max_or_nan(x, y); });
    case ElementwiseKind::Min:
      return binary(a, b, dst, n, [](D, V x, V y) { return min_or_nan(x, y); });
    case ElementwiseKind::Pow:
      for (size_t i = 0; i < n; ++i) dst[i] = std::pow(as_read(a[i]), as_read(b[i]));
      return;
    case ElementwiseKind::PRelu:
      return binary(a, b, dst, n, [](D d, V x, V y) {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, y), x);
      });
    case ElementwiseKind::Relu:
      if (alpha == 0.0f) {
        return unary(a, dst, n, [](D d, V x) { return at_least(x, hn::Zero(d)); });
      }
      return unary(a, dst, n, [alpha](D d, V x) {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, alpha)), x);
      });
    case ElementwiseKind::Clip:
      return unary(a, dst, n, [alpha, beta](D d, V x) {
        return clamped(x, hn::Set(d, alpha), hn::Set(d, beta));
      });
    case ElementwiseKind::Linear:
      return unary(a, dst, n, [alpha, beta](D d, V x) {
        return hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta));
      });
    case ElementwiseKind::Sigmoid:
      return unary(a, dst, n, [](D d, V x) { return sigmoid(d, x); });
    case ElementwiseKind::Tanh:
      return unary(a, dst, n, [](D d, V x) {
        return nan_of(x, hn::Tanh(d, clamped(x, hn::Set(d, -20.0f), hn::Set(d, 20.0f))));
      });
    case ElementwiseKind::Swish:
      return unary(a, dst, n, [alpha](D d, V x) {
        return hn::Mul(x, sigmoid(d, hn::Mul(x, hn::Set(d, alpha))));
      });
    case ElementwiseKind::HardSigmoid:
      return unary(a, dst, n, [alpha, beta](D d, V x) {
        const V y = hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta));
        return clamped(y, hn::Zero(d), hn::Set(d, 1.0f));
      });
    case ElementwiseKind::HardSwish:
      return unary(a, dst, n, [](D d, V x) {
        const V y = hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
        return hn::Mul(x, clamped(y, hn::Zero(d), hn::Set(d, 1.0f)));
      });
    case ElementwiseKind::Elu:
      return unary(a, dst, n, [alpha](D d, V x) {
        const V negative = hn::Max(hn::Min(x, hn::Zero(d)), hn::Set(d, -88.0f));
        const V low = hn::Mul(hn::Set(d, alpha), hn::Expm1(d, negative));
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), low, x);
      });
    case ElementwiseKind::GeluErf:
      return unary(a, dst, n, [](D d, V x) {
        const V half = hn::Mul(x, hn::Set(d, 0.5f));
        return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.70710678f))), half);
      });
    case ElementwiseKind::GeluTanh:
      return unary(a, dst, n, [](D d, V x) {
        // tanh(y) = 2 sigmoid(2 y) - 1
        const V cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), hn::Set(d, 0.044715f), x);
        return hn::Mul(x, sigmoid(d, hn::Mul(cubic, hn::Set(d, 1.5957691f))));
      });
    case ElementwiseKind::Exp:
      return unary(a, dst, n, [](D d, V x) {
        // Above 88.72 the result is infinite, below -104 it is 0.
        const V limited = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 88.8f));
        const V y = hn::Exp(d, limited);
        return nan_of(x, hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.722839f)), hn::Inf(d), y));
      });
    case ElementwiseKind::Log:
      return unary(a, dst, n, [](D d, V x) {
        const V y = hn::Log(d, x);
        const V bad = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), hn::Neg(hn::Inf(d)));
        const V low = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), y, bad);
        return hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, hn::IfThenElse(hn::Eq(x, x), low, x));
      });
    case ElementwiseKind::Sqrt:
      return unary(a, dst, n, [](D, V x) { return hn::Sqrt(x); });
    case ElementwiseKind::Reciprocal:
      return unary(a, dst, n, [](D d, V x) { return hn::Div(hn::Set(d, 1.0f), x); });
    case ElementwiseKind::Abs:
      return unary(a, dst, n, [](D, V x) { return hn::Abs(x); });
    case ElementwiseKind::Neg:
      return unary(a, dst, n, [](D, V x) { return hn::Neg(x); });
    case ElementwiseKind::Square:
      return unary(a, dst, n, [](D, V x) { return hn::Mul(x, x); });
    case ElementwiseKind::Floor:
      return unary(a, dst, n, [](D, V x) { return hn::Floor(x); });
    case ElementwiseKind::Ceil:
      return unary(a, dst, n, [](D, V x) { return hn::Ceil(x); });
    case ElementwiseKind::Round:
      return unary(a, dst, n, [](D, V x) { return hn::Round(x); });
    case ElementwiseKind::Erf:
      return unary(a, dst, n, [](D d, V x) { return erf(d, x); });
    case ElementwiseKind::SoftPlus:
      return unary(a, dst, n, [](D d, V x) { return soft_plus(d, x); });
    case ElementwiseKind::Mish:
      return unary(a, dst, n, [](D d, V x) {
        return hn::Mul(x, hn::Tanh(d, hn::Min(soft_plus(d, x), hn::Set(d, 20.0f))));
      });
  }
}

void run_chunk(const ElementwiseProgram& program, const float* const* operands, float* dst,
               size_t count) {
  // Vectors run over the end of a chunk, so operands are copied there and results come from here.
  HWY_ALIGN float registers[kMaxElementwiseRegisters][kElementwiseChunk];
  const float* values[kMaxElementwiseRegisters] = {};
  const D d;
  const size_t lanes = hn::Lanes(d);
  const bool whole = count % lanes == 0;
  for (size_t i = 0; i < program.operands; ++i) {
    values[i] = operands[i];
    if (whole) continue;
    std::copy_n(operands[i], count, registers[i]);
    std::fill(registers[i] + count, registers[i] + (count + lanes - 1) / lanes * lanes, 0.0f);
    values[i] = registers[i];
  }
  const size_t last = program.instructions.size() - 1;
  for (size_t k = 0; k <= last; ++k) {
    const ElementwiseInstruction& op = program.instructions[k];
    float* target = k == last && whole ? dst : registers[program.operands + k];
    run(op, values[op.a], values[op.b], target, count);
    values[program.operands + k] = target;
  }
  if (!whole) std::copy_n(values[program.operands + last], count, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(run_chunk);

void run_elementwise_chunk(const ElementwiseProgram& program, const float* const* operands,
                           float* dst, size_t count) {
  HWY_DYNAMIC_DISPATCH(run_chunk)(program, operands, dst, count);
}

}  // namespace het::cpu
#endif
