#include "devices/cpu/products/byte_panels.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "devices/cpu/formats/huge_pages.h"
#include "devices/cpu/products/product_packing.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// A panel's terms are cut for less than it costs to wake a thread where a picture has fewer
/// pixels.
constexpr int64_t kFewPixels = 5;

/// What a term costs that goes alone, and a couple, of what four widened values do: on a core of a
/// Zen 4, see docs/decisions/0008-cpu.md.
constexpr double kSingleCost = 0.78;
constexpr double kCoupleCost = 1.35;

/// How many terms of a panel go two by two, and alone.
struct TermCount {
  int32_t coupled = 0;
  int32_t single = 0;

  int64_t terms() const { return 2 * int64_t{coupled} + single; }
};

size_t whole_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Where the parts of a panel lie.
struct PanelLayout {
  explicit PanelLayout(const TermCount& count)
      : offsets(whole_lines(static_cast<size_t>(widened_columns()) * sizeof(int32_t))),
        weights(offsets + whole_lines(static_cast<size_t>(count.terms()) * sizeof(int32_t))),
        bytes(weights + static_cast<size_t>(count.terms() * byte_term_bytes())) {}

  size_t offsets, weights, bytes;
};

int64_t quads_of_panel(const Int8Shape& shape) {
  const Int8Geometry geometry(shape);
  return geometry.runs * ((geometry.length + 3) / 4);
}

bool may_go_by_bytes(const Int8Shape& shape) {
  return has_byte_pairs() && is_byte_shape(shape) && shape.oh * shape.ow >= kFewPixels;
}

/// The terms of all panels, or nothing where they cost more than widened bytes.
std::vector<ByteTerms> cut_panels(const Int8Shape& shape, const Tensor& weights,
                                  const WeightStrides& strides) {
  const int64_t panels = widened_panels(shape);
  std::vector<ByteTerms> cut(static_cast<size_t>(panels));
  std::vector<char> fits(cut.size(), 1);
  std::optional<AloneScope> alone;
  if (static_cast<size_t>(weights.element_count()) < kSharedPackingBytes) alone.emplace();
  parallel_for(panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const auto k = static_cast<size_t>(panel);
      fits[k] = cut_byte_terms(shape, weights.data<int8_t>(), strides, panel, cut[k]) ? 1 : 0;
    }
  });
  double cost = 0.0;
  for (const ByteTerms& terms : cut) {
    const auto couples = static_cast<double>(terms.coupled);
    cost += kCoupleCost * couples +
            kSingleCost * (static_cast<double>(terms.offsets.size()) - 2.0 * couples);
  }
  const bool all_fit = std::ranges::all_of(fits, [](char fit) { return fit != 0; });
  // Each of packed groups would have widened panels of its own.
  const int64_t quads = shape.packed_groups * panels * quads_of_panel(shape);
  if (!all_fit || cost > static_cast<double>(quads)) cut.clear();
  return cut;
}

/// A count of nothing says that the weights are not cut.
std::vector<TermCount> counts_of(const std::vector<ByteTerms>& cut, int64_t panels) {
  std::vector<TermCount> counts(static_cast<size_t>(panels));
  for (size_t k = 0; k < cut.size(); ++k) {
    counts[k].coupled = cut[k].coupled;
    counts[k].single = static_cast<int32_t>(cut[k].offsets.size()) - 2 * cut[k].coupled;
  }
  return counts;
}

Status check_counts(const std::vector<TermCount>& counts, const Int8Shape& shape) {
  const int64_t most = 2 * quads_of_panel(shape);
  for (const TermCount& count : counts) {
    if (count.coupled >= 0 && count.single >= 0 && count.terms() <= most) continue;
    return error(StatusCode::ParseError, "packed int8 weights of the file have {} terms of {}",
                 count.terms(), most);
  }
  return {};
}

Status check_offsets(const std::vector<BytePanel>& panels, const Int8Shape& shape) {
  const int64_t most = largest_byte_offset(shape);
  for (const BytePanel& panel : panels) {
    const std::span offsets(panel.offsets, static_cast<size_t>(2 * panel.coupled + panel.single));
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
  if (!may_go_by_bytes(shape)) return made;
  std::vector<ByteTerms> cut;
  const int64_t panels = widened_panels(shape);
  const size_t count_bytes = static_cast<size_t>(panels) * sizeof(TermCount);
  HET_ASSIGN(made.counts_, packing.pack(count_bytes, [&](std::byte* memory) {
    cut = cut_panels(shape, weights, strides);
    std::memcpy(memory, counts_of(cut, panels).data(), count_bytes);
  }));
  std::vector<TermCount> counts(static_cast<size_t>(panels));
  std::memcpy(counts.data(), made.counts_->host(), count_bytes);
  HET_TRY(check_counts(counts, shape));
  if (std::ranges::all_of(counts, [](const TermCount& count) { return count.terms() == 0; })) {
    return made;
  }

  std::vector<size_t> places;
  size_t bytes = 0;
  for (const TermCount& count : counts) {
    places.push_back(bytes);
    bytes += PanelLayout(count).bytes;
  }
  HET_ASSIGN(made.memory_, packing.pack(bytes, [&](std::byte* memory) {
    prefer_huge_pages(memory, bytes);
    for (size_t k = 0; k < cut.size(); ++k) {
      const PanelLayout layout(counts[k]);
      const auto put = [&]<class T>(size_t place, const std::vector<T>& values) {
        std::memcpy(memory + places[k] + place, values.data(), values.size() * sizeof(T));
      };
      std::memset(memory + places[k], 0, layout.weights);
      put(0, cut[k].start);
      put(layout.offsets, cut[k].offsets);
      put(layout.weights, cut[k].weights);
    }
  }));
  for (size_t k = 0; k < counts.size(); ++k) {
    const PanelLayout layout(counts[k]);
    const std::byte* const panel = made.memory_->host() + places[k];
    made.panels_.push_back({reinterpret_cast<const int32_t*>(panel),
                            reinterpret_cast<const int32_t*>(panel + layout.offsets),
                            reinterpret_cast<const int8_t*>(panel + layout.weights),
                            counts[k].coupled, counts[k].single});
  }
  HET_TRY(check_offsets(made.panels_, shape));
  return made;
}

std::span<const BytePanel> BytePanels::of_group(const Int8Shape& shape, int64_t group) const {
  const auto panels = static_cast<size_t>(widened_panels(shape) / shape.groups);
  return std::span(panels_).subspan(static_cast<size_t>(group) * panels, panels);
}

}  // namespace het::cpu
