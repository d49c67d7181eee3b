// Cuts weights into terms for ByteDot: which sums fit in 16 bits, and which terms go together.
// Included by byte_term_loops.cpp after hwy/foreach_target.h, once per instruction set.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include <hwy/highway.h>

#include "devices/cpu/loops/byte_term_loops.h"
#include "devices/cpu/loops/int8_tail-inl.h"

#if defined(HET_BYTE_CUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_BYTE_CUT_INL_H
#undef HET_BYTE_CUT_INL_H
#else
#define HET_BYTE_CUT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Bytes of a term, and the sums of neighbouring products that they make for half a panel.
constexpr int kQuad = 4;
constexpr int kTermBytes = kQuad * kSumLanes;
constexpr int kTermPairs = kTermBytes / 2;

/// The channel of a panel that is `lane` of its half. Groups of eight channels are alone in one.
constexpr int64_t half_channel(int64_t half, int64_t lane) {
  return half * kSumLanes + lane;
}

/// The bytes of a quad in an order for each choice of neighbours.
constexpr int kPairings = 3;
constexpr int kPairingOrder[kPairings][kQuad] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};

/// What pairs of weights may come to: 255 times it fits in 16 bits.
constexpr int kMostOfPair = 128;

/// By how much signed bytes are turned into unsigned ones.
constexpr int kSignedOffset = 128;

/// Weights of a term, in the order of a pairing: neighbours meet.
using TermWeights = std::array<int8_t, kTermBytes>;

/// The order of a pairing in 16 bytes.
struct QuadOrder {
  constexpr explicit QuadOrder(int pairing) {
    for (int i = 0; i < 16; ++i) {
      from[i] = static_cast<int8_t>(i / kQuad * kQuad + kPairingOrder[pairing][i % kQuad]);
    }
  }

  HWY_ALIGN int8_t from[16] = {};
};
constexpr QuadOrder kQuadOrders[kPairings] = {QuadOrder(0), QuadOrder(1), QuadOrder(2)};

/// Weights in plain order in that of a pairing.
HWY_INLINE TermWeights ordered(const TermWeights& weights, int pairing) {
  TermWeights made;
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < kTermBytes; ++i) {
    made[i] = weights[i / kQuad * kQuad + static_cast<size_t>(kPairingOrder[pairing][i % kQuad])];
  }
#else
  const hn::FixedTag<int8_t, 16> d;
  const auto order = hn::Load(d, kQuadOrders[pairing].from);
  for (size_t i = 0; i < kTermBytes; i += 16) {
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, weights.data() + i), order), d, made.data() + i);
  }
#endif
  return made;
}

/// What is added to the 16-bit sums of a term at most, over and below 0.
struct PairBounds {
  using Tag = hn::CappedTag<int16_t, kTermPairs>;
  static constexpr size_t kLanes = hn::MaxLanes(Tag());

  std::array<int16_t, kTermPairs> above, below;

  HWY_INLINE void set(const TermWeights& weights) {
#if HWY_TARGET == HWY_SCALAR
    for (size_t k = 0; k < kTermPairs; ++k) {
      const int a = weights[2 * k];
      const int b = weights[2 * k + 1];
      above[k] = static_cast<int16_t>(std::max(a, 0) + std::max(b, 0));
      below[k] = static_cast<int16_t>(above[k] - (a + b));
    }
#else
    const Tag d;
    const auto zero = hn::Zero(d);
    for (size_t k = 0; k < kTermPairs; k += kLanes) {
      const auto pairs =
          hn::BitCast(d, hn::LoadU(hn::Repartition<int8_t, Tag>(), weights.data() + 2 * k));
      const auto a = hn::ShiftRight<8>(hn::ShiftLeft<8>(pairs));
      const auto b = hn::ShiftRight<8>(pairs);
      const auto over = hn::Add(hn::Max(a, zero), hn::Max(b, zero));
      hn::StoreU(over, d, above.data() + k);
      hn::StoreU(hn::Sub(over, hn::Add(a, b)), d, below.data() + k);
    }
#endif
  }
  HWY_INLINE bool fits_with(const PairBounds& other) const {
    const Tag d;
    auto most = hn::Zero(d);
    for (size_t k = 0; k < kTermPairs; k += kLanes) {
      const auto sum = [&](const auto& mine, const auto& others) HWY_ATTR {
        return hn::Add(hn::LoadU(d, mine.data() + k), hn::LoadU(d, others.data() + k));
      };
      most = hn::Max(most, hn::Max(sum(above, other.above), sum(below, other.below)));
    }
    return hn::AllTrue(d, hn::Lt(most, hn::Set(d, static_cast<int16_t>(kMostOfPair + 1))));
  }
  HWY_INLINE bool fits() const {
    const Tag d;
    auto most = hn::Zero(d);
    for (size_t k = 0; k < kTermPairs; k += kLanes) {
      most = hn::Max(most, hn::Max(hn::LoadU(d, above.data() + k), hn::LoadU(d, below.data() + k)));
    }
    return hn::AllTrue(d, hn::Lt(most, hn::Set(d, static_cast<int16_t>(kMostOfPair + 1))));
  }
};

