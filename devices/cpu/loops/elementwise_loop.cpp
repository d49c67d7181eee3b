#include "devices/cpu/loops/elementwise_loop.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "inference/ops/elementwise/as_read.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/elementwise_loop.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/activation-inl.h"
#include "devices/cpu/loops/bfloat16-inl.h"
#include "devices/cpu/loops/byte_values-inl.h"
#include "devices/cpu/loops/extremes-inl.h"
#include "devices/cpu/loops/float_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Action = ElementwiseStep::Action;

constexpr size_t kLanes = hn::MaxLanes(D());
/// Vectors of the accumulator: two such blocks and some constants fit into the registers.
constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM ? 8 : 4;
constexpr size_t kBlock = kVectors * kLanes;
static_assert(kElementwisePeriod % kBlock == 0);

struct Source {
  const void* values;
  size_t mask;  ///< of the index
  ElementType type = ElementType::Float32;
  float scale = 1.0f;
  float zero = 0.0f;
};

template <size_t N>
struct Block {
  HWY_ATTR Block() {}  // g++ makes AArch64's implicit ones for another instruction set
  V v[N];
};

/// f(index) for all indices below N, unrolled: blocks must stay in registers.
template <class F, size_t... I>
HWY_INLINE void each_of(const F& f, std::index_sequence<I...>) {
  (f(std::integral_constant<size_t, I>()), ...);
}
template <size_t N, class F>
HWY_INLINE void each(const F& f) {
  each_of(f, std::make_index_sequence<N>());
}

template <class T, size_t N>
HWY_INLINE void load_stored(const Source& source, size_t at, Block<N>& to) {
  const D d;
  const auto* from = static_cast<const T*>(source.values) + at;
  const V zero = hn::Set(d, source.zero);
  const V scale = hn::Set(d, source.scale);
  each<N>(
      [&](auto i) { to.v[i] = hn::Mul(hn::Sub(load_bytes(d, from + i * kLanes), zero), scale); });
}

template <size_t N>
HWY_INLINE void load(const Source& source, size_t at, Block<N>& to) {
  const D d;
  at &= source.mask;
  if (source.type == ElementType::Float32) {
    const auto* from = static_cast<const float*>(source.values) + at;
    each<N>([&](auto i) { to.v[i] = hn::LoadU(d, from + i * kLanes); });
  } else if (source.type == ElementType::BFloat16) {
    const auto* from = static_cast<const uint16_t*>(source.values) + at;
    each<N>([&](auto i) { to.v[i] = load_bfloat16(d, from + i * kLanes); });
  } else if (source.type == ElementType::UInt8) {
    load_stored<uint8_t>(source, at, to);
  } else if (source.type == ElementType::Int8) {
    load_stored<int8_t>(source, at, to);
  } else {
    const auto* from = static_cast<const int32_t*>(source.values) + at;
    const hn::Rebind<int32_t, D> whole;
    each<N>([&](auto i) { to.v[i] = hn::ConvertTo(d, hn::LoadU(whole, from + i * kLanes)); });
  }
}

template <size_t N>
HWY_INLINE void store(const Block<N>& from, float* to) {
  each<N>([&](auto i) { hn::StoreU(from.v[i], D(), to + i * kLanes); });
}

template <bool kNative, size_t N>
HWY_INLINE void store(const Block<N>& from, BFloat16* dst) {
  const D d;
  auto* to = reinterpret_cast<uint16_t*>(dst);
  if constexpr (N == 1) {
    alignas(64) uint16_t both[2 * kLanes];
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    if constexpr (kNative) {
      store_bfloat16_pair_natively(d, from.v[0], from.v[0], both);
      std::copy_n(both, kLanes, to);
      return;
    }
#endif
    store_bfloat16_pair(d, from.v[0], from.v[0], both);
    std::copy_n(both, kLanes, to);
  } else {
    each<N / 2>([&](auto i) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
      if constexpr (kNative) {
        store_bfloat16_pair_natively(d, from.v[2 * i], from.v[2 * i + 1], to + 2 * i * kLanes);
        return;
      }
#endif
      store_bfloat16_pair(d, from.v[2 * i], from.v[2 * i + 1], to + 2 * i * kLanes);
    });
  }
}

template <bool kNative, size_t N>
HWY_INLINE void store(const Block<N>& from, float* to) {
  store(from, to);
}

