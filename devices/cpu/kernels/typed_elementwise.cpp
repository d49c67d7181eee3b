#include "devices/cpu/kernels/typed_elementwise.h"

#include <array>
#include <optional>

#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/elementwise/binary.h"
#include "inference/ops/type_dispatch.h"

namespace het::cpu {
namespace {

/// Operators on types and expressions that no elementwise program has: whole numbers, double,
/// comparisons, logic, Where. Loop order: rows of the broadcast, then along the row.
template <size_t kInputs>
struct Rows {
  BroadcastPlan plan;
  std::array<int64_t, kInputs> step{};
  int64_t length = 1;
  int64_t count = 1;

  explicit Rows(const Node& node) {
    std::array<Shape, kInputs> shapes;
    for (size_t i = 0; i < kInputs; ++i) shapes[i] = node.input(i)->desc().shape;
    plan = plan_broadcast(node.output()->desc().shape, shapes);
    for (size_t i = 0; i < kInputs; ++i) step[i] = plan.strides[i].back();
    length = plan.dims.back();
    count = element_count(plan.dims) / length;
  }

  /// body(first element of the output, first elements of the inputs, elements)
  template <class Body>
  void for_each(const Body& body) const {
    constexpr int64_t kGrain = 16 * 1024;
    if (count == 1) {
      parallel_for(length, kGrain, [&](int64_t begin, int64_t end) {
        std::array<int64_t, kInputs> from;
        for (size_t i = 0; i < kInputs; ++i) from[i] = begin * step[i];
        body(begin, from, end - begin);
      });
      return;
    }
    parallel_for(count, kGrain / length + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        std::array<int64_t, kInputs> from{};
        int64_t rest = row;
        for (size_t d = plan.dims.size() - 1; d-- > 0; rest /= plan.dims[d]) {
          for (size_t i = 0; i < kInputs; ++i) from[i] += rest % plan.dims[d] * plan.strides[i][d];
        }
        body(row * length, from, length);
      }
    });
  }
};

/// One row of a binary expression: operands from `a` and `b` on, a step (in elements) apart.
using BinaryRow = void (*)(const std::byte* a, int64_t a_step, const std::byte* b, int64_t b_step,
                           int64_t count, std::byte* dst);

template <class T, class To, class Expression>
void binary_row(const std::byte* a, int64_t a_step, const std::byte* b, int64_t b_step,
                int64_t count, std::byte* dst) {
  const auto* left = reinterpret_cast<const T*>(a);
  const auto* right = reinterpret_cast<const T*>(b);
  auto* to = reinterpret_cast<To*>(dst);
  if (a_step == 1 && b_step == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = Expression()(left[i], right[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = Expression()(left[i * a_step], right[i * b_step]);
  }
}

class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(BinaryRow row, const Node& node)
      : row_(row),
        rows_(node),
        width_(static_cast<int64_t>(byte_width(node.input(0)->desc().type))),
        dst_width_(static_cast<int64_t>(byte_width(node.output()->desc().type))) {}
  std::string_view implementation() const override { return "own"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    rows_.for_each([&](int64_t to, const std::array<int64_t, 2>& from, int64_t count) {
      row_(args.inputs[0] + from[0] * width_, rows_.step[0], args.inputs[1] + from[1] * width_,
           rows_.step[1], count, args.outputs[0] + to * dst_width_);
    });
    return {};
  }

 private:
  BinaryRow row_;
  Rows<2> rows_;
  int64_t width_;
  int64_t dst_width_;
};

template <class T>
class WhereKernel final : public Kernel {
 public:
  explicit WhereKernel(const Node& node) : rows_(node) {}
  std::string_view implementation() const override { return "own"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* condition = reinterpret_cast<const bool*>(args.inputs[0]);
    const auto* when_true = reinterpret_cast<const T*>(args.inputs[1]);
    const auto* when_false = reinterpret_cast<const T*>(args.inputs[2]);
    auto* dst = reinterpret_cast<T*>(args.outputs[0]);
    const auto step = rows_.step;
    rows_.for_each([&](int64_t to, const std::array<int64_t, 3>& from, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        dst[to + i] = condition[from[0] + i * step[0]] ? when_true[from[1] + i * step[1]]
                                                       : when_false[from[2] + i * step[2]];
      }
    });
    return {};
  }

 private:
  Rows<3> rows_;
};

/// Null where the type has no such expression.
BinaryRow find_row(BinaryKind kind, ElementType type) {
  BinaryRow row = nullptr;
  const auto visit = [&]<class T>() {
    if (gives_bool(kind)) {
      visit_comparison<T>(kind, [&](auto f) { row = binary_row<T, bool, decltype(f)>; });
    } else if (kind != BinaryKind::Pow) {
      visit_arithmetic<T>(kind, [&](auto f) { row = binary_row<T, T, decltype(f)>; });
    }
  };
  const auto logic = [&](auto f) { row = binary_row<bool, bool, decltype(f)>; };
  switch (type) {
    case ElementType::Bool:
      if (kind == BinaryKind::And) logic([](bool a, bool b) { return a && b; });
      if (kind == BinaryKind::Or) logic([](bool a, bool b) { return a || b; });
      if (kind == BinaryKind::Xor) logic([](bool a, bool b) { return a != b; });
      if (kind == BinaryKind::Equal) logic([](bool a, bool b) { return a == b; });
      return row;
    case ElementType::Float32:
      visit.template operator()<float>();
      return row;
    case ElementType::Float64:
      visit.template operator()<double>();
      return row;
    case ElementType::Int64:
      visit.template operator()<int64_t>();
      return row;
    case ElementType::Int32:
      visit.template operator()<int32_t>();
      return row;
    case ElementType::Int8:
      visit.template operator()<int8_t>();
      return row;
    case ElementType::UInt8:
      visit.template operator()<uint8_t>();
      return row;
    default:
      return row;
  }
}

Result<std::unique_ptr<Kernel>> make_where(const Node& node) {
  return dispatch_width(node.output()->desc().type,
                        [&]<class T>() -> Result<std::unique_ptr<Kernel>> {
                          return std::make_unique<WhereKernel<T>>(node);
                        });
}

}  // namespace

Result<bool> plan_typed_elementwise(PlanBuilder& builder, const Node& node) {
  std::unique_ptr<Kernel> kernel;
  if (node.op_type() == "Where") {
    HET_ASSIGN(kernel, make_where(node));
  } else {
    // Variadic operators are binary ones where they have two inputs.
    const std::optional<BinaryKind> kind = node.op_type() == "Max" ? BinaryKind::Max
                                           : node.op_type() == "Min"
                                               ? BinaryKind::Min
                                               : binary_kind(node.op_type(), node.attributes());
    if (!kind || node.inputs().size() != 2) return false;
    const BinaryRow row = find_row(*kind, node.input(0)->desc().type);
    if (row == nullptr) return false;
    kernel = std::make_unique<BinaryKernel>(row, node);
  }
  std::vector<TensorId> inputs;
  for (const Value* value : node.inputs()) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*value, Format::Plain, value->desc().type));
  }
  const TensorDesc& dst = node.output()->desc();
  const TensorId out = builder.write(*node.output(), {dst.type, dst.shape, Format::Plain});
  builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  return true;
}

HET_REGISTRATION void register_typed_elementwise(KernelRegistry& registry) {
  // The others come from kernels/elementwise.cpp, which has the kernels for float32.
  for (const char* type : {"Mod", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
                           "And", "Or", "Xor", "Where"}) {
    registry.add("", type, plan_typed_elementwise);
  }
}

}  // namespace het::cpu
