#include "devices/gpu/memory/port_memory.h"

#include <mutex>

#include "devices/gpu/memory/host_buffer.h"

namespace het::gpu {
namespace {

bool is_opencl(const Tensor& tensor) {
  return !tensor.empty() && tensor.memory_kind() == MemoryKind::OpenClBuffer;
}

bool is_dense_host(const Tensor& tensor) {
  return !tensor.empty() && tensor.bytes() != nullptr && tensor.is_dense();
}

cl_mem memory_of(const Tensor& tensor) {
  const auto* handle = std::get_if<OpenClHandle>(&tensor.buffer()->handle());
  return handle != nullptr ? static_cast<cl_mem>(handle->memory) : nullptr;
}

/// Fails for what no command of this context can use.
Status check_memory(cl_mem memory, const Context& context) {
  cl_context owner = nullptr;
  if (memory == nullptr ||
      clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof owner, &owner, nullptr) != CL_SUCCESS) {
    return error(StatusCode::InvalidArgument, "the tensor's memory is no valid cl_mem");
  }
  if (owner != context.get()) {
    return error(StatusCode::InvalidArgument,
                 "the tensor's cl_mem belongs to another cl_context than the compiled model: "
                 "compile it with Core::create_context(\"GPU\", {{\"cl_context\", ...}})");
  }
  return {};
}

/// A reference of our own.
Result<Memory> retained(cl_mem memory) {
  HET_TRY(cl_status(clRetainMemObject(memory), "retain the application's cl_mem"));
  return std::make_shared<const BufferHandle>(memory);
}

Result<Memory> part_from(Context& context, Memory whole, const Tensor& tensor) {
  if (tensor.offset() == 0) return whole;
  if (tensor.offset() % context.hardware().address_alignment != 0) return Memory();
  // A part of a part is none.
  cl_mem parent = nullptr;
  clGetMemObjectInfo(whole->get(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, nullptr);
  if (parent != nullptr) return Memory();
  return context.part(whole, tensor.offset(), tensor.size_bytes());
}

/// The tensor's memory as the device's, where the device reaches it; else null.
Result<Memory> direct_memory(Context& context, const Tensor& tensor) {
  // Drivers make no empty buffers.
  if (!tensor.empty() && tensor.size_bytes() == 0) return Memory();
  if (tensor.empty() || !tensor.is_dense()) return Memory();
  if (is_opencl(tensor)) {
    HET_TRY(check_memory(memory_of(tensor), context));
    HET_ASSIGN(Memory whole, retained(memory_of(tensor)));
    return part_from(context, std::move(whole), tensor);
  }
  const BufferPtr buffer = without_number(tensor.buffer());
  const auto* own = dynamic_cast<const HostBuffer*>(buffer.get());
  if (own != nullptr) {
    if (&own->context() != &context || own->memory() == nullptr) return Memory();
    return part_from(context, own->memory(), tensor);
  }
  const auto address = reinterpret_cast<uintptr_t>(tensor.bytes());
  const bool fits = address != 0 && address % PortMemory::kPageBytes == 0 &&
                    tensor.size_bytes() % PortMemory::kLineBytes == 0;
  if (!fits || !context.hardware().unified_memory) return Memory();
  return context.share(tensor.bytes(), tensor.size_bytes());
}

/// What the device keeps of the tensor; null for contents without a number.
std::shared_ptr<DeviceCopy> copy_of(const Context& context, const Tensor& tensor) {
  if (tensor.empty() || tensor.size_bytes() == 0) return nullptr;
  const NumberedBuffer* const buffer = numbered_buffer(tensor.buffer());
  return buffer != nullptr ? DeviceCopy::of(context, *buffer) : nullptr;
}

DeviceCopy::Source source_of(const Tensor& tensor) {
  const NumberedContent& content = numbered_buffer(tensor.buffer())->content();
  return {content.number(), tensor.bytes(), nullptr, tensor.size_bytes(), content.is_on_host()};
}

/// Hands shared memory to the device or back to the host: where memory is unified, a pair of map
/// and unmap only keeps caches coherent. Several requests may do so with one buffer, which PoCL's
/// list of mappings does not stand: one at a time.
Status synchronise(Context& context, cl_command_queue queue, cl_mem memory, size_t bytes,
                   cl_map_flags flags) {
  const std::lock_guard lock(context.mapping_mutex());
  cl_int code = CL_SUCCESS;
  void* const address =
      clEnqueueMapBuffer(queue, memory, CL_FALSE, flags, 0, bytes, 0, nullptr, nullptr, &code);
  HET_TRY(cl_status(code, "map a tensor"));
  return cl_status(clEnqueueUnmapMemObject(queue, memory, address, 0, nullptr, nullptr),
                   "unmap a tensor");
}

}  // namespace

Result<cl_mem> PortMemory::send(Context& context, cl_command_queue queue, const Tensor& given) {
  HET_ASSIGN(const cl_mem in_place, use_in_place(context, queue, given));
  if (in_place != nullptr) return in_place;
  const size_t bytes = given.size_bytes();
  if (is_opencl(given) && given.is_dense()) {
    HET_TRY(allocate(context, bytes));
    HET_TRY(cl_status(clEnqueueCopyBuffer(queue, memory_of(given), own_->get(), given.offset(), 0,
                                          bytes, 0, nullptr, nullptr),
                      fmt::format("copy {} bytes on the device", bytes)));
    return own_->get();
  }
  const std::byte* source = given.bytes();
  if (!is_dense_host(given)) {
    HET_ASSIGN(dense_, given.clone());
    source = dense_.bytes();
  }
  if (const auto copy = copy_of(context, given)) {
    DeviceCopy::Source content = source_of(given);
    content.bytes = source;
    HET_ASSIGN(direct_, copy->send(context, queue, content));
    return direct_->get();
  }
  HET_TRY(allocate(context, bytes));
  if (bytes == 0) return own_->get();
  context.count_copy();
  HET_TRY(cl_status(
      clEnqueueWriteBuffer(queue, own_->get(), CL_FALSE, 0, bytes, source, 0, nullptr, nullptr),
      fmt::format("send {} bytes to the device", bytes)));
  return own_->get();
}

Result<cl_mem> PortMemory::make_room_for_input(Context& context, cl_command_queue queue,
                                               const Tensor& given) {
  HET_ASSIGN(const cl_mem in_place, use_in_place(context, queue, given));
  if (in_place != nullptr) return in_place;
  HET_TRY(allocate(context, given.size_bytes()));
  return own_->get();
}

/// Null where the device does not reach the tensor.
Result<cl_mem> PortMemory::use_in_place(Context& context, cl_command_queue queue,
                                        const Tensor& given) {
  HET_ASSIGN(direct_, direct_memory(context, given));
  if (direct_ == nullptr) return nullptr;
  if (!is_opencl(given)) {
    HET_TRY(synchronise(context, queue, direct_->get(), given.size_bytes(),
                        CL_MAP_READ | CL_MAP_WRITE));
  }
  return direct_->get();
}

Status PortMemory::allocate(const Context& context, size_t bytes) {
  if (own_ != nullptr) return {};
  HET_ASSIGN(own_, context.allocate(bytes));
  return {};
}

Result<cl_mem> PortMemory::make_room(Context& context, const Tensor& given,
                                     const TensorDesc& desc) {
  HET_ASSIGN(direct_, direct_memory(context, given));
  if (direct_ != nullptr) {
    if (!is_opencl(given)) return direct_->get();
    cl_mem_flags flags = 0;
    clGetMemObjectInfo(direct_->get(), CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
    if ((flags & CL_MEM_READ_ONLY) == 0) return direct_->get();
    return error(StatusCode::InvalidArgument,
                 "the tensor's cl_mem was made with CL_MEM_READ_ONLY, and an output is written");
  }
  if (is_opencl(given) && !given.is_dense()) {
    return error(StatusCode::NotSupported, "a cl_mem with strides cannot be an output");
  }
  if (!is_dense_host(given) && !is_opencl(given) && dense_.empty()) {
    HET_ASSIGN(dense_, Tensor::allocate(desc));
  }
  copy_ = copy_of(context, given);
  if (copy_ != nullptr) {
    made_ = source_of(given);
    HET_ASSIGN(direct_, copy_->make_room(context, made_.size));
    return direct_->get();
  }
  HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
  HET_TRY(allocate(context, bytes));
  return own_->get();
}

Status PortMemory::fetch(Context& context, cl_command_queue queue, cl_mem made, Tensor& given) {
  const size_t bytes = given.empty() ? dense_.size_bytes() : given.size_bytes();
  if (bytes == 0) return {};
  const bool is_direct = direct_ != nullptr && direct_->get() == made;
  if (is_direct && copy_ == nullptr) {
    return is_opencl(given) ? Status() : synchronise(context, queue, made, bytes, CL_MAP_READ);
  }
  if (is_opencl(given)) {
    return cl_status(clEnqueueCopyBuffer(queue, made, memory_of(given), 0, given.offset(), bytes, 0,
                                         nullptr, nullptr),
                     fmt::format("copy {} bytes on the device", bytes));
  }
  if (is_direct && numbered_buffer(given.buffer())->content().is_private()) {
    numbered_buffer(given.buffer())->content().leave_on_device();
    copy_->keep(made_);
    return {};
  }
  std::byte* const target = is_dense_host(given) ? given.bytes() : dense_.bytes();
  context.count_copy();
  HET_TRY(
      cl_status(clEnqueueReadBuffer(queue, made, CL_FALSE, 0, bytes, target, 0, nullptr, nullptr),
                fmt::format("read {} bytes from the device", bytes)));
  if (is_direct) copy_->keep(made_);
  return {};
}

Status PortMemory::finish(Tensor& given) {
  if (is_dense_host(given) || is_opencl(given)) return {};
  return copy_tensor(dense_, given);
}

}  // namespace het::gpu
