#include "devices/gpu/opencl/hardware.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "inference/base/log.h"

namespace het::gpu {
namespace {

constexpr size_t kMostLibraryName = 200;

std::string text(cl_device_id device, cl_device_info what) {
  size_t bytes = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string value(bytes, '\0');
  if (clGetDeviceInfo(device, what, bytes, value.data(), nullptr) != CL_SUCCESS) return {};
  value.resize(std::char_traits<char>::length(value.c_str()));
  return value;
}

std::string text(cl_platform_id platform, cl_platform_info what) {
  size_t bytes = 0;
  if (clGetPlatformInfo(platform, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string value(bytes, '\0');
  if (clGetPlatformInfo(platform, what, bytes, value.data(), nullptr) != CL_SUCCESS) return {};
  value.resize(std::char_traits<char>::length(value.c_str()));
  return value;
}

template <class T>
T number(cl_device_id device, cl_device_info what, T otherwise) {
  T value = otherwise;
  if (clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) return otherwise;
  return value;
}

/// Without blanks at its ends and with single ones inside: processors pad their names.
std::string trimmed(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' && (text.empty() || text.back() == ' ')) continue;
    text += c;
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

void read_version(Hardware& hardware) {
  // "OpenCL <major>.<minor> <vendor's text>"
  std::sscanf(hardware.version.c_str(), "OpenCL %d.%d", &hardware.opencl_major,
              &hardware.opencl_minor);
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND) {
    log(LogLevel::Warning, "OpenCL platform '{}' lists no devices: {}",
        text(platform, CL_PLATFORM_NAME), error_name(code));
    return {};
  }
  std::vector<cl_device_id> devices(count);
  if (count > 0) clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  return devices;
}

std::string list_of_names(const std::vector<Hardware>& found) {
  std::string names;
  for (const Hardware& hardware : found) {
    names += fmt::format("{}'{}' ({}, {})", names.empty() ? "" : ", ", hardware.name,
                         hardware.is_gpu   ? "GPU"
                         : hardware.is_cpu ? "CPU"
                                           : "accelerator",
                         hardware.platform_name);
  }
  return names;
}

/// What the loader was given: the .icd files, each of which names a driver's library.
std::string drivers_text() {
  const char* const given = std::getenv("OCL_ICD_VENDORS");
  const std::filesystem::path folder =
      given != nullptr && *given != '\0' ? given : "/etc/OpenCL/vendors";
  std::string names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() != ".icd") continue;
    std::string library;
    std::getline(std::ifstream(entry.path()), library);
    library.resize(std::min(library.size(), kMostLibraryName));
    names += fmt::format("{}{} ('{}')", names.empty() ? "" : ", ", entry.path().filename().string(),
                         library);
  }
  const std::string where = given != nullptr ? "OCL_ICD_VENDORS names " : "";
  if (names.empty()) return fmt::format("{}'{}', where no .icd file is", where, folder.string());
  return fmt::format("{}'{}', and no driver of it loads: {}", where, folder.string(), names);
}

}  // namespace

std::string Hardware::full_name() const {
  return fmt::format("{} ({}, OpenCL {}.{}, driver {})", name, platform_name, opencl_major,
                     opencl_minor, driver);
}

bool Hardware::has_extension(std::string_view extension) const {
  size_t position = 0;
  while ((position = extensions.find(extension, position)) != std::string::npos) {
    const size_t end = position + extension.size();
    const bool begins = position == 0 || extensions[position - 1] == ' ';
    if (begins && (end == extensions.size() || extensions[end] == ' ')) return true;
    position = end;
  }
  return false;
}

bool Hardware::has_subgroups() const {
  return has_extension("cl_khr_subgroups") || has_extension("cl_intel_subgroups");
}

size_t Hardware::vector_width() const {
  if (!is_cpu) return 4;
  return float_width >= 16 ? 16 : 8;
}

size_t Hardware::group_size() const {
  return std::min<size_t>(is_cpu ? 16 : 64, largest_group);
}

Result<Hardware> hardware_of(cl_device_id device) {
  Hardware hardware;
  hardware.device = device;
  hardware.platform = number<cl_platform_id>(device, CL_DEVICE_PLATFORM, nullptr);
  if (hardware.platform == nullptr) {
    return error(StatusCode::InvalidArgument, "the OpenCL device {} is not valid",
                 static_cast<const void*>(device));
  }
  hardware.name = trimmed(text(device, CL_DEVICE_NAME));
  hardware.vendor = text(device, CL_DEVICE_VENDOR);
  hardware.driver = text(device, CL_DRIVER_VERSION);
  hardware.version = text(device, CL_DEVICE_VERSION);
  hardware.platform_name = trimmed(text(hardware.platform, CL_PLATFORM_NAME));
  hardware.platform_version = text(hardware.platform, CL_PLATFORM_VERSION);
  hardware.extensions = text(device, CL_DEVICE_EXTENSIONS);
  const auto type = number<cl_device_type>(device, CL_DEVICE_TYPE, 0);
  hardware.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  // Oclgrind is of all types.
  hardware.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0 && !hardware.is_gpu;
  hardware.unified_memory = number<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE);
  hardware.available = number<cl_bool>(device, CL_DEVICE_AVAILABLE, CL_FALSE) &&
                       number<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE);
  hardware.memory_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
  hardware.largest_allocation_bytes = number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
  hardware.local_memory_bytes = number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  hardware.compute_units = number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1);
  hardware.largest_group = number<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
  hardware.address_alignment =
      std::max<size_t>(number<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8, 64);
  hardware.float_width = number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1);
  hardware.exact_division = (number<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG, 0) &
                             CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  read_version(hardware);
  return hardware;
}

