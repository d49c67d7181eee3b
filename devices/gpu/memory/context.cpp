#include "devices/gpu/memory/context.h"

#include <algorithm>
#include <vector>

#include "inference/base/log.h"

// Of cl_khr_priority_hints and cl_khr_throttle_hints; headers of 1.2 do not have them.
#ifndef CL_QUEUE_PRIORITY_KHR
#define CL_QUEUE_PRIORITY_KHR 0x1096
#endif
#ifndef CL_QUEUE_THROTTLE_KHR
#define CL_QUEUE_THROTTLE_KHR 0x1097
#endif

namespace het::gpu {
namespace {

/// What the driver says beside error codes.
void CL_CALLBACK on_driver_message(const char* message, const void*, size_t, void*) {
  log(LogLevel::Debug, "OpenCL driver: {}", message);
}

cl_queue_properties urgency_bit(Urgency urgency) {
  switch (urgency) {
    case Urgency::High:
      return 1;
    case Urgency::Medium:
      return 2;
    default:
      return 4;
  }
}

}  // namespace

Context::Context(ContextHandle context, Hardware hardware)
    : hardware_(std::move(hardware)),
      context_(std::move(context)),
      programs_(context_.get(), hardware_),
      surfaces_(context_.get(), hardware_, va_display_of(context_.get(), hardware_)) {}

Result<std::shared_ptr<Context>> Context::create(const Hardware& hardware, void* va_display) {
  if (va_display != nullptr) {
    Result<ContextHandle> shared = create_va_context(hardware, va_display);
    if (shared) return std::shared_ptr<Context>(new Context(*std::move(shared), hardware));
    log(LogLevel::Warning, "VA surfaces will be mapped and copied: {}", shared.error().message());
  }
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(hardware.platform), 0};
  cl_int code = CL_SUCCESS;
  ContextHandle context(
      clCreateContext(properties, 1, &hardware.device, on_driver_message, nullptr, &code));
  HET_TRY(cl_status(code, fmt::format("open the OpenCL device '{}'", hardware.name)));
  return std::shared_ptr<Context>(new Context(std::move(context), hardware));
}

Result<std::shared_ptr<Context>> Context::wrap(cl_context context, cl_command_queue queue) {
  cl_device_id device = nullptr;
  if (queue != nullptr) {
    HET_TRY(
        cl_status(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr),
                  "ask the application's cl_queue for its device"));
    cl_context owner = nullptr;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &owner, nullptr);
    if (owner != context) {
      return error(StatusCode::InvalidArgument,
                   "cl_queue belongs to another context than "
                   "cl_context");
    }
  } else {
    size_t bytes = 0;
    HET_TRY(cl_status(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes),
                      "ask the application's cl_context for its devices"));
    std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
    if (devices.size() != 1) {
      return error(StatusCode::InvalidArgument,
                   "cl_context has {} devices: give cl_queue too, which says which to use",
                   devices.size());
    }
    clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr);
    device = devices[0];
  }
  HET_ASSIGN(Hardware hardware, hardware_of(device));
  HET_TRY(cl_status(clRetainContext(context), "retain the application's cl_context"));
  return std::shared_ptr<Context>(new Context(ContextHandle(context), std::move(hardware)));
}

bool Context::works(Feature feature) {
  Trial& trial = trials_[static_cast<size_t>(feature)];
  std::call_once(trial.once, [&] {
    Result<std::string> options = probe(*this, feature);
    trial.passed = options.has_value();
    if (options) {
      trial.options = *std::move(options);
    } else {
      log(LogLevel::Debug, "'{}' does without: {}", hardware_.name, options.error().message());
    }
  });
  return trial.passed;
}

const std::string& Context::options_of(Feature feature) {
  works(feature);
  return trials_[static_cast<size_t>(feature)].options;
}

Result<Memory> Context::allocate(size_t bytes, cl_mem_flags flags) const {
  cl_int code = CL_SUCCESS;
  // No driver makes empty memory.
  BufferHandle made(clCreateBuffer(get(), flags, std::max<size_t>(bytes, 4), nullptr, &code));
  HET_TRY(cl_status(code, fmt::format("allocate {} bytes on '{}'", bytes, hardware_.name)));
  return std::make_shared<const BufferHandle>(std::move(made));
}

Result<Memory> Context::upload(const void* content, size_t bytes) const {
  if (bytes == 0) return allocate(0);
  cl_int code = CL_SUCCESS;
  BufferHandle made(clCreateBuffer(get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                                   const_cast<void*>(content), &code));
  HET_TRY(cl_status(code, fmt::format("allocate {} bytes on '{}'", bytes, hardware_.name)));
  return std::make_shared<const BufferHandle>(std::move(made));
}

Result<Memory> Context::part(const Memory& whole, size_t offset, size_t bytes) const {
  std::shared_ptr<SubBuffers> parts;
  {
    const std::lock_guard lock(parts_mutex_);
    std::erase_if(parts_, [](const auto& known) { return known.second.expired(); });
    std::weak_ptr<SubBuffers>& known = parts_[whole->get()];
    parts = known.lock();
    if (parts == nullptr) known = parts = std::make_shared<SubBuffers>(whole);
  }
  return parts->make(offset, bytes);
}

Result<Memory> Context::share(void* host, size_t bytes) const {
  cl_int code = CL_SUCCESS;
  BufferHandle made(
      clCreateBuffer(get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &code));
  HET_TRY(cl_status(code,
                    fmt::format("share {} bytes of host memory with '{}'", bytes, hardware_.name)));
  return std::make_shared<const BufferHandle>(std::move(made));
}

Result<QueueHandle> Context::create_queue(bool profiled, Urgency priority, Urgency throttle) const {
  cl_int code = CL_SUCCESS;
  const cl_command_queue_properties flags = profiled ? CL_QUEUE_PROFILING_ENABLE : 0;
  std::vector<cl_queue_properties> hints;
  if (priority != Urgency::Default && hardware_.has_extension("cl_khr_priority_hints")) {
    hints.insert(hints.end(), {CL_QUEUE_PRIORITY_KHR, urgency_bit(priority)});
  }
  if (throttle != Urgency::Default && hardware_.has_extension("cl_khr_throttle_hints")) {
    hints.insert(hints.end(), {CL_QUEUE_THROTTLE_KHR, urgency_bit(throttle)});
  }
  QueueHandle queue;
  if (hints.empty() || hardware_.opencl_major < 2) {
    queue = QueueHandle(clCreateCommandQueue(get(), hardware_.device, flags, &code));
  } else {
    hints.insert(hints.end(), {CL_QUEUE_PROPERTIES, flags, 0});
    queue = QueueHandle(
        clCreateCommandQueueWithProperties(get(), hardware_.device, hints.data(), &code));
  }
  HET_TRY(cl_status(code, fmt::format("make a command queue of '{}'", hardware_.name)));
  return queue;
}

}  // namespace het::gpu
