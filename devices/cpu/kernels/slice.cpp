#include "inference/ops/movement/slice.h"

#include <algorithm>

#include "devices/cpu/moves/channel_gather.h"
#include "devices/cpu/moves/move_kernel.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"
#include "inference/ops/movement/split.h"

namespace het::cpu {
namespace {

constexpr int64_t kViewAlignment = 64;

/// True when whole blocks of channels are taken, in order, so that nothing moves inside blocks.
bool takes_blocks(const SliceRange& range, const Shape& from, int64_t block) {
  const int64_t start = range.starts[1];
  const int64_t length = range.shape[1];
  if (start == 0 && length == from[1] && range.steps[1] == 1) return true;
  return range.steps[1] == 1 && start % block == 0 &&
         (length % block == 0 || start + length == from[1]);
}

/// True when only channels are picked.
bool picks_channels(const SliceRange& range, const Shape& from) {
  for (size_t d = 0; d < from.size(); ++d) {
    if (d != 1 && (range.shape[d] != from[d] || range.steps[d] != 1)) return false;
  }
  return true;
}

/// Plans `dst` = part of `src`. The shape of `dst` may leave out dimensions of one when the format
/// is plain.
Status plan_range(PlanBuilder& builder, const Node& node, const Value& src, const Value& dst,
                  const SliceRange& range) {
  const Shape& from = src.desc().shape;
  const ElementType type = builder.moved_type(src, dst);
  Format format = builder.home(src).format;
  const bool same_rank = dst.desc().shape == range.shape;
  const bool picks = same_rank && picks_channels(range, from);
  const bool moves_in_blocks = is_blocked(format) && !takes_blocks(range, from, block_of(format));
  const bool picks_seconds = format == Format::ChannelsLast && range.steps[1] == 2;
  const size_t bytes = byte_width(type);
  if (picks && ((moves_in_blocks && type == ElementType::Float32) ||
                (picks_seconds && (bytes == 2 || bytes == 4)))) {
    HET_ASSIGN(const TensorId in, builder.read(src, format, type));
    std::vector<int64_t> channels;
    for (int64_t c = 0; c < range.shape[1]; ++c) {
      channels.push_back(range.starts[1] + c * range.steps[1]);
    }
    const TensorId out = builder.write(dst, {type, range.shape, format});
    builder.add_step(node, make_channel_gather({{from[1]}, {type, from, format}}, channels), {in},
                     {out});
    return {};
  }
  if (moves_in_blocks) format = Format::Plain;
  if (!same_rank) format = Format::Plain;
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));

  const TensorSpec src_spec{type, from, format};
  const TensorSpec part_spec{type, range.shape, format};
  const TensorSpec dst_spec{type, dst.desc().shape, format};
  const std::vector<int64_t> src_dims = physical_dims(src_spec);
  const std::vector<int64_t> dims = physical_dims(part_spec);
  const std::vector<int64_t> src_dense = row_major_strides(src_dims);
  const size_t rank = from.size();
  std::vector<int64_t> strides = src_dense;
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) {
    size_t position = d;
    if (format == Format::ChannelsLast && d >= 1) position = d == 1 ? rank - 1 : d - 1;
    const int64_t unit = d == 1 ? block_of(format) : 1;
    offset += range.starts[d] / unit * src_dense[position];
    strides[position] *= range.steps[d];
  }
  const auto width = static_cast<int64_t>(byte_width(type));
  // One run of memory is a view.
  bool one_run = true;
  bool started = false;  // a dimension of more than one was seen
  for (size_t p = 0; p < dims.size() && one_run; ++p) {
    if (started) one_run = dims[p] == src_dims[p] && strides[p] == src_dense[p];
    if (dims[p] != 1) {
      started = true;
      one_run = one_run && strides[p] == src_dense[p];
    }
  }
  const bool is_port_or_constant = src.is_constant();
  if (one_run && offset * width % kViewAlignment == 0 && !is_port_or_constant) {
    builder.write_view(dst, dst_spec, in, static_cast<size_t>(offset * width));
    return {};
  }
  StridedMove loops(dims, strides, row_major_strides(dims), static_cast<size_t>(width));
  const TensorId out = builder.write(dst, dst_spec);
  builder.add_step(node, make_move_kernel({{std::move(loops), offset * width, 0}}), {in}, {out});
  return {};
}

bool can_move(const Value& value) {
  const size_t width = byte_width(value.desc().type);
  return width == 1 || width == 2 || width == 4 || width == 8;
}

Result<bool> plan_slice(PlanBuilder& builder, const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) return false;
  }
  const Value& src = *node.input(0);
  if (!can_move(src) || src.desc().shape.empty()) return false;
  const auto optional = [&](size_t i) {
    return node.input(i) ? &node.input(i)->constant() : nullptr;
  };
  HET_ASSIGN(const SliceRange range,
             slice_range(src.desc().shape, node.input(1)->constant(), node.input(2)->constant(),
                         optional(3), optional(4)));
  HET_TRY(plan_range(builder, node, src, *node.output(), range));
  return true;
}

SliceRange whole(const Shape& shape) {
  return {std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 1), shape};
}

Result<bool> plan_split(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  if (!can_move(src)) return false;
  const auto rank = static_cast<int64_t>(src.desc().shape.size());
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0), rank));
  const auto d = static_cast<size_t>(axis);
  int64_t start = 0;
  for (const Value* part : node.outputs()) {
    SliceRange range = whole(src.desc().shape);
    range.starts[d] = start;
    range.shape[d] = part->desc().shape[d];
    start += range.shape[d];
    HET_TRY(plan_range(builder, node, src, *part, range));
  }
  return true;
}

/// Gather with constant indices in even steps is a slice.
Result<bool> plan_gather(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  if (!can_move(src) || !node.input(1)->is_constant()) return false;
  const Shape& from = src.desc().shape;
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0),
                                                static_cast<int64_t>(from.size())));
  HET_ASSIGN(std::vector<int64_t> indices, to_int64_vector(node.input(1)->constant()));
  const auto d = static_cast<size_t>(axis);
  if (indices.empty() || node.input(1)->desc().shape.size() > 1) return false;
  for (int64_t& index : indices) {
    if (index < 0) index += from[d];
    if (index < 0 || index >= from[d]) return false;
  }
  const int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] - indices[i - 1] != step || step == 0) return false;
  }
  SliceRange range = whole(from);
  range.starts[d] = indices[0];
  range.steps[d] = step;
  range.shape[d] = static_cast<int64_t>(indices.size());
  HET_TRY(plan_range(builder, node, src, *node.output(), range));
  return true;
}

}  // namespace

HET_REGISTRATION void register_slice(KernelRegistry& registry) {
  registry.add("", "Slice", plan_slice);
  registry.add("", "Split", plan_split);
  registry.add("", "Gather", plan_gather);
}

}  // namespace het::cpu
