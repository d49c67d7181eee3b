#pragma once

#include <fstream>
#include <memory>
#include <ostream>
#include <string>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// A file that appears under its name when it is complete: written beside it, synced to the disk
/// and renamed, so that a failure, a full disk or a crash leaves the file that was there before. A
/// link stays one: what it points at is replaced. What is no regular file (a FIFO) or
/// open already (/dev/stdout) is written as it comes. Thread-bound.
class HET_API NewFile {
 public:
  /// Fails with NotFound when nothing can be written there: no such folder, a folder, no
  /// permission.
  static Result<NewFile> create(const std::string& path);
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) = delete;

  std::ostream& stream() { return *stream_; }
  /// Where the content is until keep(), for writers that open files themselves.
  const std::string& temporary() const { return temporary_; }
  /// Puts the complete file in place. Fails with Internal, and leaves the old one, when something
  /// could not be written.
  Status keep();

 private:
  NewFile(std::string path, std::string temporary);

  std::string path_;       ///< as the user gave it
  std::string target_;     ///< what is replaced
  std::string temporary_;  ///< empty when moved from
  std::unique_ptr<std::ofstream> stream_;
};

/// Writes all of a file.
HET_API Status write_new_file(const std::string& path, std::string_view content);

}  // namespace het
