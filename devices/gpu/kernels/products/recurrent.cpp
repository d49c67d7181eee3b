#include "inference/ops/sequences/recurrent.h"

#include <cmath>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/products.h"
#include "devices/gpu/products/rows.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

enum : size_t { kRecurrentX, kRecurrentW, kR, kB, kSequenceLens, kInitialH, kInitialC, kP };

Result<RecurrentAttributes> cell_attributes(const Node& node) {
  return recurrent_attributes(node, node.input(kRecurrentX)->desc().shape,
                              node.input(kR)->desc().shape);
}

bool is_same(const RecurrentActivation& a, const RecurrentActivation& b) {
  return a.function == b.function && a.alpha == b.alpha && a.beta == b.beta;
}

std::string refuse_recurrent(const Node& node) {
  // Every step is a launch with arguments of its own.
  constexpr int64_t kMostSteps = 2048;
  if (node.input(kRecurrentX)->desc().type != ElementType::Float32) {
    return fmt::format("{} of {} has no GPU kernel, only that of float32", node.op_type(),
                       to_string(node.input(kRecurrentX)->desc().type));
  }
  if (node.input(kSequenceLens) != nullptr) return "the sequences have lengths of their own";
  if (!node.input(kRecurrentW)->is_constant() || !node.input(kR)->is_constant()) {
    return "the weights are computed at run time";
  }
  const Result<RecurrentAttributes> cell = cell_attributes(node);
  if (!cell) return cell.error().message();
  if (cell->sequence > kMostSteps) {
    return fmt::format("there are {} steps, more than {}", cell->sequence, kMostSteps);
  }
  for (size_t i = 0; i < cell->activations.size(); ++i) {
    const auto first = i % static_cast<size_t>(cell->functions);
    if (!is_same(cell->activations[i], cell->activations[first])) {
      return "the directions have different activations";
    }
    if (first == 0 && cell->kind != RecurrentKind::Rnn &&
        cell->activations[i].function == RecurrentFunction::Affine) {
      return "its gates are Affine: without bounds, rounding errors of float32 grow step by step";
    }
  }
  if (is_product_too_large(cell->directions(), cell->input, cell->gates * cell->hidden) ||
      is_product_too_large(cell->directions() * cell->gates, cell->hidden, cell->hidden)) {
    return "the weights have more than 2^31 elements";
  }
  return {};
}

std::string activation_text(const RecurrentActivation& activation, size_t index) {
  const std::string alpha = literal(static_cast<float>(activation.alpha));
  const std::string beta = literal(static_cast<float>(activation.beta));
  std::string text;
  switch (activation.function) {
    case RecurrentFunction::Relu:
      text = "het_relu(x)";
      break;
    case RecurrentFunction::Tanh:
      text = "tanh(x)";
      break;
    case RecurrentFunction::Sigmoid:
      text = "het_sigmoid(x)";
      break;
    case RecurrentFunction::Affine:
      text = fmt::format("{} * x + {}", alpha, beta);
      break;
    case RecurrentFunction::LeakyRelu:
      text = fmt::format("het_prelu(x, (floatw)({}))", alpha);
      break;
    case RecurrentFunction::ThresholdedRelu:
      text = fmt::format("select((floatw)(0.0f), x, x >= (floatw)({}))", alpha);
      break;
    case RecurrentFunction::ScaledTanh:
      text = fmt::format("{} * tanh({} * x)", alpha, beta);
      break;
    case RecurrentFunction::HardSigmoid:
      text = fmt::format("het_clip01({} * x + {})", alpha, beta);
      break;
    case RecurrentFunction::Elu:
      text = fmt::format("het_elu(x, {})", alpha);
      break;
    case RecurrentFunction::Softsign:
      text = "x / (1.0f + fabs(x))";
      break;
    case RecurrentFunction::Softplus:
      text = "het_softplus(x)";
      break;
  }
  return fmt::format("floatw act{}(floatw x) {{ return {}; }}\n", index, text);
}

ProgramText text_of(const PlanBuilder& builder, const RecurrentAttributes& cell) {
  ProgramText text;
  text.file = "recurrent";
  text.options = row_options(builder) + " -DLANES=1";
  if (cell.kind == RecurrentKind::Lstm) text.options += " -DLSTM";
  if (cell.kind == RecurrentKind::Gru) text.options += " -DGRU";
  text.generated = std::string(*kernel_source("expressions")) + std::string(*kernel_source("rows"));
  for (size_t i = 0; i < static_cast<size_t>(cell.functions); ++i) {
    text.generated += activation_text(cell.activations[i], i);
  }
  return text;
}

