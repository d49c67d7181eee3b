#include <set>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/products/expression_kernel.h"
#include "inference/base/registration.h"
#include "inference/ops/movement/gather_index.h"
#include "inference/ops/movement/scatter_reduction.h"

namespace het::gpu {
namespace {

bool is_plain_reduction(const Node& node) {
  return node.attributes().get_string("reduction", "none") == "none";
}

std::string refuse_scatter(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (!is_plain_reduction(node) && value_type(type).empty()) {
    return fmt::format("no GPU kernel adds or compares {}", to_string(type));
  }
  return refuse_move(node);
}

/// ITEM, GET, PUT and combine() for a type.
std::string combine_text(ElementType type, ScatterReduction reduction) {
  if (reduction == ScatterReduction::None) {
    return fmt::format(
        "#define ITEM {0}\n#define GET(p, i) ((p)[i])\n#define PUT(v, p, i) ((p)[i] = (v))\n"
        "{0} combine({0} a, {0} b) {{ return b; }}\n",
        item_type(type));
  }
  const bool half = type == ElementType::Float16;
  const std::string_view value = value_type(type);
  const bool real = value == "float";
  std::string result;
  switch (reduction) {
    case ScatterReduction::Mul:
      result = real ? "a * b" : fmt::format("({})((ulong)a * (ulong)b)", value);
      break;
    case ScatterReduction::Max:
      result = real ? "a > b || a != a ? a : b" : "max(a, b)";
      break;
    case ScatterReduction::Min:
      result = real ? "a < b || a != a ? a : b" : "min(a, b)";
      break;
    default:
      result = real ? "a + b" : fmt::format("({})((ulong)a + (ulong)b)", value);
  }
  return fmt::format(
      "#define ITEM {0}\n#define GET(p, i) {1}\n#define PUT(v, p, i) {2}\n"
      "{3} combine({3} a, {3} b) {{ return {4}; }}\n",
      c_type(type), half ? "vload_half((i), (p))" : "((p)[i])",
      half ? "vstore_half((v), (i), (p))" : "((p)[i] = (v))", value, result);
}

/// Copies the data and prepares the launch that updates it.
Result<Launch> begin_scatter(PlanBuilder& builder, const Node& node, std::string kernel) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId places, builder.read(*node.input(1), Format::Plain));
  HET_ASSIGN(const TensorId updates, builder.read(*node.input(2), Format::Plain));
  const TensorId to = builder.write(*node.output(), Format::Plain);
  const TensorSpec target = builder.tensor(to).spec;
  HET_TRY(add_move(builder, node, from, to, {{count(target)}, {1}, {1}}));
  HET_ASSIGN(const ScatterReduction reduction,
             scatter_reduction(node.attributes(), node.input(0)->desc().type));
  Launch launch;
  launch.text.file = "scatter";
  launch.text.options = fmt::format("-DINDEX={}", c_type(node.input(1)->desc().type));
  launch.text.generated = combine_text(target.type, reduction);
  launch.kernel = std::move(kernel);
  launch.local = builder.row_local();
  launch.args = {Write{to}, Read{places}, Read{updates}};
  return launch;
}

Status plan_scatter_elements(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(Launch launch, begin_scatter(builder, node, "scatter_elements"));
  const Shape& shape = node.output()->desc().shape;
  const Shape& places = node.input(1)->desc().shape;
  HET_ASSIGN(const int64_t given, normalize_axis(node.attributes().get_int("axis", 0),
                                                 static_cast<int64_t>(shape.size())));
  const auto axis = static_cast<size_t>(given);
  const std::vector<int64_t> from = row_major_strides(places);
  const std::vector<int64_t> to = row_major_strides(shape);
  std::vector<int64_t> walk;
  for (const std::vector<int64_t>& part : {std::vector<int64_t>(places), from, to}) {
    for (size_t d = 0; d < part.size(); ++d) {
      if (d != axis) walk.push_back(part[d]);
    }
  }
  if (walk.empty()) walk.push_back(0);
  HET_ASSIGN(const TensorId walk_id, int_list(builder, walk));
  const int64_t columns = element_count(places) / places[axis];
  launch.args.emplace_back(Read{walk_id});
  add_ints(launch, {static_cast<int64_t>(shape.size()) - 1, columns, places[axis], from[axis],
                    to[axis], shape[axis]});
  launch.global[0] = static_cast<size_t>(columns);
  return builder.add_step(node, std::move(launch));
}

/// True when no two updates meet, as far as is known at compile time.
bool is_distinct(const Node& node) {
  const Value& places = *node.input(1);
  if (!places.is_constant()) return false;
  const Shape& shape = node.output()->desc().shape;
  const auto tuples = read_index_tuples(places.constant(), shape, row_major_strides(shape));
  return tuples && std::set<int64_t>(tuples->begin(), tuples->end()).size() == tuples->size();
}

/// Tuples that may meet are taken by one work-item an element, in order.
Status plan_scatter_nd(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(Launch launch, begin_scatter(builder, node, "scatter_tuples"));
  const Shape& shape = node.output()->desc().shape;
  const Shape& places = node.input(1)->desc().shape;
  const auto length = static_cast<std::ptrdiff_t>(places.back());
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<int64_t> walk(shape.begin(), shape.begin() + length);
  walk.insert(walk.end(), strides.begin(), strides.begin() + length);
  if (walk.empty()) walk.push_back(0);
  HET_ASSIGN(const TensorId walk_id, int_list(builder, walk));
  const int64_t inner = element_count(std::span(shape).subspan(static_cast<size_t>(length)));
  const int64_t tuples = element_count(node.input(2)->desc().shape) / inner;
  const int64_t run = is_distinct(node) ? 1 : tuples;
  launch.args.emplace_back(Read{walk_id});
  add_ints(launch, {places.back(), tuples, run, inner});
  launch.global[0] = static_cast<size_t>(inner) * groups_of(tuples, run);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_scatter(KernelRegistry& registry) {
  registry.add("", "Scatter", {refuse_scatter, plan_scatter_elements});
  registry.add("", "ScatterElements", {refuse_scatter, plan_scatter_elements});
  registry.add("", "ScatterND", {refuse_scatter, plan_scatter_nd});
}

}  // namespace het::gpu
