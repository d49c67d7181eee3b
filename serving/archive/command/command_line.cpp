#include "serving/archive/command/command_line.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace het::archive {
namespace {

bool is_gst_launch(const std::string& word) {
  return word == "gst-launch-1.0" || word.ends_with("/gst-launch-1.0");
}

}  // namespace

std::optional<int> parse_command(CLI::App& app, int argc, char** argv,
                                 std::vector<std::string>* line) {
  // CLI11 would take what is behind -- for positional arguments.
  const auto end = std::find(argv + 1, argv + argc, std::string_view("--"));
  if (end != argv + argc && line) {
    line->assign(end + 1, argv + argc);
    if (!line->empty() && is_gst_launch(line->front())) line->erase(line->begin());
    if (line->empty()) {
      std::fprintf(stderr, "%s: behind -- there is no pipeline\n", app.get_name().c_str());
      return kExitUsage;
    }
  }
  if (end != argv + argc && !line) {
    std::fprintf(stderr, "%s takes nothing behind --\n", app.get_name().c_str());
    return kExitUsage;
  }
  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? kExitDone : kExitUsage;
  }
  return std::nullopt;
}

int report_failure(const CLI::App& app, const Status& failure) {
  std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), failure.message().c_str());
  return failure.code() == StatusCode::InvalidArgument ? kExitUsage : kExitFailed;
}

}  // namespace het::archive
