#include "devices/gpu/plan/launches.h"
#include "devices/gpu/products/products.h"
#include "devices/gpu/products/rows.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

constexpr size_t kMaskInput = 3;

/// het.Attention as inference/passes/fusions/attention_parts.h describes it.
struct Attention {
  Shape batch;
  int64_t matrices = 1;
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t depth = 1;
  int64_t columns = 1;
};

Attention attention_of(const Node& node) {
  Attention made;
  made.batch = node.attributes().get_ints("shape");
  made.keys = made.batch.back();
  made.batch.pop_back();
  made.queries = made.batch.back();
  made.batch.pop_back();
  made.matrices = element_count(made.batch);
  made.depth = node.attributes().get_int("depth", 0);
  made.columns = node.attributes().get_int("columns", 0);
  return made;
}

/// An operand's matrices: where each begins, and the steps in it.
struct Matrices {
  std::vector<int64_t> offsets;
  MatrixSteps steps;
};

Matrices matrices_of(const Node& node, const std::string& name, const Shape& batch) {
  const Shape strides = node.attributes().get_ints(name + "_strides");
  Matrices made;
  made.steps.row = strides[strides.size() - 2];
  made.steps.column = strides.back();
  made.offsets = {node.attributes().get_int(name + "_offset", 0)};
  for (size_t d = 0; d < batch.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t offset : made.offsets) {
      for (int64_t i = 0; i < batch[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    made.offsets = std::move(next);
  }
  return made;
}

std::string refuse_attention(const Node& node) {
  for (const Value* value : node.inputs()) {
    if (value->desc().type != ElementType::Float32) {
      return fmt::format("attention over {} has no GPU kernel, only that over float32",
                         to_string(value->desc().type));
    }
  }
  const Attention attention = attention_of(node);
  if (is_product_too_large(attention.matrices, attention.depth, attention.keys) ||
      is_product_too_large(attention.matrices, attention.keys, attention.columns) ||
      is_product_too_large(attention.matrices, attention.queries, attention.keys)) {
    return "keys, values or scores have more than 2^31 elements";
  }
  return {};
}

/// One product a matrix.
Product stack_of(int64_t matrices, int64_t m, int64_t k, int64_t n) {
  Product product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.right_matrices = matrices;
  product.matrices.clear();
  for (int i = 0; i < static_cast<int>(matrices); ++i) product.matrices.emplace_back(i, i);
  return product;
}

Result<TensorId> add_scores(PlanBuilder& builder, const Node& node, const Attention& attention) {
  const ElementType type = builder.options().stored_type;
  Matrices query = matrices_of(node, "query", attention.batch);
  Matrices key = matrices_of(node, "key", attention.batch);
  Product product =
      stack_of(attention.matrices, attention.queries, attention.depth, attention.keys);
  HET_ASSIGN(product.left, builder.read(*node.input(0), Format::Plain, type));
  HET_ASSIGN(product.right, builder.read(*node.input(1), Format::Plain, type));
  product.left_steps = query.steps;
  product.left_offsets = std::move(query.offsets);
  product.right_steps = key.steps;
  product.right_offsets = std::move(key.offsets);
  product.alpha = node.attributes().get_float("factor", 1.0f);
  product.result = builder.temporary(
      {type, {attention.matrices, attention.queries, attention.keys}, Format::Plain});
  HET_TRY(add_product(builder, node, product));
  return product.result;
}

Status add_weights(PlanBuilder& builder, const Node& node, const Attention& attention,
                   TensorId scores) {
  TensorId mask = kNoTensor;
  TensorId offsets = kNoTensor;
  Matrices steps;
  if (node.input(kMaskInput) != nullptr) {
    HET_ASSIGN(mask,
               builder.read(*node.input(kMaskInput), Format::Plain, builder.options().stored_type));
    steps = matrices_of(node, "mask", attention.batch);
    const std::vector<int32_t> values(steps.offsets.begin(), steps.offsets.end());
    HET_ASSIGN(offsets, builder.constant(
                            Tensor::from<int32_t>({static_cast<int64_t>(values.size())}, values)));
  }
  Launch launch;
  launch.text.file = "attention";
  launch.text.generated = std::string(*kernel_source("rows"));
  launch.text.options = lane_options(builder);
  launch.kernel = "attention_weights";
  launch.args = {Write{scores},
                 Read{mask},
                 Read{offsets},
                 as_int(attention.matrices * attention.queries),
                 as_int(attention.queries),
                 as_int(attention.keys),
                 as_int(steps.steps.row),
                 as_int(steps.steps.column),
                 cl_float{node.attributes().get_float("value_factor", 1.0f)},
                 cl_int{node.attributes().get_int("zero_without_keys", 0) != 0},
                 cl_int{node.attributes().get_int("zero_for_nan", 0) != 0}};
  set_row_range(builder, launch, attention.matrices * attention.queries);
  return builder.add_step(node, std::move(launch));
}

/// Scores of all matrices, their softmax in place, the product with the values. Operands are read
/// where they lie, and the result is written where its readers want it.
Status plan_attention(PlanBuilder& builder, const Node& node) {
  const Attention attention = attention_of(node);
  HET_ASSIGN(const TensorId scores, add_scores(builder, node, attention));
  HET_TRY(add_weights(builder, node, attention, scores));
  Matrices value = matrices_of(node, "value", attention.batch);
  Matrices output = matrices_of(node, "output", attention.batch);
  Product product =
      stack_of(attention.matrices, attention.queries, attention.keys, attention.columns);
  product.left = scores;
  product.left_steps = {attention.queries * attention.keys, attention.keys, 1};
  HET_ASSIGN(product.right,
             builder.read(*node.input(2), Format::Plain, builder.options().stored_type));
  product.right_steps = value.steps;
  product.right_offsets = std::move(value.offsets);
  product.result = builder.write(*node.output(), Format::Plain);
  product.result_offsets = std::move(output.offsets);
  product.result_row = output.steps.row;
  return add_product(builder, node, product);
}

}  // namespace

HET_REGISTRATION void register_attention(KernelRegistry& registry) {
  registry.add("het", "Attention", {refuse_attention, plan_attention});
}

}  // namespace het::gpu
