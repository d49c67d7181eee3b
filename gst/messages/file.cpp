#include "file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "gst/measuring/pipe_errors.h"

namespace het::gst {
Result<std::unique_ptr<MessageFile>> MessageFile::open(const std::string& path,
                                                       MessageFileFormat format) {
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "we");
  if (!file) {
    return error(StatusCode::NotFound,
                 "cannot write messages to '{}': {}; set file-path to a file in an existing, "
                 "writable folder",
                 path, std::strerror(errno));
  }
  return std::unique_ptr<MessageFile>(new MessageFile(path, format, file));
}

MessageCounts MessageFile::close() {
  std::FILE* const file = std::exchange(file_, nullptr);
  if (!file) return counts();
  const PipeErrors pipe_errors;
  if (format_ == MessageFileFormat::Json) std::fputs(empty_ ? "[]\n" : "]\n", file);
  std::fflush(file);
  if (file != stdout) std::fclose(file);
  return counts();
}

Status MessageFile::write(const std::string& message) {
  const PipeErrors pipe_errors;
  const bool lines = format_ == MessageFileFormat::JsonLines;
  const char* before = lines ? "" : empty_ ? "[" : ",\n";
  empty_ = false;
  std::fputs(before, file_);
  std::fwrite(message.data(), 1, message.size(), file_);
  if (lines) std::fputc('\n', file_);
  if (std::fflush(file_) != 0 || std::ferror(file_)) {
    return error(StatusCode::Internal, "cannot write to '{}': {}",
                 path_.empty() ? "standard output" : path_, std::strerror(errno));
  }
  ++written_;
  return {};
}

}  // namespace het::gst
