#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/weighing_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/quantisation/quantization.h"
#include "inference/ops/sequences/dynamic_quantize_lstm.h"
#include "inference/ops/sequences/recurrent.h"

namespace het::cpu {
namespace {

/// The code of one expression.
ElementwiseCode code_of(ElementwiseKind kind) {
  return make_elementwise_code({1, {{kind, 0, 0}}});
}

/// A float tensor rounded to the 8-bit numbers of its dynamic_scale().
class RoundToDynamicScale final : public Kernel {
 public:
  explicit RoundToDynamicScale(size_t count) : count_(count) {}

  std::string_view implementation() const override { return "own"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    auto* y = reinterpret_cast<float*>(args.outputs[0]);
    std::copy_n(reinterpret_cast<const float*>(args.inputs[0]), count_, y);
    round_to_dynamic_scale({y, count_});
    return {};
  }

 private:
  size_t count_;
};

/// The recurrence of an LSTM over gates to which the inputs' part was added
/// before: input 0 is [sequence, batch, directions, 4, hidden]; then, where
/// given, the initial h and c. Loop order: direction and batch item (in
/// parallel), then time. With `rounds_state` the state before a step goes
/// through 8 bits.
class LstmKernel final : public Kernel {
 public:
  LstmKernel(const RecurrentAttributes& lstm, std::vector<float> recurrence,
             std::optional<size_t> initial_h, std::optional<size_t> initial_c, size_t outputs,
             bool rounds_state)
      : lstm_(lstm),
        recurrence_(std::move(recurrence)),
        initial_h_(initial_h),
        initial_c_(initial_c),
        outputs_(outputs),
        rounds_state_(rounds_state) {}

  std::string_view implementation() const override { return "own_simd"; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(lstm_.directions() * lstm_.batch) * item_floats() * sizeof(float);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(lstm_.directions() * lstm_.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) run_item(args, k / lstm_.batch, k % lstm_.batch);
    });
    return {};
  }

 private:
  /// Scratch of one item: h, c, gates, and the operands of a step of the
  /// recurrence.
  size_t item_floats() const {
    const auto hidden = static_cast<size_t>(lstm_.hidden);
    const size_t pointers = (hidden + 1) * sizeof(float*) / sizeof(float);
    return (2 * hidden + 4 * hidden + (hidden + 1) + pointers + 63) / 16 * 16;
  }

  void run_item(const KernelArgs& args, int64_t direction, int64_t item) const {
    const auto hidden = static_cast<size_t>(lstm_.hidden);
    const int64_t place = direction * lstm_.batch + item;
    auto* memory =
        reinterpret_cast<float*>(args.scratch) + static_cast<size_t>(place) * item_floats();
    const auto** rows = reinterpret_cast<const float**>(memory);
    float* c = memory + (hidden + 1) * sizeof(float*) / sizeof(float);
    float* gates = c + hidden;
    float* weights = gates + 4 * hidden;  // 1, then h
    const auto initial = [&](const std::optional<size_t>& input, float* state) {
      if (!input) {
        std::fill_n(state, hidden, 0.0f);
      } else {
        const auto* given = reinterpret_cast<const float*>(args.inputs[*input]);
        std::copy_n(given + static_cast<size_t>(place) * hidden, hidden, state);
      }
    };
    float* h = weights + 1;
    initial(initial_h_, h);
    initial(initial_c_, c);
    weights[0] = 1.0f;
    const float* r = recurrence_.data() + static_cast<size_t>(direction) * hidden * 4 * hidden;
    for (size_t k = 0; k < hidden; ++k) rows[k + 1] = r + k * 4 * hidden;

    const auto* inputs = reinterpret_cast<const float*>(args.inputs[0]);
    auto* y = reinterpret_cast<float*>(args.outputs[0]);
    for (int64_t step = 0; step < lstm_.sequence; ++step) {
      const bool reversed = lstm_.reversed[static_cast<size_t>(direction)];
      const int64_t t = reversed ? lstm_.sequence - 1 - step : step;
      rows[0] =
          inputs + static_cast<size_t>((t * lstm_.batch + item) * lstm_.directions() + direction) *
                       4 * hidden;
      if (rounds_state_) round_to_dynamic_scale({h, hidden});
      weigh_rows(rows, weights, hidden + 1, 4 * hidden, gates);
      // ONNX' order: i o f c.
      run_elementwise_in_place(sigmoid_, gates, 3 * hidden);
      run_elementwise_in_place(tanh_, gates + 3 * hidden, hidden);
      for (size_t i = 0; i < hidden; ++i) {
        c[i] = gates[2 * hidden + i] * c[i] + gates[i] * gates[3 * hidden + i];
        h[i] = c[i];
      }
      run_elementwise_in_place(tanh_, h, hidden);
      for (size_t i = 0; i < hidden; ++i) h[i] *= gates[hidden + i];
      std::copy_n(
          h, hidden,
          y + static_cast<size_t>((t * lstm_.directions() + direction) * lstm_.batch + item) *
                  hidden);
    }
    const auto deliver = [&](size_t output, const float* state) {
      if (output >= outputs_) return;
      auto* dst = reinterpret_cast<float*>(args.outputs[output]);
      std::copy_n(state, hidden, dst + static_cast<size_t>(place) * hidden);
    };
    deliver(1, h);
    deliver(2, c);
  }

