#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>

#include "inference/base/visibility.h"

namespace het {

enum class LogLevel : uint8_t { Error, Warning, Info, Debug };

/// Receives every message at or below the level; called from any thread.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// Replaces the sink (default: warnings and errors to stderr). An embedder sets it once, early.
HET_API void set_log_sink(LogSink sink, LogLevel level);
HET_API bool log_enabled(LogLevel level);
HET_API void log_message(LogLevel level, std::string_view message);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace het
