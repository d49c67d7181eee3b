#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/body.h"

namespace het {
namespace {

constexpr std::string_view kBody = "body";
/// Inputs of the node in front of the carried values: trip count and condition; of the body:
/// iteration number and condition.
constexpr size_t kLead = 2;
/// A file must not keep a device busy for ever with a loop that does nothing.
constexpr int64_t kMaxIterations = int64_t{1} << 24;

/// Outputs of the node behind the carried values are collected, one slice per iteration.
struct LoopForm {
  size_t carried = 0;
  size_t collected = 0;
  bool has_trips = false;
  bool has_condition = false;
};

/// `present(i)` tells whether input i of the node is given.
template <class Present>
Result<LoopForm> loop_form(const Node& node, const Present& present) {
  HET_ASSIGN(const size_t formal, formal_input_count(node));
  LoopForm form;
  form.carried = formal > kLead ? formal - kLead : 0;
  HET_TRY(check_body(node, kBody, kLead + form.carried));
  const size_t outputs = body_of(node, kBody).outputs().size();
  if (outputs < 1 + form.carried || outputs - 1 < node.outputs().size()) {
    return error(StatusCode::ParseError,
                 "its body has {} outputs: a condition, {} carried values and further outputs of "
                 "the node, which has {}, are expected",
                 outputs, form.carried, node.outputs().size());
  }
  form.collected = std::max(node.outputs().size(), form.carried) - form.carried;
  form.has_trips = formal > 0 && present(0);
  form.has_condition = formal > 1 && present(1);
  for (size_t i = kLead; i < formal; ++i) {
    if (!present(i)) return error(StatusCode::ParseError, "carried value {} is missing", i - kLead);
  }
  return form;
}

Status check_number(const InferContext& context, size_t index, std::string_view name,
                    TypeSet types) {
  HET_TRY(check_input(context, index, name, types));
  if (element_count(context.shape(index)) == 1) return {};
  return error(StatusCode::ShapeMismatch, "{} of shape {} must have one element", name,
               to_string(context.shape(index)));
}

bool is_true(const Tensor* condition) {
  return condition != nullptr && condition->type() == ElementType::Bool &&
         condition->element_count() == 1 && *condition->data<bool>();
}

/// Iterations when they are known before the loop runs, else kUnknownDim.
int64_t known_trips(const InferContext& context, const LoopForm& form, const Model& body) {
  const Tensor* trips = form.has_trips ? context.constant(0) : nullptr;
  if (trips == nullptr) return kUnknownDim;
  if (form.has_condition && !is_true(context.constant(1))) return kUnknownDim;
  const Value* again = body.outputs()[0].value;
  if (!again->is_constant() || !is_true(&again->constant())) return kUnknownDim;
  const int64_t count = *trips->data<int64_t>();
  return count > kMaxIterations ? kUnknownDim : std::max<int64_t>(0, count);
}

/// The iteration number and the condition have the rank that the body declares: 0 or 1.
template <class T>
Tensor number(T value, const TensorDesc& declared) {
  return Tensor::from<T>(declared.shape.size() == 1 ? Shape{1} : Shape{}, {value});
}

Result<std::unique_ptr<Model>> inferred_body(const InferContext& context, const LoopForm& form) {
  const std::vector<ModelInput>& lead = body_of(context.node(), kBody).inputs();
  const Tensor iteration = number<int64_t>(0, lead[0].value->desc());
  // Inside an iteration the condition is true.
  const Tensor condition = number(true, lead[1].value->desc());
  std::vector<BodyInput> inputs{{iteration.desc(), {}}, {condition.desc(), condition}};
  for (size_t i = 0; i < form.carried; ++i) inputs.push_back({context.input(kLead + i), {}});
  return infer_body(context, kBody, inputs);
}

/// Shapes are told when the carried values keep theirs; otherwise everything is sized at run time.
Status infer_loop(InferContext& context) {
  HET_ASSIGN(const LoopForm form,
             loop_form(context.node(), [&](size_t i) { return context.has_input(i); }));
  if (form.has_trips) {
    HET_TRY(check_number(context, 0, "the trip count M", TypeSet{ElementType::Int64}));
  }
  if (form.has_condition) HET_TRY(check_number(context, 1, "cond", kBoolOnly));
  for (size_t i = 0; i < context.output_count(); ++i) context.leave_open(i);
  if (context.evaluates()) return {};

  HET_ASSIGN(const std::unique_ptr<Model> body, inferred_body(context, form));
  for (size_t i = 0; i < form.carried; ++i) {
    const TensorDesc& after = body->outputs()[1 + i].value->desc();
    if (after.type != context.type(kLead + i) || after.shape != context.shape(kLead + i)) return {};
  }
  for (size_t i = 0; i < form.carried; ++i) {
    context.set_output(i, context.type(kLead + i), context.shape(kLead + i));
  }
  const int64_t trips = known_trips(context, form, *body);
  for (size_t i = form.carried; i < context.output_count(); ++i) {
    const TensorDesc& slice = body->outputs()[1 + i].value->desc();
    if (slice.type == ElementType::Undefined) continue;
    HET_ASSIGN(Shape shape, insert_dimension(slice.shape, 0, trips));
    context.set_output(i, slice.type, std::move(shape));
  }
  return {};
}

/// Slices of outputs when no iteration ran.
Result<std::vector<TensorDesc>> absent_slices(const EvaluateContext& context,
                                              const LoopForm& form) {
  HET_ASSIGN(const std::unique_ptr<Model> body, inferred_body(inference_of(context), form));
  std::vector<TensorDesc> result;
  for (size_t i = 0; i < form.collected; ++i) {
    const size_t output = 1 + form.carried + i;
    HET_ASSIGN(result.emplace_back(),
               absent_slice(context.node(), output, body->outputs()[output].value->desc()));
  }
  return result;
}

/// As ONNX Runtime and ONNX' reference implementation, the condition that the body gives counts
/// also where the node has none.
Status evaluate_loop(EvaluateContext& context) {
  HET_ASSIGN(const LoopForm form,
             loop_form(context.node(), [&](size_t i) { return context.has_input(i); }));
  bool again = true;
  if (form.has_condition) {
    HET_ASSIGN(again, read_condition(context.input(1), "cond"));
  }
  const int64_t trips = form.has_trips ? *context.input(0).data<int64_t>() : INT64_MAX;
  HET_ASSIGN(BodyRunner body, BodyRunner::create(context, kBody));
  std::vector<Tensor> values(kLead);
  for (size_t i = 0; i < form.carried; ++i) values.push_back(context.input(kLead + i));
  std::vector<SliceStack> collected(form.collected);
  int64_t iteration = 0;
  for (; again && iteration < trips; ++iteration) {
    if (iteration == kMaxIterations) {
      return error(StatusCode::OutOfMemory,
                   "the loop did not end after {} iterations, the most that one loop may take",
                   kMaxIterations);
    }
    HET_TRY(check_cancelled(context));
    values[0] = number(iteration, body.declared_input(0));
    values[1] = number(true, body.declared_input(1));
    auto results = body.run(values);
    if (!results) {
      return results.error().with_context(fmt::format("iteration {}", iteration));
    }
    HET_ASSIGN(again, read_condition((*results)[0], "the condition that the body gives"));
    for (size_t i = 0; i < form.carried; ++i) values[kLead + i] = (*results)[1 + i];
    for (size_t i = 0; i < form.collected; ++i) {
      HET_TRY(collected[i].push((*results)[1 + form.carried + i]));
    }
  }
  std::vector<TensorDesc> absent(form.collected);
  if (iteration == 0 && context.output_count() > form.carried) {
    HET_ASSIGN(absent, absent_slices(context, form));
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (i < form.carried) {
      HET_TRY(deliver_output(context, i, values[kLead + i]));
    } else {
      const size_t k = i - form.carried;
      HET_TRY(collected[k].deliver(context, i, 0, false, absent[k]));
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_loop(OpRegistry& registry) {
  registry.add({"Loop", "", 25, 0, kVariadic, infer_loop, evaluate_loop});
}

}  // namespace het
