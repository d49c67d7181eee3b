#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/rows.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_cumulate(const Node& node) {
  if (!node.input(1)->is_constant()) return "the axis is computed at run time";
  const ElementType type = node.input(0)->desc().type;
  if (!c_type(type).empty() && type != ElementType::Float16) return {};
  return fmt::format("{} of {} has no GPU kernel", node.op_type(), to_string(type));
}

Status plan_cumulate(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  const Shape& shape = x.desc().shape;
  HET_ASSIGN(const std::vector<int64_t> given, to_int64_vector(node.input(1)->constant()));
  HET_ASSIGN(const int64_t axis, normalize_axis(given.front(), static_cast<int64_t>(shape.size())));
  const Format format = builder.home(x).format;
  const RowSpace space = *row_space(shape, format, {axis});
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const TensorId dst = builder.write(*node.output(), format);
  Launch launch;
  launch.text.file = "cumulate";
  if (x.desc().type == ElementType::Float32) {
    launch.text.options =
        fmt::format("-DVALUE=float {}", storage_option(builder.options().stored_type));
  } else {
    launch.text.options = fmt::format("-DTYPE={} -DVALUE=ulong", c_type(x.desc().type));
  }
  if (node.op_type() == "CumProd") launch.text.options += " -DPRODUCT";
  launch.kernel = "cumulate";
  launch.args = {Read{src},
                 Write{dst},
                 as_int(space.outer),
                 as_int(space.length),
                 as_int(space.inner),
                 cl_int{node.attributes().get_int("exclusive", 0) != 0},
                 cl_int{node.attributes().get_int("reverse", 0) != 0}};
  launch.global = {static_cast<size_t>(space.inner), static_cast<size_t>(space.outer), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_cumulate(KernelRegistry& registry) {
  for (const char* type : {"CumSum", "CumProd"}) {
    registry.add("", type, {refuse_cumulate, plan_cumulate});
  }
}

}  // namespace het::gpu
