#include "devices/cpu/onednn.h"
#include "devices/cpu/plan_builder.h"
#include "inference/registration.h"

namespace het::cpu {
namespace {

Result<bool> plan_softmax(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  if (src.desc().type != ElementType::Float32 || src.desc().shape.empty()) return false;
  const auto rank = static_cast<int64_t>(src.desc().shape.size());
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1), rank));
  TensorSpec spec{ElementType::Float32, src.desc().shape, Format::Plain};
  // Over channels a blocked format keeps the neighbours' format and is the faster one.
  if (axis == 1 && rank >= 3) spec.format = builder.home(src).format;
  Result<Primitive> primitive = make_softmax(spec, axis, node.op_type() == "LogSoftmax");
  if (!primitive) return false;
  HET_ASSIGN(const TensorId in, builder.read(src, spec.format, ElementType::Float32));
  const TensorId out = builder.write(*node.output(), spec);
  Step& step = builder.add_step(
      node,
      make_primitive_kernel(std::move(*primitive),
                            {{PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
                             {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}}),
      {in}, {out});
  step.in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_softmax(KernelRegistry& registry) {
  registry.add("", "Softmax", plan_softmax);
  registry.add("", "LogSoftmax", plan_softmax);
}

}  // namespace het::cpu
