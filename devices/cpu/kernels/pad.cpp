#include "inference/ops/movement/pad.h"

#include <algorithm>
#include <cstring>

#include "devices/cpu/moves/mapped_copy.h"
#include "devices/cpu/moves/move_kernel.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

bool movable(ElementType type) {
  const size_t width = byte_width(type);
  return width == 1 || width == 2 || width == 4 || width == 8;
}

/// What is repeated, mirrored or cut off is copied from the input's own positions.
Result<bool> plan_repeating_pad(PlanBuilder& builder, const Node& node, const PadWidths& widths,
                                PadMode mode) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const ElementType type = builder.moved_type(src, dst);
  const Shape& from = src.desc().shape;
  std::vector<std::vector<int64_t>> sources;
  for (size_t d = 0; d < from.size(); ++d) {
    sources.push_back(pad_sources(from[d], widths.begin[d], widths.end[d], mode));
  }
  HET_ASSIGN(const TensorId in, builder.read(src, Format::Plain, type));
  const TensorId out = builder.write(dst, {type, dst.desc().shape, Format::Plain});
  builder.add_step(node, make_mapped_copy(from, std::move(sources), byte_width(type)), {in}, {out});
  return true;
}

Result<bool> plan_pad(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const ElementType type = builder.moved_type(src, dst);
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) return false;
  }
  HET_ASSIGN(const PadMode mode, pad_mode(node.attributes()));
  if (!movable(type) || src.is_constant()) return false;
  HET_ASSIGN(const std::vector<int64_t> pads, to_int64_vector(node.input(1)->constant()));
  std::vector<int64_t> axes;
  if (node.input(3) != nullptr) {
    HET_ASSIGN(axes, to_int64_vector(node.input(3)->constant()));
  }
  HET_ASSIGN(const PadWidths widths, pad_widths(src.desc().shape, pads, axes));
  if (mode != PadMode::Constant) return plan_repeating_pad(builder, node, widths, mode);
  const auto negative = [](int64_t w) { return w < 0; };
  if (std::any_of(widths.begin.begin(), widths.begin.end(), negative) ||
      std::any_of(widths.end.begin(), widths.end.end(), negative)) {
    return false;
  }
  Fill fill;
  fill.width = byte_width(type);
  bool zero = true;
  if (node.input(2) != nullptr && node.input(2)->constant().element_count() == 1) {
    const std::byte* const value = node.input(2)->constant().bytes();
    if (type != src.desc().type) {
      const BFloat16 narrow(*reinterpret_cast<const float*>(value));
      std::memcpy(fill.value.data(), &narrow, fill.width);
    } else {
      std::memcpy(fill.value.data(), value, fill.width);
    }
    zero = std::all_of(fill.value.begin(), fill.value.end(),
                       [](std::byte b) { return b == std::byte{0}; });
  }
  const Shape& from = src.desc().shape;
  Format format = builder.home(src).type == type ? builder.home(src).format : Format::Plain;
  if (is_blocked(format)) {
    // Channels stay in their lanes; a filled value would also land in the padding of a block.
    const bool channels = widths.begin[1] != 0 || widths.end[1] != 0;
    if (channels || (!zero && from[1] % block_of(format) != 0)) format = Format::Plain;
  }
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));
  const TensorSpec src_spec{type, from, format};
  const TensorSpec dst_spec{type, dst.desc().shape, format};
  const std::vector<int64_t> dims = physical_dims(src_spec);
  const std::vector<int64_t> dst_dense = row_major_strides(physical_dims(dst_spec));
  int64_t offset = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    size_t position = d;
    if (format == Format::ChannelsLast && d >= 1) position = d == 1 ? from.size() - 1 : d - 1;
    offset += widths.begin[d] * dst_dense[position];
  }
  fill.count = static_cast<size_t>(physical_count(dst_spec));
  StridedMove loops(dims, row_major_strides(dims), dst_dense, fill.width);
  const TensorId out = builder.write(dst, dst_spec);
  const auto width = static_cast<int64_t>(fill.width);
  builder.add_step(node, make_move_kernel({{std::move(loops), 0, offset * width}}, fill), {in},
                   {out});
  return true;
}

/// Repeated elements are read with stride 0.
Result<bool> plan_repeat(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const ElementType type = src.desc().type;
  const bool tile = node.op_type() == "Tile";
  if (!movable(type) || src.is_constant()) return false;
  Shape from = src.desc().shape;
  const Shape& to = dst.desc().shape;
  from.insert(from.begin(), to.size() - from.size(), 1);
  const std::vector<int64_t> dense = row_major_strides(from);
  const std::vector<int64_t> dst_dense = row_major_strides(to);
  std::vector<int64_t> dims;
  std::vector<int64_t> src_strides;
  std::vector<int64_t> dst_strides;
  for (size_t d = 0; d < to.size(); ++d) {
    if (from[d] == 0) return false;
    if (tile && from[d] > 1) {
      dims.push_back(to[d] / from[d]);
      src_strides.push_back(0);
      dst_strides.push_back(dst_dense[d] * from[d]);
    }
    dims.push_back(from[d] > 1 ? from[d] : to[d]);
    src_strides.push_back(from[d] > 1 ? dense[d] : 0);
    dst_strides.push_back(dst_dense[d]);
  }
  HET_ASSIGN(const TensorId in, builder.read(src, Format::Plain, type));
  StridedMove loops(dims, src_strides, dst_strides, byte_width(type));
  const TensorId out = builder.write(dst, {type, to, Format::Plain});
  builder.add_step(node, make_move_kernel({{std::move(loops), 0, 0}}), {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_pad(KernelRegistry& registry) {
  registry.add("", "Pad", plan_pad);
  registry.add("", "Tile", plan_repeat);
  registry.add("", "Expand", plan_repeat);
}

}  // namespace het::cpu
