#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het {

/// One batch item of an output tensor as floats: a view where the tensor is dense float32, else a
/// converted copy. Valid as long as the tensor.
class OutputValues {
 public:
  /// Dimension 0 is the batch. Fails when the tensor is empty, not host-addressable or has fewer
  /// items.
  static Result<OutputValues> batch_item(const Tensor& tensor, int64_t batch_index);
  /// The whole tensor.
  static Result<OutputValues> whole(const Tensor& tensor);
  /// Fails unless an execution left values in host memory.
  static Status expect_host(const Tensor& tensor);

  /// Leaves `count` values from `first` on, which there have to be.
  void keep(size_t first, size_t count);

  std::span<const float> values() const { return view_.empty() ? copy_ : view_; }
  const float* data() const { return values().data(); }
  size_t size() const { return values().size(); }
  float operator[](size_t index) const { return values()[index]; }

 private:
  std::span<const float> view_;
  std::vector<float> copy_;
};

/// A dense copy of one batch item in host memory of its own; its dimension 0 is 1. Fails like
/// OutputValues::batch_item, and for batches of a type with less than a byte per element.
Result<Tensor> copy_batch_item(const Tensor& tensor, int64_t batch_index);

}  // namespace het
