#include "optional_library.h"

#include <dlfcn.h>

#include "inference/base/log.h"

namespace het::gst {

OptionalLibrary::OptionalLibrary(const char* name) : handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
  if (!handle_) log(LogLevel::Debug, "{} is not used: {}", name, dlerror());
}

void* OptionalLibrary::symbol(const char* name) const {
  if (!handle_) return nullptr;
  void* const address = dlsym(handle_, name);
  if (!address) log(LogLevel::Debug, "a library is not used: {}", dlerror());
  return address;
}

}  // namespace het::gst
