#include "devices/cpu/moves/broadcast_walk.h"

#include <algorithm>
#include <array>

namespace het::cpu {
namespace {

/// Rows from here on are worth a call of their own.
constexpr int64_t kLongRow = 1024;
constexpr int64_t kLongFilled = 512;
/// Values that are shown at once where they are copied: whole periods.
constexpr int64_t kCopiedAtOnce = 1024;
constexpr auto kPeriod = static_cast<int64_t>(kElementwisePeriod);
static_assert(kCopiedAtOnce % kPeriod == 0);
static_assert(kLongRow + kCopiedAtOnce <= int64_t{BroadcastReader::kCopied});

/// Makes `count` values of the first `row` at `dst`, over and over.
template <class T>
void repeat_row(T* dst, int64_t row, int64_t count) {
  for (int64_t made = row; made < count; made *= 2) {
    std::copy_n(dst, std::min(made, count - made), dst + made);
  }
}

/// Copies `count` values that the operand shows from output position `begin` on.
template <class T>
void gather(const BroadcastSpace& space, const BroadcastWalk& walk, const T* src, int64_t begin,
            int64_t count, T* dst) {
  std::array<int64_t, 16> position{};
  const size_t rank = space.dims.size();
  int64_t offset = 0;
  for (size_t d = rank; d-- > 0;) {
    position[d] = begin % space.dims[d];
    begin /= space.dims[d];
    offset += position[d] * walk.strides[d];
  }
  const int64_t inner = space.dims[rank - 1];
  const int64_t step = walk.strides[rank - 1];
  while (count > 0) {
    const int64_t run = std::min(inner - position[rank - 1], count);
    if (step == 1) {
      std::copy_n(src + offset, run, dst);
    } else if (step == 0) {
      std::fill_n(dst, run, src[offset]);
    } else {
      for (int64_t i = 0; i < run; ++i) dst[i] = src[offset + i * step];
    }
    dst += run;
    count -= run;
    offset += run * step;
    position[rank - 1] += run;
    for (size_t d = rank; d-- > 0 && position[d] == space.dims[d];) {
      offset -= position[d] * walk.strides[d];
      position[d] = 0;
      if (d == 0) return;
      ++position[d - 1];
      offset += walk.strides[d - 1];
    }
  }
}

BroadcastWalk::Kind kind_of(const BroadcastSpace& space, const std::vector<int64_t>& strides) {
  using Kind = BroadcastWalk::Kind;
  const size_t rank = space.dims.size();
  const bool scalar = std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 0; });
  if (scalar) return Kind::Scalar;
  if (strides == row_major_strides(space.dims)) return Kind::Same;
  const int64_t row = space.dims[rank - 1];
  if (strides[rank - 1] == 1 && row >= kLongRow) return Kind::Rows;
  if (strides[rank - 1] == 0 && row >= kLongFilled) return Kind::Filled;
  const bool repeats = rank >= 2 && strides[rank - 1] == 1 && strides[rank - 2] == 0;
  if (repeats && row * space.dims[rank - 2] >= kPeriod) return Kind::Repeated;
  return Kind::Gathered;
}

}  // namespace

BroadcastSpace make_broadcast_space(const TensorSpec& dst,
                                    const std::vector<std::vector<int64_t>>& strides) {
  const std::vector<int64_t> dims = physical_dims(dst);
  BroadcastSpace space;
  space.walks.resize(strides.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    space.count *= dims[d];
    if (dims[d] == 1) continue;
    bool merge = !space.dims.empty();
    for (size_t i = 0; merge && i < strides.size(); ++i) {
      merge = space.walks[i].strides.back() == strides[i][d] * dims[d];
    }
    if (merge) {
      space.dims.back() *= dims[d];
      for (size_t i = 0; i < strides.size(); ++i) space.walks[i].strides.back() = strides[i][d];
    } else {
      space.dims.push_back(dims[d]);
      for (size_t i = 0; i < strides.size(); ++i) space.walks[i].strides.push_back(strides[i][d]);
    }
  }
  if (space.dims.empty()) {
    space.dims.push_back(1);
    for (BroadcastWalk& walk : space.walks) walk.strides.push_back(0);
  }
  for (BroadcastWalk& walk : space.walks) walk.kind = kind_of(space, walk.strides);
  return space;
}