int64_t padded_units(const PlanBuilder& builder, const RecurrentAttributes& cell) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  return (cell.hidden + width - 1) / width * width;
}

/// R as [direction][k][gate][units].
Result<TensorId> packed_recurrence(PlanBuilder& builder, const RecurrentAttributes& cell,
                                   const Tensor& r) {
  HET_ASSIGN(const std::vector<float> values, to_float_vector(r));
  const int64_t units = padded_units(builder, cell);
  std::vector<float> packed(
      static_cast<size_t>(cell.directions() * cell.hidden * cell.gates * units));
  const float* from = values.data();
  for (int64_t d = 0; d < cell.directions(); ++d) {
    for (int64_t gate = 0; gate < cell.gates; ++gate) {
      for (int64_t unit = 0; unit < cell.hidden; ++unit) {
        for (int64_t k = 0; k < cell.hidden; ++k) {
          packed[static_cast<size_t>(((d * cell.hidden + k) * cell.gates + gate) * units + unit)] =
              *from++;
        }
      }
    }
  }
  return builder.stored_constant(packed);
}

/// X W^T of every step and direction, [direction][row][gate * hidden].
Result<TensorId> input_products(PlanBuilder& builder, const Node& node,
                                const RecurrentAttributes& cell) {
  const ElementType type = builder.options().stored_type;
  Product product;
  product.m = cell.sequence * cell.batch;
  product.k = cell.input;
  product.n = cell.gates * cell.hidden;
  product.left_steps = {0, cell.input, 1};
  product.right_constant = &node.input(kRecurrentW)->constant();
  product.right_steps = {product.n * product.k, 1, product.k};
  product.right_matrices = cell.directions();
  product.matrices.clear();
  for (int d = 0; d < static_cast<int>(cell.directions()); ++d) product.matrices.emplace_back(0, d);
  HET_ASSIGN(product.left, builder.read(*node.input(kRecurrentX), Format::Plain, type));
  product.result =
      builder.temporary({type, {cell.directions(), product.m, product.n}, Format::Plain});
  HET_TRY(add_product(builder, node, product));
  return product.result;
}

/// What the steps of one node share.
struct Steps {
  ProgramText text;
  TensorId xw = kNoTensor;
  TensorId r = kNoTensor;
  TensorId b = kNoTensor;
  TensorId p = kNoTensor;
  TensorId h[2] = {kNoTensor, kNoTensor};  ///< the state, before and after in turns
  TensorId c = kNoTensor;
  TensorId update = kNoTensor;
  TensorId kept = kNoTensor;
  TensorId outputs[3] = {kNoTensor, kNoTensor, kNoTensor};
  Range global = {1, 1, 1};
  Range local = {1, 1, 1};
};

Result<TensorId> started_state(PlanBuilder& builder, const Node& node,
                               const RecurrentAttributes& cell, const Steps& steps, size_t index) {
  TensorId initial = kNoTensor;
  if (node.input(index) != nullptr) {
    HET_ASSIGN(initial,
               builder.read(*node.input(index), Format::Plain, builder.options().stored_type));
  }
  const TensorId state = builder.temporary(
      {ElementType::Float32, {cell.directions() * cell.batch * cell.hidden}, Format::Plain});
  Launch launch;
  launch.text = steps.text;
  launch.kernel = "start_state";
  launch.args = {Read{initial},      Write{state},        as_int(cell.directions()),
                 as_int(cell.batch), as_int(cell.hidden), cl_int{cell.batch_first}};
  launch.global = {static_cast<size_t>(cell.hidden), static_cast<size_t>(cell.batch),
                   static_cast<size_t>(cell.directions())};
  launch.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(launch)));
  return state;
}

/// The arguments that all kernels end with.
void add_place(Launch& launch, const PlanBuilder& builder, const RecurrentAttributes& cell,
               int64_t step) {
  int reversed = 0;
  for (size_t d = 0; d < cell.reversed.size(); ++d) reversed |= cell.reversed[d] ? 1 << d : 0;
  const float limit = std::isinf(cell.clip) ? INFINITY : static_cast<float>(cell.clip);
  for (const int64_t number : {cell.directions(), cell.batch, cell.hidden,
                               padded_units(builder, cell), cell.sequence, step}) {
    launch.args.emplace_back(as_int(number));
  }
  launch.args.emplace_back(cl_int{reversed});
  launch.args.emplace_back(cl_int{cell.batch_first});
  launch.args.emplace_back(cl_float{limit});
}

