#include "serving/launch/supervise/pipe_lines.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace het::serving {

void take_lines(OwnedFd& fd, LineBuffer& lines, const LineBuffer::Take& take) {
  std::array<char, size_t{64} << 10> bytes;
  while (fd.is_open()) {
    const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
    if (count > 0) {
      lines.append({bytes.data(), static_cast<size_t>(count)}, take);
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else {
      lines.finish(take);
      fd.reset();
    }
  }
}

}  // namespace het::serving
