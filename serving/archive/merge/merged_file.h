#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "inference/base/status.h"

namespace het::archive {

enum class ParquetRows { Objects, Frames };

/// Where merged lines go. Nothing is at its place before keep(). Thread-bound.
class MergedFile {
 public:
  virtual ~MergedFile() = default;
  /// The lines behind this are of that video.
  virtual Status begin_video(const std::string& name) = 0;
  /// A line without its end.
  virtual Status write(std::string_view line) = 0;
  virtual Status keep() = 0;
};

/// By the end of its name: .jsonl, .json-lines or .ndjson are lines as they are, .parquet is
/// written by Python. Fails with InvalidArgument for others, with NotFound where it cannot be made.
Result<std::unique_ptr<MergedFile>> create_merged_file(const std::string& path, ParquetRows rows);

Result<std::unique_ptr<MergedFile>> create_json_lines_file(const std::string& path);
Result<std::unique_ptr<MergedFile>> create_parquet_file(const std::string& path, ParquetRows rows);

}  // namespace het::archive
