#include "devices/cpu/loops/channel_gather_loops.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/channel_gather_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One part, with its tables in registers.
template <class D>
struct Lookup {
  const float* src;
  decltype(hn::SetTableIndices(D(), static_cast<const int32_t*>(nullptr))) from;
  hn::Vec<D> taken;

  HWY_INLINE Lookup(D d, const GatherPart& part)
      : src(part.src),
        from(hn::SetTableIndices(d, part.from.data())),
        taken(hn::BitCast(d, hn::LoadU(hn::RebindToSigned<D>(), part.taken.data()))) {}

  HWY_INLINE hn::Vec<D> at(D d, int64_t place) const {
    return hn::And(taken, hn::TableLookupLanes(hn::LoadU(d, src + place), from));
  }
};

template <class D>
HWY_INLINE hn::Vec<D> all_at(D d, int64_t place, const Lookup<D>& part) {
  return part.at(d, place);
}
template <class D, class... Rest>
HWY_INLINE hn::Vec<D> all_at(D d, int64_t place, const Lookup<D>& part, const Rest&... rest) {
  return hn::Or(part.at(d, place), all_at(d, place, rest...));
}

template <class D, class... Parts>
HWY_INLINE void gather_all(D d, int64_t block, int64_t pixels, float* dst, const Parts&... parts) {
  for (int64_t i = 0; i < pixels * block; i += block) {
    hn::StoreU(all_at(d, i, parts...), d, dst + i);
  }
}

/// A further part of what is there already.
template <class D>
HWY_INLINE void add_one(D d, const GatherPart& part, int64_t block, int64_t pixels, float* dst) {
  const Lookup<D> a(d, part);
  for (int64_t i = 0; i < pixels * block; i += block) {
    hn::StoreU(hn::Or(a.at(d, i), hn::LoadU(d, dst + i)), d, dst + i);
  }
}

template <class D>
HWY_INLINE void gather_by(D d, const GatherPart* parts, size_t count, int64_t block, int64_t pixels,
                          float* dst) {
  using Part = Lookup<D>;
  switch (count) {
    case 0:
      for (int64_t i = 0; i < pixels * block; i += block) hn::StoreU(hn::Zero(d), d, dst + i);
      return;
    case 1:
      return gather_all(d, block, pixels, dst, Part(d, parts[0]));
    case 2:
      return gather_all(d, block, pixels, dst, Part(d, parts[0]), Part(d, parts[1]));
    case 3:
      return gather_all(d, block, pixels, dst, Part(d, parts[0]), Part(d, parts[1]),
                        Part(d, parts[2]));
    default:
      gather_all(d, block, pixels, dst, Part(d, parts[0]), Part(d, parts[1]), Part(d, parts[2]),
                 Part(d, parts[3]));
  }
  for (size_t k = 4; k < count; ++k) add_one(d, parts[k], block, pixels, dst);
}

int64_t lanes_of_block(int64_t block) {
  return block <= 8 ? static_cast<int64_t>(hn::Lanes(hn::CappedTag<float, 8>()))
                    : static_cast<int64_t>(hn::Lanes(hn::CappedTag<float, kGatherLanes>()));
}

void gather(const GatherPart* parts, size_t count, int64_t block, int64_t pixels, float* dst) {
  if (block <= 8) {
    gather_by(hn::CappedTag<float, 8>(), parts, count, block, pixels, dst);
  } else {
    gather_by(hn::CappedTag<float, kGatherLanes>(), parts, count, block, pixels, dst);
  }
}

/// Each lane of `first` with that of `second` behind it.
template <class T>
HWY_INLINE void interleave_lanes(const T* first, const T* second, T* dst) {
  using Wide = hwy::MakeWide<T>;
  const hn::ScalableTag<Wide> d;
  const hn::Rebind<T, decltype(d)> half;
  const auto low = hn::PromoteTo(d, hn::LoadU(half, first));
  const auto high = hn::ShiftLeft<8 * sizeof(T)>(hn::PromoteTo(d, hn::LoadU(half, second)));
  hn::StoreU(hn::Or(low, high), d, reinterpret_cast<Wide*>(dst));
}