/// A term in all orders that may be chosen.
struct Term {
  struct Order {
    TermWeights weights;
    PairBounds bounds;
    bool fits = false;
  };

  int32_t offset;  ///< of its first copy
  std::array<Order, kPairings> orders;

  /// True where the sums of one of the first `pairings` orders fit.
  HWY_INLINE bool set(const TermWeights& plain, int pairings) {
    bool any = false;
    for (int p = 0; p < pairings; ++p) {
      Order& order = orders[static_cast<size_t>(p)];
      order.weights = p == 0 ? plain : ordered(plain, p);
      order.bounds.set(order.weights);
      order.fits = order.bounds.fits();
      any |= order.fits;
    }
    return any;
  }
};

/// What a pair has over kMostOfPair.
HWY_INLINE int rest_of_pair(int a, int b) {
  if ((a < 0) != (b < 0) || std::abs(a + b) <= kMostOfPair) return 0;
  return a > 0 ? a + b - kMostOfPair : a + b + kMostOfPair;
}

HWY_INLINE int rest_of(const TermWeights& weights) {
  int rest = 0;
  for (size_t k = 0; k < kTermBytes; k += 2) {
    rest += std::abs(rest_of_pair(weights[k], weights[k + 1]));
  }
  return rest;
}

/// Moves what pairs have over kMostOfPair out of `weights`, and returns it.
HWY_INLINE TermWeights cut_rest(TermWeights& weights) {
  TermWeights rest = {};
  for (size_t k = 0; k < kTermBytes; k += 2) {
    const int over = rest_of_pair(weights[k], weights[k + 1]);
    const size_t larger = std::abs(weights[k]) >= std::abs(weights[k + 1]) ? k : k + 1;
    weights[larger] = static_cast<int8_t>(weights[larger] - over);
    rest[larger] = static_cast<int8_t>(over);
  }
  return rest;
}

/// Back in plain order.
HWY_INLINE TermWeights in_plain_order(const TermWeights& weights, int pairing) {
  TermWeights plain;
  for (size_t i = 0; i < kTermBytes; ++i) {
    plain[i / kQuad * kQuad + static_cast<size_t>(kPairingOrder[pairing][i % kQuad])] = weights[i];
  }
  return plain;
}

/// Cuts a term of which no order fits, in the order that has least to be cut. Both parts fit in
/// that order then.
HWY_INLINE void cut_term(Term& term, Term& rest, int pairings) {
  int best = 0;
  int least = std::numeric_limits<int>::max();
  for (int p = 0; p < pairings; ++p) {
    const int over = rest_of(term.orders[static_cast<size_t>(p)].weights);
    if (over < least) best = p;
    least = std::min(over, least);
  }
  TermWeights weights = term.orders[static_cast<size_t>(best)].weights;
  rest.offset = term.offset;
  rest.set(in_plain_order(cut_rest(weights), best), pairings);
  term.set(in_plain_order(weights, best), pairings);
}

/// Terms are tried with so many of those behind them.
constexpr size_t kCandidates = 32;

/// Orders of two terms that fit together.
struct Couple {
  int first, second;
};

HWY_INLINE bool find_couple(const Term& a, const Term& b, int pairings, Couple& couple) {
  for (int p = 0; p < pairings; ++p) {
    const Term::Order& first = a.orders[static_cast<size_t>(p)];
    for (int q = 0; q < pairings && first.fits; ++q) {
      const Term::Order& second = b.orders[static_cast<size_t>(q)];
      if (!second.fits || !first.bounds.fits_with(second.bounds)) continue;
      couple = {p, q};
      return true;
    }
  }
  return false;
}

/// Couples of terms that fit together, first come first served, then the others.
HWY_INLINE void place_terms(const std::vector<const Term*>& terms, int pairings,
                            ByteTerms& placed) {
  std::vector<char> taken(terms.size(), 0);
  placed.offsets.reserve(terms.size());
  placed.weights.reserve(terms.size() * kTermBytes);
  const auto place = [&](size_t i, int pairing) {
    const TermWeights& weights = terms[i]->orders[static_cast<size_t>(pairing)].weights;
    taken[i] = 1;
    placed.offsets.push_back(terms[i]->offset + kQuad * pairing);
    placed.weights.insert(placed.weights.end(), weights.begin(), weights.end());
  };
  for (size_t i = 0; i < terms.size(); ++i) {
    size_t tried = 0;
    for (size_t j = i + 1; taken[i] == 0 && j < terms.size() && tried < kCandidates; ++j) {
      if (taken[j] != 0) continue;
      ++tried;
      Couple couple;
      if (!find_couple(*terms[i], *terms[j], pairings, couple)) continue;
      place(i, couple.first);
      place(j, couple.second);
      ++placed.coupled;
    }
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    if (taken[i] != 0) continue;
    int pairing = 0;
    while (!terms[i]->orders[static_cast<size_t>(pairing)].fits) ++pairing;
    place(i, pairing);
  }
}

