#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "devices/gpu/opencl/hardware.h"
#include "devices/gpu/opencl/opencl.h"
#include "inference/tensors/image.h"

namespace het::gpu {

/// A picture of foreign memory as device memory.
struct ImportedPicture {
  std::array<Memory, 3> planes;  ///< those that the format has
  size_t plane_count = 0;
  /// Every plane is an image of its own; else buffers that begin where the picture's buffers do.
  bool are_images = false;
  MemoryKind kind = MemoryKind::Host;
};

/// Makes device memory of an application's surfaces without copying them, where the driver has the
/// extension for their kind:
/// - VA surfaces: cl_intel_va_api_media_sharing, in a context that was made for their VADisplay;
/// - linear DMA-BUFs: cl_khr_external_memory_dma_buf.
/// Thread-safe.
class SurfaceImport {
 public:
  /// `va_display` is that of the context, or null.
  SurfaceImport(cl_context context, const Hardware& hardware, void* va_display);

  void* va_display() const { return va_display_; }
  /// True when pictures of this kind need not be mapped, as far as one knows before seeing one.
  bool takes(MemoryKind kind) const;
  /// Nothing when this picture must be mapped; then why is logged, once per kind. An acquired
  /// picture is device memory between acquire() and release(), both enqueued in order.
  std::optional<ImportedPicture> import(const Image& image);
  Status acquire(cl_command_queue queue, const ImportedPicture& picture) const;
  Status release(cl_command_queue queue, const ImportedPicture& picture) const;

 private:
  Result<ImportedPicture> try_import(const Image& image) const;
  Result<Memory> import_va_plane(unsigned surface, int plane, const Image& image) const;
  Result<Memory> import_dma_buf(const Image& image, size_t plane) const;
  void report(const Image& image, const Status& refused);

  struct Functions;
  cl_context context_;
  void* va_display_;
  std::shared_ptr<const Functions> functions_;
  std::array<std::atomic<bool>, 5> reported_{};  ///< per kind
};

/// The extension that a driver needs for surfaces of this kind; empty for other memory.
std::string_view import_extension(MemoryKind kind);

/// "VA surface: cl_intel_va_api_media_sharing, DMA-BUF: mapped copy": what `hetero devices` shows.
std::string surface_ways(const Hardware& hardware);

/// A context of this device that shares surfaces of a VADisplay. Fails with NotSupported when the
/// driver cannot share surfaces of this display.
Result<ContextHandle> create_va_context(const Hardware& hardware, void* va_display);
/// The VADisplay that a context of this device was made for, or null.
void* va_display_of(cl_context context, const Hardware& hardware);

}  // namespace het::gpu
