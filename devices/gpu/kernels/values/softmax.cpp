#include "devices/gpu/plan/launches.h"
#include "devices/gpu/products/rows.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_softmax(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (type != ElementType::Float32) {
    return fmt::format("{} of {} has no GPU kernel, only that of float32", node.op_type(),
                       to_string(type));
  }
  // Positions are compared as float.
  constexpr int64_t kLongestRow = 1 << 24;
  if (node.op_type() == "Hardmax" && element_count(node.input(0)->desc().shape) > kLongestRow) {
    return "more than 2^24 elements";
  }
  return {};
}

/// One axis always lies together, whatever the format: no reorder.
Status plan_softmax(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  const Shape& shape = x.desc().shape;
  const Format format = builder.home(x).format;
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1),
                                                static_cast<int64_t>(shape.size())));
  const RowSpace space = *row_space(shape, format, {axis});
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const TensorId dst = builder.write(*node.output(), format);
  Launch launch;
  launch.text.file = "softmax";
  launch.text.generated = std::string(*kernel_source("rows"));
  launch.text.options = lane_options(builder);
  if (node.op_type() == "LogSoftmax") launch.text.options += " -DLOGARITHM";
  if (node.op_type() == "Hardmax") launch.text.options += " -DHARDMAX";
  if (space.inner == 1) {
    launch.kernel = "softmax_rows";
    launch.args = {Read{src}, Write{dst}, as_int(space.outer), as_int(space.length)};
    set_row_range(builder, launch, space.outer);
  } else {
    launch.kernel = "softmax_columns";
    launch.args = {Read{src}, Write{dst}, as_int(space.outer), as_int(space.length),
                   as_int(space.inner)};
    set_column_range(builder, launch, space.inner, space.outer);
  }
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_softmax(KernelRegistry& registry) {
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    registry.add("", type, {refuse_softmax, plan_softmax});
  }
}

}  // namespace het::gpu
