#include "devices/register_devices.h"

#include <charconv>
#include <mutex>
#include <utility>

#include "devices/cpu/cpu_device.h"
#include "devices/custom/device_library.h"
#include "devices/gpu/gpu_device.h"
#include "devices/gpu/listed_devices.h"
#include "devices/ref/ref_device.h"
#include "devices/va/display_trial.h"
#include "devices/va/surface_access.h"
#include "devices/vpu/vpu_device.h"
#include "devices/vpu/vpu_discovery.h"
#include "hetero/batch/device.h"
#include "hetero/hetero_device.h"
#include "hetero/multi/auto_device.h"
#include "hetero/multi/device.h"

namespace het {
namespace {

std::vector<std::string> exists_once() {
  return {""};
}

struct ProcessCore {
  std::mutex mutex;  ///< protects core; taken alone
  std::weak_ptr<Core> core;
};

}  // namespace

std::shared_ptr<Core> core() {
  // Only the weak reference stays; the Core itself goes with its last user, before exit.
  static ProcessCore* const process = new ProcessCore;
  std::lock_guard lock(process->mutex);
  std::shared_ptr<Core> current = process->core.lock();
  if (current == nullptr) {
    current = std::make_shared<Core>();
    register_devices(*current);
    process->core = current;
  }
  return current;
}

Result<std::shared_ptr<SurfaceAccess>> surface_access(void* va_display,
                                                      std::function<void()> release) {
  return va::make_surface_access(va_display, std::move(release));
}

DeviceListing list_gpu_drivers() {
  return gpu::list_devices();
}

Result<std::vector<FeatureTrial>> try_gpu_features(size_t listed) {
  return gpu::try_features(listed);
}

Result<DeviceLimits> measure_device_limits(std::string_view device, double seconds) {
  size_t index = 0;
  const DeviceName name = parse_device_name(device);
  const std::string_view id = name.id;
  const auto [end, failed] = std::from_chars(id.data(), id.data() + id.size(), index);
  if (name.kind != "GPU" ||
      (!id.empty() && (failed != std::errc() || end != id.data() + id.size()))) {
    return error(StatusCode::NotSupported, "only limits of GPU are measured, not of {}", device);
  }
  return gpu::measure_limits(index, seconds);
}

std::vector<std::string> video_nodes() {
  return va::render_nodes();
}

DisplayTrial try_video_node(const std::string& node) {
  return va::try_display(node);
}

void register_devices(Core& core) {
  core.devices().add("CPU", cpu::make_device, exists_once);
  core.devices().add("GPU", gpu::make_device, gpu::device_ids);
  core.devices().add("VPU", vpu::make_device, vpu::device_ids);
  core.devices().add_configuration("VPU", vpu::set_discovery);
  // What OpenVINO called its accelerators.
  core.devices().add_alias("MYRIAD", "VPU.myriad");
  core.devices().add_alias("HDDL", "VPU.hddl");
  core.devices().add_alias("FPGA", "VPU.fpga");
  core.devices().add("REF", ref::make_device, exists_once);
  core.devices().add("HETERO", hetero::make_hetero_device, {}, true);
  core.devices().add("MULTI", hetero::make_multi_device, {}, true);
  core.devices().add("AUTO", hetero::make_auto_device, {}, true);
  core.devices().add("BATCH", hetero::make_batch_device, {}, true);
  core.devices().set_library_loader(custom::add_device_libraries);
}

}  // namespace het
