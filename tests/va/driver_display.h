#pragma once

#include <va/va.h>
#include <va/va_backend.h>

#include <cstdlib>
#include <cstring>

// Exported by libva for its window systems; declared in none of its installed headers.
extern "C" VADisplayContextP va_newDisplayContext();
extern "C" VADriverContextP va_newDriverContext(VADisplayContextP display);

namespace het::va_test {

inline constexpr char kDriverName[] = "het_test";

inline VAStatus driver_name(VADisplayContextP, char** name) {
  *name = strdup(kDriverName);
  return VA_STATUS_SUCCESS;
}

/// libva has changed how it asks for the driver's name: what this version has is set.
template <class Display>
void name_driver(Display& display) {
  if constexpr (requires { display.vaGetDriverName; }) display.vaGetDriverName = driver_name;
  if constexpr (requires { display.vaGetNumCandidates; }) {
    display.vaGetNumCandidates = [](VADisplayContextP, int* count) {
      *count = 1;
      return VAStatus{VA_STATUS_SUCCESS};
    };
  }
  if constexpr (requires { display.vaGetDriverNameByIndex; }) {
    display.vaGetDriverNameByIndex = [](VADisplayContextP context, char** name, int) {
      return driver_name(context, name);
    };
  }
  if constexpr (requires { display.vaGetDriverNames; }) {
    display.vaGetDriverNames = [](VADisplayContextP context, char** names, unsigned* count) {
      *count = 1;
      return driver_name(context, names);
    };
  }
}

/// A display that loads the test driver, not yet initialised; vaTerminate() frees it.
inline VADisplay new_display() {
  VADisplayContextP context = va_newDisplayContext();
  context->vaIsValid = [](VADisplayContextP) { return 1; };
  context->vaDestroy = [](VADisplayContextP self) {
    std::free(self->pDriverContext->drm_state);
    std::free(self->pDriverContext);
    std::free(self);
  };
  name_driver(*context);
  VADriverContextP driver = va_newDriverContext(context);
  driver->display_type = VA_DISPLAY_DRM;
  return context;
}

}  // namespace het::va_test
