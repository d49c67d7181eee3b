#include <algorithm>

#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_stub(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (item_type(output->desc().type).empty()) return "elements are not whole bytes";
  }
  return {};
}

/// One zero, moved to every element; the inputs are computed and not read.
Status plan_stub(PlanBuilder& builder, const Node& node) {
  for (const Value* output : node.outputs()) {
    const TensorId to = builder.write(*output, Format::Plain);
    Shape dims = physical_dims(builder.tensor(to).spec);
    if (dims.empty()) dims = {1};
    HET_ASSIGN(Tensor zero, Tensor::allocate({builder.kept_type(*output), {1}}));
    std::fill_n(zero.bytes(), zero.size_bytes(), std::byte{0});
    HET_ASSIGN(const TensorId from, builder.constant(zero));
    HET_TRY(add_move(builder, node, from, to,
                     {dims, std::vector<int64_t>(dims.size(), 0), row_major_strides(dims)}));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_stub(KernelRegistry& registry) {
  registry.add("het", "Stub", {refuse_stub, plan_stub});
}

}  // namespace het::gpu
