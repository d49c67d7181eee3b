#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "hetinference/c.h"
#include "inference/base/status.h"

namespace het::c_interface {

/// The number that C users get for a failure; the order of both enumerations is the same.
HetStatus status_number(StatusCode code);
/// Keeps the text for het_last_error() of this thread; returns the number.
HetStatus keep_status(const Status& status) noexcept;
/// A copy for het_text_free().
Result<char*> new_text(std::string_view text);

/// Fails for a null argument, naming it.
inline Status not_null(const void* pointer, const char* name) {
  if (pointer) return {};
  return error(StatusCode::InvalidArgument, "{} is null", name);
}

/// Runs the body of a function of the interface: a Status, and no exception leaves it.
template <class Body>
HetStatus call(const char* function, Body&& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? HET_OK : keep_status(status.with_context(function));
  } catch (const std::bad_alloc&) {
    return keep_status(Status(StatusCode::OutOfMemory, ""));
  } catch (const std::exception& exception) {
    return keep_status(Status(StatusCode::Internal, exception.what()));
  } catch (...) {
    return keep_status(Status(StatusCode::Internal, ""));
  }
}

}  // namespace het::c_interface
