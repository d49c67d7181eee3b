#include "inference/ops/windows/pool.h"

#include <limits>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

bool is_pooled_byte(ElementType type) {
  return type == ElementType::Int8 || type == ElementType::UInt8;
}

std::string refuse_pool(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type != ElementType::Float32 && !is_pooled_byte(type)) {
    return fmt::format("no GPU kernel pools {}", to_string(type));
  }
  const auto pool = pool_attributes(node, node.input(0)->desc().shape);
  return pool ? "" : pool.error().message();
}

std::string options_of(const PlanBuilder& builder, ElementType type) {
  std::string options = row_options(builder);
  if (is_pooled_byte(type))
    options += type == ElementType::Int8 ? " -DBYTES=char" : " -DBYTES=uchar";
  return options;
}

/// The window as the kernels list it.
Result<TensorId> window_list(PlanBuilder& builder, const PoolAttributes& pool, const Shape& shape) {
  const Window3 window = window3(pool, std::span(shape).subspan(2));
  std::array<int64_t, 3> after{};
  std::copy(pool.pads_end.begin(), pool.pads_end.end(), after.end() - pool.pads_end.size());
  std::vector<int64_t> list;
  for (const auto& part : {window.in, window.out, window.kernel, window.strides, window.dilations,
                           window.pads, after}) {
    list.insert(list.end(), part.begin(), part.end());
  }
  return int_list(builder, list);
}

float lowest_of(ElementType type) {
  if (type == ElementType::Int8) return -128.0f;
  return type == ElementType::UInt8 ? 0.0f : -std::numeric_limits<float>::infinity();
}

Launch pool_launch(const PlanBuilder& builder, ElementType type, std::string kernel) {
  Launch launch;
  launch.text.file = "pool";
  launch.text.options = options_of(builder, type);
  launch.kernel = std::move(kernel);
  launch.local = builder.row_local();
  return launch;
}

/// Maxima with their places, in plain tensors.
Status plan_places(PlanBuilder& builder, const Node& node, const PoolAttributes& pool) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  const TensorSpec source = builder.tensor(from).spec;
  const TensorId to = builder.write(*node.output(0), Format::Plain);
  const TensorId places = builder.write(*node.output(1), Format::Plain);
  HET_ASSIGN(const TensorId window, window_list(builder, pool, source.shape));
  Launch launch = pool_launch(builder, source.type, "max_pool_places");
  const int64_t count = element_count(pool.output_shape);
  launch.args = {Read{from},
                 Write{to},
                 Write{places},
                 Read{window},
                 as_int(count),
                 as_int(pool.column_major_indices ? 1 : 0),
                 cl_float{lowest_of(source.type)}};
  launch.global[0] = static_cast<size_t>(count);
  return builder.add_step(node, std::move(launch));
}

/// Means over whole pictures, in parts where channels alone would leave the device idle.
Status plan_means(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::ChannelsLast));
  const TensorSpec source = builder.tensor(from).spec;
  const TensorId to = builder.write(*node.output(), Format::ChannelsLast);
  const Picture picture = picture_of(source.shape);
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const auto chunks = static_cast<int64_t>(groups_of(picture.c, width));
  const auto wanted =
      static_cast<int64_t>(builder.hardware().compute_units * builder.hardware().group_size() * 4);
  const int64_t most = std::max<int64_t>(1, picture.s / 16);
  const auto enough = static_cast<int64_t>(groups_of(wanted, picture.n * chunks));
  const auto part = static_cast<int64_t>(groups_of(picture.s, std::min(most, enough)));
  const auto parts = static_cast<int64_t>(groups_of(picture.s, part));
  const TensorId sums =
      builder.temporary({ElementType::Float32, {picture.n, parts, picture.c}, Format::Plain});
  Launch launch = pool_launch(builder, source.type, "sum_pixels");
  launch.args = {Read{from},        Write{sums},   as_int(picture.c), as_int(chunks),
                 as_int(picture.s), as_int(parts), as_int(part),      as_int(picture.n)};
  launch.global[0] = static_cast<size_t>(picture.n * parts * chunks);
  HET_TRY(builder.add_step(node, std::move(launch)));
  launch = pool_launch(builder, source.type, "mean_parts");
  launch.args = {Read{sums},    Write{to},         as_int(picture.c),
                 as_int(parts), as_int(picture.n), cl_float{1.0f / static_cast<float>(picture.s)}};
  launch.global[0] = static_cast<size_t>(picture.n * picture.c);
  return builder.add_step(node, std::move(launch));
}

Status plan_pool(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(node, shape));
  if (node.output(1) != nullptr) return plan_places(builder, node, pool);
  if (node.op_type() == "GlobalAveragePool") return plan_means(builder, node);
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::ChannelsLast));
  const ElementType type = builder.tensor(from).spec.type;
  const TensorId to = builder.write(*node.output(), Format::ChannelsLast);
  HET_ASSIGN(const TensorId window, window_list(builder, pool, shape));
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  // A CPU finds its place in the picture once for many channels, a GPU has neighbours do them.
  const int64_t run = builder.hardware().is_cpu ? 8 : 1;
  const auto chunks = static_cast<int64_t>(groups_of(shape[1], run * width));
  const int64_t positions = element_count(pool.output_shape) / shape[1];
  Launch launch = pool_launch(builder, type, "max_pool");
  launch.args = {Read{from},     Write{to},   Read{window},     as_int(shape[1]),
                 as_int(chunks), as_int(run), as_int(positions)};
  if (node.op_type().find("Average") != std::string::npos) {
    launch.kernel = "average_pool";
    launch.args.emplace_back(as_int(pool.count_include_pad ? 1 : 0));
  } else if (node.op_type().find("Lp") != std::string::npos) {
    launch.kernel = "lp_pool";
    launch.args.emplace_back(as_int(pool.p));
  } else {
    launch.args.emplace_back(cl_float{lowest_of(type)});
  }
  launch.global[0] = static_cast<size_t>(positions * chunks);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_pool(KernelRegistry& registry) {
  for (const char* type :
       {"MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"}) {
    registry.add("", type, {refuse_pool, plan_pool});
  }
}

}  // namespace het::gpu
