#include "inference/ops/movement/transpose.h"

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_transpose(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  HET_TRY(check_attributes(context.attributes(), {{"perm", AttributeType::Ints}}));
  HET_ASSIGN(const std::vector<int64_t> perm,
             transpose_permutation(context.attributes(), context.rank(0)));
  Shape shape;
  for (const int64_t d : perm) shape.push_back(context.shape(0)[static_cast<size_t>(d)]);
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_transpose(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const std::vector<int64_t> perm,
             transpose_permutation(context.attributes(), x.rank()));
  const std::vector<int64_t> strides = row_major_strides(x.shape());
  std::vector<int64_t> permuted;
  for (const int64_t d : perm) permuted.push_back(strides[static_cast<size_t>(d)]);
  strided_copy(y.shape(), byte_width(x.type()), x.bytes(), permuted, y.bytes(),
               row_major_strides(y.shape()));
  return {};
}

}  // namespace

Result<std::vector<int64_t>> transpose_permutation(const Attributes& attributes, int64_t rank) {
  std::vector<int64_t> perm = attributes.get_ints("perm");
  if (!attributes.has("perm")) {
    for (int64_t d = rank; d-- > 0;) perm.push_back(d);
    return perm;
  }
  bool valid = static_cast<int64_t>(perm.size()) == rank;
  std::vector<bool> seen(perm.size());
  for (size_t i = 0; valid && i < perm.size(); ++i) {
    valid = perm[i] >= 0 && perm[i] < rank && !seen[static_cast<size_t>(perm[i])];
    if (valid) seen[static_cast<size_t>(perm[i])] = true;
  }
  if (!valid) {
    return error(StatusCode::InvalidArgument, "perm {} is not a permutation of {} dimensions",
                 to_string(perm), rank);
  }
  return perm;
}

HET_REGISTRATION void register_transpose(OpRegistry& registry) {
  registry.add({"Transpose", "", 25, 1, 1, infer_transpose, evaluate_transpose});
}

}  // namespace het
