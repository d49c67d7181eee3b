#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_adaptive_pool(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  return type == ElementType::Float32 ? "" : fmt::format("no GPU kernel pools {}", to_string(type));
}

/// Sizes of three spatial dimensions; missing ones lead, with size 1.
std::vector<int64_t> spatial(const Shape& shape) {
  std::vector<int64_t> sizes(shape.begin() + 2, shape.end());
  sizes.insert(sizes.begin(), 3 - sizes.size(), 1);
  return sizes;
}

Status plan_adaptive_pool(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId src, builder.read(*node.input(0), Format::Plain));
  const Shape& shape = node.output()->desc().shape;
  Launch launch;
  launch.text.file = "adaptive_pool";
  launch.text.options = storage_option(builder.options().stored_type);
  launch.kernel = "adaptive_pool";
  launch.args = {Read{src}, Write{builder.write(*node.output(), Format::Plain)}};
  if (node.op_type() == "AdaptiveMaxPool") {
    const Value* const places = node.output(1);
    const bool listed = places != nullptr;
    launch.text.options +=
        fmt::format(" -DPLACE={}", listed ? c_type(places->desc().type) : "long");
    launch.args.emplace_back(Write{listed ? builder.write(*places, Format::Plain) : kNoTensor});
  }
  const int64_t count = element_count(shape);
  launch.args.emplace_back(as_int(count));
  for (const auto& sizes : {spatial(node.input(0)->desc().shape), spatial(shape)}) {
    for (const int64_t size : sizes) launch.args.emplace_back(as_int(size));
  }
  launch.global[0] = static_cast<size_t>(count);
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_adaptive_pool(KernelRegistry& registry) {
  for (const char* type : {"AdaptiveAvgPool", "AdaptiveMaxPool"}) {
    registry.add("het", type, {refuse_adaptive_pool, plan_adaptive_pool});
  }
}

}  // namespace het::gpu
