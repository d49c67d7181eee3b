#include "devices/cpu/loops/byte_map_loop.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/byte_map_loop.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<uint8_t>;
using V = hn::Vec<D>;

#if HWY_TARGET == HWY_SCALAR
void map_values(const uint8_t* src, const uint8_t* map, size_t count, uint8_t* dst) {
  for (size_t i = 0; i < count; ++i) dst[i] = map[src[i]];
}
#else
/// Calls `look_up` with vectors of bytes, the last one filled up.
template <class F>
HWY_INLINE void for_each_vector(const uint8_t* src, size_t count, uint8_t* dst, const F& look_up) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(look_up(hn::LoadU(d, src + i)), d, dst + i);
  if (i == count) return;
  HWY_ALIGN uint8_t rest[HWY_MAX_BYTES] = {};
  std::copy_n(src + i, count - i, rest);
  hn::Store(look_up(hn::Load(d, rest)), d, rest);
  std::copy_n(rest, count - i, dst + i);
}

/// The lower four bits choose from 16 bytes, the upper ones from what the 16 parts of the map give:
/// pairs of neighbours by the lowest of them, and so on.
void map_by_parts(const uint8_t* src, const uint8_t* map, size_t count, uint8_t* dst) {
  const D d;
  const hn::RebindToSigned<D> signed_tag;
  for_each_vector(src, count, dst, [&](V bytes) HWY_ATTR {
    const V low = hn::And(bytes, hn::Set(d, uint8_t{15}));
    V found[16];
#pragma GCC unroll 16
    for (size_t part = 0; part < 16; ++part) {
      found[part] = hn::TableLookupBytes(hn::LoadDup128(d, map + 16 * part), low);
    }
    // Bits 4 to 7, one after the other, as the sign.
    const V bit6 = hn::Add(bytes, bytes);
    const V bit5 = hn::Add(bit6, bit6);
    const V bits[4] = {hn::Add(bit5, bit5), bit5, bit6, bytes};
#pragma GCC unroll 4
    for (size_t level = 0; level < 4; ++level) {
      const auto is_upper = hn::MaskFromVec(
          hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(signed_tag, bits[level]))));
#pragma GCC unroll 8
      for (size_t k = 0; k < size_t{8} >> level; ++k) {
        found[k] = hn::IfThenElse(is_upper, found[2 * k + 1], found[2 * k]);
      }
    }
    return found[0];
  });
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
bool has_long_maps() {
  static const bool has = __builtin_cpu_supports("avx512vbmi");
  return has;
}

/// By an instruction that Highway 1.0 has not, which chooses from 128 bytes.
void map_by_halves(const uint8_t* src, const uint8_t* map, size_t count, uint8_t* dst) {
  const D d;
  const V part0 = hn::LoadU(d, map);
  const V part1 = hn::LoadU(d, map + 64);
  const V part2 = hn::LoadU(d, map + 128);
  const V part3 = hn::LoadU(d, map + 192);
  const auto from_half = [](V bytes, const V& first, const V& second) HWY_ATTR {
    asm("vpermi2b %[second], %[first], %[bytes]"
        : [bytes] "+v"(bytes.raw)
        : [first] "v"(first.raw), [second] "v"(second.raw));
    return bytes;
  };
  for_each_vector(src, count, dst, [&](V bytes) HWY_ATTR {
    const auto is_upper = hn::Gt(bytes, hn::Set(d, uint8_t{127}));
    return hn::IfThenElse(is_upper, from_half(bytes, part2, part3), from_half(bytes, part0, part1));
  });
}
#endif

void map_values(const uint8_t* src, const uint8_t* map, size_t count, uint8_t* dst) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (has_long_maps()) return map_by_halves(src, map, count, dst);
#endif
  map_by_parts(src, map, count, dst);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(map_values);

void map_byte_row(const uint8_t* src, const uint8_t* map, size_t count, uint8_t* dst) {
  HWY_DYNAMIC_DISPATCH(map_values)(src, map, count, dst);
}

}  // namespace het::cpu
#endif