template <class F>
HWY_INLINE void unary(float* values, size_t count, F f) {
  const D d;
  for (size_t i = 0; i < count; i += kLanes) {
    hn::StoreU(f(d, hn::LoadU(d, values + i)), d, values + i);
  }
}

/// Functions that take many instructions, over whole vectors in memory: `values` becomes the
/// results. `others`: the second operand of Pow.
HWY_NOINLINE void apply_function(const ElementwiseStep& step, float* values, const float* others,
                                 size_t count) {
  switch (step.kind) {
    case ElementwiseKind::Pow:
      for (size_t i = 0; i < count; ++i) {
        const float a = step.reversed ? others[i] : values[i];
        const float b = step.reversed ? values[i] : others[i];
        values[i] = std::pow(as_read(a), as_read(b));
      }
      return;
    case ElementwiseKind::Tanh:
      return unary(values, count, [](D d, V x) { return fast_tanh<Accuracy::Float32>(d, x); });
    case ElementwiseKind::Swish:  // of a factor for which the product may be NaN
      return unary(values, count, [&step](D d, V x) {
        return nan_of(hn::Mul(x, hn::Set(d, step.alpha)),
                      fast_swish<Accuracy::Float32>(d, x, step.alpha));
      });
    case ElementwiseKind::Elu:
      return unary(values, count, [&step](D d, V x) {
        const V negative = hn::Max(hn::Min(x, hn::Zero(d)), hn::Set(d, -88.0f));
        const V low = hn::Mul(hn::Set(d, step.alpha), hn::Expm1(d, negative));
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), low, x);
      });
    case ElementwiseKind::Exp:
      return unary(values, count, [](D d, V x) {
        // Above 88.72 the result is infinite, below -104 it is 0.
        const V limited = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 88.8f));
        const V y = hn::Exp(d, limited);
        return nan_of(x, hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.722839f)), hn::Inf(d), y));
      });
    case ElementwiseKind::Log:
      return unary(values, count, [](D d, V x) {
        const V y = hn::Log(d, x);
        const V bad = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), hn::Neg(hn::Inf(d)));
        const V low = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), y, bad);
        return hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, hn::IfThenElse(hn::Eq(x, x), low, x));
      });
    case ElementwiseKind::Reciprocal:
      return unary(values, count, [](D d, V x) { return hn::Div(hn::Set(d, 1.0f), x); });
    case ElementwiseKind::Floor:
      return unary(values, count, [](D, V x) { return hn::Floor(x); });
    case ElementwiseKind::Ceil:
      return unary(values, count, [](D, V x) { return hn::Ceil(x); });
    case ElementwiseKind::Erf:
      return unary(values, count, [](D d, V x) { return erf(d, x); });
    case ElementwiseKind::SoftPlus:
      return unary(values, count, [](D d, V x) { return soft_plus(d, x); });
    case ElementwiseKind::Mish:
      return unary(values, count, [](D d, V x) {
        return hn::Mul(x, hn::Tanh(d, hn::Min(soft_plus(d, x), hn::Set(d, 20.0f))));
      });
    default:  // an action of its own
      return;
  }
}

/// acc = f(acc) and acc = f(acc, the step's source), in the order of the step.
template <size_t N, class F>
HWY_INLINE void map(Block<N>& acc, const F& f) {
  const D d;
  each<N>([&](auto i) { acc.v[i] = f(d, acc.v[i]); });
}
template <size_t N, class F>
HWY_INLINE void join(const Source* sources, size_t at, const ElementwiseStep& step, Block<N>& acc,
                     const F& f) {
  const D d;
  Block<N> other;
  load(sources[step.source], at, other);
  each<N>([&](auto i) { acc.v[i] = f(d, acc.v[i], other.v[i]); });
}
template <size_t N, class F>
HWY_INLINE void join_in_order(const Source* sources, size_t at, const ElementwiseStep& step,
                              Block<N>& acc, const F& f) {
  if (!step.reversed) return join(sources, at, step, acc, f);
  join(sources, at, step, acc, [&](D d, V x, V y) { return f(d, y, x); });
}

