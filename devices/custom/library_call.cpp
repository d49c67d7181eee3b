#include "devices/custom/library_call.h"

#include <new>
#include <ostream>

namespace het::custom {
namespace {

/// What the library calls must not throw into it: it may be C.
template <class Body>
void without_exceptions(const Body& body) {
  try {
    body();
  } catch (const std::exception&) {
    // No memory for the text: the call goes on without.
  }
}

std::string copy_of(const char* text) {
  return text != nullptr ? text : "";
}

}  // namespace

StatusCode status_code(int32_t code) {
  switch (code) {
    case HET_CODE_OK:
      return StatusCode::Ok;
    case HET_CODE_INVALID_ARGUMENT:
      return StatusCode::InvalidArgument;
    case HET_CODE_NOT_FOUND:
      return StatusCode::NotFound;
    case HET_CODE_NOT_SUPPORTED:
      return StatusCode::NotSupported;
    case HET_CODE_PARSE_ERROR:
      return StatusCode::ParseError;
    case HET_CODE_CANCELLED:
      return StatusCode::Cancelled;
    case HET_CODE_TIMED_OUT:
      return StatusCode::TimedOut;
    case HET_CODE_DEVICE_LOST:
      return StatusCode::DeviceLost;
    case HET_CODE_OUT_OF_MEMORY:
      return StatusCode::OutOfMemory;
    default:
      return StatusCode::Internal;
  }
}

HetDeviceSink LibraryCall::view() {
  HetDeviceSink sink{};
  sink.struct_size = sizeof(HetDeviceSink);
  sink.context = this;
  sink.set_error = [](void* self, const char* message) {
    without_exceptions([&] { static_cast<LibraryCall*>(self)->message_ = copy_of(message); });
  };
  sink.set_text = [](void* self, const char* value) {
    without_exceptions([&] { static_cast<LibraryCall*>(self)->text = copy_of(value); });
  };
  sink.answer_node = [](void* self, uint32_t index, const char* reason) {
    without_exceptions([&] {
      auto& all = static_cast<LibraryCall*>(self)->answers;
      if (index >= all.size()) return;
      all[index] = copy_of(reason);
      // A refusal without a reason is one all the same.
      if (reason != nullptr && *reason == '\0') all[index] = "the library gives no reason";
    });
  };
  sink.write = [](void* self, const void* bytes, uint64_t size_bytes) -> int32_t {
    std::ostream* const target = static_cast<LibraryCall*>(self)->stream;
    if (target == nullptr || (bytes == nullptr && size_bytes > 0)) return -1;
    bool is_written = false;
    without_exceptions([&] {
      target->write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size_bytes));
      is_written = target->good();
    });
    return is_written ? 0 : -1;
  };
  sink.add_profile = [](void* self, const char* node, const char* type, const char* implementation,
                        int64_t microseconds) {
    without_exceptions([&] {
      ProfileRow row;
      row.node_name = copy_of(node);
      row.status = ProfileStatus::Executed;
      row.layer_type = copy_of(type);
      row.exec_type = copy_of(implementation);
      row.real_us = microseconds;
      static_cast<LibraryCall*>(self)->rows.push_back(std::move(row));
    });
  };
  return sink;
}

Status LibraryCall::threw(std::string_view what) const {
  return error(StatusCode::Internal, "{}: {} threw an exception: {}", device_, function_, what);
}

Status LibraryCall::outcome(int32_t code) const {
  if (code == HET_CODE_OK) return {};
  return error(status_code(code), "{}: {} failed with code {}: {}", device_, function_, code,
               message_.empty() ? "the library gives no reason" : message_.c_str());
}

}  // namespace het::custom
