#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/image.h"

namespace het {

/// Something that a driver offers, and what trying it showed.
struct FeatureTrial {
  enum class Outcome : uint8_t { NotThere, NotTried, Works, Fails };
  std::string name;
  Outcome outcome = Outcome::NotTried;
  std::string detail;  ///< why it fails, or was not tried; a remark
};

/// A file that names a driver's library to a loader.
struct DriverFile {
  std::string file;     ///< without its folder
  std::string library;  ///< what it names
  std::string problem;  ///< why the library does not load; empty when it does
};

/// A device as its driver describes it, whether or not it counts as one of ours.
struct ListedDevice {
  std::string platform;
  std::string platform_version;
  std::string name;
  std::string vendor;
  std::string driver;
  std::string version;
  std::string type;       ///< "GPU", "CPU", "accelerator"
  std::string is;         ///< "GPU.1" where it counts as that device; else empty
  bool available = true;  ///< ready, and has a compiler
  bool unified_memory = false;
  uint64_t memory_bytes = 0;
  uint64_t largest_allocation_bytes = 0;
  uint64_t local_memory_bytes = 0;
  uint64_t compute_units = 0;
  uint64_t largest_group = 0;
  uint64_t float_width = 0;
};

struct DeviceListing {
  std::vector<ListedDevice> devices;
  std::vector<DriverFile> drivers;
  std::string problem;  ///< why there is no device that counts, and what to do; empty when there is
};

/// What a device can do at best; 0 for what was not measured.
struct DeviceLimits {
  /// 1e9 multiply-adds a second by type: f32 first, then what else is fast.
  std::vector<std::pair<std::string, double>> multiply_adds;
  double copy_gbytes = 0.0;  ///< 1e9 bytes a second, read and written together
  double read_gbytes = 0.0;
  double to_device_gbytes = 0.0;
  double from_device_gbytes = 0.0;
  double launch_us = 0.0;           ///< of an empty command in a row of many
  double launch_and_wait_us = 0.0;  ///< of an empty command and the wait for it
};

/// What a display of a video driver can do, with pictures to try it on: all show the same.
struct DisplayTrial {
  std::string node;  ///< "renderD128"
  std::string driver;
  std::string version;
  std::string problem;  ///< why it could not be opened; empty when it could
  std::vector<FeatureTrial> features;
  void* display = nullptr;
  std::optional<Image> host;     ///< the picture in host memory
  std::optional<Image> surface;  ///< and in a surface
  std::optional<Image> dma_buf;  ///< and in a surface that was exported
  std::shared_ptr<void> keep;    ///< closes the display when it goes, after the pictures
};

}  // namespace het
