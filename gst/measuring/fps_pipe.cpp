#include "fps_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pipe_errors.h"

namespace het::gst {
namespace {

/// gvafpscounter's: below what a FIFO keeps together.
constexpr size_t kFrameMessageBytes = 64;
constexpr int kReaderPollMs = 20;
/// What a foreign writer can make this process remember.
constexpr size_t kMostPipeStreams = 1024;

Status make_fifo(const std::string& path) {
  if (mkfifo(path.c_str(), 0666) != 0 && errno != EEXIST) {
    return error(StatusCode::NotFound,
                 "cannot make the FIFO '{}': {}; give a path in an existing, writable folder", path,
                 std::strerror(errno));
  }
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0 || !S_ISFIFO(found.st_mode)) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is no FIFO; give the path of a FIFO, or one where nothing is", path);
  }
  return {};
}

Result<int> make_event() {
  const int handle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (handle < 0)
    return error(StatusCode::OutOfMemory, "eventfd() fails: {}", std::strerror(errno));
  return handle;
}

void raise_event(const FpsHandle& event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event.number(), &one, sizeof one);
}

/// True when `event` has been raised within the time; `pipe`, if any, ends the wait as well.
bool raised(const FpsHandle& event, int pipe, int16_t wanted, int timeout_ms) {
  pollfd handles[] = {{event.number(), POLLIN, 0}, {pipe, wanted, 0}};
  poll(handles, pipe < 0 ? 1 : 2, timeout_ms);
  return handles[0].revents != 0;
}

}  // namespace

void FpsHandle::reset(int number) {
  if (number_ >= 0) close(number_);
  number_ = number;
}

Result<std::unique_ptr<FpsPipeWriter>> FpsPipeWriter::create(const std::string& path,
                                                             const std::string& stream) {
  HET_TRY(make_fifo(path));
  const std::string process = fmt::format("_{}", getpid());
  std::string message = stream.substr(0, kFrameMessageBytes - 1 - process.size()) + process;
  message.resize(kFrameMessageBytes, '\0');
  std::unique_ptr<FpsPipeWriter> writer(new FpsPipeWriter(path, std::move(message)));
  HET_ASSIGN(const int event, make_event());
  writer->interrupted_.reset(event);
  return writer;
}

void FpsPipeWriter::interrupt() {
  raise_event(interrupted_);
}

void FpsPipeWriter::resume() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = read(interrupted_.number(), &count, sizeof count);
}

Status FpsPipeWriter::open_pipe() {
  while (true) {
    pipe_.reset(open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (pipe_.is_open()) return {};
    // The reader that was there has taken the FIFO away.
    if (errno == ENOENT) HET_TRY(make_fifo(path_));
    if (errno != ENXIO && errno != ENOENT && errno != EINTR) {
      return error(StatusCode::NotFound, "cannot write to the FIFO '{}': {}", path_,
                   std::strerror(errno));
    }
    // Nobody reads it yet, and no call tells when somebody will.
    if (raised(interrupted_, -1, 0, kReaderPollMs))
      return error(StatusCode::Cancelled, "nobody reads the FIFO '{}'", path_);
  }
}

Status FpsPipeWriter::frame() {
  const PipeErrors pipe_errors;
  while (true) {
    if (raised(interrupted_, -1, 0, 0))
      return error(StatusCode::Cancelled, "writing to the FIFO '{}' was interrupted", path_);
    if (!pipe_.is_open()) HET_TRY(open_pipe());
    if (write(pipe_.number(), message_.data(), message_.size()) > 0) return {};
    if (errno == EAGAIN) {
      raised(interrupted_, pipe_.number(), POLLOUT, -1);
    } else if (errno != EINTR) {
      return error(StatusCode::NotFound,
                   "nobody reads the FIFO '{}' any more ({}): frames are not counted from here on",
                   path_, std::strerror(errno));
    }
  }
}

Result<std::unique_ptr<FpsPipeReader>> FpsPipeReader::create(const std::string& path,
                                                             Listener listener) {
  HET_TRY(make_fifo(path));
  std::unique_ptr<FpsPipeReader> reader(new FpsPipeReader(path, std::move(listener)));
  reader->pipe_.reset(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!reader->pipe_.is_open()) {
    return error(StatusCode::NotFound, "cannot read the FIFO '{}': {}", path, std::strerror(errno));
  }
  HET_ASSIGN(const int event, make_event());
  reader->stopped_.reset(event);
  reader->thread_ = std::thread([raw = reader.get()] { raw->read_all(); });
  return reader;
}

FpsPipeReader::~FpsPipeReader() {
  if (!thread_.joinable()) return;
  raise_event(stopped_);
  thread_.join();
  unlink(path_.c_str());
}

void FpsPipeReader::take(const std::string& message) {
  std::string stream = message.substr(0, message.find('\0'));
  for (char& letter : stream) {
    if (!std::isprint(static_cast<unsigned char>(letter))) letter = '?';
  }
  if (streams_.size() >= kMostPipeStreams && !streams_.contains(stream)) {
    if (!std::exchange(warned_, true)) {
      listener_.warn(error(StatusCode::InvalidArgument,
                           "the FIFO '{}' names more than {} streams: further ones do not count",
                           path_, kMostPipeStreams));
    }
    return;
  }
  streams_.insert(stream);
  listener_.frame(stream);
}

void FpsPipeReader::read_all() {
  std::string rest;
  while (true) {
    pollfd handles[] = {{stopped_.number(), POLLIN, 0}, {pipe_.number(), POLLIN, 0}};
    if (poll(handles, 2, -1) < 0 && errno != EINTR) return;
    if (handles[0].revents != 0) break;
    char bytes[64 * kFrameMessageBytes];
    const ssize_t count = read(pipe_.number(), bytes, sizeof bytes);
    if (count > 0) {
      rest.append(bytes, static_cast<size_t>(count));
      size_t begin = 0;
      for (; rest.size() - begin >= kFrameMessageBytes; begin += kFrameMessageBytes)
        take(rest.substr(begin, kFrameMessageBytes));
      rest.erase(0, begin);
    } else if (count == 0 && (handles[1].revents & POLLHUP) != 0) {
      break;
    }
  }
  listener_.end(streams_);
}

}  // namespace het::gst
