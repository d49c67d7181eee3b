#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/movement/gather_index.h"

namespace het::gpu {
namespace {

Result<size_t> axis_of(const Node& node) {
  const auto rank = static_cast<int64_t>(node.input(0)->desc().shape.size());
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0), rank));
  return static_cast<size_t>(axis);
}

std::string refuse_gather(const Node& node) {
  const Value& indices = *node.input(1);
  if (indices.is_constant() && node.op_type() != "GatherND") {
    const auto axis = axis_of(node);
    if (!axis) return axis.error().message();
    const auto places = read_indices(indices.constant(), node.input(0)->desc().shape[*axis]);
    if (!places) return places.error().message();
  }
  return refuse_move(node);
}

Result<Launch> gather_launch(PlanBuilder& builder, const Node& node, std::string kernel) {
  Launch launch;
  launch.text.file = "gather";
  launch.text.options =
      fmt::format("{} -DINDEX={}", item_options(builder, builder.kept_type(*node.output())),
                  c_type(node.input(1)->desc().type));
  launch.kernel = std::move(kernel);
  launch.local = builder.row_local();
  return launch;
}

/// Constant places along one axis: one index leaves a slice, a list a table of positions.
Status plan_constant_gather(PlanBuilder& builder, const Node& node, size_t axis) {
  const Value& input = *node.input(0);
  HET_ASSIGN(const TensorId from, builder.read(input, builder.home(input).format));
  const TensorSpec source = builder.tensor(from).spec;
  HET_ASSIGN(const std::vector<int64_t> places,
             read_indices(node.input(1)->constant(), source.shape[axis]));
  const std::vector<int64_t> strides = logical_strides(source);
  if (node.input(1)->desc().shape.empty()) {
    const TensorId to = builder.write(*node.output(), Format::Plain);
    StridedMove move{builder.tensor(to).spec.shape, strides, {}};
    move.from.erase(move.from.begin() + static_cast<std::ptrdiff_t>(axis));
    move.to = row_major_strides(move.dims);
    move.from_offset = places[0] * strides[axis];
    return add_move(builder, node, from, to, move);
  }
  const TensorId to = builder.write(*node.output(), source.format);
  PositionTables tables(strides.size());
  for (size_t d = 0; d < strides.size(); ++d) {
    for (int64_t i = 0; d != axis && i < source.shape[d]; ++i) tables[d].push_back(i * strides[d]);
  }
  for (const int64_t place : places) tables[axis].push_back(place * strides[axis]);
  if (builder.tensor(to).spec.format == Format::ChannelsLast) {
    tables.push_back(std::move(tables[1]));
    tables.erase(tables.begin() + 1);
  }
  return add_mapped_move(builder, node, from, to, tables, kNoTensor);
}

Status plan_gather(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const size_t axis, axis_of(node));
  const Value& indices = *node.input(1);
  if (indices.is_constant() && indices.desc().shape.size() < 2) {
    return plan_constant_gather(builder, node, axis);
  }
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId places, builder.read(indices, Format::Plain));
  const TensorId to = builder.write(*node.output(), Format::Plain);
  HET_ASSIGN(const AxisSplit split,
             axis_split(node.input(0)->desc().shape, static_cast<int64_t>(axis)));
  const int64_t count = element_count(indices.desc().shape);
  const int64_t piece = piece_of(builder, split.inner);
  const auto pieces = static_cast<int64_t>(groups_of(split.inner, piece));
  const int64_t rows = split.outer * count;
  HET_ASSIGN(Launch launch, gather_launch(builder, node, "gather_rows"));
  launch.args = {Read{from}, Read{places}, Write{to}};
  add_ints(launch, {split.length, count, split.inner, rows, pieces, piece});
  launch.global[0] = static_cast<size_t>(rows * pieces);
  return builder.add_step(node, std::move(launch));
}

Status plan_gather_nd(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId places, builder.read(*node.input(1), Format::Plain));
  const TensorId to = builder.write(*node.output(), Format::Plain);
  const Shape& shape = node.input(0)->desc().shape;
  const Shape& indices = node.input(1)->desc().shape;
  const auto batch = static_cast<size_t>(node.attributes().get_int("batch_dims", 0));
  const auto length = static_cast<size_t>(indices.back());
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<int64_t> walk(shape.begin() + static_cast<std::ptrdiff_t>(batch),
                            shape.begin() + static_cast<std::ptrdiff_t>(batch + length));
  walk.insert(walk.end(), strides.begin() + static_cast<std::ptrdiff_t>(batch),
              strides.begin() + static_cast<std::ptrdiff_t>(batch + length));
  if (walk.empty()) walk.push_back(0);
  HET_ASSIGN(const TensorId walk_id, int_list(builder, walk));
  const std::span<const int64_t> dims = shape;
  const int64_t inner = element_count(dims.subspan(batch + length));
  const int64_t rows = element_count(node.output()->desc().shape) / inner;
  const int64_t piece = piece_of(builder, inner);
  const auto pieces = static_cast<int64_t>(groups_of(inner, piece));
  HET_ASSIGN(Launch launch, gather_launch(builder, node, "gather_tuples"));
  launch.args = {Read{from}, Read{places}, Write{to}, Read{walk_id}};
  add_ints(launch, {indices.back(), rows / element_count(dims.first(batch)),
                    element_count(dims.subspan(batch)), inner, rows, pieces, piece});
  launch.global[0] = static_cast<size_t>(rows * pieces);
  return builder.add_step(node, std::move(launch));
}

