#include "inference/requests/exclusive_queue.h"

#include <utility>

namespace het {

Status ExclusiveQueue::prepare() {
  std::lock_guard lock(mutex_);
  if (thread_ != nullptr) return {};
  HET_ASSIGN(thread_, StreamExecutor::create({1, "exclusive", {}}));
  return {};
}

void ExclusiveQueue::submit(ExclusiveRequest& request) {
  {
    std::lock_guard lock(mutex_);
    if (is_busy_) {
      request.next_ = nullptr;
      request.previous_ = last_;
      (last_ != nullptr ? last_->next_ : first_) = &request;
      last_ = &request;
      request.is_waiting_ = true;
      return;
    }
    is_busy_ = true;
  }
  if (request.start_within()) end(request);
}

void ExclusiveQueue::cancel(ExclusiveRequest& request) {
  bool waited = false;
  {
    std::lock_guard lock(mutex_);
    waited = request.is_waiting_;
    if (waited) {
      remove(request);
    } else {
      // It may be about to begin: start_within() looks here after it has.
      request.is_cancelled_ = true;
    }
  }
  if (waited) return thread_->submit(request);
  request.request_->cancel();
}

void ExclusiveQueue::end(ExclusiveRequest& request) {
  for (ExclusiveRequest* ended = &request; ended != nullptr;) {
    ExclusiveRequest* next = nullptr;
    {
      std::lock_guard lock(mutex_);
      next = first_;
      if (next != nullptr) remove(*next);
      is_busy_ = next != nullptr;
    }
    // The device goes on before the application learns of the end.
    Status status = std::move(ended->status_);
    CompletionSink* const sink = ended->sink_;
    const bool has_ended = next != nullptr && next->start_within();
    sink->complete(std::move(status));
    ended = has_ended ? next : nullptr;
  }
}

void ExclusiveQueue::remove(ExclusiveRequest& request) {
  (request.previous_ != nullptr ? request.previous_->next_ : first_) = request.next_;
  (request.next_ != nullptr ? request.next_->previous_ : last_) = request.previous_;
  request.is_waiting_ = false;
}

void ExclusiveRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  is_cancelled_ = false;
  queue_.submit(*this);
}

bool ExclusiveRequest::start_within() {
  if (is_cancelled_) {
    status_ = error(StatusCode::Cancelled, "the request was cancelled before it began");
    return true;
  }
  phase_ = Phase::Starting;
  request_->start(*io_, *this);
  // While this phase lasts the end is not told, so it is still the same execution.
  if (is_cancelled_) request_->cancel();
  return phase_.exchange(Phase::Running) == Phase::Ended;
}

void ExclusiveRequest::complete(Status status) {
  status_ = std::move(status);
  if (phase_.exchange(Phase::Ended) == Phase::Running) queue_.end(*this);
}

void ExclusiveRequest::run(size_t) {
  CompletionSink* const sink = sink_;
  sink->complete(error(StatusCode::Cancelled,
                       "the request was cancelled while it waited for "
                       "others of its device"));
}

}  // namespace het
