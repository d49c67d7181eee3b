#include "inference/base/status.h"

namespace het {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::Ok:
      return "ok";
    case StatusCode::InvalidArgument:
      return "invalid argument";
    case StatusCode::NotFound:
      return "not found";
    case StatusCode::NotSupported:
      return "not supported";
    case StatusCode::ParseError:
      return "parse error";
    case StatusCode::ShapeMismatch:
      return "shape mismatch";
    case StatusCode::Busy:
      return "busy";
    case StatusCode::Cancelled:
      return "cancelled";
    case StatusCode::TimedOut:
      return "timed out";
    case StatusCode::DeviceLost:
      return "device lost";
    case StatusCode::OutOfMemory:
      return "out of memory";
    case StatusCode::Internal:
      return "internal error";
  }
  return "unknown";
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, fmt::format("{}: {}", context, message_));
}

}  // namespace het
