#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "inference/base/visibility.h"

namespace het {

/// What kind of failure a Status reports. The message says the rest.
enum class StatusCode {
  Ok,
  InvalidArgument,  ///< a property, option, tensor or call that can never work
  NotFound,         ///< a file, name, device or port that does not exist
  NotSupported,     ///< valid input that this build, device or step does not handle
  ParseError,       ///< a malformed model, JSON, label or data file
  ShapeMismatch,    ///< tensor types or shapes that do not fit together
  Busy,             ///< the request is running; wait() for it first
  Cancelled,        ///< cancel() was called
  TimedOut,         ///< the time given to wait_for() is over
  DeviceLost,       ///< the device failed or disappeared; another one may do the work
  OutOfMemory,      ///< an allocation failed or a stated limit would be exceeded
  Internal,         ///< a third-party library failed unexpectedly
};

HET_API std::string_view to_string(StatusCode code);

/// Outcome of an operation without a value. Cheap when ok. Copyable, thread-compatible.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::Ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// The same failure with "context: " before its message; an ok Status stays ok.
  HET_API Status with_context(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::Ok;
  std::string message_;
};

/// A value or the Status that says why there is none.
template <class T>
using Result = tl::expected<T, Status>;

/// A failed Status on its way to a caller: converts to Status and to any Result<T>.
class [[nodiscard]] Failure {
 public:
  explicit Failure(Status status) : status_(std::move(status)) {}
  operator Status() && { return std::move(status_); }
  template <class T>
  operator tl::expected<T, Status>() && {
    return tl::expected<T, Status>(tl::unexpect, std::move(status_));
  }

 private:
  Status status_;
};

/// Makes a failure from a format string: `return error(StatusCode::NotFound, "no file '{}'", p);`
template <class... Args>
Failure error(StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Status(code, fmt::format(format, std::forward<Args>(args)...)));
}

namespace status_internal {
inline Status take(Status status) {
  return status;
}
template <class T>
Status take(Result<T>&& result) {
  return result ? Status() : std::move(result.error());
}
}  // namespace status_internal

}  // namespace het

#define HET_CONCAT_INNER(a, b) a##b
#define HET_CONCAT(a, b) HET_CONCAT_INNER(a, b)

/// Returns from the enclosing function when the Status or Result of `expression` is a failure.
#define HET_TRY(...)                                                                            \
  do {                                                                                          \
    if (::het::Status het_status = ::het::status_internal::take(__VA_ARGS__); !het_status.ok()) \
      return ::het::Failure(std::move(het_status));                                             \
  } while (false)

/// `HET_ASSIGN(auto model, read_model(path));` declares or assigns, or returns the failure.
#define HET_ASSIGN(lhs, ...) HET_ASSIGN_INNER(HET_CONCAT(het_result_, __LINE__), lhs, __VA_ARGS__)
#define HET_ASSIGN_INNER(result, lhs, ...)                       \
  auto result = (__VA_ARGS__);                                   \
  if (!result) return ::het::Failure(std::move(result.error())); \
  lhs = std::move(*result)
