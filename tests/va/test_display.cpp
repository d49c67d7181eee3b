#include "tests/va/test_display.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tests/va/driver_display.h"

namespace het::va_test {
TestDisplay::TestDisplay() {
  const char* folder = std::getenv("HET_VA_DRIVER_FOLDER");
  if (folder == nullptr) {
    problem_ = "HET_VA_DRIVER_FOLDER does not name the folder of the test driver";
    return;
  }
  setenv("LIBVA_DRIVERS_PATH", folder, 1);
  setenv("LIBVA_DRIVER_NAME", kDriverName, 1);
  display_ = new_display();
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
