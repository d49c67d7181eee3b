#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/body.h"

namespace het {
namespace {

constexpr std::string_view kThen = "then_branch";
constexpr std::string_view kElse = "else_branch";

/// What holds for both branches; dimensions that differ are unknown, {} when type or rank differ.
TensorDesc common_desc(const TensorDesc& a, const TensorDesc& b) {
  if (a.type != b.type || a.shape.size() != b.shape.size()) return {};
  TensorDesc common{a.type, a.shape, Layout::Plain};
  for (size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] != b.shape[i]) common.shape[i] = kUnknownDim;
  }
  return common;
}

void set_outputs(InferContext& context, const std::vector<TensorDesc>& descs) {
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (descs[i].type == ElementType::Undefined) {
      context.leave_open(i);
    } else {
      context.set_output(i, descs[i].type, descs[i].shape);
    }
  }
}

Result<std::vector<TensorDesc>> branch_outputs(const InferContext& context, std::string_view name) {
  HET_ASSIGN(const std::unique_ptr<Model> branch, infer_body(context, name, {}));
  std::vector<TensorDesc> descs;
  for (const ModelOutput& output : branch->outputs()) descs.push_back(output.value->desc());
  return descs;
}

/// The branch that is not taken may refuse its shapes: exporters guard operators that way.
Status infer_if(InferContext& context) {
  HET_TRY(check_input(context, 0, "cond", kBoolOnly));
  if (element_count(context.shape(0)) != 1) {
    return error(StatusCode::ShapeMismatch, "cond of shape {} must have one element",
                 to_string(context.shape(0)));
  }
  for (const std::string_view name : {kThen, kElse}) {
    HET_TRY(check_body(context.node(), name, 0));
    const size_t given = body_of(context.node(), name).outputs().size();
    if (given >= context.output_count()) continue;
    return error(StatusCode::ParseError, "its body '{}' has {} outputs, the node has {}", name,
                 given, context.output_count());
  }
  if (context.evaluates()) {
    for (size_t i = 0; i < context.output_count(); ++i) context.leave_open(i);
    return {};
  }
  if (const Tensor* cond = context.constant(0)) {
    HET_ASSIGN(const bool taken, read_condition(*cond, "cond"));
    HET_ASSIGN(const std::vector<TensorDesc> outputs,
               branch_outputs(context, taken ? kThen : kElse));
    set_outputs(context, outputs);
    return {};
  }
  HET_ASSIGN(std::vector<TensorDesc> outputs, branch_outputs(context, kThen));
  HET_ASSIGN(const std::vector<TensorDesc> others, branch_outputs(context, kElse));
  for (size_t i = 0; i < context.output_count(); ++i) {
    outputs[i] = common_desc(outputs[i], others[i]);
  }
  set_outputs(context, outputs);
  return {};
}

Status evaluate_if(EvaluateContext& context) {
  HET_ASSIGN(const bool taken, read_condition(context.input(0), "cond"));
  HET_ASSIGN(BodyRunner body, BodyRunner::create(context, taken ? kThen : kElse));
  HET_ASSIGN(const std::vector<Tensor> results, body.run({}));
  for (size_t i = 0; i < context.output_count(); ++i) {
    HET_TRY(deliver_output(context, i, results[i]));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_if(OpRegistry& registry) {
  registry.add({"If", "", 25, 1, kVariadic, infer_if, evaluate_if});
}

}  // namespace het
