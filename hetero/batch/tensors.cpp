#include "hetero/batch/tensors.h"

#include <utility>

namespace het::hetero {

Result<Tensor> view_item(const Tensor& batched, const TensorDesc& single, size_t item) {
  const auto stride = static_cast<size_t>(batched.strides_bytes()[0]);
  return Tensor::view(single, batched.buffer(), batched.offset() + item * stride,
                      batched.strides_bytes());
}

BatchPlace::~BatchPlace() {
  tensors_->is_taken_[item_] = false;
}

Result<std::shared_ptr<BatchTensors>> BatchTensors::create(CompiledModel& batched, size_t batch,
                                                           const std::vector<OutputCut>& outputs) {
  std::shared_ptr<BatchTensors> tensors(new BatchTensors(batch));
  for (const Port& port : batched.inputs()) {
    HET_ASSIGN(tensors->inputs_.emplace_back(), batched.allocate_tensor(port.desc));
  }
  for (size_t i = 0; i < batched.outputs().size(); ++i) {
    Tensor& output = tensors->outputs_.emplace_back();
    if (outputs[i].is_by_rows()) continue;
    HET_ASSIGN(output, batched.allocate_tensor(batched.outputs()[i].desc));
  }
  return tensors;
}

std::shared_ptr<BatchPlace> BatchTensors::take_place() {
  for (size_t i = 0; i < is_taken_.size(); ++i) {
    if (!is_taken_[i].exchange(true)) return std::make_shared<BatchPlace>(shared_from_this(), i);
  }
  return nullptr;
}

Tensor tensor_at(const std::shared_ptr<BatchPlace>& place, const Tensor& batched,
                 const TensorDesc& single) {
  if (batched.empty()) return {};
  const Result<Tensor> item = view_item(batched, single, place->item());
  if (!item || item->bytes() == nullptr) return {};
  const size_t stride = static_cast<size_t>(batched.strides_bytes()[0]);
  auto tensor = Tensor::wrap(
      single, item->bytes(), stride, [place] {}, item->strides_bytes());
  return tensor ? *tensor : Tensor();
}

}  // namespace het::hetero
