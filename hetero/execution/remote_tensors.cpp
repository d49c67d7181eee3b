#include "hetero/execution/remote_tensors.h"

#include <array>
#include <cstdint>
#include <utility>

namespace het::hetero {
namespace {

/// Memory is mapped once at a time, and requests of several models may read one tensor.
std::mutex& mapping_mutex_of(const Buffer& buffer) {
  static std::array<std::mutex, 16> mutexes;
  return mutexes[reinterpret_cast<uintptr_t>(&buffer) / alignof(std::max_align_t) % mutexes.size()];
}

/// A tensor as the host sees it, mapped while this lives.
class MappedTensor {
 public:
  MappedTensor() = default;
  MappedTensor(const MappedTensor&) = delete;
  MappedTensor& operator=(const MappedTensor&) = delete;
  ~MappedTensor() {
    if (mapped_ != nullptr) mapped_->unmap();
  }

  Status map(const Tensor& tensor, MapAccess access) {
    if (!is_remote(tensor)) {
      host = tensor;
      return {};
    }
    Buffer& buffer = *tensor.buffer();
    lock_ = std::unique_lock(mapping_mutex_of(buffer));
    auto address = buffer.map(access);
    if (!address) {
      return Failure(address.error().with_context(
          fmt::format("cannot bring a tensor {} in {} memory to the host", to_string(tensor.desc()),
                      to_string(tensor.memory_kind()))));
    }
    mapped_ = tensor.buffer();
    HET_ASSIGN(host,
               Tensor::view(tensor.desc(), wrap_host_memory(*address, buffer.size_bytes()),
                            tensor.offset(),
                            tensor.is_dense() ? std::vector<int64_t>() : tensor.strides_bytes()));
    return {};
  }

  Tensor host;

 private:
  std::unique_lock<std::mutex> lock_;
  BufferPtr mapped_;
};

}  // namespace

bool is_remote(const Tensor& tensor) {
  return !tensor.empty() && tensor.bytes() == nullptr && tensor.memory_kind() != MemoryKind::Host;
}

Status copy_remote(const Tensor& src, Tensor& dst) {
  if (is_remote(src) && is_remote(dst)) {
    // One buffer at a time: the two may be one, or meet another copy the other way round.
    HET_ASSIGN(const Tensor between, clone_remote(src));
    return copy_remote(between, dst);
  }
  MappedTensor from;
  MappedTensor to;
  HET_TRY(from.map(src, MapAccess::Read));
  HET_TRY(to.map(dst, MapAccess::Write));
  return copy_tensor(from.host, to.host);
}

Result<Tensor> clone_remote(const Tensor& src) {
  HET_ASSIGN(Tensor copy, Tensor::allocate(src.desc()));
  HET_TRY(copy_remote(src, copy));
  return copy;
}

Status TransferThread::submit(StreamJob& job) {
  {
    const std::lock_guard lock(mutex_);
    if (thread_ == nullptr) {
      HET_ASSIGN(thread_, StreamExecutor::create(
                              {.streams = 1, .thread_name = "transfer", .on_thread_start = {}}));
    }
  }
  thread_->submit(job);
  return {};
}

}  // namespace het::hetero
