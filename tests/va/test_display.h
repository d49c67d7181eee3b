#pragma once

#include <va/va.h>

#include <string>

#include "tests/va/driver_state.h"

namespace het::va_test {

/// A VADisplay on the test driver, without X and without a device. The driver's faults are cleared
/// with the object.
class TestDisplay {
 public:
  TestDisplay();
  ~TestDisplay();
  TestDisplay(const TestDisplay&) = delete;
  TestDisplay& operator=(const TestDisplay&) = delete;

  /// Empty, or why there is no display.
  const std::string& problem() const { return problem_; }
  VADisplay get() const { return display_; }
  DriverCounters& counters() const { return state_->counters; }
  DriverFaults& faults() const { return state_->faults; }

 private:
  std::string problem_;
  VADisplay display_ = nullptr;
  void* driver_ = nullptr;
  DriverState* state_ = nullptr;
};

/// The address of a surface's memory while it is derived and mapped; writes what tests want to see.
class MappedSurface {
 public:
  MappedSurface(VADisplay display, VASurfaceID surface);
  ~MappedSurface();
  MappedSurface(const MappedSurface&) = delete;
  MappedSurface& operator=(const MappedSurface&) = delete;

  bool ok() const { return address_ != nullptr; }
  uint8_t* row(int plane, int y) const {
    return address_ + image_.offsets[plane] + static_cast<size_t>(y) * image_.pitches[plane];
  }

 private:
  VADisplay display_;
  VAImage image_{};
  uint8_t* address_ = nullptr;
};

}  // namespace het::va_test
