#include "inference/ops/sequences/recurrent_cells.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/quantisation/quantization.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// W and R, the inputs 1 and 2, are the caller's.
enum : size_t { kX, kB = 3, kSequenceLens, kInitialH, kInitialC, kP };

std::vector<double> through_eight_bits(const std::vector<double>& values) {
  std::vector<float> rounded(values.begin(), values.end());
  round_to_dynamic_scale(rounded);
  return {rounded.begin(), rounded.end()};
}

/// One direction of one sequence: weights and state, in double.
struct Cell {
  const RecurrentAttributes& recurrent;
  bool quantises = false;  ///< RecurrentValues::quantises
  const RecurrentActivation* activations = nullptr;
  const double* w = nullptr;
  const double* r = nullptr;
  const double* b = nullptr;  ///< Wb then Rb; null: zeros
  const double* p = nullptr;  ///< peepholes i, o, f; null: zeros
  std::vector<double> h = {};
  std::vector<double> c = {};

  static double dot(const double* row, const double* x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += row[i] * x[i];
    return sum;
  }
  /// x * W^T + Wb of unit `j` of a gate.
  double from_input(int64_t gate, int64_t j, const double* x) const {
    const int64_t row = gate * recurrent.hidden + j;
    return dot(w + row * recurrent.input, x, recurrent.input) + (b ? b[row] : 0);
  }
  /// state * R^T.
  double from_state(int64_t gate, int64_t j, const std::vector<double>& state) const {
    const int64_t row = gate * recurrent.hidden + j;
    return dot(r + row * recurrent.hidden, state.data(), recurrent.hidden);
  }
  /// Rb.
  double state_bias(int64_t gate, int64_t j) const {
    return b ? b[(recurrent.gates + gate) * recurrent.hidden + j] : 0;
  }
  double peephole(int64_t which, int64_t j, double state) const {
    return p ? p[which * recurrent.hidden + j] * state : 0;
  }
  double activate(int64_t function, double x) const {
    return activations[function](std::clamp(x, -recurrent.clip, recurrent.clip));
  }
};

/// Ht = f(Xt*Wi^T + Ht-1*Ri^T + Wbi + Rbi)
void step_rnn(Cell& cell, const double* x) {
  std::vector<double> next(cell.h.size());
  for (int64_t j = 0; j < cell.recurrent.hidden; ++j) {
    next[static_cast<size_t>(j)] = cell.activate(
        0, cell.from_input(0, j, x) + cell.from_state(0, j, cell.h) + cell.state_bias(0, j));
  }
  cell.h = std::move(next);
}

/// zt = f(Xt*Wz^T + Ht-1*Rz^T + Wbz + Rbz), rt alike,
/// ht = g(Xt*Wh^T + (rt . Ht-1)*Rh^T + Rbh + Wbh), or with linear_before_reset
/// ht = g(Xt*Wh^T + rt . (Ht-1*Rh^T + Rbh) + Wbh), and Ht = (1 - zt) . ht + zt . Ht-1
void step_gru(Cell& cell, const double* x) {
  const size_t hidden = cell.h.size();
  std::vector<double> update(hidden);
  std::vector<double> reset(hidden);
  std::vector<double> reset_state(hidden);
  const auto gate = [&](int64_t which, size_t j) {
    const auto unit = static_cast<int64_t>(j);
    return cell.activate(0, cell.from_input(which, unit, x) + cell.from_state(which, unit, cell.h) +
                                cell.state_bias(which, unit));
  };
  for (size_t j = 0; j < hidden; ++j) {
    update[j] = gate(0, j);
    reset[j] = gate(1, j);
    reset_state[j] = reset[j] * cell.h[j];
  }
  std::vector<double> next(hidden);
  for (size_t j = 0; j < hidden; ++j) {
    const auto unit = static_cast<int64_t>(j);
    const double bias = cell.state_bias(2, unit);
    const double state = cell.recurrent.linear_before_reset
                             ? reset[j] * (cell.from_state(2, unit, cell.h) + bias)
                             : cell.from_state(2, unit, reset_state) + bias;
    const double candidate = cell.activate(1, cell.from_input(2, unit, x) + state);
    next[j] = (1 - update[j]) * candidate + update[j] * cell.h[j];
  }
  cell.h = std::move(next);
}

/// it = f(Xt*Wi^T + Ht-1*Ri^T + Pi . Ct-1 + Wbi + Rbi), ft alike with Pf (or 1 - it),
/// ct = g(Xt*Wc^T + Ht-1*Rc^T + Wbc + Rbc), Ct = ft . Ct-1 + it . ct,
/// ot = f(Xt*Wo^T + Ht-1*Ro^T + Po . Ct + Wbo + Rbo), Ht = ot . h(Ct)
void step_lstm(Cell& cell, const double* x) {
  enum : int64_t { kInput, kOutput, kForget, kCandidate };
  std::vector<double> next(cell.h.size());
  const std::vector<double> state = cell.quantises ? through_eight_bits(cell.h) : cell.h;
  for (size_t j = 0; j < next.size(); ++j) {
    const auto unit = static_cast<int64_t>(j);
    const auto sum = [&](int64_t gate) {
      return cell.from_input(gate, unit, x) + cell.from_state(gate, unit, state) +
             cell.state_bias(gate, unit);
    };
    const double before = cell.c[j];
    const double input = cell.activate(0, sum(kInput) + cell.peephole(kInput, unit, before));
    const double forget =
        cell.recurrent.input_forget
            ? 1 - input
            : cell.activate(0, sum(kForget) + cell.peephole(kForget, unit, before));
    const double candidate = cell.activate(1, sum(kCandidate));
    cell.c[j] = forget * before + input * candidate;
    const double output = cell.activate(0, sum(kOutput) + cell.peephole(kOutput, unit, cell.c[j]));
    // ONNX Runtime and OpenVINO do not clip the cell state.
    next[j] = output * cell.activations[2](cell.c[j]);
  }
  cell.h = std::move(next);
}

}  // namespace

