#include "inference/decoders/output_values.h"

namespace het {

Result<OutputValues> OutputValues::whole(const Tensor& tensor) {
  if (tensor.empty())
    return error(StatusCode::InvalidArgument, "cannot decode an output that was never computed");
  if (tensor.bytes() == nullptr)
    return error(StatusCode::NotSupported,
                 "cannot decode an output in {} memory; copy it to host memory first",
                 to_string(tensor.memory_kind()));
  OutputValues values;
  if (tensor.type() == ElementType::Float32 && tensor.is_dense()) {
    values.view_ = tensor.values<float>();
  } else {
    HET_ASSIGN(values.copy_, to_float_vector(tensor));
  }
  return values;
}

Result<OutputValues> OutputValues::batch_item(const Tensor& tensor, int64_t batch_index) {
  HET_ASSIGN(OutputValues values, whole(tensor));
  const int64_t batch = tensor.rank() > 0 ? tensor.shape()[0] : 1;
  if (batch_index < 0 || batch_index >= batch)
    return error(StatusCode::InvalidArgument, "cannot decode batch item {} of an output {}",
                 batch_index, to_string(tensor.desc()));
  const size_t item_size = values.size() / static_cast<size_t>(batch);
  const size_t first = static_cast<size_t>(batch_index) * item_size;
  if (!values.view_.empty()) {
    values.view_ = values.view_.subspan(first, item_size);
  } else {
    values.copy_.erase(values.copy_.begin(),
                       values.copy_.begin() + static_cast<std::ptrdiff_t>(first));
    values.copy_.resize(item_size);
  }
  return values;
}

}  // namespace het
