#include "devices/cpu/loops/finish_loops.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/finish_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/activation-inl.h"
#include "devices/cpu/loops/byte_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, class F>
HWY_INLINE void finish_typed(const float* src, const ChannelSteps& steps, size_t count, T* dst,
                             const F& f) {
  const ByteFloatTag d;
  const hn::RebindToUnsigned<ByteFloatTag> du;
  const hn::Rebind<uint8_t, ByteFloatTag> bytes;
  const size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(d, steps.is_signed ? -128.0f : 0.0f);
  const auto high = hn::Set(d, steps.is_signed ? 127.0f : 255.0f);
  size_t channel = 0;
  const auto finished = [&](ByteFloats x) HWY_ATTR {
    const auto y = hn::MulAdd(f(d, x), hn::LoadU(d, steps.inverses.data() + channel),
                              hn::LoadU(d, steps.zeros.data() + channel));
    // The lowest byte of the sum is the rounded number's.
    const auto number = hn::Add(hn::Min(hn::Max(y, low), high), hn::Set(d, kRounding));
    return hn::TruncateTo(bytes, hn::BitCast(du, number));
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(finished(hn::LoadU(d, src + i)), bytes, reinterpret_cast<uint8_t*>(dst + i));
    channel += lanes;
    while (channel >= steps.channels) channel -= steps.channels;
  }
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  HWY_ALIGN uint8_t stored[hn::MaxLanes(d)];
  std::copy_n(src + i, count - i, rest);
  hn::Store(finished(hn::Load(d, rest)), bytes, stored);
  std::copy_n(stored, count - i, reinterpret_cast<uint8_t*>(dst + i));
}

template <class T>
void finish_as(const ElementwiseInstruction* activation, const float* src,
               const ChannelSteps& steps, size_t count, T* dst) {
  using D = ByteFloatTag;
  using V = ByteFloats;
  constexpr Accuracy kFloat = Accuracy::Float32;
  const auto finish = [&](const auto& f) HWY_ATTR { finish_typed(src, steps, count, dst, f); };
  if (activation == nullptr) return finish([](D, V x) { return x; });
  const float alpha = activation->alpha;
  const float beta = activation->beta;
  switch (activation->kind) {
    case ElementwiseKind::Sigmoid:
      return finish([](D d, V x) { return fast_sigmoid<kFloat>(d, x); });
    case ElementwiseKind::Tanh:
      return finish([](D d, V x) { return fast_tanh<kFloat>(d, x); });
    case ElementwiseKind::Swish:
      return finish([alpha](D d, V x) { return fast_swish<kFloat>(d, x, alpha); });
    case ElementwiseKind::GeluErf:
      return finish([](D d, V x) { return fast_gelu_erf<kFloat>(d, x); });
    case ElementwiseKind::GeluTanh:
      return finish([](D d, V x) { return fast_gelu_tanh<kFloat>(d, x); });
    case ElementwiseKind::HardSwish:
      return finish([](D d, V x) {
        const V gate = hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
        return hn::Mul(x, clamped(gate, hn::Zero(d), hn::Set(d, 1.0f)));
      });
    case ElementwiseKind::Relu:
      return finish([alpha](D d, V x) {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, alpha)), x);
      });
    default:  // Clip: is_finished_activation() has refused others
      return finish(
          [alpha, beta](D d, V x) { return clamped(x, hn::Set(d, alpha), hn::Set(d, beta)); });
  }
}

void finish_bytes(const ElementwiseInstruction* activation, const float* src,
                  const ChannelSteps& steps, size_t count, std::byte* dst) {
  if (steps.is_signed) {
    return finish_as(activation, src, steps, count, reinterpret_cast<int8_t*>(dst));
  }
  finish_as(activation, src, steps, count, reinterpret_cast<uint8_t*>(dst));
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(finish_bytes);

bool is_finished_activation(const ElementwiseInstruction& op) {
  switch (op.kind) {
    case ElementwiseKind::Sigmoid:
    case ElementwiseKind::Tanh:
    case ElementwiseKind::Swish:
    case ElementwiseKind::GeluErf:
    case ElementwiseKind::GeluTanh:
    case ElementwiseKind::HardSwish:
    case ElementwiseKind::Relu:
    case ElementwiseKind::Clip:
      return true;
    default:
      return false;
  }
}

void finish_rows(const ElementwiseInstruction* activation, const float* src,
                 const ChannelSteps& steps, size_t count, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(finish_bytes)(activation, src, steps, count, dst);
}

}  // namespace het::cpu
#endif
