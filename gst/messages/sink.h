#pragma once

#include <cstdint>
#include <string>

#include "inference/base/status.h"

namespace het::gst {

/// What happened to the messages of a sink so far.
struct MessageCounts {
  uint64_t written = 0;    ///< given to write()
  uint64_t delivered = 0;  ///< written to the file, or confirmed as the quality of service says
  uint64_t dropped = 0;    ///< given up: the buffer was full, or the time to drain over
  uint64_t waiting = 0;    ///< neither yet
};

/// Where messages go: a file or a broker. write() is called by one thread, the rest by any.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  virtual Status write(const std::string& message) = 0;
  /// A write() that waits, and every later one, returns at once.
  virtual void interrupt() {}
  virtual MessageCounts counts() const = 0;
  /// Ends: what waits is sent, as long as that may take. The last call; the destructor makes it
  /// where nobody else has.
  virtual MessageCounts close() = 0;
};

}  // namespace het::gst
