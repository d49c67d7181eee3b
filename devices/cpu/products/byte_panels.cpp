#include "devices/cpu/products/byte_panels.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "devices/cpu/formats/huge_pages.h"
#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/products/product_packing.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// A panel's terms are cut for less than it costs to wake a thread where a picture has fewer
/// pixels.
constexpr int64_t kFewPixels = 5;

/// What a term costs that goes alone, and a couple, of what four widened values do: on a core of a
/// Zen 4, see docs/decisions/0008-cpu.md.
constexpr double kSingleCost = 0.92;
constexpr double kCoupleCost = 1.38;
/// And what it costs to copy four bytes of the source once for each pairing.
constexpr double kCopyCost = 0.2;
/// Weights that cost no more as they are need no choice.
constexpr double kGoodCost = 0.72;
/// Weights of which a part costs more are not cut.
constexpr double kHopeless = 1.1;

/// How many terms of half a panel go two by two, and alone.
struct TermCount {
  int32_t coupled = 0;
  int32_t single = 0;

  int64_t terms() const { return 2 * int64_t{coupled} + single; }
};

size_t whole_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Where the parts of half a panel lie.
struct HalfLayout {
  explicit HalfLayout(const TermCount& count)
      : offsets(whole_lines(static_cast<size_t>(widened_columns() / 2) * sizeof(int32_t))),
        weights(offsets + whole_lines(static_cast<size_t>(count.terms()) * sizeof(int32_t))),
        bytes(weights + static_cast<size_t>(count.terms() * byte_term_bytes())) {}

  size_t offsets, weights, bytes;
};

int64_t halves_of(const Int8Shape& shape) {
  return 2 * widened_panels(shape);
}

/// Weights that are cut for one way of multiplying.
struct CutWeights {
  ByteDot dot = ByteDot::Pairs;
  std::vector<ByteTerms> halves;  ///< none where they do not fit int8
  double cost = 0.0;              ///< of that of widened bytes
};

double cost_of(const ByteTerms& terms) {
  const auto couples = static_cast<double>(terms.coupled);
  return kCoupleCost * couples +
         kSingleCost * (static_cast<double>(terms.offsets.size()) - 2.0 * couples);
}

double cost_of(const CutWeights& cut, const Int8Shape& shape) {
  double cost = 0.0;
  for (const ByteTerms& terms : cut.halves) cost += cost_of(terms);
  if (cut.dot == ByteDot::ChosenPairs) {
    const auto pixels = static_cast<double>(std::max<int64_t>(shape.oh * shape.ow, 1));
    cost += kCopyCost * static_cast<double>(shape.groups * shape.ic / 4) *
            static_cast<double>(shape.ih * shape.iw) / pixels;
  }
  // Each of packed groups would have widened panels of its own.
  const int64_t quads = shape.packed_groups * halves_of(shape) * byte_quads(shape, ByteDot::Pairs);
  return cost / static_cast<double>(quads);
}

CutWeights cut_for(ByteDot dot, const Int8Shape& shape, const Tensor& weights,
                   const WeightStrides& strides) {
  const int64_t halves = halves_of(shape);
  CutWeights cut;
  cut.dot = dot;
  cut.halves.resize(static_cast<size_t>(halves));
  std::vector<char> fits(cut.halves.size(), 1);
  std::optional<AloneScope> alone;
  if (static_cast<size_t>(weights.element_count()) < kSharedPackingBytes) alone.emplace();
  parallel_for(halves, 1, [&](int64_t begin, int64_t end) {
    for (int64_t half = begin; half < end; ++half) {
      const auto k = static_cast<size_t>(half);
      fits[k] =
          cut_byte_terms(shape, dot, weights.data<int8_t>(), strides, half, cut.halves[k]) ? 1 : 0;
    }
  });
  if (!std::ranges::all_of(fits, [](char fit) { return fit != 0; })) cut.halves.clear();
  cut.cost = cost_of(cut, shape);
  return cut;
}

bool has_quads(const Int8Shape& shape) {
  return has_exact_int8() && has_byte_quads() && is_byte_shape(shape);
}

bool has_pairs(const Int8Shape& shape) {
  return has_byte_pairs() && is_byte_shape(shape) && shape.oh * shape.ow >= kFewPixels;
}

/// The cost of some channels' terms.
double sampled_cost(ByteDot dot, const Int8Shape& shape, const Tensor& weights,
                    const WeightStrides& strides) {
  ByteTerms terms;
  if (!cut_byte_terms(shape, dot, weights.data<int8_t>(), strides, 0, terms)) return kHopeless;
  return cost_of(terms) / static_cast<double>(byte_quads(shape, ByteDot::Pairs));
}

/// The cheapest, or none where widened bytes are.
CutWeights cut_panels(const Int8Shape& shape, const Tensor& weights, const WeightStrides& strides) {
  if (has_quads(shape)) return cut_for(ByteDot::Quads, shape, weights, strides);
  ByteDot dot = ByteDot::Pairs;
  double cost = sampled_cost(dot, shape, weights, strides);
  if (cost > kGoodCost && may_choose_pairs(shape)) {
    dot = ByteDot::ChosenPairs;
    cost = sampled_cost(dot, shape, weights, strides);
  }
  if (cost / static_cast<double>(shape.packed_groups) >= kHopeless) return {};
  CutWeights cut = cut_for(dot, shape, weights, strides);
  if (cut.cost > 1.0) cut.halves.clear();
  return cut;
}

