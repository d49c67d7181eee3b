#include "inference/requests/request_io.h"

#include <utility>

namespace het {

RequestIo::RequestIo(std::vector<Tensor> inputs, std::vector<Tensor> outputs)
    : inputs_(std::move(inputs)), outputs_(std::move(outputs)), images_(inputs_.size()) {}

void RequestIo::set_input(size_t index, Tensor tensor) {
  inputs_[index] = std::move(tensor);
  images_[index].clear();
}

void RequestIo::set_image(size_t index, size_t batch_index, ImageRegion region) {
  std::vector<ImageRegion>& images = images_[index];
  if (images.size() <= batch_index) images.resize(batch_index + 1);
  images[batch_index] = std::move(region);
}

void RequestIo::note_start() {
  times_ = {};
  if (frame_ != 0 && frame_spans_wanted()) times_.started = std::chrono::steady_clock::now();
}

void RequestIo::note_begin() {
  if (times_.started == SpanTime()) return;
  times_.begun = std::chrono::steady_clock::now();
  times_.converted = times_.begun;
}

Status RequestIo::preprocess_pending(const std::vector<Port>& ports) {
  note_begin();
  Status status;
  for (size_t i = 0; i < images_.size(); ++i) {
    std::vector<ImageRegion>& images = images_[i];
    for (size_t b = 0; b < images.size() && status.ok(); ++b) {
      if (images[b].image.plane_count == 0) continue;  // this batch item keeps its content
      times_.had_pictures = true;
      status = preprocess(images[b].image, images[b].roi, *ports[i].preprocess, inputs_[i],
                          static_cast<int64_t>(b));
      if (!status.ok()) status = status.with_context(fmt::format("input '{}'", ports[i].name));
    }
    images.clear();  // lets go of the pictures, also after a failure
  }
  if (times_.had_pictures && times_.begun != SpanTime()) {
    times_.converted = std::chrono::steady_clock::now();
  }
  return status;
}

}  // namespace het
