#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "inference/base/status.h"

namespace het::archive {

/// SHA-256 of what comes in pieces. Thread-compatible.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void add(std::string_view bytes);
  /// A text with its length, so that no two lists of texts are the same.
  void add_text(std::string_view text);
  /// 64 hexadecimal digits. Nothing may be added afterwards.
  std::string digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_of(std::string_view bytes);

struct FileDigest {
  std::string sha256;
  uint64_t bytes = 0;
  uint64_t lines = 0;  ///< ends of lines
};
/// Reads the whole file. `is_stopped`, where it is given, is asked now and then. Fails with
/// NotFound, Cancelled.
Result<FileDigest> digest_file(const std::string& path,
                               const std::function<bool()>& is_stopped = nullptr);

}  // namespace het::archive
