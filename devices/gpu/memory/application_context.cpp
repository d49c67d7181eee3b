#include "devices/gpu/memory/application_context.h"

#include <mutex>

namespace het::gpu {
namespace {

/// A cl_mem, of the application or ours. map() copies nothing where memory is unified.
class OpenClBuffer final : public Buffer {
 public:
  OpenClBuffer(std::shared_ptr<Context> context, Memory memory, size_t bytes, void* queue,
               std::function<void()> release)
      : Buffer(MemoryKind::OpenClBuffer, bytes, nullptr, OpenClHandle{memory->get(), queue}),
        context_(std::move(context)),
        memory_(std::move(memory)),
        queue_(static_cast<cl_command_queue>(queue)),
        release_(std::move(release)) {}
  ~OpenClBuffer() override {
    OpenClBuffer::unmap();
    memory_ = nullptr;
    if (release_) release_();
  }

  Result<std::byte*> map(MapAccess access) override {
    const std::lock_guard lock(mutex_);
    if (mapped_ != nullptr) {
      return error(StatusCode::Busy, "the cl_mem is mapped already; unmap it first");
    }
    if (queue_ == nullptr) {
      HET_ASSIGN(own_queue_, context_->create_queue(false));
      queue_ = own_queue_.get();
    }
    const cl_map_flags flags = access == MapAccess::Read    ? CL_MAP_READ
                               : access == MapAccess::Write ? CL_MAP_WRITE
                                                            : CL_MAP_READ | CL_MAP_WRITE;
    cl_int code = CL_SUCCESS;
    void* const address = clEnqueueMapBuffer(queue_, memory_->get(), CL_TRUE, flags, 0,
                                             size_bytes(), 0, nullptr, nullptr, &code);
    HET_TRY(cl_status(code, fmt::format("map {} bytes of a cl_mem", size_bytes())));
    mapped_ = address;
    return static_cast<std::byte*>(address);
  }

  void unmap() override {
    const std::lock_guard lock(mutex_);
    if (mapped_ == nullptr) return;
    clEnqueueUnmapMemObject(queue_, memory_->get(), std::exchange(mapped_, nullptr), 0, nullptr,
                            nullptr);
    clFinish(queue_);
  }

 private:
  std::shared_ptr<Context> context_;
  Memory memory_;
  std::mutex mutex_;  ///< protects the mapping; taken alone
  QueueHandle own_queue_;
  cl_command_queue queue_;
  void* mapped_ = nullptr;
  std::function<void()> release_;
};

}  // namespace

Result<std::shared_ptr<DeviceContext>> ApplicationContext::create(const ContextParams& params,
                                                                  std::shared_ptr<Context> own,
                                                                  std::string_view device_name) {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  void* va_display = nullptr;
  for (const auto& [name, object] : params) {
    if (object == nullptr) {
      return error(StatusCode::InvalidArgument, "the context parameter {} is null", name);
    }
    if (name == "cl_context") {
      context = static_cast<cl_context>(object);
    } else if (name == "cl_queue") {
      queue = static_cast<cl_command_queue>(object);
    } else if (name == "VADisplay") {
      va_display = object;
    } else {
      return error(StatusCode::InvalidArgument,
                   "{} has no context parameter '{}'; valid are cl_context, cl_queue and VADisplay",
                   device_name, name);
    }
  }
  if (context == nullptr && queue != nullptr) {
    return error(StatusCode::InvalidArgument, "cl_queue needs cl_context beside it");
  }
  if (context == nullptr) {
    if (va_display != nullptr) {
      HET_ASSIGN(own, Context::create(own->hardware(), va_display));
    }
    return std::shared_ptr<DeviceContext>(new ApplicationContext(std::move(own), device_name));
  }
  HET_ASSIGN(std::shared_ptr<Context> wrapped, Context::wrap(context, queue));
  if (va_display != nullptr && wrapped->surfaces().va_display() != va_display) {
    return error(StatusCode::InvalidArgument,
                 "cl_context was made for another VADisplay, or for none: make it with "
                 "CL_CONTEXT_VA_API_DISPLAY_INTEL");
  }
  return std::shared_ptr<DeviceContext>(new ApplicationContext(std::move(wrapped), device_name));
}

Result<Tensor> ApplicationContext::wrap(TensorDesc desc, const MemoryHandle& handle,
                                        std::function<void()> release) {
  const auto* opencl = std::get_if<OpenClHandle>(&handle);
  const auto object = opencl != nullptr ? static_cast<cl_mem>(opencl->memory) : nullptr;
  if (object == nullptr) {
    return error(StatusCode::InvalidArgument, "{} takes a cl_mem as OpenClHandle", device_name_);
  }
  cl_context owner = nullptr;
  size_t bytes = 0;
  cl_mem_object_type type = 0;
  HET_TRY(cl_status(clGetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr),
                    "ask the cl_mem for its context"));
  HET_TRY(cl_status(clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr),
                    "ask the cl_mem for its size"));
  HET_TRY(cl_status(clGetMemObjectInfo(object, CL_MEM_TYPE, sizeof type, &type, nullptr),
                    "ask the cl_mem for its type"));
  if (owner != context_->get()) {
    return error(StatusCode::InvalidArgument, "the cl_mem belongs to another cl_context");
  }
  if (type != CL_MEM_OBJECT_BUFFER) {
    return error(StatusCode::InvalidArgument, "the cl_mem is an image or pipe, not a buffer");
  }
  HET_TRY(cl_status(clRetainMemObject(object), "retain the cl_mem"));
  Memory memory = std::make_shared<const BufferHandle>(object);
  return Tensor::view(std::move(desc),
                      std::make_shared<OpenClBuffer>(context_, std::move(memory), bytes,
                                                     opencl->queue, std::move(release)));
}

Result<Tensor> ApplicationContext::allocate(TensorDesc desc) {
  HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
  HET_ASSIGN(Memory memory, context_->allocate(bytes));
  return Tensor::view(std::move(desc),
                      std::make_shared<OpenClBuffer>(context_, std::move(memory), bytes, nullptr,
                                                     std::function<void()>()));
}

}  // namespace het::gpu
