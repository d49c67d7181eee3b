#include "inference/base/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <filesystem>

namespace het {
namespace {

using TableFunction = const void* (*)(uint32_t host_version);

/// How every table starts.
struct TableHead {
  uint32_t version;
  uint32_t struct_size;
};

}  // namespace

Result<std::unique_ptr<SharedLibrary>> SharedLibrary::open(const std::string& path,
                                                           std::string_view what,
                                                           std::string_view given_in) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return error(StatusCode::NotFound,
                 "{} '{}' does not exist or is no file; give the path of a shared library in {}",
                 what, path, given_in);
  }
  // A name without a slash would be looked for in the system's folders.
  const std::string exact = std::filesystem::absolute(path).string();
  void* handle = dlopen(exact.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return error(StatusCode::InvalidArgument, "cannot load {} '{}': {}", what, path,
                 reason != nullptr ? reason : "no reason given");
  }
  return std::unique_ptr<SharedLibrary>(
      new SharedLibrary(handle, fmt::format("{} '{}'", what, path)));
}

SharedLibrary::~SharedLibrary() {
  dlclose(handle_);
}

Result<const void*> SharedLibrary::table(const char* symbol, uint32_t host_version,
                                         std::string_view header) const {
  const auto function = reinterpret_cast<TableFunction>(dlsym(handle_, symbol));
  if (function == nullptr) {
    return error(StatusCode::InvalidArgument, "{} has no symbol '{}'; export it as {} says", title_,
                 symbol, header);
  }
  const void* table = nullptr;
  try {
    table = function(host_version);
  } catch (const std::exception& failure) {
    return error(StatusCode::Internal, "{}: {} threw an exception: {}", title_, symbol,
                 failure.what());
  } catch (...) {
    return error(StatusCode::Internal, "{}: {} threw an exception", title_, symbol);
  }
  if (table == nullptr) {
    return error(
        StatusCode::NotSupported,
        "{} cannot serve version {} of the interface; build it again with this version's {}",
        title_, host_version, header);
  }
  const uint32_t version = static_cast<const TableHead*>(table)->version;
  if (version == 0 || version > host_version) {
    return error(StatusCode::NotSupported,
                 "{} is built for version {} of the interface, this is version {}", title_, version,
                 host_version);
  }
  return table;
}

}  // namespace het