/// Nothing where nothing is cut.
std::vector<TermCount> counts_of(const std::vector<ByteTerms>& halves) {
  std::vector<TermCount> counts;
  for (const ByteTerms& terms : halves) {
    counts.push_back(
        {terms.coupled, static_cast<int32_t>(terms.offsets.size()) - 2 * terms.coupled});
  }
  return counts;
}

/// In front of the packed counts: the weights are not cut. Else a ByteDot.
constexpr int32_t kNotCut = -1;

/// What is packed of the counts.
struct PackedCounts {
  std::optional<ByteDot> dot;
  std::vector<TermCount> halves;
};

Result<PackedCounts> read_counts(const std::byte* memory, const Int8Shape& shape) {
  PackedCounts counts;
  int32_t dot = 0;
  std::memcpy(&dot, memory, sizeof(dot));
  if (dot == kNotCut) return counts;
  const bool is_quads = dot == static_cast<int32_t>(ByteDot::Quads);
  const bool is_chosen = dot == static_cast<int32_t>(ByteDot::ChosenPairs);
  const bool is_known = is_quads || is_chosen || dot == static_cast<int32_t>(ByteDot::Pairs);
  if (!is_known || is_quads != has_quads(shape) || (is_chosen && !may_choose_pairs(shape))) {
    return error(StatusCode::ParseError, "packed int8 weights of the file are for products {}",
                 dot);
  }
  counts.dot = static_cast<ByteDot>(dot);
  counts.halves.resize(static_cast<size_t>(halves_of(shape)));
  std::memcpy(counts.halves.data(), memory + sizeof(dot), counts.halves.size() * sizeof(TermCount));
  const int64_t most = 2 * byte_quads(shape, *counts.dot);
  for (const TermCount& count : counts.halves) {
    if (count.coupled >= 0 && count.single >= 0 && count.terms() > 0 && count.terms() <= most) {
      continue;
    }
    return error(StatusCode::ParseError, "packed int8 weights of the file have {} terms of {}",
                 count.terms(), most);
  }
  return counts;
}

Status check_offsets(const std::vector<ByteHalf>& halves, ByteDot dot, const Int8Shape& shape) {
  const int64_t most = largest_byte_offset(shape, dot);
  for (const ByteHalf& half : halves) {
    const std::span offsets(half.offsets, static_cast<size_t>(2 * half.coupled + half.single));
    for (const int32_t offset : offsets) {
      if (offset >= 0 && offset <= most) continue;
      return error(StatusCode::ParseError,
                   "packed int8 weights of the file lie at {}, beyond their window", offset);
    }
  }
  return {};
}

}  // namespace

Result<BytePanels> BytePanels::pack(const Int8Shape& shape, const Tensor& weights,
                                    const WeightStrides& strides, const NodePacking& packing) {
  BytePanels made;
  if (!has_quads(shape) && !has_pairs(shape)) return made;
  CutWeights cut;
  const size_t count_bytes =
      sizeof(kNotCut) + static_cast<size_t>(halves_of(shape)) * sizeof(TermCount);
  HET_ASSIGN(made.counts_, packing.pack(count_bytes, [&](std::byte* memory) {
    cut = cut_panels(shape, weights, strides);
    const int32_t dot = cut.halves.empty() ? kNotCut : static_cast<int32_t>(cut.dot);
    const std::vector<TermCount> counts = counts_of(cut.halves);
    std::memset(memory, 0, count_bytes);
    std::memcpy(memory, &dot, sizeof(dot));
    std::ranges::copy(std::as_bytes(std::span(counts)), memory + sizeof(dot));
  }));
  HET_ASSIGN(const PackedCounts packed, read_counts(made.counts_->host(), shape));
  if (!packed.dot) return made;
  made.dot_ = *packed.dot;
  const std::vector<TermCount>& counts = packed.halves;

  std::vector<size_t> places;
  size_t bytes = 0;
  for (const TermCount& count : counts) {
    places.push_back(bytes);
    bytes += HalfLayout(count).bytes;
  }
  HET_ASSIGN(made.memory_, packing.pack(bytes, [&](std::byte* memory) {
    prefer_huge_pages(memory, bytes);
    for (size_t k = 0; k < cut.halves.size(); ++k) {
      const HalfLayout layout(counts[k]);
      const auto put = [&]<class T>(size_t place, const std::vector<T>& values) {
        std::ranges::copy(std::as_bytes(std::span(values)), memory + places[k] + place);
      };
      std::memset(memory + places[k], 0, layout.weights);
      put(0, cut.halves[k].start);
      put(layout.offsets, cut.halves[k].offsets);
      put(layout.weights, cut.halves[k].weights);
    }
  }));
  for (size_t k = 0; k < counts.size(); ++k) {
    const HalfLayout layout(counts[k]);
    const std::byte* const half = made.memory_->host() + places[k];
    made.halves_.push_back({reinterpret_cast<const int32_t*>(half),
                            reinterpret_cast<const int32_t*>(half + layout.offsets),
                            reinterpret_cast<const int8_t*>(half + layout.weights),
                            counts[k].coupled, counts[k].single});
  }
  HET_TRY(check_offsets(made.halves_, made.dot_, shape));
  return made;
}

std::span<const ByteHalf> BytePanels::of_group(const Int8Shape& shape, int64_t group) const {
  const auto halves = static_cast<size_t>(halves_of(shape) / shape.groups);
  return std::span(halves_).subspan(static_cast<size_t>(group) * halves, halves);
}

}  // namespace het::cpu
