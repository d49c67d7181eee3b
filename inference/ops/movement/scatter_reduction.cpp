#include "inference/ops/movement/scatter_reduction.h"

#include <cstring>

#include "inference/ops/elementwise/binary.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

BinaryKind binary_of(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::Mul:
      return BinaryKind::Mul;
    case ScatterReduction::Max:
      return BinaryKind::Max;
    case ScatterReduction::Min:
      return BinaryKind::Min;
    default:
      return BinaryKind::Add;
  }
}

}  // namespace

Result<ScatterReduction> scatter_reduction(const Attributes& attributes, ElementType type) {
  HET_TRY(check_attributes(attributes, {{"reduction", AttributeType::String}}));
  const std::string name = attributes.get_string("reduction", "none");
  if (name == "none") return ScatterReduction::None;
  if (!kNumbers.contains(type)) {
    return error(StatusCode::NotSupported, "reduction '{}' is not defined for {}", name,
                 to_string(type));
  }
  if (name == "add") return ScatterReduction::Add;
  if (name == "mul") return ScatterReduction::Mul;
  if (name == "max") return ScatterReduction::Max;
  if (name == "min") return ScatterReduction::Min;
  return error(StatusCode::InvalidArgument,
               "reduction is '{}', but must be none, add, mul, max or min", name);
}

Status scatter_combine(ScatterReduction reduction, ElementType type, std::byte* dst,
                       const std::byte* src, size_t count) {
  if (reduction == ScatterReduction::None) {
    if (count > 0) std::memcpy(dst, src, count * byte_width(type));
    return {};
  }
  return dispatch_numeric(type, [&]<class T>() -> Status {
    using A = ArithmeticType<T>;
    A (*combine)(A, A) = nullptr;
    visit_arithmetic<A>(binary_of(reduction), [&](auto f) { combine = f; });
    auto* to = reinterpret_cast<T*>(dst);
    const auto* from = reinterpret_cast<const T*>(src);
    for (size_t i = 0; i < count; ++i) {
      to[i] = static_cast<T>(combine(static_cast<A>(to[i]), static_cast<A>(from[i])));
    }
    return {};
  });
}

}  // namespace het
