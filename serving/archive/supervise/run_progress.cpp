#include "serving/archive/supervise/run_progress.h"

#include <fmt/format.h>

#include "serving/archive/supervise/time_text.h"

namespace het::archive {

std::string RunProgress::text() const {
  std::string text = fmt::format("{} of {} shards done", done, shards);
  if (worked > 0 && seconds > 0) {
    const double rate = static_cast<double>(worked) / seconds;
    text += fmt::format(", {:.1f} frames/s", rate);
    if (frames_per_s_of_video > 0) {
      text += fmt::format(" ({:.1f} x real time)", rate / frames_per_s_of_video);
    }
    if (done + given_up < shards) {
      text += fmt::format(", {} left", duration_text(static_cast<double>(frames_left) / rate));
    }
  }
  if (given_up > 0) text += fmt::format(", {} given up", given_up);
  return text;
}

}  // namespace het::archive
