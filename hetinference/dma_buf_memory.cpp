#include "hetinference/dma_buf_memory.h"

#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace het::c_interface {
namespace {

class DmaBufMemory final : public Buffer {
 public:
  DmaBufMemory(int fd, size_t size, std::function<void()> release)
      : Buffer(MemoryKind::DmaBuf, size, nullptr, DmaBufHandle{{fd}, 0}),
        fd_(fd),
        release_(std::move(release)) {}
  ~DmaBufMemory() override {
    if (release_) release_();
  }

  Result<std::byte*> map(MapAccess access) override {
    if (access != MapAccess::Read) {
      return error(StatusCode::NotSupported, "pictures are mapped for reading only");
    }
    std::lock_guard lock(mutex_);
    if (users_ == 0) {
      void* address = mmap(nullptr, size_bytes(), PROT_READ, MAP_SHARED, fd_, 0);
      if (address == MAP_FAILED) {
        return error(StatusCode::Internal, "cannot map {} bytes of DMA-BUF {}: {}", size_bytes(),
                     fd_, std::strerror(errno));
      }
      address_ = address;
      synchronise(DMA_BUF_SYNC_START);
    }
    ++users_;
    return static_cast<std::byte*>(address_);
  }
  void unmap() override {
    std::lock_guard lock(mutex_);
    if (--users_ > 0) return;
    synchronise(DMA_BUF_SYNC_END);
    munmap(address_, size_bytes());
  }

 private:
  /// Waits for the writers of the DMA-BUF and makes caches agree. Other memory that can be mapped,
  /// as that of memfd_create(), needs none and refuses it.
  void synchronise(uint64_t phase) {
    dma_buf_sync sync = {phase | DMA_BUF_SYNC_READ};
    while (ioctl(fd_, DMA_BUF_IOCTL_SYNC, &sync) != 0 && (errno == EINTR || errno == EAGAIN)) {
    }
  }

  const int fd_;
  const std::function<void()> release_;
  std::mutex mutex_;  ///< protects the two below; taken alone
  void* address_ = nullptr;
  int users_ = 0;
};

}  // namespace

Result<BufferPtr> wrap_dma_buf(int fd, uint64_t size_bytes, std::function<void()> release) {
  const off_t end = lseek(fd, 0, SEEK_END);
  if (end < 0) {
    return error(StatusCode::InvalidArgument, "{} is no DMA-BUF: {}", fd, std::strerror(errno));
  }
  // Reading behind the end would be a signal and no error.
  if (size_bytes == 0 || size_bytes > static_cast<uint64_t>(end)) {
    return error(StatusCode::InvalidArgument, "size_bytes is {}, the DMA-BUF {} has {} bytes",
                 size_bytes, fd, end);
  }
  return std::make_shared<DmaBufMemory>(fd, size_bytes, std::move(release));
}

}  // namespace het::c_interface
