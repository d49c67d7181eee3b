#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/gpu/opencl/opencl.h"
#include "inference/base/status.h"

namespace het::gpu {

/// What is known of an OpenCL device: the facts that kernels and users ask for.
struct Hardware {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string name;              ///< CL_DEVICE_NAME
  std::string vendor;            ///< CL_DEVICE_VENDOR
  std::string driver;            ///< CL_DRIVER_VERSION
  std::string version;           ///< CL_DEVICE_VERSION
  std::string platform_name;     ///< CL_PLATFORM_NAME
  std::string platform_version;  ///< CL_PLATFORM_VERSION, long in some drivers
  std::string extensions;        ///< separated by blanks
  bool is_gpu = false;           ///< CL_DEVICE_TYPE_GPU
  bool is_cpu = false;           ///< CL_DEVICE_TYPE_CPU, and no GPU, such as PoCL
  bool unified_memory = false;   ///< host and device share their memory
  bool available = true;
  size_t memory_bytes = 0;
  size_t largest_allocation_bytes = 0;
  size_t local_memory_bytes = 0;
  size_t compute_units = 1;
  size_t largest_group = 1;        ///< work-items in a work-group
  size_t address_alignment = 128;  ///< bytes at which a sub-buffer may begin
  size_t float_width = 1;          ///< native vector width of float
  bool exact_division = false;     ///< can round / and sqrt of float correctly, when told to
  int opencl_major = 1;
  int opencl_minor = 2;

  /// For users: "NAME (PLATFORM, OpenCL 3.0, driver 1.2.3)".
  std::string full_name() const;
  bool has_extension(std::string_view extension) const;
  /// Sub-groups with their built-in functions.
  bool has_subgroups() const;

  /// Elements that a work-item of a kernel over rows takes at once: the widest vector of a CPU,
  /// four of a GPU.
  size_t vector_width() const;
  /// Work-items of a work-group of kernels that do not care.
  size_t group_size() const;
};

/// Everything that the ICD loader finds on this machine. A platform that fails is left out with a
/// warning. GPUs come first; empty without a platform.
std::vector<Hardware> list_hardware();

/// Those that count as GPU: of type GPU, then, where `allow_cpu`, of type CPU.
std::vector<Hardware> list_gpus(bool allow_cpu);

/// True when HETERO_GPU_ALLOW_CPU is set to anything but 0, NO or nothing.
bool environment_allows_cpu();

/// The device "GPU" ("" is 0) or "GPU.1". Fails with NotFound and what there is instead.
Result<Hardware> find_gpu(size_t index, bool allow_cpu);

/// The device of an application's context.
Result<Hardware> hardware_of(cl_device_id device);

}  // namespace het::gpu
