// Bytes as floats and back, as byte_loops.h says. Included by loops after hwy/highway.h, once per
// instruction set.
#include <hwy/highway.h>

#include "devices/cpu/loops/byte_loops.h"

#if defined(HET_BYTE_VALUES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_BYTE_VALUES_INL_H
#undef HET_BYTE_VALUES_INL_H
#else
#define HET_BYTE_VALUES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using ByteFloatTag = hn::ScalableTag<float>;
using ByteFloats = hn::Vec<ByteFloatTag>;

template <class T>
HWY_INLINE ByteFloats load_bytes(ByteFloatTag d, const T* src) {
  const hn::Rebind<T, ByteFloatTag> bytes;
  const hn::Rebind<int32_t, ByteFloatTag> wide;
  return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(bytes, src)));
}

/// Rounds to halves to even: whatever is added to this loses its fraction.
constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23

/// Stores quotients as bytes. Constants are kept in vectors, since bytes that are stored might be
/// `scale`'s for all that the compiler knows.
template <class T>
class ByteStore {
 public:
  ByteStore(ByteFloatTag d, const ByteScale& scale)
      : scale_(hn::Set(d, scale.scale)),
        // Below this the reciprocal is not finite.
        inverse_(hn::Set(d, scale.scale > 1e-37f ? 1.0f / scale.scale : 0.0f)),
        low_(hn::Set(d, (scale.is_signed ? -128.0f : 0.0f) - scale.zero)),
        high_(hn::Set(d, (scale.is_signed ? 127.0f : 255.0f) - scale.zero)),
        zero_(hn::Set(hn::RebindToUnsigned<ByteFloatTag>(),
                      static_cast<uint32_t>(static_cast<int32_t>(scale.zero)))),
        divides_(!(scale.scale > 1e-37f)) {}
  /// For the channels from `channel` on.
  ByteStore(ByteFloatTag d, const ChannelSteps& steps, size_t channel)
      : scale_(hn::LoadU(d, steps.scales.data() + channel)),
        inverse_(hn::LoadU(d, steps.inverses.data() + channel)),
        low_(limit(d, steps.is_signed ? -128.0f : 0.0f, steps, channel)),
        high_(limit(d, steps.is_signed ? 127.0f : 255.0f, steps, channel)),
        zero_(hn::BitCast(hn::RebindToUnsigned<ByteFloatTag>(),
                          hn::ConvertTo(hn::RebindToSigned<ByteFloatTag>(),
                                        hn::LoadU(d, steps.zeros.data() + channel)))),
        divides_(steps.divides) {}

  /// round(value / scale) + zero, mostly without a division, which takes as long as 32 other
  /// instructions: an estimate misses the quotient by less than 1e-4 within the range of bytes, so
  /// only beside a half it might be rounded to another number.
  HWY_INLINE void divided(ByteFloatTag d, ByteFloats value, T* dst) const {
    const ByteFloats estimate = hn::Mul(value, inverse_);
    const ByteFloats rounded = round(d, estimate);
    const ByteFloats away = hn::Abs(hn::Sub(estimate, rounded));
    if (divides_ || !hn::AllTrue(d, hn::Lt(away, hn::Set(d, 0.4999f)))) {
      return store(d, hn::Div(value, scale_), dst);
    }
    limited(d, rounded, dst);
  }

  /// round(quotient) + zero; NaN counts as 0.
  HWY_INLINE void store(ByteFloatTag d, ByteFloats quotient, T* dst) const {
    const ByteFloats number = hn::IfThenElseZero(hn::Eq(quotient, quotient), quotient);
    limited(d, round(d, hn::Min(hn::Max(number, low_), high_)), dst);
  }

 private:
  static HWY_INLINE ByteFloats limit(ByteFloatTag d, float number, const ChannelSteps& steps,
                                     size_t channel) {
    return hn::Sub(hn::Set(d, number), hn::LoadU(d, steps.zeros.data() + channel));
  }
  static HWY_INLINE ByteFloats round(ByteFloatTag d, ByteFloats value) {
    const ByteFloats shift = hn::Set(d, kRounding);
    return hn::Sub(hn::Add(value, shift), shift);
  }
  /// Of whole numbers.
  HWY_INLINE void limited(ByteFloatTag d, ByteFloats whole, T* dst) const {
    const hn::RebindToUnsigned<ByteFloatTag> du;
    const hn::Rebind<uint8_t, ByteFloatTag> bytes;
    const ByteFloats in_range = hn::Min(hn::Max(whole, low_), high_);
    // The lowest byte of the sum is the number's.
    const auto bits = hn::BitCast(du, hn::Add(in_range, hn::Set(d, kRounding)));
    hn::StoreU(hn::TruncateTo(bytes, hn::Add(bits, zero_)), bytes, reinterpret_cast<uint8_t*>(dst));
  }

  ByteFloats scale_;
  ByteFloats inverse_;
  ByteFloats low_;
  ByteFloats high_;
  hn::Vec<hn::RebindToUnsigned<ByteFloatTag>> zero_;
  bool divides_;
};

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_BYTE_VALUES_INL_H