  RecurrentAttributes lstm_;
  std::vector<float> recurrence_;  ///< [directions, hidden, 4 * hidden]
  std::optional<size_t> initial_h_;
  std::optional<size_t> initial_c_;
  size_t outputs_;
  bool rounds_state_;
  ElementwiseCode sigmoid_ = code_of(ElementwiseKind::Sigmoid);
  ElementwiseCode tanh_ = code_of(ElementwiseKind::Tanh);
};

bool has_default_activations(const RecurrentAttributes& lstm) {
  for (size_t i = 0; i < lstm.activations.size(); ++i) {
    const RecurrentFunction wanted =
        i % 3 == 0 ? RecurrentFunction::Sigmoid : RecurrentFunction::Tanh;
    if (lstm.activations[i].function != wanted) return false;
  }
  return true;
}

/// W of all directions as one matrix [input, directions * 4 * hidden], and both
/// biases as its row.
struct InputProduct {
  Tensor weights;
  Tensor bias;
};
InputProduct input_product(const RecurrentAttributes& lstm, const Tensor& w, const Value* b) {
  const int64_t columns = lstm.directions() * 4 * lstm.hidden;
  std::vector<float> turned(static_cast<size_t>(lstm.input * columns));
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t i = 0; i < lstm.input; ++i) {
      turned[static_cast<size_t>(i * columns + c)] =
          w.values<float>()[static_cast<size_t>(c * lstm.input + i)];
    }
  }
  std::vector<float> bias(static_cast<size_t>(columns), 0.0f);
  const int64_t gates = 4 * lstm.hidden;
  for (int64_t c = 0; b != nullptr && c < columns; ++c) {
    const auto first = static_cast<size_t>(c / gates * 2 * gates + c % gates);
    const auto values = b->constant().values<float>();
    bias[static_cast<size_t>(c)] = values[first] + values[first + static_cast<size_t>(gates)];
  }
  return {Tensor::from<float>({lstm.input, columns}, turned),
          Tensor::from<float>({1, columns}, bias)};
}

/// R of every direction, [4 * hidden, hidden], with rows and columns exchanged.
std::vector<float> turned_recurrence(const RecurrentAttributes& lstm, const Tensor& r) {
  const auto hidden = static_cast<size_t>(lstm.hidden);
  const size_t gates = 4 * hidden;
  std::vector<float> turned(r.values<float>().size());
  for (size_t d = 0; d < static_cast<size_t>(lstm.directions()); ++d) {
    for (size_t g = 0; g < gates; ++g) {
      for (size_t k = 0; k < hidden; ++k) {
        turned[(d * hidden + k) * gates + g] = r.values<float>()[(d * gates + g) * hidden + k];
      }
    }
  }
  return turned;
}

/// W and R as ONNX' LSTM has them, in float.
struct LstmWeights {
  Tensor w;
  Tensor r;
};

bool are_constant(const Node& node, std::initializer_list<QuantizedLstmInput> inputs) {
  return std::ranges::all_of(inputs, [&](QuantizedLstmInput input) {
    return node.input(static_cast<size_t>(input))->is_constant();
  });
}

Result<Tensor> unpacked_weights(const Node& node, QuantizedLstmInput values,
                                QuantizedLstmInput scale, QuantizedLstmInput zero_point) {
  const auto content = [&](QuantizedLstmInput input) {
    return node.input(static_cast<size_t>(input))->constant();
  };
  const Tensor weights = content(values);
  HET_ASSIGN(const std::vector<float> real,
             lstm_weights(weights, content(scale), content(zero_point)));
  return Tensor::from<float>(lstm_recurrence_shape(weights.shape()), real);
}