Status plan_gather_elements(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const size_t axis, axis_of(node));
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId places, builder.read(*node.input(1), Format::Plain));
  const TensorId to = builder.write(*node.output(), Format::Plain);
  const Shape& shape = node.input(0)->desc().shape;
  std::vector<int64_t> walk = node.output()->desc().shape;
  const int64_t count = element_count(walk);
  const std::vector<int64_t> strides = row_major_strides(shape);
  walk.insert(walk.end(), strides.begin(), strides.end());
  HET_ASSIGN(const TensorId walk_id, int_list(builder, walk));
  HET_ASSIGN(Launch launch, gather_launch(builder, node, "gather_elements"));
  launch.args = {Read{from}, Read{places}, Write{to}, Read{walk_id}};
  add_ints(launch,
           {static_cast<int64_t>(shape.size()), static_cast<int64_t>(axis), shape[axis], count});
  launch.global[0] = static_cast<size_t>(count);
  return builder.add_step(node, std::move(launch));
}

Status plan_reverse_sequence(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId lengths, builder.read(*node.input(1), Format::Plain));
  const TensorId to = builder.write(*node.output(), Format::Plain);
  const Shape& shape = node.output()->desc().shape;
  const int64_t batch_axis = node.attributes().get_int("batch_axis", 1);
  const bool batch_first = batch_axis == 0 || batch_axis == -static_cast<int64_t>(shape.size());
  const int64_t count = element_count(shape);
  HET_ASSIGN(Launch launch, gather_launch(builder, node, "reverse_sequence"));
  launch.args = {Read{from}, Read{lengths}, Write{to}};
  add_ints(launch, {shape[batch_first ? 1 : 0], shape[batch_first ? 0 : 1],
                    count / (shape[0] * shape[1]), batch_first ? 1 : 0, count});
  launch.global[0] = static_cast<size_t>(count);
  return builder.add_step(node, std::move(launch));
}

Status plan_trilu(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  TensorId diagonal = kNoTensor;
  if (node.input(1) != nullptr) {
    HET_ASSIGN(diagonal, builder.read(*node.input(1), Format::Plain));
  } else {
    HET_ASSIGN(diagonal, builder.constant(Tensor::from<int64_t>({1}, std::vector<int64_t>{0})));
  }
  const TensorId to = builder.write(*node.output(), Format::Plain);
  const Shape& shape = node.output()->desc().shape;
  const int64_t count = element_count(shape);
  Launch launch;
  launch.text.file = "gather";
  launch.text.options = item_options(builder, builder.tensor(to).spec.type) + " -DINDEX=long";
  launch.kernel = "trilu";
  launch.local = builder.row_local();
  launch.args = {Read{from}, Read{diagonal}, Write{to}};
  add_ints(launch, {shape[shape.size() - 2], shape.back(),
                    node.attributes().get_int("upper", 1) != 0 ? 1 : 0, count});
  launch.global[0] = static_cast<size_t>(count);
  return builder.add_step(node, std::move(launch));
}

std::string refuse_one_hot(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (!is_integer(type) && type != ElementType::Float32) {
    return fmt::format("no GPU kernel takes places of {}", to_string(type));
  }
  return item_type(node.output()->desc().type).empty() ? "its values cannot be moved" : "";
}

Status plan_one_hot(PlanBuilder& builder, const Node& node) {
  const ElementType index = node.input(0)->desc().type;
  HET_ASSIGN(const TensorId places, builder.read(*node.input(0), Format::Plain, index));
  HET_ASSIGN(const TensorId values, builder.read(*node.input(2), Format::Plain));
  const TensorId to = builder.write(*node.output(), Format::Plain);
  const Shape& shape = node.output()->desc().shape;
  HET_ASSIGN(const AxisSplit split, axis_split(shape, node.attributes().get_int("axis", -1)));
  const int64_t count = element_count(shape);
  Launch launch;
  launch.text.file = "gather";
  launch.text.options = fmt::format(
      "{} -DINDEX={}", item_options(builder, builder.tensor(to).spec.type), c_type(index));
  launch.kernel = "one_hot";
  launch.local = builder.row_local();
  launch.args = {Read{places}, Read{values}, Write{to}};
  add_ints(launch, {split.length, split.inner, count});
  launch.global[0] = static_cast<size_t>(count);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_gather(KernelRegistry& registry) {
  registry.add("", "Gather", {refuse_gather, plan_gather});
  registry.add("", "GatherElements", {refuse_gather, plan_gather_elements});
  registry.add("", "GatherND", {refuse_gather, plan_gather_nd});
  registry.add("", "OneHot", {refuse_one_hot, plan_one_hot});
  registry.add("", "ReverseSequence", {refuse_move, plan_reverse_sequence});
  registry.add("", "Trilu", {refuse_move, plan_trilu});
}

}  // namespace het::gpu
