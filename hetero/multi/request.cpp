#include "hetero/multi/request.h"

#include "hetero/multi/dispatcher.h"
#include "inference/base/status.h"

namespace het::hetero {

void MultiRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  dispatcher_.submit(*this);
}

void MultiRequest::cancel() {
  dispatcher_.cancel(*this);
}

void MultiRequest::run(size_t) {
  rows_.clear();
  for (size_t i = 0; i < io_->input_count(); ++i) io_->clear_images(i);
  // The outer request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(error(StatusCode::Cancelled, "the request was cancelled before a device had it"));
}

}  // namespace het::hetero
