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

ChromeTrace::ChromeTrace(const std::string& path) : file_(NewFile::create(path)) {
  write("{\"traceEvents\":[");
}

void ChromeTrace::write(std::string_view text) {
  if (file_) file_->stream() << text;
}

void ChromeTrace::begin_event() {
  write(std::exchange(is_first_, false) ? "\n" : ",\n");
}

void ChromeTrace::name_process(int64_t process, std::string_view name) {
  begin_event();
  write(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", process,
                    quoted(name)));
}

void ChromeTrace::name_thread(int64_t process, int64_t thread, std::string_view name) {
  begin_event();
  write(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    process, thread, quoted(name)));
}

void ChromeTrace::bar(std::string_view name, std::string_view category, int64_t process,
                      int64_t thread, double start_us, double duration_us,
                      std::initializer_list<Argument> arguments) {
  begin_event();
  write(fmt::format(
      R"({{"name":{},"cat":{},"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{)",
      quoted(name), quoted(category), process, thread, start_us, duration_us));
  bool is_first = true;
  for (const Argument& argument : arguments) {
    const auto* number = std::get_if<int64_t>(&argument.value);
    write(std::exchange(is_first, false) ? "" : ",");
    write(quoted(argument.name));
    write(":");
    write(number != nullptr ? std::to_string(*number)
                            : quoted(std::get<std::string_view>(argument.value)));
  }
  write("}}");
}

Status ChromeTrace::close() {
  write("\n]}\n");
  const Status status = file_ ? file_->keep() : file_.error();
  return status.ok() ? status : Status(StatusCode::InvalidArgument, status.message());
}

}  // namespace het
