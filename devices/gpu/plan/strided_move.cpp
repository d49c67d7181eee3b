#include "devices/gpu/plan/strided_move.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"

namespace het::gpu {
namespace {

/// The loops of a move, those of dst's neighbours innermost, merged where both sides allow it.
StridedSpace loops_of(const StridedMove& move) {
  std::vector<size_t> order(move.dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return move.to[a] > move.to[b]; });
  Shape dims;
  std::vector<std::vector<int64_t>> strides(2);
  for (const size_t d : order) {
    dims.push_back(move.dims[d]);
    strides[0].push_back(move.from[d]);
    strides[1].push_back(move.to[d]);
  }
  return merged_space(dims, strides);
}

/// The loop, other than the last, along which the source's neighbours lie; dims.size() for none.
size_t source_row(const StridedSpace& space) {
  size_t d = 0;
  while (d + 1 < space.dims.size() && space.strides[0][d] != 1) ++d;
  return d + 1 < space.dims.size() ? d : space.dims.size();
}

Result<TensorId> walk_list(PlanBuilder& builder, const StridedSpace& outer) {
  std::vector<int64_t> list = outer.dims;
  for (const auto& steps : outer.strides) list.insert(list.end(), steps.begin(), steps.end());
  if (list.empty()) list.push_back(0);
  return int_list(builder, list);
}

void remove_loop(StridedSpace& space, size_t d) {
  const auto at = static_cast<std::ptrdiff_t>(d);
  space.dims.erase(space.dims.begin() + at);
  for (auto& steps : space.strides) steps.erase(steps.begin() + at);
}

constexpr int64_t kTile = 4;  ///< elements of a side of copy_tiles' tiles

struct Loop {
  int64_t length = 1;
  int64_t from = 0;
  int64_t to = 0;
};

Loop loop_at(const StridedSpace& space, size_t d) {
  return {space.dims[d], space.strides[0][d], space.strides[1][d]};
}

/// The kernel of move.cl for these loops; `source` is where the source's neighbours lie.
std::string kernel_for(const PlanBuilder& builder, const StridedSpace& space, size_t source) {
  constexpr int64_t kShortRow = 16;
  const Loop inner = loop_at(space, space.dims.size() - 1);
  const bool neighbours = inner.length == 1 || (inner.from == 1 && inner.to == 1);
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  if (source < space.dims.size() && inner.from > 1 && inner.to == 1 && inner.length >= kTile &&
      space.dims[source] >= kTile) {
    return "copy_tiles";
  }
  if (space.dims.size() > 1 && inner.length < (neighbours ? width : kShortRow)) {
    return "copy_planes";
  }
  return neighbours ? "copy_rows" : "copy_steps";
}

}  // namespace

std::string_view item_type(ElementType type) {
  switch (byte_width(type)) {
    case 1:
      return "uchar";
    case 2:
      return "ushort";
    case 4:
      return "uint";
    case 8:
      return "ulong";
    default:
      return "";
  }
}

std::string refuse_move(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (!item_type(type).empty()) return {};
  return fmt::format("elements of {} cannot be moved one by one", to_string(type));
}

std::string item_options(const PlanBuilder& builder, ElementType type) {
  const size_t width = builder.hardware().vector_width();
  return fmt::format("-DITEM={} -DWIDTH={}", item_type(type),
                     builder.hardware().is_cpu && byte_width(type) == 1 ? 16 : width);
}

int64_t piece_of(const PlanBuilder& builder, int64_t length) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  return std::min(length, builder.hardware().is_cpu ? 16 * width : width);
}

Result<TensorId> int_list(PlanBuilder& builder, const std::vector<int64_t>& values) {
  const std::vector<int32_t> ints(values.begin(), values.end());
  return builder.constant(Tensor::from<int32_t>({static_cast<int64_t>(ints.size())}, ints));
}

Status add_move(PlanBuilder& builder, const Node& node, TensorId from, TensorId to,
                const StridedMove& move) {
  HET_ASSIGN(Launch launch, move_launch(builder, from, to, move));
  return builder.add_step(node, std::move(launch));
}