BroadcastReader::BroadcastReader(const BroadcastSpace& space, size_t operand, ElementType type,
                                 const std::byte* src, std::byte* copies)
    : space_(&space), walk_(&space.walks[operand]), type_(type), src_(src), copies_(copies) {}

int64_t BroadcastReader::extent(int64_t first) const {
  switch (walk_->kind) {
    case BroadcastWalk::Kind::Same:
    case BroadcastWalk::Kind::Scalar:
      return std::numeric_limits<int64_t>::max();
    case BroadcastWalk::Kind::Rows:
    case BroadcastWalk::Kind::Filled:
      return row() - first % row();
    case BroadcastWalk::Kind::Repeated: {
      const int64_t left = plane() - first % plane();
      const bool periodic = kPeriod % row() == 0 && first % plane() % row() == 0;
      return periodic ? left : std::min(left, kCopiedAtOnce);
    }
    case BroadcastWalk::Kind::Gathered:
      break;
  }
  return kCopiedAtOnce;
}

ElementwiseSource BroadcastReader::read(int64_t first, int64_t count) {
  ElementwiseSource source;
  source.type = type_;
  source.repeats = walk_->kind == BroadcastWalk::Kind::Scalar ||
                   walk_->kind == BroadcastWalk::Kind::Filled ||
                   (walk_->kind == BroadcastWalk::Kind::Repeated && count > kCopiedAtOnce);
  const auto as = [&]<class T>(T /*width*/) {
    return read_typed(reinterpret_cast<const T*>(src_), first, count,
                      reinterpret_cast<T*>(copies_));
  };
  switch (byte_width(type_)) {
    case 1:
      source.values = as(uint8_t{});
      break;
    case 2:
      source.values = as(uint16_t{});
      break;
    default:
      source.values = as(float{});
  }
  return source;
}

template <class T>
const void* BroadcastReader::read_typed(const T* src, int64_t first, int64_t count, T* copies) {
  switch (walk_->kind) {
    case BroadcastWalk::Kind::Same:
      return src + first;
    case BroadcastWalk::Kind::Scalar:
      if (held_ < 0) std::fill_n(copies, kPeriod, *src);
      held_ = 0;
      return copies;
    case BroadcastWalk::Kind::Rows:
      return src + offset_of(first);
    case BroadcastWalk::Kind::Filled:
      std::fill_n(copies, kPeriod, src[offset_of(first)]);
      return copies;
    case BroadcastWalk::Kind::Repeated:
      repeat(src, first, copies);
      return copies + first % plane() % row();
    case BroadcastWalk::Kind::Gathered:
      break;
  }
  gather(*space_, *walk_, src, first, count, copies);
  return copies;
}

/// Fills `copies` with the rows beside position `first`, so that values from anywhere in a row on
/// lie there, unless it holds them.
template <class T>
void BroadcastReader::repeat(const T* src, int64_t first, T* copies) {
  const int64_t place = first / plane();
  if (held_ == place) return;
  std::copy_n(src + offset_of(place * plane()), row(), copies);
  repeat_row(copies, row(), std::min(plane(), row() + kCopiedAtOnce));
  held_ = place;
}

int64_t BroadcastReader::offset_of(int64_t first) const {
  int64_t offset = 0;
  for (size_t d = space_->dims.size(); d-- > 0;) {
    offset += first % space_->dims[d] * walk_->strides[d];
    first /= space_->dims[d];
  }
  return offset;
}

}  // namespace het::cpu
