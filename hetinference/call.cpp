#include "hetinference/call.h"

#include <cstdlib>
#include <cstring>

#include "inference/base/version.h"

namespace het::c_interface {
namespace {

thread_local std::string last_error;

}  // namespace

HetStatus status_number(StatusCode code) {
  static_assert(static_cast<int>(StatusCode::Ok) == HET_OK);
  static_assert(static_cast<int>(StatusCode::Busy) == HET_BUSY);
  static_assert(static_cast<int>(StatusCode::Internal) == HET_INTERNAL);
  return static_cast<HetStatus>(code);
}

HetStatus keep_status(const Status& status) noexcept {
  try {
    last_error = status.message();
    if (last_error.empty()) last_error = to_string(status.code());
  } catch (...) {
    last_error.clear();
  }
  return status_number(status.code());
}

Result<char*> new_text(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) return error(StatusCode::OutOfMemory, "no memory for {} characters", text.size());
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace het::c_interface

uint32_t het_c_version(void) {
  return HET_C_VERSION;
}

const char* het_version(void) {
  return het::version().data();
}

const char* het_status_name(HetStatus status) {
  static constexpr const char* kNames[] = {
      "OK",   "INVALID_ARGUMENT", "NOT_FOUND", "NOT_SUPPORTED", "PARSE_ERROR",   "SHAPE_MISMATCH",
      "BUSY", "CANCELLED",        "TIMED_OUT", "DEVICE_LOST",   "OUT_OF_MEMORY", "INTERNAL"};
  const auto index = static_cast<size_t>(status);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN";
}

const char* het_last_error(void) {
  return het::c_interface::last_error.c_str();
}

void het_text_free(char* text) {
  std::free(text);
}
