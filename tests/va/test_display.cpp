#include "tests/va/test_display.h"

#include <dlfcn.h>
#include <va/va_backend.h>

#include <cstdlib>
#include <cstring>

// Exported by libva for its window systems; declared in none of its installed headers.
extern "C" VADisplayContextP va_newDisplayContext();
extern "C" VADriverContextP va_newDriverContext(VADisplayContextP display);

namespace het::va_test {
namespace {

constexpr char kDriverName[] = "het_test";

VAStatus driver_name(VADisplayContextP, char** name) {
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

}  // namespace

TestDisplay::TestDisplay() {
  const char* folder = std::getenv("HET_VA_DRIVER_FOLDER");
  if (folder == nullptr) {
    problem_ = "HET_VA_DRIVER_FOLDER does not name the folder of the test driver";
    return;
  }
  setenv("LIBVA_DRIVERS_PATH", folder, 1);
  setenv("LIBVA_DRIVER_NAME", kDriverName, 1);
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
  display_ = context;
  vaSetInfoCallback(display_, nullptr, nullptr);
  int major = 0;
  int minor = 0;
  const VAStatus status = vaInitialize(display_, &major, &minor);
  const std::string path = std::string(folder) + "/" + kDriverName + "_drv_video.so";
  driver_ = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto state_of =
      driver_ == nullptr
          ? nullptr
          : reinterpret_cast<DriverStateFunction>(dlsym(driver_, kDriverStateSymbol));
  if (status != VA_STATUS_SUCCESS || state_of == nullptr) {
    problem_ = std::string("libva does not load ") + path + ": " + vaErrorStr(status);
    return;
  }
  state_ = state_of();
}

TestDisplay::~TestDisplay() {
  if (state_ != nullptr) {
    state_->faults.no_derive = state_->faults.no_map = state_->faults.no_processor = false;
    state_->faults.lost = state_->faults.defer = false;
    state_->faults.slow_ms = 0;
  }
  if (display_ != nullptr) vaTerminate(display_);
  if (driver_ != nullptr) dlclose(driver_);
}

MappedSurface::MappedSurface(VADisplay display, VASurfaceID surface) : display_(display) {
  if (vaDeriveImage(display_, surface, &image_) != VA_STATUS_SUCCESS) return;
  void* address = nullptr;
  if (vaMapBuffer(display_, image_.buf, &address) == VA_STATUS_SUCCESS) {
    address_ = static_cast<uint8_t*>(address);
  }
}

MappedSurface::~MappedSurface() {
  if (address_ != nullptr) vaUnmapBuffer(display_, image_.buf);
  if (image_.num_planes > 0) vaDestroyImage(display_, image_.image_id);
}

}  // namespace het::va_test
