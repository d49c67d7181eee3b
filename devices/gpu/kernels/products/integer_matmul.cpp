#include "devices/gpu/kernels/products/integer_matmul.h"

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"
#include "inference/ops/products/matmul.h"

namespace het::gpu {
namespace {

/// Zero points of one side: null, one for all, one for each line (row or column) of a matrix, or
/// one for each line of each matrix.
struct ZeroSteps {
  int64_t matrix = 0;
  int64_t line = 0;
};
ZeroSteps zero_steps(const Value* zeros, int64_t lines) {
  const int64_t count = zeros != nullptr ? element_count(zeros->desc().shape) : 1;
  if (count == 1) return {};
  return {count == lines ? 0 : lines, 1};
}

Result<TensorId> matmul_zero_points(PlanBuilder& builder, const Value* zeros) {
  if (zeros == nullptr) return kNoTensor;
  return builder.read(*zeros, Format::Plain);
}

/// Input of zero points; plain products have none.
const Value* zeros_of(const Node& node, size_t side) {
  return node.op_type() == "MatMulInteger" ? node.input(2 + side) : nullptr;
}

}  // namespace

std::string refuse_integer_matmul(const Node& node) {
  for (const Value* value : node.inputs()) {
    if (value == nullptr) continue;
    const ElementType type = value->desc().type;
    if (!is_integer(type) || c_type(type).empty()) {
      return fmt::format("products of {} have no GPU kernel", to_string(type));
    }
  }
  return {};
}

Status plan_integer_matmul(PlanBuilder& builder, const Node& node) {
  const Value& a = *node.input(0);
  const Value& b = *node.input(1);
  const ElementType type = node.output()->desc().type;
  HET_ASSIGN(const MatMulDims dims, matmul_dims(a.desc().shape, b.desc().shape));
  std::vector<int64_t> pairs;
  for (const MatrixPair& pair : matrix_pairs(dims)) {
    pairs.push_back(pair.a);
    pairs.push_back(pair.b);
  }
  const auto matrices = pairs.size() / 2;
  // Single rows and columns are one line, whatever the product calls them.
  const ZeroSteps a_steps = zero_steps(zeros_of(node, 0), dims.m);
  const ZeroSteps b_steps = zero_steps(zeros_of(node, 1), dims.n);
  HET_ASSIGN(const TensorId left, builder.read(a, Format::Plain));
  HET_ASSIGN(const TensorId right, builder.read(b, Format::Plain));
  HET_ASSIGN(const TensorId a_zero, matmul_zero_points(builder, zeros_of(node, 0)));
  HET_ASSIGN(const TensorId b_zero, matmul_zero_points(builder, zeros_of(node, 1)));
  HET_ASSIGN(const TensorId pair_list, int_list(builder, pairs));
  Launch launch;
  launch.text.file = "integer_matmul";
  const bool is_long = type == ElementType::Int64 || type == ElementType::UInt64;
  const std::string_view sum = is_long ? "ulong" : "uint";
  const std::string_view right_type = c_type(b.desc().type);
  const bool is_signed = right_type.front() != 'u';
  launch.text.options =
      fmt::format("-DWIDTH={} -DA={} -DB={} -DSUM={} -DWIDE={}", builder.hardware().vector_width(),
                  c_type(a.desc().type), right_type, sum, sum.substr(is_signed ? 1 : 0));
  launch.kernel = "integer_matmul";
  launch.args = {Read{left},           Read{right},
                 Read{a_zero},         Read{b_zero},
                 Read{pair_list},      Write{builder.write(*node.output(), Format::Plain)},
                 as_int(dims.m),       as_int(dims.n),
                 as_int(dims.k),       as_int(a_steps.matrix),
                 as_int(a_steps.line), as_int(b_steps.matrix),
                 as_int(b_steps.line)};
  constexpr int64_t kRows = 4;
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  launch.global = {groups_of(dims.n, width), groups_of(dims.m, kRows), matrices};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

HET_REGISTRATION void register_integer_matmul(KernelRegistry& registry) {
  registry.add("", "MatMulInteger", {refuse_integer_matmul, plan_integer_matmul});
}

}  // namespace het::gpu
