#include "inference/request_io.h"

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

Status RequestIo::preprocess_pending(const std::vector<Port>& ports) {
  Status status;
  for (size_t i = 0; i < images_.size(); ++i) {
    std::vector<ImageRegion>& images = images_[i];
    for (size_t b = 0; b < images.size() && status.ok(); ++b) {
      if (images[b].image.plane_count == 0) continue;  // this batch item keeps its content
      status = preprocess(images[b].image, images[b].roi, *ports[i].preprocess, inputs_[i],
                          static_cast<int64_t>(b));
      if (!status.ok()) status = status.with_context(fmt::format("input '{}'", ports[i].name));
    }
    images.clear();  // lets go of the pictures, also after a failure
  }
  return status;
}

}  // namespace het