/// Nothing where they are known with the request only.
Result<std::optional<LstmWeights>> constant_weights(const Node& node, bool is_quantised) {
  using enum QuantizedLstmInput;
  if (!are_constant(node, {W, R})) return std::nullopt;
  if (!is_quantised) return LstmWeights{node.input(1)->constant(), node.input(2)->constant()};
  if (!are_constant(node, {WeightScale, WeightZeroPoint, RecurrenceScale, RecurrenceZeroPoint})) {
    return std::nullopt;
  }
  LstmWeights weights;
  HET_ASSIGN(weights.w, unpacked_weights(node, W, WeightScale, WeightZeroPoint));
  HET_ASSIGN(weights.r, unpacked_weights(node, R, RecurrenceScale, RecurrenceZeroPoint));
  return weights;
}

Result<bool> plan_lstm(PlanBuilder& builder, const Node& node) {
  const Value& x = *node.input(0);
  const Value* b = node.input(3);
  if (x.desc().type != ElementType::Float32 || (b != nullptr && !b->is_constant()) ||
      node.input(4) != nullptr || node.input(7) != nullptr) {
    return false;
  }
  const bool is_quantised = node.op_type() == "DynamicQuantizeLSTM";
  HET_ASSIGN(const std::optional<LstmWeights> found, constant_weights(node, is_quantised));
  if (!found) return false;
  const Tensor& w = found->w;
  const Tensor& r = found->r;
  HET_ASSIGN(const RecurrentAttributes lstm, recurrent_attributes(node, x.desc().shape, r.shape()));
  if (lstm.batch_first || lstm.input_forget || !std::isinf(lstm.clip) ||
      !has_default_activations(lstm) || lstm.sequence == 0) {
    return false;
  }
  const int64_t rows = lstm.sequence * lstm.batch;
  const int64_t columns = lstm.directions() * 4 * lstm.hidden;
  const InputProduct product = input_product(lstm, w, b);
  MatMulSpec spec;
  spec.src = {ElementType::Float32, {rows, lstm.input}, Format::Plain};
  spec.weights = {ElementType::Float32, {lstm.input, columns}, Format::Plain};
  spec.dst = {ElementType::Float32, {rows, columns}, Format::Plain};
  spec.weights_packed = true;
  spec.bias_type = ElementType::Float32;
  spec.bias = {1, columns};
  HET_ASSIGN(Primitive primitive, make_matmul(spec));
  HET_ASSIGN(dnnl::memory weights, pack_constant(product.weights, plain_weights_desc(spec),
                                                 *primitive.desc(DNNL_ARG_WEIGHTS)));
  const dnnl::memory::desc bias_desc = *primitive.desc(DNNL_ARG_BIAS);
  HET_ASSIGN(dnnl::memory bias, pack_constant(product.bias, bias_desc, bias_desc));
  HET_ASSIGN(TensorId src, builder.read(x, Format::Plain, ElementType::Float32));
  if (is_quantised) {
    const TensorId rounded = builder.temporary(spec.src);
    builder.add_step(node,
                     std::make_unique<RoundToDynamicScale>(
                         static_cast<size_t>(lstm.sequence * lstm.batch * lstm.input)),
                     {src}, {rounded});
    src = rounded;
  }
  const TensorId gates = builder.temporary(spec.dst);
  builder.add_step(
      node,
      make_primitive_kernel(
          std::move(primitive),
          {{PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
           {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}},
           {PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(weights)},
           {PrimitiveOperand::Source::Constant, DNNL_ARG_BIAS, 0, std::move(bias)}}),
      {src}, {gates});

  std::vector<TensorId> inputs = {gates};
  std::optional<size_t> initial[2];
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (node.input(5 + i) == nullptr) continue;
    HET_ASSIGN(inputs.emplace_back(),
               builder.read(*node.input(5 + i), Format::Plain, ElementType::Float32));
    initial[i] = inputs.size() - 1;
  }
  std::vector<TensorId> outputs;
  for (const Value* output : node.outputs()) {
    outputs.push_back(
        builder.write(*output, {ElementType::Float32, output->desc().shape, Format::Plain}));
  }
  auto kernel = std::make_unique<LstmKernel>(lstm, turned_recurrence(lstm, r), initial[0],
                                             initial[1], outputs.size(), is_quantised);
  builder.add_step(node, std::move(kernel), std::move(inputs), std::move(outputs));
  return true;
}

}  // namespace

HET_REGISTRATION void register_lstm(KernelRegistry& registry) {
  registry.add("", "LSTM", plan_lstm);
  registry.add("com.microsoft", "DynamicQuantizeLSTM", plan_lstm);
}

}  // namespace het::cpu
