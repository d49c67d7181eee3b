#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "inference/base/new_file.h"
#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Writes a file of Chrome's trace events, for ui.perfetto.dev and chrome://tracing: processes with
/// threads with bars, which within a thread are one after the other or inside each other.
class HET_API ChromeTrace {
 public:
  struct Argument {
    std::string_view name;
    std::variant<int64_t, std::string_view> value;
  };

  /// Errors show in close().
  explicit ChromeTrace(const std::string& path);
  void name_process(int64_t process, std::string_view name);
  void name_thread(int64_t process, int64_t thread, std::string_view name);
  /// Times in us.
  void bar(std::string_view name, std::string_view category, int64_t process, int64_t thread,
           double start_us, double duration_us, std::initializer_list<Argument> arguments);
  /// Puts the complete file in place. Fails with InvalidArgument, and leaves an older
  /// one, when it could not be written.
  Status close();

 private:
  void begin_event();

  void write(std::string_view text);

  Result<NewFile> file_;
  bool is_first_ = true;
};

}  // namespace het
