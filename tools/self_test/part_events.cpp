#include "tools/self_test/part_events.h"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace het::self_test {

void PartEvents::begin(const std::string& what) {
  write_line({{"begin", what}});
}

void PartEvents::result(const nlohmann::json& result) {
  write_line({{"result", result}});
}

void PartEvents::end() {
  write_line({{"end", true}});
}

void PartEvents::write_line(const nlohmann::json& line) {
  // Drivers give texts in any encoding.
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    // Without a reader nobody wants to know.
    if (count <= 0) _exit(1);
    done += static_cast<size_t>(count);
  }
}

}  // namespace het::self_test
