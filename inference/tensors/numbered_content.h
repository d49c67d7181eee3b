#pragma once

#include <atomic>
#include <cstdint>

namespace het {

/// Of a Buffer whose device keeps a copy of it: while the number of the content stays, the copy is
/// good. Who knows of all writes gives each content another number before it is written, and takes
/// it away before others may write. Thread-safe.
class NumberedContent {
 public:
  /// 0: not known.
  uint64_t content() const { return content_; }
  void begin_content() { content_ = ++last_; }
  void forget_content() { content_ = 0; }

 protected:
  ~NumberedContent() = default;

 private:
  std::atomic<uint64_t> content_ = 0;
  std::atomic<uint64_t> last_ = 0;
};

}  // namespace het