std::vector<Hardware> list_hardware() {
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> platforms(count);
  if (clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return {};
  std::vector<Hardware> found;
  for (const cl_platform_id platform : platforms) {
    for (const cl_device_id device : devices_of(platform)) {
      Result<Hardware> hardware = hardware_of(device);
      if (hardware) found.push_back(*std::move(hardware));
    }
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const Hardware& hardware) { return hardware.is_gpu; });
  return found;
}

std::vector<Hardware> list_gpus(bool allow_cpu) {
  std::vector<Hardware> found = list_hardware();
  std::erase_if(found, [&](const Hardware& hardware) {
    const bool counts = hardware.is_gpu || (allow_cpu && hardware.is_cpu);
    return !counts || !hardware.available;
  });
  return found;
}

bool environment_allows_cpu() {
  const char* const text = std::getenv("HETERO_GPU_ALLOW_CPU");
  if (text == nullptr) return false;
  const std::string_view value = text;
  return !value.empty() && value != "0" && value != "NO";
}

Result<Hardware> find_gpu(size_t index, bool allow_cpu) {
  std::vector<Hardware> gpus = list_gpus(allow_cpu);
  if (index < gpus.size()) return std::move(gpus[index]);
  if (!gpus.empty()) {
    return error(StatusCode::NotFound, "there is no device GPU.{}: the last one is GPU.{}", index,
                 gpus.size() - 1);
  }
  const std::vector<Hardware> all = list_hardware();
  if (all.empty()) {
    return error(StatusCode::NotFound,
                 "there is no device GPU: the OpenCL loader finds no platform; {}; install the "
                 "driver's OpenCL package and look at clinfo",
                 drivers_text());
  }
  return error(StatusCode::NotFound,
               "there is no device GPU: OpenCL finds no device of type GPU that is ready, only {}; "
               "OpenCL on a CPU counts with GPU_ALLOW_CPU=YES or HETERO_GPU_ALLOW_CPU=1 in the "
               "environment",
               list_of_names(all));
}

}  // namespace het::gpu