/// Calls vector(i) for vectors that begin at i and cover 0..count, the last one perhaps once more
/// what the one before has done; single(i) where there are fewer than a vector has.
template <class Vector, class Single>
HWY_INLINE void for_vectors(int64_t lanes, int64_t count, Vector vector, Single single) {
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) vector(i);
  if (i == count) return;
  if (count >= lanes) return vector(count - lanes);
  for (; i < count; ++i) single(i);
}

template <class T>
int64_t wide_lanes() {
  return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<hwy::MakeWide<T>>()));
}

template <class T>
void interleave(const Interleave<T>& work, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* first = work.first + row * work.first_stride;
    const T* second = work.second + row * work.second_stride;
    T* dst = work.dst + row * work.dst_stride;
    for_vectors(
        wide_lanes<T>(), work.pairs,
        [&](int64_t i) { interleave_lanes(first + i, second + i, dst + 2 * i); },
        [&](int64_t i) {
          dst[2 * i] = first[i];
          dst[2 * i + 1] = second[i];
        });
  }
}

template <class T>
void pick(const EverySecond<T>& work, int64_t rows) {
  using Wide = hwy::MakeWide<T>;
  const hn::ScalableTag<Wide> d;
  const hn::Rebind<T, decltype(d)> half;
  for (int64_t row = 0; row < rows; ++row) {
    const T* src = work.src + row * work.src_stride;
    T* dst = work.dst + row * work.dst_stride;
    const int64_t last = work.count - 1;  // what follows it may belong to nobody
    for_vectors(
        wide_lanes<T>(), last,
        [&](int64_t i) {
          const auto pairs = hn::LoadU(d, reinterpret_cast<const Wide*>(src + 2 * i));
          hn::StoreU(hn::TruncateTo(half, pairs), half, dst + i);
        },
        [&](int64_t i) { dst[i] = src[2 * i]; });
    dst[last] = src[2 * last];
  }
}

void interleave8(const Interleave<uint8_t>& work, int64_t rows) {
  interleave(work, rows);
}
void interleave16(const Interleave<uint16_t>& work, int64_t rows) {
  interleave(work, rows);
}
void interleave32(const Interleave<uint32_t>& work, int64_t rows) {
  interleave(work, rows);
}
void pick8(const EverySecond<uint8_t>& work, int64_t rows) {
  pick(work, rows);
}
void pick16(const EverySecond<uint16_t>& work, int64_t rows) {
  pick(work, rows);
}
void pick32(const EverySecond<uint32_t>& work, int64_t rows) {
  pick(work, rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(lanes_of_block);
HWY_EXPORT(gather);
HWY_EXPORT(interleave8);
HWY_EXPORT(interleave16);
HWY_EXPORT(interleave32);
HWY_EXPORT(pick8);
HWY_EXPORT(pick16);
HWY_EXPORT(pick32);

int64_t gather_lanes(int64_t block) {
  return HWY_DYNAMIC_DISPATCH(lanes_of_block)(block);
}

void gather_vectors(const GatherPart* parts, size_t count, int64_t block, int64_t pixels,
                    float* dst) {
  HWY_DYNAMIC_DISPATCH(gather)(parts, count, block, pixels, dst);
}

void interleave_rows(const Interleave<uint8_t>& work, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(interleave8)(work, rows);
}
void interleave_rows(const Interleave<uint16_t>& work, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(interleave16)(work, rows);
}
void interleave_rows(const Interleave<uint32_t>& work, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(interleave32)(work, rows);
}

void pick_every_second(const EverySecond<uint8_t>& work, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(pick8)(work, rows);
}
void pick_every_second(const EverySecond<uint16_t>& work, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(pick16)(work, rows);
}
void pick_every_second(const EverySecond<uint32_t>& work, int64_t rows) {
  HWY_DYNAMIC_DISPATCH(pick32)(work, rows);
}

}  // namespace het::cpu
#endif
