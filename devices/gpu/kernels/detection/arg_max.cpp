#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/rows.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_arg_max(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  if (!c_type(type).empty() && type != ElementType::Float16) return {};
  return fmt::format("{} of {} has no GPU kernel", node.op_type(), to_string(type));
}

Status plan_arg_max(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  const Shape& shape = x.desc().shape;
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0),
                                                static_cast<int64_t>(shape.size())));
  const bool keeps = node.output()->desc().shape.size() == shape.size();
  const Format format = keeps || axis == 1 ? builder.home(x).format : Format::Plain;
  // Without the channels what is left of channels last is plain.
  const RowSpace space = *row_space(shape, format, {axis});
  HET_ASSIGN(const TensorId src, builder.read(x, format));
  const TensorId dst = builder.write(*node.output(), keeps ? format : Format::Plain);
  Launch launch;
  launch.text.file = "arg_max";
  if (x.desc().type == ElementType::Float32) {
    launch.text.options =
        fmt::format("-DVALUE=float {}", storage_option(builder.options().stored_type));
  } else {
    launch.text.options = fmt::format("-DTYPE={0} -DVALUE={0}", c_type(x.desc().type));
  }
  if (node.op_type() == "ArgMin") launch.text.options += " -DSMALLEST";
  launch.kernel = "arg_max";
  launch.args = {
      Read{src},           Write{dst},
      as_int(space.outer), as_int(space.length),
      as_int(space.inner), cl_int{node.attributes().get_int("select_last_index", 0) != 0}};
  launch.global = {static_cast<size_t>(space.inner), static_cast<size_t>(space.outer), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_arg_max(KernelRegistry& registry) {
  for (const char* type : {"ArgMax", "ArgMin"}) {
    registry.add("", type, {refuse_arg_max, plan_arg_max});
  }
}

}  // namespace het::gpu
