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

/// Where a model's external data may lie.
struct ModelFolder {
  std::string path;  ///< the folder by which the model was opened; empty: nowhere
  /// The folder in which the model's file itself is when `path` only has a link to it, as in
  /// Hugging Face's cache, where the data's link leads to the same folder. Else empty.
  std::string linked;
};

/// The folder of a model's file.
ModelFolder folder_of_model(const std::string& path);

/// The files beside a model that hold its external data. Each is mapped once. Only regular files
/// whose real path lies below the model's folder, or right in the one that its link leads to, are
/// opened: the names come from the model.
class ExternalFiles {
 public:
  explicit ExternalFiles(ModelFolder folder) : folder_(std::move(folder)) {}

  /// The real path of a file that may be opened.
  Result<std::string> find(std::string_view location) const;
  Result<std::shared_ptr<const MappedFile>> open(std::string_view location);
  /// Size of all files opened so far.
  size_t total_bytes() const { return total_bytes_; }

 private:
  ModelFolder folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files_;
  size_t total_bytes_ = 0;
};

}  // namespace het::onnx
