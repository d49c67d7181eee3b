#include "inference/requests/request_io.h"

#include <algorithm>
#include <mutex>
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
  if (times_.started != SpanTime()) note_begin(std::chrono::steady_clock::now());
}

void RequestIo::note_begin(Time time) {
  if (times_.started == SpanTime()) return;
  times_.begun = time;
  times_.converted = time;
}

Status RequestIo::preprocess_input(const Port& port, size_t index, const ParallelLoop* loop) {
  const std::vector<ImageRegion>& images = images_[index];
  std::mutex mutex;  // protects the status, the first that is none of success
  Status status;
  const auto convert = [&](size_t item, const ParallelLoop* helpers) {
    const ImageRegion& one = images[item];
    if (one.image.plane_count == 0) return;  // this batch item keeps its content
    Status converted = preprocess(one.image, one.roi, *port.preprocess, inputs_[index],
                                  static_cast<int64_t>(item), helpers);
    if (converted.ok()) return;
    const std::lock_guard lock(mutex);
    if (status.ok()) status = std::move(converted);
  };
  // Several pictures are shared as wholes, one by its rows.
  if (images.size() == 1) {
    convert(0, loop);
  } else {
    run_loop(loop, static_cast<int64_t>(images.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) convert(static_cast<size_t>(item), nullptr);
    });
  }
  return status.ok() ? status : status.with_context(fmt::format("input '{}'", port.name));
}

Status RequestIo::preprocess_pending(const std::vector<Port>& ports, const ParallelLoop* loop) {
  note_begin();
  Status status;
  for (size_t i = 0; i < images_.size(); ++i) {
    std::vector<ImageRegion>& images = images_[i];
    times_.had_pictures |= std::ranges::any_of(
        images, [](const ImageRegion& one) { return one.image.plane_count != 0; });
    if (status.ok() && !images.empty()) status = preprocess_input(ports[i], i, loop);
    images.clear();  // lets go of the pictures, also after a failure
  }
  if (times_.had_pictures && times_.begun != SpanTime()) {
    times_.converted = std::chrono::steady_clock::now();
  }
  return status;
}

}  // namespace het