/// The values of a block from position `at` on.
template <size_t N>
HWY_INLINE void run_steps(const ElementwiseCode& code, const Source* sources, size_t at,
                          Block<N>& acc) {
  const ElementwiseStep* const end = code.steps.data() + code.steps.size();
  for (const ElementwiseStep* next = code.steps.data(); next != end; ++next) {
    const ElementwiseStep& step = *next;
    switch (step.action) {
      case Action::Load:
        load(sources[step.source], at, acc);
        break;
      case Action::Save:
        store(acc, static_cast<float*>(const_cast<void*>(sources[step.source].values)));
        break;
      case Action::Add:
        join(sources, at, step, acc, [](D, V x, V y) { return hn::Add(x, y); });
        break;
      case Action::Sub:
        join_in_order(sources, at, step, acc, [](D, V x, V y) { return hn::Sub(x, y); });
        break;
      case Action::Mul:
        join(sources, at, step, acc, [](D, V x, V y) { return hn::Mul(x, y); });
        break;
      case Action::Div:
        join_in_order(sources, at, step, acc, [](D, V x, V y) { return hn::Div(x, y); });
        break;
      case Action::Max:
        join_in_order(sources, at, step, acc, [](D, V x, V y) { return max_or_nan(x, y); });
        break;
      case Action::Min:
        join_in_order(sources, at, step, acc, [](D, V x, V y) { return min_or_nan(x, y); });
        break;
      case Action::PRelu:
        join_in_order(sources, at, step, acc, [](D d, V x, V y) {
          return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, y), x);
        });
        break;
      case Action::Relu:
        map(acc, [](D d, V x) { return at_least(x, hn::Zero(d)); });
        break;
      case Action::LeakyRelu:
        map(acc, [&](D d, V x) {
          return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, step.alpha)), x);
        });
        break;
      case Action::Clip:
        map(acc,
            [&](D d, V x) { return clamped(x, hn::Set(d, step.alpha), hn::Set(d, step.beta)); });
        break;
      case Action::Linear:
        map(acc,
            [&](D d, V x) { return hn::MulAdd(x, hn::Set(d, step.alpha), hn::Set(d, step.beta)); });
        break;
      case Action::HardSigmoid:
        map(acc, [&](D d, V x) {
          const V y = hn::MulAdd(x, hn::Set(d, step.alpha), hn::Set(d, step.beta));
          return clamped(y, hn::Zero(d), hn::Set(d, 1.0f));
        });
        break;
      case Action::HardSwish:
        map(acc, [](D d, V x) {
          const V y = hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
          return hn::Mul(x, clamped(y, hn::Zero(d), hn::Set(d, 1.0f)));
        });
        break;
      case Action::Sigmoid:
        map(acc, [](D d, V x) { return fast_sigmoid<Accuracy::Float32>(d, x); });
        break;
      case Action::Swish:
        map(acc, [&](D d, V x) { return fast_swish<Accuracy::Float32>(d, x, step.alpha); });
        break;
      case Action::GeluErf:
        map(acc, [](D d, V x) { return fast_gelu_erf<Accuracy::Float32>(d, x); });
        break;
      case Action::GeluTanh:
        map(acc, [](D d, V x) { return fast_gelu_tanh<Accuracy::Float32>(d, x); });
        break;
      case Action::Abs:
        map(acc, [](D, V x) { return hn::Abs(x); });
        break;
      case Action::Neg:
        map(acc, [](D, V x) { return hn::Neg(x); });
        break;
      case Action::Square:
        map(acc, [](D, V x) { return hn::Mul(x, x); });
        break;
      case Action::Sqrt:
        map(acc, [](D, V x) { return hn::Sqrt(x); });
        break;
      case Action::Round:
        map(acc, [](D, V x) { return hn::Round(x); });
        break;
      case Action::ReplaceNaN:
        map(acc, [&](D d, V x) { return hn::IfThenElse(hn::Eq(x, x), x, hn::Set(d, step.alpha)); });
        break;
      case Action::Function: {
        HWY_ALIGN float values[N * kLanes];
        HWY_ALIGN float others[N * kLanes];
        if (is_binary(step.kind)) {
          Block<N> other;
          load(sources[step.source], at, other);
          store(other, others);
        }
        store(acc, values);
        apply_function(step, values, others, N * kLanes);
        const Source results{values, 0};
        load(results, 0, acc);
        break;
      }
    }
  }
}

template <bool kNative>
struct StoreValues {
  template <size_t N, class T>
  HWY_INLINE void operator()(const Block<N>& from, T* to) const {
    store<kNative>(from, to);
  }
};

template <class T>
class StoreBytes {
 public:
  explicit StoreBytes(const ByteScale& scale) : store_(D(), scale) {}
  template <size_t N>
  HWY_INLINE void operator()(const Block<N>& from, T* to) const {
    each<N>([&](auto i) { store_.divided(D(), from.v[i], to + i * kLanes); });
  }

