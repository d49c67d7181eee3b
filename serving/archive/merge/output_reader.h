#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "inference/base/status.h"
#include "serving/archive/records/sha256.h"
#include "serving/archive/records/shard_note.h"

namespace het::archive {

/// Reads the output of a shard line by line, and tells whether it was what its note says.
/// Thread-compatible.
class OutputReader {
 public:
  /// Fails with NotFound.
  static Result<OutputReader> open(const std::string& path);

  /// The next line without its end; false behind the last one.
  bool next(std::string& line);
  /// The number of the line that next() gave last, from 1.
  uint64_t number() const { return number_; }
  /// Of a reader that is behind the last line. Fails with NotFound where reading has failed, with
  /// ParseError where the content is another one, and says what to do.
  Status check(const ShardNote& note);

 private:
  explicit OutputReader(std::string path)
      : path_(std::move(path)), file_(path_, std::ios::binary) {}

  std::string path_;
  std::ifstream file_;
  Sha256 sum_;
  uint64_t number_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace het::archive