/// The source as it is gathered: chosen pairs need quads that lie the same in every pixel.
HWY_INLINE Int8Shape gathered(const Int8Shape& shape, ByteDot dot) {
  Int8Shape kept = shape;
  if (dot == ByteDot::ChosenPairs) kept.ic = (shape.ic + kQuad - 1) / kQuad * kQuad;
  return kept;
}

/// The weights of a half, four of each channel at a time: take(offset, weights), of the bytes from
/// `offset` on of a window over the source that `kept` is. False where a weight less its zero point
/// is no int8.
template <class Take>
HWY_INLINE bool for_each_quad(const Int8Shape& shape, const Int8Shape& kept, const int8_t* weights,
                              const WeightStrides& strides, int64_t half, const Take& take) {
  const Int8Geometry geometry(kept);
  const int64_t panel = half / 2;
  const int64_t panels = group_panels(shape);
  const int64_t first = panel % panels * kColumns + half_channel(half % 2, 0);
  const int64_t columns = std::clamp<int64_t>(shape.oc - first, 0, kSumLanes);
  const int8_t* const from = weights + (panel / panels * shape.oc + first) * strides.oc_stride;
  const int64_t inputs = shape.ic / shape.packed_groups;
  const int64_t kept_inputs = kept.ic / kept.packed_groups;
  for (int64_t run = 0; run < geometry.runs; ++run) {
    for (int64_t k = 0; k < geometry.length; k += kQuad) {
      TermWeights quad = {};
      int far = 0;
      const int64_t bytes = std::min<int64_t>(kQuad, geometry.length - k);
      for (int64_t i = 0; i < bytes; ++i) {
        const int64_t input = (k + i) % kept_inputs;
        if (input >= inputs) continue;
        const int64_t tap = geometry.dense ? run * shape.kw + (k + i) / kept_inputs : run;
        const int8_t* const column = from + input * strides.ic_stride + tap;
        for (int64_t lane = 0; lane < columns; ++lane) {
          const int32_t weight = column[lane * strides.oc_stride] - shape.weights_zero;
          far |= weight ^ static_cast<int8_t>(weight);
          quad[static_cast<size_t>(lane * kQuad + i)] = static_cast<int8_t>(weight);
        }
      }
      if (far != 0) return false;
      take(geometry.run(kept, run) + k, quad);
    }
  }
  return true;
}

/// What the zero point of the source adds to a sum of each channel.
struct ZeroSums {
  std::array<int32_t, kSumLanes> of_weights{};

  HWY_INLINE void add(const TermWeights& quad) {
    for (size_t i = 0; i < kTermBytes; ++i) of_weights[i / kQuad] += quad[i];
  }
  HWY_INLINE std::vector<int32_t> start(const Int8Shape& shape) const {
    const int zero = shape.src_zero + (shape.src == ElementType::Int8 ? kSignedOffset : 0);
    std::vector<int32_t> sums;
    for (const int32_t sum : of_weights) sums.push_back(-zero * sum);
    return sums;
  }
};

HWY_INLINE bool cut_half(const Int8Shape& shape, ByteDot dot, const int8_t* weights,
                         const WeightStrides& strides, int64_t half, ByteTerms& placed) {
  const int pairings = dot == ByteDot::ChosenPairs ? kPairings : 1;
  const bool is_whole = dot == ByteDot::Quads || dot == ByteDot::EmulatedQuads;
  placed = {};
  ZeroSums zeros;
  std::vector<Term> terms;
  std::vector<Term> rests;
  const Int8Shape kept = gathered(shape, dot);
  const Int8Geometry geometry(kept);
  if (!is_whole) terms.reserve(static_cast<size_t>(geometry.runs * (geometry.length / kQuad + 1)));
  const auto take = [&](int64_t offset, const TermWeights& quad) {
    zeros.add(quad);
    if (is_whole) {
      placed.offsets.push_back(static_cast<int32_t>(offset));
      placed.weights.insert(placed.weights.end(), quad.begin(), quad.end());
      return;
    }
    Term& term = terms.emplace_back();
    term.offset = static_cast<int32_t>(pairings * offset);
    if (!term.set(quad, pairings)) cut_term(term, rests.emplace_back(), pairings);
  };
  if (!for_each_quad(shape, kept, weights, strides, half, take)) return false;
  placed.start = zeros.start(shape);
  // Rests are small: they fit together, and with most others, so they come first.
  std::vector<const Term*> all;
  for (const Term& rest : rests) all.push_back(&rest);
  for (const Term& term : terms) all.push_back(&term);
  place_terms(all, pairings, placed);
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_BYTE_CUT_INL_H