Status infer_cells(InferContext& context, const RecurrentAttributes& recurrent) {
  const int64_t directions = recurrent.directions();
  const int64_t rows = recurrent.gates * recurrent.hidden;
  const auto check = [&](size_t index, std::string_view name, const Shape& shape) -> Status {
    if (!context.has_input(index)) return {};
    HET_TRY(check_input(context, index, name, kFloatTypes));
    HET_TRY(check_same_type(context, kX, index));
    return check_input_shape(context, index, name, shape);
  };
  HET_TRY(check(kB, "B", {directions, 2 * rows}));
  HET_TRY(check_optional_input(context, kSequenceLens, "sequence_lens", {ElementType::Int32}));
  HET_TRY(check_input_shape(context, kSequenceLens, "sequence_lens", {recurrent.batch}));
  HET_TRY(check(kInitialH, "initial_h", recurrent.state_shape));
  HET_TRY(check(kInitialC, "initial_c", recurrent.state_shape));
  HET_TRY(check(kP, "P", {directions, 3 * recurrent.hidden}));
  context.set_output(0, context.type(kX), recurrent.output_shape);
  context.set_output(1, context.type(kX), recurrent.state_shape);
  if (recurrent.kind == RecurrentKind::Lstm) {
    context.set_output(2, context.type(kX), recurrent.state_shape);
  }
  return {};
}

Result<RecurrentValues> read_cell_values(const EvaluateContext& context,
                                         const RecurrentAttributes& recurrent) {
  RecurrentValues values;
  const auto read = [&](size_t index, std::vector<double>& to) -> Status {
    if (!context.has_input(index)) return {};
    HET_ASSIGN(to, to_double_vector(context.input(index)));
    return {};
  };
  HET_TRY(read(kX, values.x));
  HET_TRY(read(kB, values.b));
  HET_TRY(read(kInitialH, values.h));
  HET_TRY(read(kInitialC, values.c));
  HET_TRY(read(kP, values.p));
  const auto states = static_cast<size_t>(element_count(recurrent.state_shape));
  values.h.resize(states);
  values.c.resize(states);
  if (!context.has_input(kSequenceLens)) {
    values.lengths.assign(static_cast<size_t>(recurrent.batch), recurrent.sequence);
    return values;
  }
  HET_ASSIGN(values.lengths, to_int64_vector(context.input(kSequenceLens)));
  for (const int64_t length : values.lengths) {
    if (length < 0 || length > recurrent.sequence) {
      return error(StatusCode::InvalidArgument,
                   "sequence_lens contains {}, but X has sequences of {} steps", length,
                   recurrent.sequence);
    }
  }
  return values;
}

Status evaluate_cells(EvaluateContext& context, const RecurrentAttributes& recurrent,
                      RecurrentValues values) {
  if (element_count(recurrent.state_shape) == 0) return {};
  if (values.quantises) values.x = through_eight_bits(values.x);
  const auto step = recurrent.kind == RecurrentKind::Lstm  ? step_lstm
                    : recurrent.kind == RecurrentKind::Gru ? step_gru
                                                           : step_rnn;
  const int64_t hidden = recurrent.hidden;
  const int64_t directions = recurrent.directions();
  const int64_t rows = recurrent.gates * hidden;
  const bool batch_first = recurrent.batch_first;
  std::vector<double> y(static_cast<size_t>(element_count(recurrent.output_shape)));

  Cell cell{recurrent, values.quantises};
  for (int64_t d = 0; d < directions; ++d) {
    const bool reversed = recurrent.reversed[static_cast<size_t>(d)];
    cell.activations = recurrent.activations.data() + d * recurrent.functions;
    cell.w = values.w.data() + d * rows * recurrent.input;
    cell.r = values.r.data() + d * rows * hidden;
    cell.b = values.b.empty() ? nullptr : values.b.data() + d * 2 * rows;
    cell.p = values.p.empty() ? nullptr : values.p.data() + d * 3 * hidden;
    for (int64_t n = 0; n < recurrent.batch; ++n) {
      const int64_t state = (batch_first ? n * directions + d : d * recurrent.batch + n) * hidden;
      cell.h.assign(values.h.begin() + state, values.h.begin() + state + hidden);
      cell.c.assign(values.c.begin() + state, values.c.begin() + state + hidden);
      const int64_t length = values.lengths[static_cast<size_t>(n)];
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = reversed ? length - 1 - i : i;
        const int64_t x_row = batch_first ? n * recurrent.sequence + t : t * recurrent.batch + n;
        const int64_t y_row =
            batch_first ? x_row * directions + d : (t * directions + d) * recurrent.batch + n;
        step(cell, values.x.data() + x_row * recurrent.input);
        std::copy(cell.h.begin(), cell.h.end(), y.begin() + y_row * hidden);
      }
      std::copy(cell.h.begin(), cell.h.end(), values.h.begin() + state);
      std::copy(cell.c.begin(), cell.c.end(), values.c.begin() + state);
    }
  }
  return dispatch_float(context.input(0).type(), [&]<class T>() -> Status {
    const std::array<const std::vector<double>*, 3> results{&y, &values.h, &values.c};
    for (size_t i = 0; i < results.size() && context.has_output(i); ++i) {
      std::transform(results[i]->begin(), results[i]->end(), context.output(i).data<T>(),
                     [](double value) { return numeric_cast<T>(value); });
    }
    return {};
  });
}

}  // namespace het
