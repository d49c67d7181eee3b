#include "hetero/batch/request.h"

#include <utility>

#include "hetero/batch/compiled_model.h"

namespace het::hetero {
namespace {

bool is_same(const Tensor& a, const Tensor& b) {
  return !a.empty() && !b.empty() && a.buffer() == b.buffer() && a.offset() == b.offset() &&
         a.strides_bytes() == b.strides_bytes();
}

}  // namespace

BatchRequest::BatchRequest(BatchCompiledModel& model, const std::shared_ptr<BatchPlace>& place,
                           std::unique_ptr<NestedRequest> alone)
    : model_(model), place_(place), alone_(std::move(alone)) {
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    own_inputs_.push_back(
        place ? tensor_at(place, place->tensors()->input(i), model.inputs()[i].desc) : Tensor());
  }
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    own_outputs_.push_back(
        place ? tensor_at(place, place->tensors()->output(i), model.outputs()[i].desc) : Tensor());
  }
}

BatchRequest::~BatchRequest() {
  model_.forget_request();
}

void BatchRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  model_.collect(*this, io.deadline());
}

void BatchRequest::cancel() {
  cancelled_ = true;
  if (!model_.collector().withdraw(*this)) alone_->cancel();
}

std::vector<ProfileRow> BatchRequest::profiling() const {
  return ran_in_batch_ ? rows_ : alone_->request().profiling();
}

void BatchRequest::run_alone() {
  ran_in_batch_ = false;
  began_ = std::chrono::steady_clock::now();
  if (!cancelled_) return alone_->start(*io_, *this);
  complete({});
}

bool BatchRequest::has_own_input(size_t port) const {
  return is_same(io_->input(port), own_inputs_[port]);
}

bool BatchRequest::has_own_output(size_t port) const {
  return is_same(std::as_const(*io_).output(port), own_outputs_[port]);
}

void BatchRequest::end_in_batch(const Status& status, const std::vector<ProfileRow>& rows) {
  ran_in_batch_ = true;
  rows_ = rows;
  complete(status);
}

void BatchRequest::complete(Status status) {
  if (!ran_in_batch_) model_.note_time_alone(std::chrono::steady_clock::now() - began_);
  if (cancelled_ && (status.ok() || status.code() == StatusCode::Cancelled)) {
    status = error(StatusCode::Cancelled, "the request of model '{}' was cancelled", model_.name());
  }
  // The request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

}  // namespace het::hetero
