#include "inference/decoders/output_values.h"

namespace het {
namespace {

Status expect_batch_item(const Tensor& tensor, int64_t batch_index) {
  const int64_t batch = tensor.rank() > 0 ? tensor.shape()[0] : 1;
  if (batch_index >= 0 && batch_index < batch) return {};
  return error(StatusCode::InvalidArgument, "cannot decode batch item {} of an output {}",
               batch_index, to_string(tensor.desc()));
}

}  // namespace

Status OutputValues::expect_host(const Tensor& tensor) {
  if (tensor.empty())
    return error(StatusCode::InvalidArgument, "cannot decode an output that was never computed");
  if (tensor.bytes() == nullptr)
    return error(StatusCode::NotSupported,
                 "cannot decode an output in {} memory; copy it to host memory first",
                 to_string(tensor.memory_kind()));
  return {};
}

Result<OutputValues> OutputValues::whole(const Tensor& tensor) {
  HET_TRY(expect_host(tensor));
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
  HET_TRY(expect_batch_item(tensor, batch_index));
  const int64_t batch = tensor.rank() > 0 ? tensor.shape()[0] : 1;
  const size_t item_size = values.size() / static_cast<size_t>(batch);
  values.keep(static_cast<size_t>(batch_index) * item_size, item_size);
  return values;
}

void OutputValues::keep(size_t first, size_t count) {
  if (!view_.empty()) {
    view_ = view_.subspan(first, count);
    return;
  }
  copy_.erase(copy_.begin(), copy_.begin() + static_cast<std::ptrdiff_t>(first));
  copy_.resize(count);
}

Result<Tensor> copy_batch_item(const Tensor& tensor, int64_t batch_index) {
  HET_TRY(OutputValues::expect_host(tensor));
  HET_TRY(expect_batch_item(tensor, batch_index));
  if (tensor.rank() == 0 || tensor.shape()[0] == 1) return tensor.clone();
  if (bit_width(tensor.type()) < 8)
    return error(StatusCode::NotSupported, "cannot take batch item {} out of packed values {}",
                 batch_index, to_string(tensor.desc()));
  TensorDesc desc = tensor.desc();
  desc.shape[0] = 1;
  const std::vector<int64_t>& strides = tensor.strides_bytes();
  HET_ASSIGN(
      const Tensor item,
      Tensor::view(desc, tensor.buffer(),
                   tensor.offset() + static_cast<size_t>(batch_index * strides[0]), strides));
  return item.clone();
}

}  // namespace het
