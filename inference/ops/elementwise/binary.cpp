#include "inference/ops/elementwise/binary.h"

#include <array>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr TypeSet kPReluTypes = kFloatTypes | TypeSet{ElementType::Int32, ElementType::Int64,
                                                      ElementType::UInt32, ElementType::UInt64};

struct BinaryRow {
  std::string_view type;
  int since_version;
  BinaryKind kind;
  TypeSet types;
};

constexpr std::array kRows{
    BinaryRow{"Add", 14, BinaryKind::Add, kNumbers},
    BinaryRow{"Sub", 14, BinaryKind::Sub, kNumbers},
    BinaryRow{"Mul", 14, BinaryKind::Mul, kNumbers},
    BinaryRow{"Div", 14, BinaryKind::Div, kNumbers},
    BinaryRow{"Mod", 28, BinaryKind::FloorMod, kNumbers},
    BinaryRow{"PRelu", 16, BinaryKind::PRelu, kPReluTypes},
    BinaryRow{"Equal", 19, BinaryKind::Equal, kNumbersAndBool},
    BinaryRow{"Greater", 13, BinaryKind::Greater, kNumbers},
    BinaryRow{"GreaterOrEqual", 16, BinaryKind::GreaterOrEqual, kNumbers},
    BinaryRow{"Less", 13, BinaryKind::Less, kNumbers},
    BinaryRow{"LessOrEqual", 16, BinaryKind::LessOrEqual, kNumbers},
    BinaryRow{"And", 7, BinaryKind::And, kBoolOnly},
    BinaryRow{"Or", 7, BinaryKind::Or, kBoolOnly},
    BinaryRow{"Xor", 7, BinaryKind::Xor, kBoolOnly},
    BinaryRow{"BitwiseAnd", 18, BinaryKind::BitwiseAnd, kIntegers},
    BinaryRow{"BitwiseOr", 18, BinaryKind::BitwiseOr, kIntegers},
    BinaryRow{"BitwiseXor", 18, BinaryKind::BitwiseXor, kIntegers},
    BinaryRow{"BitShift", 28, BinaryKind::ShiftLeft, kIntegers},
};

const BinaryRow* find_row(std::string_view op_type) {
  for (const BinaryRow& row : kRows) {
    if (row.type == op_type) return &row;
  }
  return nullptr;
}

Status check_binary_attributes(const InferContext& context, BinaryKind kind) {
  const Attributes& attributes = context.attributes();
  if (kind == BinaryKind::FloorMod) {
    HET_TRY(check_attributes(attributes, {{"fmod", AttributeType::Int}}));
    const int64_t fmod = attributes.get_int("fmod", 0);
    if (fmod != 0 && fmod != 1) {
      return error(StatusCode::InvalidArgument, "fmod is {}, but must be 0 or 1", fmod);
    }
  }
  if (kind == BinaryKind::ShiftLeft) {
    HET_TRY(check_attributes(attributes, {{"direction", AttributeType::String, true}}));
    const std::string direction = attributes.get_string("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") {
      return error(StatusCode::InvalidArgument, "direction is '{}', but must be LEFT or RIGHT",
                   direction);
    }
  }
  return {};
}

Status infer_binary(InferContext& context) {
  const BinaryRow& row = *find_row(context.node().op_type());
  HET_TRY(check_input(context, 0, "A", row.types));
  HET_TRY(check_input(context, 1, "B", row.types));
  HET_TRY(check_same_type(context, 0, 1));
  HET_TRY(check_binary_attributes(context, row.kind));
  HET_ASSIGN(Shape shape, broadcast(context.shape(0), context.shape(1)));
  if (row.kind == BinaryKind::PRelu && shape != context.shape(0)) {
    return error(StatusCode::ShapeMismatch,
                 "slope of shape {} cannot be broadcast to X of shape {}",
                 to_string(context.shape(1)), to_string(context.shape(0)));
  }
  context.set_output(0, gives_bool(row.kind) ? ElementType::Bool : context.type(0),
                     std::move(shape));
  return {};
}

/// y = f(a, b) with broadcasting; A is the type in which f computes.
template <class T, class Y, class A, class R>
void apply(EvaluateContext& context, R (*f)(A, A)) {
  const std::array<Shape, 2> shapes{context.input(0).shape(), context.input(1).shape()};
  const BroadcastPlan plan = plan_broadcast(context.output(0).shape(), shapes);
  const T* a = context.input(0).data<T>();
  const T* b = context.input(1).data<T>();
  Y* y = context.output(0).data<Y>();
  const int64_t length = plan.dims.back();
  const int64_t step_a = plan.strides[0].back();
  const int64_t step_b = plan.strides[1].back();
  for_each_row<2>(plan, [&](int64_t dst, const std::array<int64_t, 2>& src) {
    for (int64_t i = 0; i < length; ++i) {
      y[dst + i] = static_cast<Y>(
          f(static_cast<A>(a[src[0] + i * step_a]), static_cast<A>(b[src[1] + i * step_b])));
    }
  });
}

template <class T>
void evaluate_typed(EvaluateContext& context, BinaryKind kind) {
  using A = ArithmeticType<T>;
  if constexpr (std::is_same_v<T, bool>) {
    const auto is_equal = [](bool a, bool b) { return a == b; };
    const auto logical_and = [](bool a, bool b) { return a && b; };
    const auto logical_or = [](bool a, bool b) { return a || b; };
    const auto logical_xor = [](bool a, bool b) { return a != b; };
    apply<bool, bool, bool, bool>(context, kind == BinaryKind::Equal ? +is_equal
                                           : kind == BinaryKind::And ? +logical_and
                                           : kind == BinaryKind::Or  ? +logical_or
                                                                     : +logical_xor);
  } else {
    A (*f)(A, A) = nullptr;
    bool (*compare)(A, A) = nullptr;
    visit_arithmetic<A>(kind, [&](auto g) { f = g; });
    visit_comparison<A>(kind, [&](auto g) { compare = g; });
    if constexpr (std::is_integral_v<T>) visit_bitwise<A>(kind, [&](auto g) { f = g; });
    if (compare != nullptr) {
      apply<T, bool, A, bool>(context, compare);
    } else {
      apply<T, T, A, A>(context, f);
    }
  }
}

Status evaluate_binary(EvaluateContext& context) {
  const auto kind = binary_kind(context.node().op_type(), context.attributes());
  return dispatch_numeric_or_bool(context.input(0).type(), [&]<class T>() -> Status {
    evaluate_typed<T>(context, *kind);
    return {};
  });
}

}  // namespace

std::optional<BinaryKind> binary_kind(std::string_view op_type, const Attributes& attributes) {
  if (op_type == "Pow") return BinaryKind::Pow;
  if (op_type == "Max") return BinaryKind::Max;
  if (op_type == "Min") return BinaryKind::Min;
  const BinaryRow* row = find_row(op_type);
  if (row == nullptr) return std::nullopt;
  if (row->kind == BinaryKind::FloorMod && attributes.get_int("fmod", 0) != 0) {
    return BinaryKind::Fmod;
  }
  if (row->kind == BinaryKind::ShiftLeft && attributes.get_string("direction", "") == "RIGHT") {
    return BinaryKind::ShiftRight;
  }
  return row->kind;
}

bool gives_bool(BinaryKind kind) {
  return kind >= BinaryKind::Equal && kind <= BinaryKind::Xor;
}

HET_REGISTRATION void register_binary(OpRegistry& registry) {
  for (const BinaryRow& row : kRows) {
    registry.add({row.type, "", row.since_version, 2, 2, infer_binary, evaluate_binary});
  }
}

}  // namespace het
