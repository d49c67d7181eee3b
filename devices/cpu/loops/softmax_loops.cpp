#include "devices/cpu/loops/softmax_loops.h"

#include <algorithm>
#include <limits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/softmax_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "devices/cpu/loops/channel_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using SoftmaxTag = hn::CappedTag<float, 16>;
constexpr int64_t kSoftmaxLanes = static_cast<int64_t>(hn::MaxLanes(SoftmaxTag()));

/// exp(x - largest): 0 far below, NaN stays NaN.
template <class V>
HWY_INLINE V exponential(SoftmaxTag d, V x, V largest) {
  const V difference = hn::Sub(x, largest);
  const V y = hn::Exp(d, hn::Max(difference, hn::Set(d, -104.0f)));
  return hn::IfThenElse(hn::Eq(difference, difference), y, difference);
}

/// One vector of columns; `load` and `store` go by row.
template <class Load, class Store>
HWY_INLINE void softmax_vector(int64_t n, bool logarithm, const Load& load, const Store& store) {
  const SoftmaxTag d;
  auto largest = load(0);
  for (int64_t i = 1; i < n; ++i) largest = hn::Max(largest, load(i));
  auto sum = hn::Zero(d);
  if (logarithm) {
    for (int64_t i = 0; i < n; ++i) sum = hn::Add(sum, exponential(d, load(i), largest));
    const auto shift = hn::IfThenElse(hn::Eq(sum, sum), hn::Log(d, sum), sum);
    for (int64_t i = 0; i < n; ++i) store(i, hn::Sub(hn::Sub(load(i), largest), shift));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto e = exponential(d, load(i), largest);
    sum = hn::Add(sum, e);
    store(i, e);
  }
  const auto scale = hn::Div(hn::Set(d, 1.0f), sum);
  // What was stored a moment ago; the source may be gone.
  for (int64_t i = 0; i < n; ++i) store(i, hn::Mul(store(i), scale));
}

/// Rows of a place where results go, and can be read again.
struct SoftmaxRows {
  float* first;
  int64_t stride;
  template <class V>
  HWY_INLINE void operator()(int64_t row, V v) const {
    hn::StoreU(v, SoftmaxTag(), first + row * stride);
  }
  HWY_INLINE auto operator()(int64_t row) const {
    return hn::LoadU(SoftmaxTag(), first + row * stride);
  }
};

/// The same for the first `count` columns only.
struct SoftmaxPart {
  float* first;
  int64_t stride;
  int64_t count;
  template <class V>
  HWY_INLINE void operator()(int64_t row, V v) const {
    store_first_channels(SoftmaxTag(), v, first + row * stride, count);
  }
  HWY_INLINE auto operator()(int64_t row) const {
    return load_first_channels(SoftmaxTag(), first + row * stride, count);
  }
};

void softmax_of_rows(const float* src, int64_t n, int64_t rows, bool logarithm, float* dst) {
  const SoftmaxTag d;
  HWY_ALIGN float columns[kShortRow * kSoftmaxLanes] = {};
  for (int64_t first = 0; first < rows; first += kSoftmaxLanes) {
    const int64_t count = std::min(kSoftmaxLanes, rows - first);
    for (int64_t r = 0; r < count; ++r) {
      const float* const row = src + (first + r) * n;
      for (int64_t i = 0; i < n; ++i) columns[i * kSoftmaxLanes + r] = row[i];
    }
    softmax_vector(
        n, logarithm,
        [&](int64_t row) HWY_ATTR { return hn::Load(d, columns + row * kSoftmaxLanes); },
        SoftmaxRows{columns, kSoftmaxLanes});
    for (int64_t r = 0; r < count; ++r) {
      float* const row = dst + (first + r) * n;
      for (int64_t i = 0; i < n; ++i) row[i] = columns[i * kSoftmaxLanes + r];
    }
  }
}

/// A vector of a row, and what is left of it behind the last whole one. `other` fills lanes that
/// the row does not have.
struct WholeVector {
  HWY_INLINE auto load(const float* from) const { return hn::LoadU(SoftmaxTag(), from); }
  template <class V>
  HWY_INLINE void store(V v, float* to) const {
    hn::StoreU(v, SoftmaxTag(), to);
  }
  template <class V>
  HWY_INLINE V filled(V v, V /*other*/) const {
    return v;
  }
};
struct RestOfRow {
  int64_t count;
  HWY_INLINE auto load(const float* from) const {
    return load_first_channels(SoftmaxTag(), from, count);
  }
  template <class V>
  HWY_INLINE void store(V v, float* to) const {
    store_first_channels(SoftmaxTag(), v, to, count);
  }
  template <class V>
  HWY_INLINE V filled(V v, V other) const {
    return hn::IfThenElse(hn::FirstN(SoftmaxTag(), static_cast<size_t>(count)), v, other);
  }
};

/// Calls body(position, vector) for the vectors of a row.
template <class Body>
HWY_INLINE void each_vector(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kSoftmaxLanes <= n; i += kSoftmaxLanes) body(i, WholeVector());
  if (i < n) body(i, RestOfRow{n - i});
}

