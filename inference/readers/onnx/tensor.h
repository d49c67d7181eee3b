#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "inference/readers/onnx/external_file.h"
#include "inference/readers/onnx/limits.h"
#include "inference/readers/onnx/parsed_model.h"
#include "inference/tensors/tensor.h"

namespace het::onnx {

/// Turns TensorProtos of one model into tensors: raw bytes, typed fields and external data. Raw
/// bytes that are aligned to their element are referenced, not copied.
class TensorReader {
 public:
  /// `owner` keeps the model's bytes alive for tensors that refer to them; null: always copy.
  TensorReader(std::shared_ptr<const void> owner, size_t model_bytes, ModelFolder folder)
      : owner_(std::move(owner)),
        files_(std::move(folder)),
        allowed_bytes_(kUnpackFactor * model_bytes) {}

  /// Fails with NotSupported for strings and the like, with ParseError when shape and content do
  /// not fit, with OutOfMemory when a limit is exceeded. The message names the tensor.
  Result<Tensor> read(const ParsedTensor& tensor);

 private:
  Result<Tensor> read_content(const ParsedTensor& tensor);
  Result<Tensor> read_external(const ParsedTensor& tensor, const TensorDesc& desc);
  Result<Tensor> read_sparse(const ParsedTensor& tensor, const TensorDesc& desc);
  Result<Tensor> unpack(const ParsedTensor& tensor, const TensorDesc& desc);
  Result<Tensor> reference_or_copy(const TensorDesc& desc, std::span<const std::byte> bytes,
                                   const std::shared_ptr<const void>& owner);
  Status charge(size_t bytes);

  std::shared_ptr<const void> owner_;
  ExternalFiles files_;
  size_t charged_bytes_ = 0;  ///< unpacked and copied so far
  size_t allowed_bytes_;      ///< what the sizes of the files justify
};

}  // namespace het::onnx
