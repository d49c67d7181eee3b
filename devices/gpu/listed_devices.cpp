#include "devices/gpu/listed_devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "devices/gpu/memory/context.h"
#include "devices/gpu/memory/probes.h"
#include "devices/gpu/peaks.h"

namespace het::gpu {
namespace {

constexpr size_t kMostLibraryCharacters = 200;

struct KnownExtension {
  std::string_view name;
  std::optional<Feature> feature;  ///< what probes it
  std::string_view use;            ///< of one that is not probed
};

constexpr std::array<KnownExtension, 11> kExtensions = {{
    {"cl_khr_fp16", Feature::Half, ""},
    {"cl_khr_integer_dot_product", Feature::IntegerDotProduct, ""},
    {"cl_khr_subgroups", Feature::SubGroups, ""},
    {"cl_intel_subgroups", Feature::SubGroups, ""},
    {"cl_khr_command_buffer", std::nullopt, "not used"},
    {"cl_khr_external_memory_dma_buf", std::nullopt, "tried with pictures"},
    {"cl_intel_va_api_media_sharing", std::nullopt, "tried with pictures"},
    {"cl_khr_il_program", std::nullopt, "not used"},
    {"cl_khr_priority_hints", std::nullopt, "used where it is named"},
    {"cl_khr_throttle_hints", std::nullopt, "used where it is named"},
    {"cl_khr_fp64", std::nullopt, "not used"},
}};

std::string library_problem(const std::string& library) {
  if (library.empty()) return "the file names no library";
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const text = dlerror();
    return text != nullptr ? text : "it cannot be opened";
  }
  // Loaders use drivers in the process that has them open, so it stays.
  return {};
}

std::vector<DriverFile> driver_files() {
  const char* const given = std::getenv("OCL_ICD_VENDORS");
  const std::filesystem::path folder =
      given != nullptr && *given != '\0' ? given : "/etc/OpenCL/vendors";
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  if (std::filesystem::is_regular_file(folder, failed)) {
    paths.push_back(folder);
  } else {
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
      if (entry.path().extension() == ".icd") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<DriverFile> files;
  for (const auto& path : paths) {
    DriverFile file{path.filename().string(), {}, {}};
    std::ifstream stream(path);
    std::getline(stream, file.library);
    file.library.resize(std::min(file.library.size(), kMostLibraryCharacters));
    while (!file.library.empty() && (file.library.back() == '\r' || file.library.back() == ' ')) {
      file.library.pop_back();
    }
    file.problem = library_problem(file.library);
    files.push_back(std::move(file));
  }
  return files;
}

ListedDevice described(const Hardware& hardware, const std::vector<Hardware>& counting) {
  ListedDevice device;
  device.platform = hardware.platform_name;
  device.platform_version = hardware.platform_version;
  device.name = hardware.name;
  device.vendor = hardware.vendor;
  device.driver = hardware.driver;
  device.version = hardware.version;
  device.type = hardware.is_gpu ? "GPU" : hardware.is_cpu ? "CPU" : "accelerator";
  const auto own = std::ranges::find(counting, hardware.device, &Hardware::device);
  if (own != counting.end()) {
    device.is = counting.size() == 1 ? "GPU" : fmt::format("GPU.{}", own - counting.begin());
  }
  device.available = hardware.available;
  device.unified_memory = hardware.unified_memory;
  device.memory_bytes = hardware.memory_bytes;
  device.largest_allocation_bytes = hardware.largest_allocation_bytes;
  device.local_memory_bytes = hardware.local_memory_bytes;
  device.compute_units = hardware.compute_units;
  device.largest_group = hardware.largest_group;
  device.float_width = hardware.float_width;
  return device;
}

FeatureTrial trial_of(const KnownExtension& known, Context& context) {
  FeatureTrial trial{std::string(known.name), FeatureTrial::Outcome::NotTried, {}};
  if (!context.hardware().has_extension(known.name)) {
    trial.outcome = FeatureTrial::Outcome::NotThere;
  } else if (known.feature) {
    const Result<std::string> options = probe(context, *known.feature);
    trial.outcome = options ? FeatureTrial::Outcome::Works : FeatureTrial::Outcome::Fails;
    trial.detail = options ? *options : options.error().message();
  } else {
    trial.detail = known.use;
  }
  return trial;
}

}  // namespace

DeviceListing list_devices() {
  DeviceListing listing;
  const std::vector<Hardware> counting = list_gpus(environment_allows_cpu());
  for (const Hardware& hardware : list_hardware()) {
    listing.devices.push_back(described(hardware, counting));
  }
  if (counting.empty()) listing.problem = find_gpu(0, environment_allows_cpu()).error().message();
  listing.drivers = driver_files();
  return listing;
}

Result<std::vector<FeatureTrial>> try_features(size_t listed) {
  const std::vector<Hardware> all = list_hardware();
  if (listed >= all.size()) {
    return error(StatusCode::NotFound, "OpenCL lists {} devices, not a number {}", all.size(),
                 listed);
  }
  HET_ASSIGN(const std::shared_ptr<Context> context, Context::create(all[listed]));
  std::vector<FeatureTrial> trials;
  for (const KnownExtension& known : kExtensions) trials.push_back(trial_of(known, *context));
  return trials;
}

Result<DeviceLimits> measure_limits(size_t index, double seconds) {
  HET_ASSIGN(const Hardware hardware, find_gpu(index, environment_allows_cpu()));
  HET_ASSIGN(const std::shared_ptr<Context> context, Context::create(hardware));
  HET_ASSIGN(const Peaks peaks, measure_peaks(*context, seconds));
  DeviceLimits limits;
  limits.multiply_adds = {{"f32", peaks.gflops / 2.0}};
  limits.copy_gbytes = peaks.copy_gbytes;
  limits.read_gbytes = peaks.read_gbytes;
  limits.to_device_gbytes = peaks.to_device_gbytes;
  limits.from_device_gbytes = peaks.from_device_gbytes;
  limits.launch_us = peaks.launch_us;
  limits.launch_and_wait_us = peaks.finish_us;
  return limits;
}

}  // namespace het::gpu
