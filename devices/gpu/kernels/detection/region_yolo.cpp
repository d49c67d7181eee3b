#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_other_types(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type == ElementType::Float32) return {};
  return fmt::format("{} of {} has no GPU kernel, only that of float32", node.op_type(),
                     to_string(type));
}

Status plan_region_yolo(PlanBuilder& builder, const Node& node) {
  const Attributes& attributes = node.attributes();
  const Shape& shape = node.input(0)->desc().shape;
  const bool softmax = attributes.get_int("do_softmax", 1) != 0;
  const int64_t regions = softmax ? attributes.get_int("num", 0)
                                  : static_cast<int64_t>(attributes.get_ints("mask").size());
  const int64_t area = shape[2] * shape[3];
  HET_ASSIGN(const TensorId src, builder.read(*node.input(0), Format::Plain));
  const TensorId dst = builder.write(*node.output(), Format::Plain);
  Launch launch;
  launch.text = {"region_yolo", storage_option(builder.options().stored_type), ""};
  launch.kernel = "region_yolo";
  launch.args = {Read{src},
                 Write{dst},
                 as_int(shape[0]),
                 as_int(regions),
                 as_int(area),
                 as_int(attributes.get_int("coords", 0)),
                 as_int(attributes.get_int("classes", 0)),
                 as_int(shape[1]),
                 cl_int{softmax}};
  launch.global = {static_cast<size_t>(area), static_cast<size_t>(shape[0] * regions), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

Status plan_reorg_yolo(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  HET_ASSIGN(const TensorId src, builder.read(*node.input(0), Format::Plain));
  const TensorId dst = builder.write(*node.output(), Format::Plain);
  Launch launch;
  launch.text = {"region_yolo", storage_option(builder.options().stored_type), ""};
  launch.kernel = "reorg_yolo";
  launch.args = {Read{src},
                 Write{dst},
                 as_int(shape[0]),
                 as_int(shape[1]),
                 as_int(shape[2]),
                 as_int(shape[3]),
                 as_int(node.attributes().get_int("stride", 1))};
  launch.global = {static_cast<size_t>(shape[2] * shape[3]), static_cast<size_t>(shape[1]),
                   static_cast<size_t>(shape[0])};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_region_yolo(KernelRegistry& registry) {
  registry.add("het", "RegionYolo", {refuse_other_types, plan_region_yolo});
  registry.add("het", "ReorgYolo", {refuse_other_types, plan_reorg_yolo});
}

}  // namespace het::gpu
