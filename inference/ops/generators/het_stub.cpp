#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// Stands in for another node where one wants to know what that node costs: reads everything, takes
/// no time but that of writing zeros. Attributes: output_types, names such as float32;
/// output_ranks; output_dims, of all outputs one after the other.
Status infer_stub(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"output_types", AttributeType::Strings, true},
                                                  {"output_ranks", AttributeType::Ints, true},
                                                  {"output_dims", AttributeType::Ints, true}}));
  const std::vector<std::string> types = context.attributes().get_strings("output_types");
  const std::vector<int64_t> ranks = context.attributes().get_ints("output_ranks");
  const std::vector<int64_t> dims = context.attributes().get_ints("output_dims");
  if (types.size() != context.output_count() || ranks.size() != types.size()) {
    return error(StatusCode::InvalidArgument,
                 "output_types and output_ranks have {} and {} entries for {} outputs",
                 types.size(), ranks.size(), context.output_count());
  }
  auto rest = std::span(dims);
  for (size_t i = 0; i < types.size(); ++i) {
    HET_ASSIGN(const ElementType type, parse_element_type(types[i]));
    if (!kAllTypes.contains(type)) {
      return error(StatusCode::InvalidArgument, "output {} has type {}", i, types[i]);
    }
    if (ranks[i] < 0 || static_cast<uint64_t>(ranks[i]) > rest.size()) {
      return error(StatusCode::InvalidArgument,
                   "output {} has rank {}, but {} of the {} output_dims are left", i, ranks[i],
                   rest.size(), dims.size());
    }
    const auto own = rest.first(static_cast<size_t>(ranks[i]));
    rest = rest.subspan(own.size());
    Shape shape(own.begin(), own.end());
    HET_TRY(checked_element_count(shape));
    context.set_output(i, type, std::move(shape));
  }
  if (rest.empty()) return {};
  return error(StatusCode::InvalidArgument, "output_dims has {} entries more than the ranks say",
               rest.size());
}

Status evaluate_stub(EvaluateContext& context) {
  for (Tensor& output : context.outputs()) {
    std::fill_n(output.bytes(), output.size_bytes(), std::byte{0});
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_het_stub(OpRegistry& registry) {
  registry.add({"Stub", "het", 1, 0, kVariadic, infer_stub, evaluate_stub});
}

}  // namespace het
