#pragma once

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "inference/base/status.h"
#include "sink.h"

namespace het::gst {

/// How messages follow each other.
enum class MessageFileFormat { Json, JsonLines };

/// Writes JSON messages to a file (replacing its content), a FIFO or standard output: as one array
/// or one message per line. Thread-compatible.
class MessageFile final : public MessageSink {
 public:
  /// Empty path: standard output. Fails with NotFound when the file cannot be opened.
  static Result<std::unique_ptr<MessageFile>> open(const std::string& path,
                                                   MessageFileFormat format);
  ~MessageFile() override { MessageFile::close(); }
  MessageFile(const MessageFile&) = delete;
  MessageFile& operator=(const MessageFile&) = delete;

  /// Readers see the message when this returns. Fails with Internal (disk full ...).
  Status write(const std::string& message) override;
  MessageCounts counts() const override { return {written_, written_, 0, 0}; }
  /// Ends the array.
  MessageCounts close() override;

 private:
  MessageFile(std::string path, MessageFileFormat format, std::FILE* file)
      : path_(std::move(path)), format_(format), file_(file) {}

  std::string path_;
  MessageFileFormat format_;
  std::FILE* file_;
  bool empty_ = true;
  std::atomic<uint64_t> written_ = 0;
};

}  // namespace het::gst