Status add_one_step(PlanBuilder& builder, const Node& node, const RecurrentAttributes& cell,
                    const Steps& steps, int64_t step) {
  const bool last = step + 1 == cell.sequence;
  const TensorId before = steps.h[step % 2];
  const TensorId after = steps.h[1 - step % 2];
  const TensorId y_h = last ? steps.outputs[1] : kNoTensor;
  if (steps.kept != kNoTensor) {
    Launch gates;
    gates.text = steps.text;
    gates.kernel = "gru_gates";
    gates.args = {Read{steps.xw}, Read{steps.r},       Read{steps.b},
                  Read{before},   Write{steps.update}, Write{steps.kept}};
    add_place(gates, builder, cell, step);
    gates.global = steps.global;
    gates.local = steps.local;
    HET_TRY(builder.add_step(node, std::move(gates)));
  }
  Launch launch;
  launch.text = steps.text;
  launch.kernel = "recurrent_step";
  launch.args = {Read{steps.xw}, Read{steps.r}, Read{steps.b}};
  if (cell.kind == RecurrentKind::Lstm) launch.args.emplace_back(Read{steps.p});
  if (cell.kind == RecurrentKind::Gru) {
    launch.args.emplace_back(Read{steps.update});
    launch.args.emplace_back(Read{steps.kept});
  }
  launch.args.emplace_back(Read{before});
  launch.args.emplace_back(Write{after});
  if (cell.kind == RecurrentKind::Lstm) launch.args.emplace_back(Write{steps.c});
  launch.args.emplace_back(Write{steps.outputs[0]});
  launch.args.emplace_back(Write{y_h});
  if (cell.kind == RecurrentKind::Lstm) {
    launch.args.emplace_back(Write{last ? steps.outputs[2] : kNoTensor});
  }
  add_place(launch, builder, cell, step);
  if (cell.kind == RecurrentKind::Lstm) launch.args.emplace_back(cl_int{cell.input_forget});
  launch.global = steps.global;
  launch.local = steps.local;
  return builder.add_step(node, std::move(launch));
}

Status plan_recurrent(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const RecurrentAttributes cell, cell_attributes(node));
  const ElementType type = builder.options().stored_type;
  Steps steps;
  steps.text = text_of(builder, cell);
  HET_ASSIGN(steps.xw, input_products(builder, node, cell));
  HET_ASSIGN(steps.r, packed_recurrence(builder, cell, node.input(kR)->constant()));
  if (node.input(kB) != nullptr) {
    HET_ASSIGN(steps.b, builder.read(*node.input(kB), Format::Plain, type));
  }
  const bool lstm = cell.kind == RecurrentKind::Lstm;
  if (lstm && node.input(kP) != nullptr) {
    HET_ASSIGN(steps.p, builder.read(*node.input(kP), Format::Plain, type));
  }
  const auto units = static_cast<int64_t>(builder.hardware().vector_width());
  steps.global = {groups_of(cell.hidden, units), static_cast<size_t>(cell.batch),
                  static_cast<size_t>(cell.directions())};
  steps.local = row_groups(builder.hardware(), steps.global);
  if (builder.hardware().is_cpu) steps.local = {4, 1, 1};
  HET_ASSIGN(steps.h[0], started_state(builder, node, cell, steps, kInitialH));
  const TensorSpec state{
      ElementType::Float32, {cell.directions() * cell.batch * cell.hidden}, Format::Plain};
  steps.h[1] = builder.temporary(state);
  if (lstm) {
    HET_ASSIGN(steps.c, started_state(builder, node, cell, steps, kInitialC));
  }
  if (cell.kind == RecurrentKind::Gru && !cell.linear_before_reset) {
    steps.update = builder.temporary(state);
    steps.kept = builder.temporary(state);
  }
  for (size_t i = 0; i < node.outputs().size() && i < 3; ++i) {
    if (node.outputs()[i] == nullptr) continue;
    steps.outputs[i] = builder.write(*node.outputs()[i], Format::Plain);
  }
  if (steps.outputs[0] == kNoTensor) {
    steps.outputs[0] = builder.temporary({type, cell.output_shape, Format::Plain});
  }
  for (int64_t step = 0; step < cell.sequence; ++step) {
    HET_TRY(add_one_step(builder, node, cell, steps, step));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_recurrent(KernelRegistry& registry) {
  for (const char* type : {"GRU", "LSTM", "RNN"}) {
    registry.add("", type, {refuse_recurrent, plan_recurrent});
  }
}

}  // namespace het::gpu
