#include "inference/ops/movement/pad.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

bool is_pad(const Node& node) {
  return node.op_type() == "Pad";
}

std::string refuse_pad(const Node& node) {
  if (!is_pad(node)) return refuse_move(node);
  if (!node.input(1)->is_constant() ||
      (node.input(3) != nullptr && !node.input(3)->is_constant())) {
    return "its pads and axes must be constants";
  }
  return refuse_move(node);
}

/// CenterCropPad: half of the difference at each end, an odd element at the last.
PadWidths centred_widths(const Shape& from, const Shape& to) {
  PadWidths widths;
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t difference = to[d] - from[d];
    widths.begin.push_back(difference / 2);
    widths.end.push_back(difference - difference / 2);
  }
  return widths;
}

Result<PadWidths> widths_of(const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  if (!is_pad(node)) return centred_widths(shape, node.output()->desc().shape);
  HET_ASSIGN(std::vector<int64_t> pads, to_int64_vector(node.input(1)->constant()));
  std::vector<int64_t> axes;
  if (node.input(3) != nullptr) {
    HET_ASSIGN(axes, to_int64_vector(node.input(3)->constant()));
    // No axes at all is not the same as all axes.
    if (axes.empty()) pads.assign(2 * shape.size(), 0);
  }
  return pad_widths(shape, pads, axes);
}

/// What the padding is filled with: input 2 of Pad, or zero.
Result<TensorId> fill_of(PlanBuilder& builder, const Node& node) {
  const Value* fill = is_pad(node) ? node.input(2) : nullptr;
  if (fill != nullptr && element_count(fill->desc().shape) == 1) {
    return builder.read(*fill, Format::Plain);
  }
  HET_ASSIGN(Tensor zero, Tensor::allocate({builder.kept_type(*node.output()), {1}}));
  std::fill_n(zero.bytes(), zero.size_bytes(), std::byte{0});
  return builder.constant(zero);
}

/// Every position of the output names the one of the input that it shows.
Status plan_pad(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const PadMode mode, pad_mode(node.attributes()));
  HET_ASSIGN(const PadWidths widths, widths_of(node));
  const Value& input = *node.input(0);
  HET_ASSIGN(const TensorId from, builder.read(input, builder.home(input).format));
  const TensorSpec source = builder.tensor(from).spec;
  const TensorId to = builder.write(*node.output(), source.format);
  const std::vector<int64_t> strides = logical_strides(source);
  PositionTables tables;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    tables.push_back(pad_sources(source.shape[d], widths.begin[d], widths.end[d], mode));
    for (int64_t& entry : tables.back()) {
      if (entry >= 0) entry *= strides[d];
    }
  }
  if (builder.tensor(to).spec.format == Format::ChannelsLast) {
    tables.push_back(tables[1]);
    tables.erase(tables.begin() + 1);
  }
  HET_ASSIGN(const TensorId fill, fill_of(builder, node));
  return add_mapped_move(builder, node, from, to, tables, fill);
}

}  // namespace

HET_REGISTRATION void register_pad(KernelRegistry& registry) {
  registry.add("", "Pad", {refuse_pad, plan_pad});
  registry.add("", "CenterCropPad", {refuse_pad, plan_pad});
}

}  // namespace het::gpu
