#include "tools/self_test/udmabuf_picture.h"

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace het::self_test {
namespace {

/// A DMA-BUF that is memory of this process.
class UdmabufBuffer final : public Buffer {
 public:
  UdmabufBuffer(int fd, size_t bytes, std::byte* address)
      : Buffer(MemoryKind::DmaBuf, bytes, nullptr, DmaBufHandle{{fd}, 0}),
        fd_(fd),
        address_(address) {}
  ~UdmabufBuffer() override {
    ::munmap(address_, size_bytes());
    ::close(fd_);
  }
  Result<std::byte*> map(MapAccess) override { return address_; }
  void unmap() override {}

 private:
  int fd_;
  std::byte* address_;
};

Failure system_failure(const char* what) {
  return error(StatusCode::NotSupported, "cannot {}: {}", what, std::strerror(errno));
}

}  // namespace

Result<Image> udmabuf_picture(const Image& host) {
  const int device = ::open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
  if (device < 0) return system_failure("open /dev/udmabuf");
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t bytes = (host.planes[0].buffer->size_bytes() + page - 1) / page * page;
  const int memory = ::memfd_create("picture", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  udmabuf_create create{};
  create.memfd = static_cast<uint32_t>(memory);
  create.flags = UDMABUF_FLAGS_CLOEXEC;
  create.size = bytes;
  int made = -1;
  void* address = MAP_FAILED;
  if (memory >= 0 && ::ftruncate(memory, static_cast<off_t>(bytes)) == 0 &&
      ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
    made = ::ioctl(device, UDMABUF_CREATE, &create);
    address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  const int failed = errno;
  ::close(device);
  if (memory >= 0) ::close(memory);
  if (made < 0 || address == MAP_FAILED) {
    if (made >= 0) ::close(made);
    if (address != MAP_FAILED) ::munmap(address, bytes);
    errno = failed;
    return system_failure("make a DMA-BUF by /dev/udmabuf");
  }
  std::memcpy(address, host.planes[0].buffer->host(), host.planes[0].buffer->size_bytes());
  Image image = host;
  const auto buffer =
      std::make_shared<UdmabufBuffer>(made, bytes, static_cast<std::byte*>(address));
  for (int p = 0; p < image.plane_count; ++p) image.planes[static_cast<size_t>(p)].buffer = buffer;
  return image;
}

}  // namespace het::self_test