 private:
  ByteStore<T> store_;
};

/// Of a source, one by one.
float value_at(const Source& source, size_t i) {
  const auto stored = [&](const auto* values) {
    return (static_cast<float>(values[i]) - source.zero) * source.scale;
  };
  switch (source.type) {
    case ElementType::UInt8:
      return stored(static_cast<const uint8_t*>(source.values));
    case ElementType::Int8:
      return stored(static_cast<const int8_t*>(source.values));
    case ElementType::Int32:
      return static_cast<float>(static_cast<const int32_t*>(source.values)[i]);
    case ElementType::BFloat16:
      return static_cast<float>(static_cast<const BFloat16*>(source.values)[i]);
    default:
      return static_cast<const float*>(source.values)[i];
  }
}

template <class Store, class T>
void run_code(const ElementwiseCode& code, const ElementwiseSource* operands, const Store& store,
              T* dst, size_t count) {
  HWY_ALIGN float saved[kMaxElementwiseRegisters][kBlock];
  Source sources[kMaxElementwiseRegisters];
  for (size_t i = 0; i < code.operands; ++i) {
    const size_t mask = operands[i].repeats ? kElementwisePeriod - 1 : ~size_t{0};
    sources[i] = {operands[i].values, mask, operands[i].type, operands[i].scale, operands[i].zero};
  }
  for (size_t i = 0; i < code.saved; ++i) sources[code.operands + i] = {saved[i], 0};
  size_t at = 0;
  for (; at + kBlock <= count; at += kBlock) {
    Block<kVectors> acc;
    run_steps(code, sources, at, acc);
    store(acc, dst + at);
  }
  Block<1> acc;
  for (; at + kLanes <= count; at += kLanes) {
    run_steps(code, sources, at, acc);
    store(acc, dst + at);
  }
  if (at == count) return;
  // What does not fill a vector is copied to where one can be read.
  HWY_ALIGN float rests[kMaxElementwiseRegisters][kLanes];
  for (size_t i = 0; i < code.operands; ++i) {
    const size_t from = at & sources[i].mask;
    for (size_t k = 0; k < kLanes; ++k) {
      rests[i][k] = k >= count - at ? 0.0f : value_at(sources[i], from + k);
    }
    sources[i] = {rests[i], 0};
  }
  T results[kLanes];
  run_steps(code, sources, 0, acc);
  store(acc, results);
  std::copy_n(results, count - at, dst + at);
}

void run_to_float(const ElementwiseCode& code, const ElementwiseSource* sources, float* dst,
                  size_t count) {
  run_code(code, sources, StoreValues<false>(), dst, count);
}

void run_to_bfloat16(const ElementwiseCode& code, const ElementwiseSource* sources, BFloat16* dst,
                     size_t count) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (has_bfloat16_instructions()) {
    return run_code(code, sources, StoreValues<true>(), dst, count);
  }
#endif
  run_code(code, sources, StoreValues<false>(), dst, count);
}

void run_to_bytes(const ElementwiseCode& code, const ElementwiseSource* sources,
                  const ByteScale& scale, std::byte* dst, size_t count) {
  if (scale.is_signed) {
    run_code(code, sources, StoreBytes<int8_t>(scale), reinterpret_cast<int8_t*>(dst), count);
  } else {
    run_code(code, sources, StoreBytes<uint8_t>(scale), reinterpret_cast<uint8_t*>(dst), count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(run_to_float);
HWY_EXPORT(run_to_bfloat16);
HWY_EXPORT(run_to_bytes);

void run_elementwise(const ElementwiseCode& code, const ElementwiseSource* sources, float* dst,
                     size_t count) {
  HWY_DYNAMIC_DISPATCH(run_to_float)(code, sources, dst, count);
}

void run_elementwise(const ElementwiseCode& code, const ElementwiseSource* sources, BFloat16* dst,
                     size_t count) {
  HWY_DYNAMIC_DISPATCH(run_to_bfloat16)(code, sources, dst, count);
}

void run_elementwise(const ElementwiseCode& code, const ElementwiseSource* sources,
                     const ByteScale& scale, std::byte* dst, size_t count) {
  HWY_DYNAMIC_DISPATCH(run_to_bytes)(code, sources, scale, dst, count);
}

void run_elementwise_in_place(const ElementwiseCode& code, float* row, size_t count) {
  const ElementwiseSource source{row};
  run_elementwise(code, &source, row, count);
}

}  // namespace het::cpu
#endif
