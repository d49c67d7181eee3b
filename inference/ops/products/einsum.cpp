#include "inference/ops/products/einsum.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_einsum(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"equation", AttributeType::String, true}}));
  std::vector<Shape> shapes;
  for (size_t i = 0; i < context.input_count(); ++i) {
    HET_TRY(check_input(context, i, "Inputs", kNumbers));
    HET_TRY(check_same_type(context, 0, i));
    shapes.push_back(context.shape(i));
  }
  HET_ASSIGN(EinsumPlan plan, einsum_plan(context.attributes().get_string("equation", ""), shapes));
  context.set_output(0, context.type(0), std::move(plan.output_shape));
  return {};
}

/// Calls visit() for every index of the loops [first, last), with `offsets` at the inputs'
/// elements.
template <class Visit>
void for_each_index(const EinsumPlan& plan, size_t first, size_t last,
                    std::vector<int64_t>& offsets, const Visit& visit) {
  if (first == last) return visit();
  for (int64_t i = 0; i < plan.loops[first]; ++i) {
    for_each_index(plan, first + 1, last, offsets, visit);
    for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += plan.strides[k][first];
  }
  for (size_t k = 0; k < offsets.size(); ++k) {
    offsets[k] -= plan.strides[k][first] * plan.loops[first];
  }
}

/// Products and sums in double; integers wrap around. Order: output elements, then summed labels.
Status evaluate_einsum(EvaluateContext& context) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < context.input_count(); ++i) shapes.push_back(context.input(i).shape());
  HET_ASSIGN(const EinsumPlan plan,
             einsum_plan(context.attributes().get_string("equation", ""), shapes));
  if (element_count(plan.output_shape) == 0) return {};
  return dispatch_numeric(context.input(0).type(), [&]<class T>() -> Status {
    using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    std::vector<const T*> src;
    for (size_t i = 0; i < shapes.size(); ++i) src.push_back(context.input(i).data<T>());
    T* dst = context.output(0).data<T>();
    if (element_count(plan.loops) == 0) {
      std::fill_n(dst, element_count(plan.output_shape), T());
      return {};
    }
    const size_t kept = plan.output_shape.size();
    std::vector<int64_t> offsets(src.size());
    for_each_index(plan, 0, kept, offsets, [&] {
      Acc sum(0);
      for_each_index(plan, kept, plan.loops.size(), offsets, [&] {
        Acc product(1);
        for (size_t k = 0; k < src.size(); ++k) product *= static_cast<Acc>(src[k][offsets[k]]);
        sum += product;
      });
      *dst++ = numeric_cast<T>(sum);
    });
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_einsum(OpRegistry& registry) {
  registry.add({"Einsum", "", 28, 1, kVariadic, infer_einsum, evaluate_einsum});
}

}  // namespace het
