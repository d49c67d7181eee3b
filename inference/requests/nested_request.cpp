#include "inference/requests/nested_request.h"

#include <utility>

namespace het {

Result<std::unique_ptr<NestedRequest>> NestedRequest::create(std::shared_ptr<CompiledModel> model) {
  HET_ASSIGN(std::unique_ptr<InferRequest> request, model->create_infer_request());
  return std::unique_ptr<NestedRequest>(new NestedRequest(std::move(request)));
}

NestedRequest::NestedRequest(std::unique_ptr<InferRequest> request) : request_(std::move(request)) {
  request_->set_callback([this](const Status& status) { finish(status); });
}

void NestedRequest::start(RequestIo& io, CompletionSink& sink, bool keeps_pictures) {
  io_ = &io;
  sink_ = &sink;
  Status status = bind(io, keeps_pictures);
  if (status.ok()) status = request_->start_async();
  if (!status.ok()) sink.complete(std::move(status));
}

Status NestedRequest::bind(RequestIo& io, bool keeps_pictures) {
  request_->set_stream(io.stream());
  request_->set_frame(io.frame());
  for (size_t i = 0; i < io.input_count(); ++i) {
    const std::vector<ImageRegion> images = keeps_pictures ? io.images(i) : io.take_images(i);
    // Pictures are converted into the tensor, so that it comes first.
    if (!io.input(i).empty()) HET_TRY(request_->set_input(i, io.input(i)));
    for (size_t b = 0; b < images.size(); ++b) {
      if (images[b].image.plane_count == 0) continue;
      HET_TRY(request_->set_image(i, images[b].image, images[b].roi, b));
    }
  }
  const std::vector<Port>& ports = request_->compiled_model().outputs();
  for (size_t i = 0; i < io.output_count(); ++i) {
    if (!io.output(i).empty() && io.output(i).desc() == ports[i].desc) {
      HET_TRY(request_->set_output(i, io.output(i)));
    }
  }
  return {};
}

void NestedRequest::finish(const Status& status) {
  if (status.ok()) {
    for (size_t i = 0; i < io_->output_count(); ++i) io_->set_output(i, request_->output(i));
  }
  // The outer request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(status);
}

}  // namespace het
