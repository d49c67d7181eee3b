#include "inference/base/chrome_trace.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace het {
namespace {

/// As a JSON string; bytes that are no UTF-8 are replaced.
std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

ChromeTrace::ChromeTrace(std::string path) : path_(std::move(path)), file_(path_) {
  file_ << "{\"traceEvents\":[";
}

void ChromeTrace::begin_event() {
  file_ << (std::exchange(is_first_, false) ? "\n" : ",\n");
}

void ChromeTrace::name_process(int64_t process, std::string_view name) {
  begin_event();
  file_ << fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})",
                       process, quoted(name));
}

void ChromeTrace::name_thread(int64_t process, int64_t thread, std::string_view name) {
  begin_event();
  file_ << fmt::format(
      R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", process,
      thread, quoted(name));
}

void ChromeTrace::bar(std::string_view name, std::string_view category, int64_t process,
                      int64_t thread, double start_us, double duration_us,
                      std::initializer_list<Argument> arguments) {
  begin_event();
  file_ << fmt::format(
      R"({{"name":{},"cat":{},"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{)",
      quoted(name), quoted(category), process, thread, start_us, duration_us);
  bool is_first = true;
  for (const Argument& argument : arguments) {
    file_ << (std::exchange(is_first, false) ? "" : ",") << quoted(argument.name) << ":";
    if (const auto* number = std::get_if<int64_t>(&argument.value)) {
      file_ << *number;
    } else {
      file_ << quoted(std::get<std::string_view>(argument.value));
    }
  }
  file_ << "}}";
}

Status ChromeTrace::close() {
  file_ << "\n]}\n";
  file_.close();
  if (!file_) return error(StatusCode::InvalidArgument, "cannot write the trace '{}'", path_);
  return {};
}

}  // namespace het
