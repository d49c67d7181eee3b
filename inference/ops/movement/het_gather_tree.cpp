#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kSteps, kParents, kLengths, kEnd };

Status infer_gather_tree(InferContext& context) {
  HET_TRY(check_input(context, kSteps, "step_ids", kNumbers));
  for (const size_t i : {kParents, kLengths, kEnd})
    HET_TRY(check_input(context, i, "input", kNumbers));
  const Shape& steps = context.shape(kSteps);
  if (steps.size() != 3 || context.shape(kParents) != steps ||
      context.shape(kLengths) != Shape{steps[1]} || element_count(context.shape(kEnd)) != 1) {
    return error(StatusCode::ShapeMismatch,
                 "step_ids have shape {}, parent_idx {}, max_seq_len {} and end_token {}, but must "
                 "have [time, batch, beams] twice, [batch] and one value",
                 to_string(steps), to_string(context.shape(kParents)),
                 to_string(context.shape(kLengths)), to_string(context.shape(kEnd)));
  }
  context.set_output(0, context.type(kSteps), steps);
  return {};
}

/// Walks every beam of a search back from its last step: the token of a step, then its parent's.
/// Behind a sequence's end, and behind its first end token, there are end tokens only.
/// docs.openvino.ai, operation specification GatherTree-1.
Status evaluate_gather_tree(EvaluateContext& context) {
  const Shape& shape = context.input(kSteps).shape();
  HET_ASSIGN(const std::vector<double> steps, to_double_vector(context.input(kSteps)));
  HET_ASSIGN(const std::vector<double> parents, to_double_vector(context.input(kParents)));
  HET_ASSIGN(const std::vector<double> lengths, to_double_vector(context.input(kLengths)));
  HET_ASSIGN(const std::vector<double> end, to_double_vector(context.input(kEnd)));
  const int64_t time = shape[0];
  const int64_t beams = shape[2];
  std::vector<double> result(steps.size(), end[0]);
  for (int64_t n = 0; n < shape[1]; ++n) {
    const double limit = lengths[static_cast<size_t>(n)];
    const int64_t length = limit >= static_cast<double>(time) ? time
                           : limit > 0                        ? static_cast<int64_t>(limit)
                                                              : 0;
    for (int64_t beam = 0; beam < beams; ++beam) {
      const auto at = [&](int64_t step, int64_t b) {
        return static_cast<size_t>((step * shape[1] + n) * beams + b);
      };
      int64_t parent = beam;
      for (int64_t step = length - 1; step >= 0; --step) {
        result[at(step, beam)] = steps[at(step, parent)];
        const double next = parents[at(step, parent)];
        if (!(next >= 0 && next < static_cast<double>(beams))) {
          return error(StatusCode::InvalidArgument,
                       "parent_idx contains {}, but there are {} beams", next, beams);
        }
        parent = static_cast<int64_t>(next);
      }
      bool finished = false;
      for (int64_t step = 0; step < length; ++step) {
        double& token = result[at(step, beam)];
        if (finished) token = end[0];
        finished = finished || token == end[0];
      }
    }
  }
  return store_doubles(result, context.output(0));
}

}  // namespace

HET_REGISTRATION void register_het_gather_tree(OpRegistry& registry) {
  registry.add({"GatherTree", "het", 1, 4, 4, infer_gather_tree, evaluate_gather_tree});
}

}  // namespace het
