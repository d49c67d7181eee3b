#pragma once

#include <cstddef>
#include <ostream>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::onnx {

/// Writes TensorProtos: raw data in the message, or in a file beside the model.
class TensorWriter {
 public:
  /// Everything inline.
  TensorWriter() = default;
  /// Constants of `minimum_bytes` and more go to `file`, which lives longer and which the model
  /// knows as `location`; `path` is for messages.
  TensorWriter(std::ostream& file, std::string path, std::string location, size_t minimum_bytes);

  /// Adds the tensor's fields to an open TensorProto. `may_be_external` is false for attributes.
  Status write(protozero::pbf_writer& writer, const std::string& name, const Tensor& tensor,
               bool may_be_external);
  /// Flushes the file; fails when anything could not be written.
  Status finish();

 private:
  Status write_external(protozero::pbf_writer& writer, const Tensor& dense);

  std::string path_;
  std::string location_;
  size_t minimum_bytes_ = 0;
  std::ostream* file_ = nullptr;
  size_t offset_ = 0;
};

}  // namespace het::onnx
