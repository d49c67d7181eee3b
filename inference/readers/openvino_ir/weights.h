#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "inference/readers/mapped_file.h"
#include "inference/tensors/tensor.h"

namespace het::ir {

/// The .bin file of a model: constants are referenced in the mapped file where they are aligned,
/// copied otherwise. The file is opened with the first constant, so a model without any needs none.
/// Not thread-safe.
class Weights {
 public:
  /// `path` is the .bin beside the .xml.
  explicit Weights(std::string path) : path_(std::move(path)) {}
  /// Weights in memory that somebody keeps; they are copied. `name` names them in errors.
  Weights(std::span<const std::byte> bytes, std::string name)
      : path_(std::move(name)), bytes_(bytes), in_memory_(true) {}

  /// The constant of `element_type` ("f32", "i4", "u1" ...) at `offset`. `size` is what the file
  /// declares. u1 becomes uint8 values of 0 and 1. Fails with NotFound without a .bin, ParseError
  /// when type, shape, size and file contradict each other, NotSupported for strings and types
  /// without an equivalent.
  Result<Tensor> constant(std::string_view element_type, const Shape& shape, size_t offset,
                          size_t size);

 private:
  Status open();
  Status charge(size_t bytes);
  Result<Tensor> unpack_bits(std::span<const std::byte> part, const Shape& shape);

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  std::span<const std::byte> bytes_;
  bool in_memory_ = false;
  size_t copied_bytes_ = 0;
};

}  // namespace het::ir
