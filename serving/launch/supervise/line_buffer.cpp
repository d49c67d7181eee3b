#include "serving/launch/supervise/line_buffer.h"

#include <algorithm>

namespace het::serving {

void LineBuffer::append(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const size_t room = kMostBytes - rest_.size();
    const size_t count = std::min(std::min(end, bytes.size()), room);
    rest_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (!bytes.empty() && bytes.front() == '\n') {
      bytes.remove_prefix(1);
    } else if (rest_.size() < kMostBytes) {
      return;
    }
    take(rest_);
    rest_.clear();
  }
}

void LineBuffer::finish(const Take& take) {
  if (!rest_.empty()) take(rest_);
  rest_.clear();
}

}  // namespace het::serving
