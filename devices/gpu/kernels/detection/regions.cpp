#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/registration.h"
#include "inference/ops/windows/roi_align.h"

namespace het::gpu {
namespace {

std::string refuse_regions(const Node& node) {
  for (size_t i = 0; i < 2; ++i) {
    const ElementType type = node.input(i)->desc().type;
    if (type != ElementType::Float32) {
      return fmt::format("no GPU kernel pools regions of {}", to_string(type));
    }
  }
  return {};
}

/// The arguments that all these kernels begin with; regions keep float32 where they come so.
Result<Launch> region_launch(PlanBuilder& builder, const Node& node, std::string kernel) {
  Launch launch;
  launch.text.file = "regions";
  const bool indexed = node.input(2) != nullptr;
  launch.text.options =
      fmt::format("{} -DINDEX={}{}", storage_option(builder.options().stored_type),
                  indexed ? c_type(node.input(2)->desc().type) : "int",
                  builder.hardware().has_extension("cl_khr_fp64") ? " -DHAS_DOUBLE" : "");
  launch.kernel = std::move(kernel);
  launch.local = builder.row_local();
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  HET_ASSIGN(const TensorId regions,
             builder.read(*node.input(1), Format::Plain, ElementType::Float32));
  launch.args = {Read{from}, Read{regions}};
  if (indexed) {
    HET_ASSIGN(const TensorId pictures, builder.read(*node.input(2), Format::Plain));
    launch.args.emplace_back(Read{pictures});
  }
  launch.args.emplace_back(Write{builder.write(*node.output(), Format::Plain)});
  const Shape& x = node.input(0)->desc().shape;
  const Shape& y = node.output()->desc().shape;
  const int64_t count = element_count(y);
  for (const int64_t value : {count, y[1], y[2], y[3], x[2], x[3], x[0]}) {
    launch.args.emplace_back(as_int(value));
  }
  launch.global[0] = static_cast<size_t>(count);
  return launch;
}

Status plan_roi_align(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const RoiAlignAttributes align,
             roi_align_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape,
                                  node.input(2)->desc().shape));
  HET_ASSIGN(Launch launch, region_launch(builder, node, "roi_align"));
  launch.args.emplace_back(as_int(align.max ? 1 : 0));
  launch.args.emplace_back(as_int(align.max_of_samples ? 1 : 0));
  launch.args.emplace_back(cl_float{static_cast<float>(align.region_offset)});
  launch.args.emplace_back(cl_float{static_cast<float>(align.spatial_scale)});
  launch.args.emplace_back(as_int(align.half_pixel ? 1 : 0));
  launch.args.emplace_back(as_int(align.sampling_ratio));
  return builder.add_step(node, std::move(launch));
}

/// ROIPooling and, without `method`, MaxRoiPool.
Status plan_roi_pooling(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(Launch launch, region_launch(builder, node, "roi_pooling"));
  const Attributes& attributes = node.attributes();
  launch.args.emplace_back(as_int(attributes.get_string("method", "max") == "max" ? 0 : 1));
  launch.args.emplace_back(cl_float{attributes.get_float("spatial_scale", 1.0f)});
  return builder.add_step(node, std::move(launch));
}

Status plan_psroi_pooling(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(Launch launch, region_launch(builder, node, "psroi_pooling"));
  const Attributes& attributes = node.attributes();
  const int64_t maps = node.input(0)->desc().shape[1] / node.output()->desc().shape[1];
  launch.args.emplace_back(as_int(maps));
  launch.args.emplace_back(as_int(attributes.get_string("mode", "average") == "bilinear" ? 1 : 0));
  launch.args.emplace_back(as_int(attributes.get_int("spatial_bins_y", 1)));
  launch.args.emplace_back(as_int(attributes.get_int("spatial_bins_x", 1)));
  launch.args.emplace_back(cl_float{attributes.get_float("spatial_scale", 1.0f)});
  return builder.add_step(node, std::move(launch));
}

Status plan_crop_and_resize(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(Launch launch, region_launch(builder, node, "crop_and_resize"));
  const Attributes& attributes = node.attributes();
  launch.args.emplace_back(as_int(attributes.get_string("mode", "bilinear") == "nearest" ? 1 : 0));
  launch.args.emplace_back(cl_float{attributes.get_float("extrapolation_value", 0.0f)});
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_regions(KernelRegistry& registry) {
  registry.add("", "RoiAlign", {refuse_regions, plan_roi_align});
  registry.add("", "MaxRoiPool", {refuse_regions, plan_roi_pooling});
  registry.add("com.microsoft", "CropAndResize", {refuse_regions, plan_crop_and_resize});
  registry.add("het", "ROIAlign", {refuse_regions, plan_roi_align});
  registry.add("het", "ROIPooling", {refuse_regions, plan_roi_pooling});
  registry.add("het", "PSROIPooling", {refuse_regions, plan_psroi_pooling});
}

}  // namespace het::gpu
