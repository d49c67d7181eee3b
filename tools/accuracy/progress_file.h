#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// What the results of a run depend on, by names that a user knows: model, device, dataset ...
using RunIdentity = std::map<std::string, std::string>;

/// Results of pictures, per column of the table.
using PictureResults = std::vector<std::vector<std::optional<Found>>>;

/// The file from which an interrupted run goes on: what was found on the pictures that are done.
/// Written anew as a whole, and in place when it is complete. Thread-bound.
class ProgressFile {
 public:
  /// The file need not be there. An empty path: nothing is kept.
  ProgressFile(std::string path, RunIdentity identity)
      : path_(std::move(path)), identity_(std::move(identity)) {}

  bool is_kept() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  /// Fills in what the file has, by the ids of pictures; others stay empty. Fails where it is of
  /// another run, and says what differs, or broken.
  Status load(const Dataset& dataset, PictureResults& results) const;
  Status save(const Dataset& dataset, const PictureResults& results) const;
  /// Of a run that is complete.
  void remove() const;

 private:
  std::string path_;
  RunIdentity identity_;
};

/// Sixteen hexadecimal digits that tell contents apart: FNV-1a. The second is that of a file and
/// of those beside it that hold the weights of a model (.bin of an IR, external data of ONNX); it
/// is "none" for an empty path and for a file that cannot be read.
std::string content_hash(std::string_view content);
std::string file_hash(const std::string& path);

}  // namespace het
