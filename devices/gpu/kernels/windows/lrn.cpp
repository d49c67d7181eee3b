#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/rows.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_lrn(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type == ElementType::Float32) return {};
  return fmt::format("LRN of {} has no GPU kernel, only that of float32", to_string(type));
}

Status plan_lrn(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  const Attributes& attributes = node.attributes();
  const Format format = builder.home(x).format;
  const Picture picture = picture_of(x.desc().shape);
  RowSpace space{picture.n, picture.c, picture.s};
  if (format == Format::ChannelsLast && x.desc().shape.size() > 2) {
    space = {picture.n * picture.s, picture.c, 1};
  }
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const TensorId dst = builder.write(*node.output(), format);
  const int64_t size = attributes.get_int("size", 1);
  // size - 1 neighbours: the smaller half before the channel, the larger one after it.
  const int64_t before = std::min(picture.c, (size - 1) / 2);
  const int64_t after = std::min(picture.c, size - 1 - (size - 1) / 2);
  Launch launch;
  launch.text = {"lrn", storage_option(builder.options().stored_type), ""};
  launch.kernel = "lrn";
  launch.args = {Read{src},
                 Write{dst},
                 as_int(space.outer),
                 as_int(space.length),
                 as_int(space.inner),
                 as_int(before),
                 as_int(after),
                 cl_float{attributes.get_float("alpha", 1e-4f) / static_cast<float>(size)},
                 cl_float{attributes.get_float("beta", 0.75f)},
                 cl_float{attributes.get_float("bias", 1.0f)}};
  launch.global = {static_cast<size_t>(space.length * space.inner),
                   static_cast<size_t>(space.outer), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_lrn(KernelRegistry& registry) {
  registry.add("", "LRN", {refuse_lrn, plan_lrn});
}

}  // namespace het::gpu
