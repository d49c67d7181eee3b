#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "hetero/batch/item_flow.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

/// Part `item` of a batched tensor, in the same memory. `single` is its desc.
Result<Tensor> view_item(const Tensor& batched, const TensorDesc& single, size_t item);

class BatchTensors;

/// One item of a BatchTensors that somebody has for himself; free again with the last owner, which
/// may be a tensor that a user kept.
class BatchPlace {
 public:
  BatchPlace(std::shared_ptr<BatchTensors> tensors, size_t item)
      : tensors_(std::move(tensors)), item_(item) {}
  ~BatchPlace();
  BatchPlace(const BatchPlace&) = delete;
  BatchPlace& operator=(const BatchPlace&) = delete;

  const std::shared_ptr<BatchTensors>& tensors() const { return tensors_; }
  size_t item() const { return item_; }

 private:
  std::shared_ptr<BatchTensors> tensors_;
  size_t item_;
};

/// The tensors of a batched model's inputs and outputs, whose items are the tensors of requests: a
/// batch of exactly those requests runs in place. Thread-safe.
class BatchTensors : public std::enable_shared_from_this<BatchTensors> {
 public:
  /// Allocates them as the device likes them best; outputs that are taken apart by rows have none.
  static Result<std::shared_ptr<BatchTensors>> create(CompiledModel& batched, size_t batch,
                                                      const std::vector<OutputCut>& outputs);

  const Tensor& input(size_t port) const { return inputs_[port]; }
  const Tensor& output(size_t port) const { return outputs_[port]; }
  /// A free item; null when there is none.
  std::shared_ptr<BatchPlace> take_place();

 private:
  friend class BatchPlace;
  explicit BatchTensors(size_t batch) : is_taken_(batch) {}

  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<std::atomic<bool>> is_taken_;
};

/// The tensor of a request at a place: a view of the item that keeps the place taken. Empty where
/// there is no batched one, or the memory is not the host's.
Tensor tensor_at(const std::shared_ptr<BatchPlace>& place, const Tensor& batched,
                 const TensorDesc& single);

}  // namespace het::hetero
