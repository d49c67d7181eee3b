#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "inference/readers/mapped_file.h"

namespace het::onnx {

/// The files beside a model that hold its external data. Each is mapped once. Only regular files
/// whose real path lies below the model's folder are opened: the names come from the model.
class ExternalFiles {
 public:
  /// `folder` is the model's; empty: every access is refused.
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  Result<std::shared_ptr<const MappedFile>> open(std::string_view location);
  /// Size of all files opened so far.
  size_t total_bytes() const { return total_bytes_; }

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files_;
  size_t total_bytes_ = 0;
};

}  // namespace het::onnx
