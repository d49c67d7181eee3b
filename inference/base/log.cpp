#include "inference/base/log.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>

namespace het {
namespace {

struct Sink {
  std::mutex mutex;  ///< protects sink; taken alone
  std::shared_ptr<const LogSink> sink;
  std::atomic<LogLevel> level{LogLevel::Warning};
};

/// Never destroyed: threads may log until the process ends.
Sink& state() {
  static Sink* const sink = new Sink;
  return *sink;
}

}  // namespace

void set_log_sink(LogSink sink, LogLevel level) {
  Sink& s = state();
  std::lock_guard lock(s.mutex);
  s.sink = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  s.level = level;
}

bool log_enabled(LogLevel level) {
  return level <= state().level.load(std::memory_order_relaxed);
}

void log_message(LogLevel level, std::string_view message) {
  Sink& s = state();
  std::shared_ptr<const LogSink> sink;
  {
    std::lock_guard lock(s.mutex);
    sink = s.sink;
  }
  if (sink) {
    (*sink)(level, message);
  } else {
    static constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
    std::fprintf(stderr, "hetinference: %s: %.*s\n", kNames[static_cast<int>(level)],
                 static_cast<int>(message.size()), message.data());
  }
}

}  // namespace het