/// As softmax_vector(), along the row.
void softmax_of_long_row(const float* src, int64_t n, bool logarithm, float* dst) {
  const SoftmaxTag d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto largest = lowest;
  each_vector(n, [&](int64_t i, const auto& part) HWY_ATTR {
    largest = hn::Max(largest, part.filled(part.load(src + i), lowest));
  });
  largest = hn::MaxOfLanes(d, largest);
  auto sum = hn::Zero(d);
  each_vector(n, [&](int64_t i, const auto& part) HWY_ATTR {
    const auto e = exponential(d, part.load(src + i), largest);
    sum = hn::Add(sum, part.filled(e, hn::Zero(d)));
    if (!logarithm) part.store(e, dst + i);
  });
  sum = hn::SumOfLanes(d, sum);
  if (logarithm) {
    const auto shift = hn::IfThenElse(hn::Eq(sum, sum), hn::Log(d, sum), sum);
    each_vector(n, [&](int64_t i, const auto& part) HWY_ATTR {
      part.store(hn::Sub(hn::Sub(part.load(src + i), largest), shift), dst + i);
    });
    return;
  }
  const auto scale = hn::Div(hn::Set(d, 1.0f), sum);
  each_vector(n, [&](int64_t i, const auto& part)
                     HWY_ATTR { part.store(hn::Mul(part.load(dst + i), scale), dst + i); });
}

/// Calls body(position, vector) for the vectors of neighbouring rows of `columns` values: of as
/// many whole rows as fit.
template <class Body>
HWY_INLINE void each_vector_of_rows(int64_t n, int64_t columns, const Body& body) {
  const int64_t used = kSoftmaxLanes / columns * columns;
  int64_t i = 0;
  for (; i + used <= n * columns; i += used) {
    used == kSoftmaxLanes ? body(i, WholeVector()) : body(i, RestOfRow{used});
  }
  if (i < n * columns) body(i, RestOfRow{n * columns - i});
}

/// op of the lanes of each column, in all of its lanes.
template <class V, class Op>
HWY_INLINE V of_each_column(V v, int64_t columns, const Op& op) {
  const SoftmaxTag d;
  HWY_ALIGN float lanes[kSoftmaxLanes];
  hn::Store(v, d, lanes);
  const int64_t used = kSoftmaxLanes / columns * columns;
  for (int64_t i = columns; i < used; ++i) lanes[i % columns] = op(lanes[i % columns], lanes[i]);
  for (int64_t i = columns; i < kSoftmaxLanes; ++i) lanes[i] = lanes[i % columns];
  return hn::Load(d, lanes);
}

/// As softmax_vector(), of columns that are too few for a vector and lie row behind row.
void softmax_of_few_columns(const float* src, int64_t n, int64_t columns, bool logarithm,
                            float* dst) {
  const SoftmaxTag d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto largest = lowest;
  each_vector_of_rows(n, columns, [&](int64_t i, const auto& part) HWY_ATTR {
    largest = hn::Max(largest, part.filled(part.load(src + i), lowest));
  });
  largest = of_each_column(largest, columns, [](float a, float b) { return std::max(a, b); });
  auto sum = hn::Zero(d);
  each_vector_of_rows(n, columns, [&](int64_t i, const auto& part) HWY_ATTR {
    const auto e = exponential(d, part.load(src + i), largest);
    sum = hn::Add(sum, part.filled(e, hn::Zero(d)));
    if (!logarithm) part.store(e, dst + i);
  });
  sum = of_each_column(sum, columns, [](float a, float b) { return a + b; });
  if (logarithm) {
    const auto shift = hn::IfThenElse(hn::Eq(sum, sum), hn::Log(d, sum), sum);
    each_vector_of_rows(n, columns, [&](int64_t i, const auto& part) HWY_ATTR {
      part.store(hn::Sub(hn::Sub(part.load(src + i), largest), shift), dst + i);
    });
    return;
  }
  const auto scale = hn::Div(hn::Set(d, 1.0f), sum);
  each_vector_of_rows(n, columns, [&](int64_t i, const auto& part) HWY_ATTR {
    part.store(hn::Mul(part.load(dst + i), scale), dst + i);
  });
}

void softmax_of_columns(const float* src, int64_t n, int64_t stride, int64_t columns,
                        bool logarithm, float* dst) {
  const SoftmaxTag d;
  if (stride == columns && 2 * columns <= kSoftmaxLanes) {
    return softmax_of_few_columns(src, n, columns, logarithm, dst);
  }
  int64_t i = 0;
  for (; i + kSoftmaxLanes <= columns; i += kSoftmaxLanes) {
    softmax_vector(
        n, logarithm, [&](int64_t row) HWY_ATTR { return hn::LoadU(d, src + row * stride + i); },
        SoftmaxRows{dst + i, stride});
  }
  if (i == columns) return;
  softmax_vector(
      n, logarithm,
      [&](int64_t row)
          HWY_ATTR { return load_first_channels(d, src + row * stride + i, columns - i); },
      SoftmaxPart{dst + i, stride, columns - i});
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(softmax_of_columns);
HWY_EXPORT(softmax_of_rows);
HWY_EXPORT(softmax_of_long_row);

void softmax_columns(const float* src, int64_t n, int64_t stride, int64_t columns, bool logarithm,
                     float* dst) {
  HWY_DYNAMIC_DISPATCH(softmax_of_columns)(src, n, stride, columns, logarithm, dst);
}

void softmax_rows(const float* src, int64_t n, int64_t rows, bool logarithm, float* dst) {
  HWY_DYNAMIC_DISPATCH(softmax_of_rows)(src, n, rows, logarithm, dst);
}

void softmax_long_row(const float* src, int64_t n, bool logarithm, float* dst) {
  HWY_DYNAMIC_DISPATCH(softmax_of_long_row)(src, n, logarithm, dst);
}

}  // namespace het::cpu
#endif
