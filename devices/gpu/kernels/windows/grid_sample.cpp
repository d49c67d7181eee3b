#include "inference/ops/windows/grid_sample.h"

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_grid_sample(const Node& node) {
  for (size_t i = 0; i < 2; ++i) {
    const ElementType type = node.input(i)->desc().type;
    if (type != ElementType::Float32) {
      return fmt::format("no GPU kernel samples with {}", to_string(type));
    }
  }
  return {};
}

/// Positions are computed from float32 where the grid comes so; the kernel works channels last.
Status plan_grid_sample(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  HET_ASSIGN(const GridSampleAttributes sample,
             grid_sample_attributes(node, shape, node.input(1)->desc().shape));
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::ChannelsLast));
  HET_ASSIGN(const TensorId grid,
             builder.read(*node.input(1), Format::Plain, ElementType::Float32));
  const TensorId to = builder.write(*node.output(), Format::ChannelsLast);
  const int64_t channels = shape[1];
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const auto chunks = static_cast<int64_t>(groups_of(channels, width));
  const int64_t positions = element_count(sample.output_shape) / channels;
  std::array<int64_t, 3> size{1, 1, 1};
  std::copy(shape.begin() + 2, shape.end(), size.end() - (shape.end() - shape.begin() - 2));
  Launch launch;
  launch.text.file = "sample";
  launch.text.options = row_options(builder);
  launch.kernel = "grid_sample";
  launch.local = builder.row_local();
  launch.args = {Read{from}, Read{grid}, Write{to}};
  for (const int64_t value :
       {channels, chunks, positions / shape[0], positions, static_cast<int64_t>(shape.size()) - 2,
        size[0], size[1], size[2], static_cast<int64_t>(sample.mode),
        static_cast<int64_t>(sample.padding), int64_t{sample.align_corners}}) {
    launch.args.emplace_back(as_int(value));
  }
  launch.global[0] = static_cast<size_t>(positions * chunks);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_grid_sample(KernelRegistry& registry) {
  registry.add("", "GridSample", {refuse_grid_sample, plan_grid_sample});
}

}  // namespace het::gpu
