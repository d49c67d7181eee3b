#include "devices/ref/ref_request.h"

#include "inference/devices/stopwatch.h"
#include "inference/ops/op.h"

namespace het::ref {
namespace {

bool is_dense_host(const Tensor& tensor) {
  return tensor.bytes() != nullptr && tensor.is_dense();
}

}  // namespace

void RefRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  model_.streams().submit(*this);
}

void RefRequest::run(size_t) {
  Status status = execute();
  tensors_.clear();
  // The request may be started again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

Status RefRequest::execute() {
  rows_ = model_.profiled() ? model_.plan().rows : std::vector<ProfileRow>();
  HET_TRY(io_->preprocess_pending(model_.inputs()));
  tensors_ = model_.plan().constants;
  HET_TRY(bind_inputs());
  for (const Step& step : model_.plan().steps) {
    if (cancelled_) {
      return error(StatusCode::Cancelled,
                   "the request of model '{}' was cancelled before node '{}'", model_.name(),
                   step.node->name());
    }
    const Stopwatch watch;
    HET_TRY(run_step(step));
    if (model_.profiled()) watch.stop(rows_[step.profile_row]);
    for (const Slot slot : step.last_uses) tensors_[slot] = {};
  }
  return deliver_outputs();
}

Status RefRequest::bind_inputs() {
  const Plan& plan = model_.plan();
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const Tensor& input = io_->input(i);
    Tensor& bound = tensors_[plan.inputs[i]];
    bound = input;
    if (!is_dense_host(input)) {
      HET_ASSIGN(bound, input.clone());
    }
  }
  // Results go straight into the request's outputs where these can hold them.
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    Tensor& result = tensors_[plan.outputs[i]];
    if (result.empty() && is_dense_host(io_->output(i))) result = io_->output(i);
  }
  return {};
}

Status RefRequest::run_step(const Step& step) {
  std::vector<const Tensor*> inputs;
  for (const Slot slot : step.inputs) {
    inputs.push_back(slot == kOmitted ? nullptr : &tensors_[slot]);
  }
  std::vector<Tensor> outputs;
  for (const Slot slot : step.outputs) outputs.push_back(tensors_[slot]);
  HET_ASSIGN(outputs, evaluate_node(*step.node, inputs, std::move(outputs), &cancelled_));
  for (size_t i = 0; i < outputs.size(); ++i) tensors_[step.outputs[i]] = std::move(outputs[i]);
  return {};
}

Status RefRequest::deliver_outputs() {
  const Plan& plan = model_.plan();
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const Tensor& result = tensors_[plan.outputs[i]];
    Tensor& output = io_->output(i);
    if (!output.empty() && output.buffer() == result.buffer()) continue;
    if (!output.empty() && output.desc() == result.desc()) {
      HET_TRY(copy_tensor(result, output));
    } else {
      // Sized at run time. A copy, since the result may be a constant or another output as well.
      HET_ASSIGN(output, result.clone());
    }
  }
  return {};
}

}  // namespace het::ref