Result<Launch> move_launch(PlanBuilder& builder, TensorId from, TensorId to,
                           const StridedMove& move) {
  StridedSpace outer = loops_of(move);
  Launch launch;
  launch.text.file = "move";
  launch.text.options = item_options(builder, builder.tensor(to).spec.type);
  launch.local = builder.row_local();
  const Loop inner = loop_at(outer, outer.dims.size() - 1);
  const size_t source = source_row(outer);
  const std::string kernel = kernel_for(builder, outer, source);
  remove_loop(outer, outer.dims.size() - 1);
  Loop second;
  if (kernel == "copy_tiles" || kernel == "copy_planes") {
    const size_t at = kernel == "copy_tiles" ? source : outer.dims.size() - 1;
    second = loop_at(outer, at);
    remove_loop(outer, at);
  }
  const int64_t rows = element_count(outer.dims);
  HET_ASSIGN(const TensorId walk, walk_list(builder, outer));
  launch.args = {Read{from}, Write{to}, Read{walk}, as_int(static_cast<int64_t>(outer.dims.size())),
                 as_int(rows)};
  const auto add = [&](std::initializer_list<int64_t> values) {
    for (const int64_t value : values) launch.args.emplace_back(as_int(value));
  };
  if (kernel == "copy_tiles") {
    const int64_t run = builder.hardware().is_cpu ? 8 : 1;
    const auto across = static_cast<int64_t>(groups_of(inner.length, kTile));
    const auto strips = static_cast<int64_t>(groups_of(second.length, run * kTile));
    add({second.length, inner.length, across, strips, run, move.from_offset, move.to_offset,
         inner.from, second.to});
    launch.global[0] = static_cast<size_t>(rows * across * strips);
  } else {
    const bool planes = kernel == "copy_planes";
    const int64_t length = planes ? second.length : inner.length;
    const int64_t each = planes ? inner.length : 1;
    const int64_t piece = std::max<int64_t>(1, piece_of(builder, length * each) / each);
    const auto pieces = static_cast<int64_t>(groups_of(length, piece));
    add({length, pieces, piece, move.from_offset, move.to_offset});
    if (planes) add({inner.length});
    if (kernel != "copy_rows") add({inner.from, inner.to});
    if (planes) add({second.from, second.to});
    launch.global[0] = static_cast<size_t>(rows * pieces);
  }
  launch.kernel = kernel;
  return launch;
}

Status add_mapped_move(PlanBuilder& builder, const Node& node, TensorId from, TensorId to,
                       const PositionTables& tables, TensorId fill) {
  // The innermost dimensions whose positions are neighbours in the source are copied as runs.
  PositionTables kept = tables;
  int64_t run = 1;
  while (!kept.empty()) {
    const std::vector<int64_t>& last = kept.back();
    bool neighbours = last.front() == 0;
    for (size_t i = 1; neighbours && i < last.size(); ++i) {
      neighbours = last[i] == static_cast<int64_t>(i) * run;
    }
    if (!neighbours) break;
    run *= static_cast<int64_t>(last.size());
    kept.pop_back();
  }
  std::erase_if(kept, [](const auto& table) { return table.size() == 1 && table[0] == 0; });
  if (kept.empty()) kept.push_back({0});
  std::vector<int64_t> walk;
  std::vector<int64_t> starts;
  std::vector<int64_t> entries;
  int64_t rows = 1;
  for (const std::vector<int64_t>& table : kept) {
    walk.push_back(static_cast<int64_t>(table.size()));
    starts.push_back(static_cast<int64_t>(entries.size()));
    entries.insert(entries.end(), table.begin(), table.end());
    rows *= walk.back();
  }
  rows /= walk.back();
  walk.insert(walk.end(), starts.begin(), starts.end());
  HET_ASSIGN(const TensorId walk_id, int_list(builder, walk));
  HET_ASSIGN(const TensorId table_id, int_list(builder, entries));
  const auto length = static_cast<int64_t>(kept.back().size());
  const int64_t piece = std::max<int64_t>(1, piece_of(builder, length * run) / run);
  const auto pieces = static_cast<int64_t>(groups_of(length, piece));
  Launch launch;
  launch.text.file = "move";
  launch.text.options = item_options(builder, builder.tensor(to).spec.type);
  launch.kernel = "copy_mapped";
  launch.args = {Read{from},     Write{to},   Read{walk_id},
                 Read{table_id}, Read{fill},  as_int(static_cast<int64_t>(kept.size())),
                 as_int(rows),   as_int(run), as_int(pieces),
                 as_int(piece)};
  launch.global[0] = static_cast<size_t>(rows * pieces);
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

Format format_of_any(PlanBuilder& builder, const std::vector<Value*>& values) {
  for (const Value* value : values) {
    if (value == nullptr || value->is_constant()) continue;
    if (builder.home(*value).format == Format::ChannelsLast) return Format::ChannelsLast;
  }
  return Format::Plain;
}

}  // namespace het::gpu
