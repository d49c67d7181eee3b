#include "inference/ops/windows/max_unpool.h"

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_max_unpool(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type != ElementType::Float32) {
    return fmt::format("no GPU kernel unpools {}", to_string(type));
  }
  const Result<Shape> indexed = unpooled_shape(node, node.input(0)->desc().shape);
  if (!indexed) return indexed.error().message();
  return element_count(*indexed) > 0 ? "" : "nothing is left between its pads";
}

Status plan_max_unpool(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId src, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId indices, builder.read(*node.input(1), Format::Plain));
  HET_ASSIGN(const Shape indexed, unpooled_shape(node, node.input(0)->desc().shape));
  const Shape& shape = node.output()->desc().shape;
  const int64_t values = element_count(node.input(0)->desc().shape);
  const int64_t places = element_count(indexed);
  const int64_t outputs = element_count(shape);
  const TensorId owners = builder.temporary({ElementType::Int32, {places}, Format::Plain});
  Launch launch;
  launch.text.file = "max_unpool";
  launch.text.options = storage_option(builder.options().stored_type);
  launch.local = builder.row_local();
  launch.kernel = "free_places";
  launch.args = {Write{owners}, as_int(places)};
  launch.global[0] = static_cast<size_t>(places);
  HET_TRY(builder.add_step(node, launch));
  launch.kernel = "claim_places";
  launch.args = {Read{indices}, Write{owners}, as_int(values), as_int(places)};
  launch.global[0] = static_cast<size_t>(values);
  HET_TRY(builder.add_step(node, launch));
  std::vector<int64_t> dims(shape);
  dims.insert(dims.end(), indexed.begin(), indexed.end());
  HET_ASSIGN(const TensorId list, int_list(builder, dims));
  launch.kernel = "take_owned";
  launch.args = {Read{src},
                 Read{owners},
                 Write{builder.write(*node.output(), Format::Plain)},
                 Read{list},
                 as_int(static_cast<int64_t>(shape.size())),
                 as_int(outputs)};
  launch.global[0] = static_cast<size_t>(outputs);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_max_unpool(KernelRegistry& registry) {
  registry.add("", "MaxUnpool", {refuse_max_unpool, plan_max_unpool});
}

}  // namespace het::gpu
