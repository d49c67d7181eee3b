#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "inference/base/status.h"

namespace het {

/// A user's shared library, open as long as the object lives. Thread-safe.
class SharedLibrary {
 public:
  /// Opens the file. `what` names the kind of library in messages, `given_in` where its path came
  /// from. Fails with NotFound when it does not exist, InvalidArgument with the loader's reason.
  static Result<std::unique_ptr<SharedLibrary>> open(const std::string& path, std::string_view what,
                                                     std::string_view given_in);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// Calls the function `symbol`, which returns the library's table for `host_version` of the
  /// interface that `header` describes. The table is not null, starts with a version between 1 and
  /// `host_version`, then its size in bytes. Errors say what is missing.
  Result<const void*> table(const char* symbol, uint32_t host_version,
                            std::string_view header) const;

  /// "custom decoder library 'path'", for messages.
  const std::string& title() const { return title_; }

 private:
  SharedLibrary(void* handle, std::string title) : handle_(handle), title_(std::move(title)) {}

  void* handle_;
  std::string title_;
};

}  // namespace het
