#include "devices/gpu/products/rows.h"

#include <algorithm>
#include <bit>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"

namespace het::gpu {
namespace {

/// Work-items that share a row: neighbours of a GPU read neighbouring elements, a thread of a CPU
/// walks along its own row.
size_t lanes_of(const Hardware& hardware) {
  return hardware.is_cpu ? 1 : std::bit_floor(std::min<size_t>(64, hardware.group_size()));
}

/// Work-items that share a row add up in sub-groups where the device has them.
std::string subgroup_options(Context& context) {
  if (lanes_of(context.hardware()) == 1 || !context.works(Feature::SubGroups)) return {};
  return " -DSUBGROUPS " + context.options_of(Feature::SubGroups);
}

}  // namespace

std::vector<RowBlock> row_blocks(const Shape& shape, Format format,
                                 const std::vector<int64_t>& axes) {
  std::vector<size_t> order(shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (format == Format::ChannelsLast && shape.size() >= 3) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  std::vector<RowBlock> blocks;
  for (const size_t d : order) {
    if (shape[d] == 1) continue;
    const bool in_row = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (!blocks.empty() && blocks.back().in_row == in_row) {
      blocks.back().size *= shape[d];
    } else {
      blocks.push_back({shape[d], in_row});
    }
  }
  return blocks;
}

std::optional<RowSpace> row_space(const Shape& shape, Format format,
                                  const std::vector<int64_t>& axes) {
  RowSpace space;
  bool found = false;
  for (const RowBlock& block : row_blocks(shape, format, axes)) {
    if (block.in_row) {
      if (found) return std::nullopt;
      found = true;
      space.length = block.size;
    } else if (found) {
      space.inner = block.size;
    } else {
      space.outer = block.size;
    }
  }
  // Rows of one element are neighbours.
  if (!found) std::swap(space.outer, space.inner);
  return space;
}

std::optional<RowFormat> row_format(const Shape& shape, Format home,
                                    const std::vector<int64_t>& axes) {
  const Format other = home == Format::Plain ? Format::ChannelsLast : Format::Plain;
  for (const Format format : {home, other}) {
    if (const auto space = row_space(shape, format, axes)) return RowFormat{format, *space};
  }
  return std::nullopt;
}

std::string lane_options(const PlanBuilder& builder) {
  const Hardware& hardware = builder.hardware();
  return fmt::format("{} -DLANES={}{}", row_options(builder), lanes_of(hardware),
                     subgroup_options(*builder.shared_context()));
}

void set_row_range(const PlanBuilder& builder, Launch& launch, int64_t rows) {
  const size_t lanes = lanes_of(builder.hardware());
  if (lanes == 1) {
    launch.global = {static_cast<size_t>(rows), 1, 1};
    launch.local = {4, 1, 1};
    return;
  }
  launch.global = {lanes, static_cast<size_t>(rows), 1};
  launch.local = {lanes, 1, 1};
}

void set_column_range(const PlanBuilder& builder, Launch& launch, int64_t inner, int64_t outer) {
  launch.global = {groups_of(inner, static_cast<int64_t>(builder.hardware().vector_width())),
                   static_cast<size_t>(outer), 1};
  launch.local =
      builder.hardware().is_cpu ? Range{4, 1, 1} : row_groups(builder.hardware(), launch.global);
}

}  // namespace het::gpu
