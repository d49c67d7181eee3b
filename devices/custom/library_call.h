#pragma once

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/custom_device.h"
#include "inference/devices/profiling.h"

namespace het::custom {

/// What a code of the interface means here; Internal for one that it does not have.
StatusCode status_code(int32_t code);

/// One call of a function of a library, and what the function says through its HetDeviceSink.
/// Thread-bound.
class LibraryCall {
 public:
  /// "NPU", "compile_model()", for messages.
  LibraryCall(std::string_view device, std::string_view function)
      : device_(device), function_(function) {}

  /// Calls body(sink). Libraries may be C++ and throw. The error has the library's reason.
  template <class Body>
  Status run(const Body& body) {
    int32_t code = HET_CODE_INTERNAL;
    const HetDeviceSink sink = view();
    try {
      code = body(&sink);
    } catch (const std::exception& failure) {
      return threw(failure.what());
    } catch (...) {
      return threw("of a type of its own");
    }
    return outcome(code);
  }

  /// Of set_text().
  std::string text;
  /// Of answer_node(): a reason per node that was refused, an empty one where it was taken. Sized
  /// by the caller.
  std::vector<std::optional<std::string>> answers;
  /// Of write(); null: nothing is written.
  std::ostream* stream = nullptr;
  /// Of add_profile().
  std::vector<ProfileRow> rows;

 private:
  HetDeviceSink view();
  Status threw(std::string_view what) const;
  Status outcome(int32_t code) const;

  std::string_view device_;
  std::string_view function_;
  std::string message_;
};

}  // namespace het::custom
