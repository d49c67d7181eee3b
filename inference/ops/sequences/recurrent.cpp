#include "inference/ops/sequences/recurrent.h"

#include <utility>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/recurrent_cells.h"

namespace het {
namespace {

enum : size_t { kRecurrentX, kRecurrentW, kRecurrentR };

Status infer_recurrent(InferContext& context) {
  HET_TRY(check_input(context, kRecurrentX, "X", kFloatTypes));
  HET_TRY(check_input(context, kRecurrentW, "W", kFloatTypes));
  HET_TRY(check_input(context, kRecurrentR, "R", kFloatTypes));
  HET_TRY(check_same_type(context, kRecurrentX, kRecurrentW));
  HET_TRY(check_same_type(context, kRecurrentX, kRecurrentR));
  HET_ASSIGN(
      const RecurrentAttributes recurrent,
      recurrent_attributes(context.node(), context.shape(kRecurrentX), context.shape(kRecurrentR)));
  const int64_t rows = recurrent.gates * recurrent.hidden;
  HET_TRY(check_input_shape(context, kRecurrentW, "W",
                            {recurrent.directions(), rows, recurrent.input}));
  HET_TRY(check_input_shape(context, kRecurrentR, "R",
                            {recurrent.directions(), rows, recurrent.hidden}));
  return infer_cells(context, recurrent);
}

Status evaluate_recurrent(EvaluateContext& context) {
  HET_ASSIGN(const RecurrentAttributes recurrent,
             recurrent_attributes(context.node(), context.input(kRecurrentX).shape(),
                                  context.input(kRecurrentR).shape()));
  HET_ASSIGN(RecurrentValues values, read_cell_values(context, recurrent));
  HET_ASSIGN(values.w, to_double_vector(context.input(kRecurrentW)));
  HET_ASSIGN(values.r, to_double_vector(context.input(kRecurrentR)));
  return evaluate_cells(context, recurrent, std::move(values));
}

}  // namespace

HET_REGISTRATION void register_recurrent(OpRegistry& registry) {
  registry.add({"RNN", "", 22, 3, 6, infer_recurrent, evaluate_recurrent});
  registry.add({"GRU", "", 22, 3, 6, infer_recurrent, evaluate_recurrent});
  registry.add({"LSTM", "", 22, 3, 8, infer_recurrent, evaluate_recurrent});
}

}  // namespace het
