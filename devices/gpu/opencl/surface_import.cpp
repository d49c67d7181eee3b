#include "devices/gpu/opencl/surface_import.h"

#include <CL/cl_ext.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/base/log.h"
#include "inference/preprocess/mapped_picture.h"
#include "inference/tensors/surface_access.h"

namespace het::gpu {
namespace {

// Of cl_intel_va_api_media_sharing, whose header needs libva's. Nothing else of libva is used here.
constexpr cl_context_properties kContextVaDisplay = 0x4097;
constexpr cl_uint kVaDisplay = 0x4094;
constexpr cl_uint kAllDevicesOfDisplay = 0x4096;
using DevicesOfDisplay = cl_int(CL_API_CALL*)(cl_platform_id, cl_uint source, void* display,
                                              cl_uint set, cl_uint count, cl_device_id* devices,
                                              cl_uint* found);
using CreateFromSurface = cl_mem(CL_API_CALL*)(cl_context, cl_mem_flags, unsigned* surface,
                                               cl_uint plane, cl_int* code);

constexpr std::string_view kVaSharing = "cl_intel_va_api_media_sharing";
constexpr std::string_view kDmaBufSharing = "cl_khr_external_memory_dma_buf";

/// Of both extensions: changes the owner of memory objects.
using PassOn = cl_int(CL_API_CALL*)(cl_command_queue, cl_uint count, const cl_mem* objects,
                                    cl_uint waits, const cl_event* list, cl_event* event);

template <class Function>
Function function(const Hardware& hardware, const char* name) {
  return reinterpret_cast<Function>(
      clGetExtensionFunctionAddressForPlatform(hardware.platform, name));
}

/// Formats whose planes drivers give as images of 8-bit elements.
bool has_image_planes(PixelFormat format) {
  switch (format) {
    case PixelFormat::NV12:
    case PixelFormat::RGBP:
    case PixelFormat::BGRP:
    case PixelFormat::RGBA:
    case PixelFormat::BGRA:
    case PixelFormat::RGBx:
    case PixelFormat::BGRx:
    case PixelFormat::GRAY8:
      return true;
    default:
      return false;
  }
}

/// Bytes of an element of a plane's image.
size_t element_bytes(PixelFormat format, int plane) {
  if (format == PixelFormat::NV12) return plane == 0 ? 1 : 2;
  return static_cast<size_t>(plane_row_bytes(format, plane, 1));
}

/// The file descriptor of a plane; -1 for none.
int descriptor(const Image& image, size_t plane) {
  const auto* handle = std::get_if<DmaBufHandle>(&image.planes[plane].buffer->handle());
  if (handle == nullptr || handle->fds.empty()) return -1;
  // One for all planes, or one per plane, of a picture whose planes share a buffer or have one
  // each.
  return handle->fds[std::min(plane, handle->fds.size() - 1)];
}

/// Enqueues that all memory of a picture changes its owner.
Status pass_on(cl_command_queue queue, const ImportedPicture& picture, PassOn call,
               std::string_view what) {
  std::vector<cl_mem> objects;
  for (size_t p = 0; p < picture.plane_count; ++p) {
    const cl_mem object = picture.planes[p]->get();
    if (objects.empty() || objects.back() != object) objects.push_back(object);
  }
  return cl_status(
      call(queue, static_cast<cl_uint>(objects.size()), objects.data(), 0, nullptr, nullptr), what);
}

}  // namespace

struct SurfaceImport::Functions {
  CreateFromSurface create_from_surface = nullptr;
  PassOn acquire_surfaces = nullptr;
  PassOn release_surfaces = nullptr;
  bool dma_buf = false;
  bool dma_buf_is_too_old = false;  ///< the extension, but not OpenCL 3.0
  PassOn acquire_external = nullptr;
  PassOn release_external = nullptr;
};

std::string_view import_extension(MemoryKind kind) {
  if (kind == MemoryKind::VaSurface) return kVaSharing;
  return kind == MemoryKind::DmaBuf ? kDmaBufSharing : std::string_view();
}

namespace {

bool can_import(const Hardware& hardware, MemoryKind kind) {
  // Memory of DMA-BUFs is made by a call of OpenCL 3.0.
  return hardware.has_extension(import_extension(kind)) &&
         (kind != MemoryKind::DmaBuf || hardware.opencl_major >= 3);
}

}  // namespace

std::string surface_ways(const Hardware& hardware) {
  std::string text;
  for (const MemoryKind kind : {MemoryKind::VaSurface, MemoryKind::DmaBuf}) {
    const std::string_view extension = import_extension(kind);
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", to_string(kind),
                        can_import(hardware, kind) ? extension : "mapped copy");
  }
  return text;
}

SurfaceImport::SurfaceImport(cl_context context, const Hardware& hardware, void* va_display)
    : context_(context), va_display_(va_display) {
  auto functions = std::make_shared<Functions>();
  if (hardware.has_extension(kVaSharing)) {
    functions->create_from_surface =
        function<CreateFromSurface>(hardware, "clCreateFromVA_APIMediaSurfaceINTEL");
    functions->acquire_surfaces =
        function<PassOn>(hardware, "clEnqueueAcquireVA_APIMediaSurfacesINTEL");
    functions->release_surfaces =
        function<PassOn>(hardware, "clEnqueueReleaseVA_APIMediaSurfacesINTEL");
  }
  if (can_import(hardware, MemoryKind::DmaBuf)) {
    functions->dma_buf = true;
    functions->acquire_external =
        function<PassOn>(hardware, "clEnqueueAcquireExternalMemObjectsKHR");
    functions->release_external =
        function<PassOn>(hardware, "clEnqueueReleaseExternalMemObjectsKHR");
  }
  functions->dma_buf_is_too_old = !functions->dma_buf && hardware.has_extension(kDmaBufSharing);
  functions_ = std::move(functions);
}

bool SurfaceImport::takes(MemoryKind kind) const {
  const Functions& f = *functions_;
  if (kind == MemoryKind::VaSurface) {
    return va_display_ != nullptr && f.create_from_surface != nullptr &&
           f.acquire_surfaces != nullptr && f.release_surfaces != nullptr;
  }
  return kind == MemoryKind::DmaBuf && f.dma_buf && f.acquire_external != nullptr &&
         f.release_external != nullptr;
}

Result<Memory> SurfaceImport::import_va_plane(unsigned surface, int plane,
                                              const Image& image) const {
  cl_int code = CL_SUCCESS;
  BufferHandle made(functions_->create_from_surface(context_, CL_MEM_READ_ONLY, &surface,
                                                    static_cast<cl_uint>(plane), &code));
  HET_TRY(cl_status(code, fmt::format("import plane {} of VA surface {}", plane, surface)));
  cl_image_format format{};
  size_t width = 0;
  size_t height = 0;
  size_t element = 0;
  clGetImageInfo(made.get(), CL_IMAGE_FORMAT, sizeof format, &format, nullptr);
  clGetImageInfo(made.get(), CL_IMAGE_WIDTH, sizeof width, &width, nullptr);
  clGetImageInfo(made.get(), CL_IMAGE_HEIGHT, sizeof height, &height, nullptr);
  clGetImageInfo(made.get(), CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  const size_t wanted = element_bytes(image.format, plane);
  const auto row_bytes = static_cast<size_t>(plane_row_bytes(image.format, plane, image.width));
  if (format.image_channel_data_type != CL_UNORM_INT8 || element != wanted ||
      width * element < row_bytes ||
      height < static_cast<size_t>(plane_rows(image.format, plane, image.height))) {
    return error(StatusCode::NotSupported,
                 "plane {} of VA surface {} is {}x{} elements of {} bytes, not a plane of a {}x{} "
                 "{} picture",
                 plane, surface, width, height, element, image.width, image.height,
                 to_string(image.format));
  }
  return std::make_shared<const BufferHandle>(std::move(made));
}

Result<Memory> SurfaceImport::import_dma_buf(const Image& image, size_t plane) const {
  const Buffer& buffer = *image.planes[plane].buffer;
  const int fd = descriptor(image, plane);
  if (fd < 0) {
    return error(StatusCode::InvalidArgument, "the DMA-BUF picture has no file descriptor");
  }
  const auto* handle = std::get_if<DmaBufHandle>(&buffer.handle());
  // DRM_FORMAT_MOD_LINEAR: rows one after the other.
  if (handle->drm_modifier != 0) {
    return error(StatusCode::NotSupported, "the DMA-BUF is not linear (DRM modifier {:#x})",
                 handle->drm_modifier);
  }
  // Kernels count the bytes before a plane in uint.
  if (buffer.size_bytes() > UINT32_MAX) {
    return error(StatusCode::NotSupported, "the DMA-BUF has {} bytes, more than 4 GiB",
                 buffer.size_bytes());
  }
  const cl_mem_properties properties[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
                                          static_cast<cl_mem_properties>(fd), 0};
  cl_int code = CL_SUCCESS;
  BufferHandle made(clCreateBufferWithProperties(context_, properties, CL_MEM_READ_ONLY,
                                                 buffer.size_bytes(), nullptr, &code));
  HET_TRY(cl_status(code, fmt::format("import {} bytes of DMA-BUF {}", buffer.size_bytes(), fd)));
  return std::make_shared<const BufferHandle>(std::move(made));
}

Result<ImportedPicture> SurfaceImport::try_import(const Image& image) const {
  ImportedPicture picture;
  picture.kind = image.memory_kind();
  picture.plane_count = static_cast<size_t>(image.plane_count);
  if (!takes(picture.kind)) {
    if (picture.kind == MemoryKind::VaSurface && functions_->create_from_surface != nullptr) {
      return error(StatusCode::NotSupported,
                   "the context was not made for a VADisplay (create_context)");
    }
    if (picture.kind == MemoryKind::DmaBuf && functions_->dma_buf_is_too_old) {
      return error(StatusCode::NotSupported, "{} needs OpenCL 3.0 and the driver has less",
                   kDmaBufSharing);
    }
    return error(StatusCode::NotSupported, "the driver has no {}", import_extension(picture.kind));
  }
  if (picture.kind == MemoryKind::DmaBuf) {
    HET_TRY(preprocess_internal::check_planes_fit(image));
    for (size_t p = 0; p < picture.plane_count; ++p) {
      const bool shared = p > 0 && image.planes[p].buffer == image.planes[p - 1].buffer &&
                          descriptor(image, p) == descriptor(image, p - 1);
      if (shared) {
        picture.planes[p] = picture.planes[p - 1];
      } else {
        HET_ASSIGN(picture.planes[p], import_dma_buf(image, p));
      }
    }
    return picture;
  }
  const auto* handle = std::get_if<VaSurfaceHandle>(&image.planes[0].buffer->handle());
  if (handle == nullptr || handle->display != va_display_) {
    return error(StatusCode::NotSupported, "the surface is of another VADisplay than the context");
  }
  if (!has_image_planes(image.format)) {
    return error(StatusCode::NotSupported, "no driver gives the planes of {}",
                 to_string(image.format));
  }
  // The extension orders commands behind the owner's only once these have ended.
  if (auto* surface = dynamic_cast<SurfaceBuffer*>(image.planes[0].buffer.get())) {
    HET_TRY(surface->begin_import());
  }
  picture.are_images = true;
  for (int p = 0; p < image.plane_count; ++p) {
    HET_ASSIGN(picture.planes[static_cast<size_t>(p)], import_va_plane(handle->surface, p, image));
  }
  return picture;
}

std::optional<ImportedPicture> SurfaceImport::import(const Image& image) {
  if (import_extension(image.memory_kind()).empty()) return std::nullopt;
  Result<ImportedPicture> picture = try_import(image);
  report(image, picture ? Status() : picture.error());
  if (!picture) return std::nullopt;
  return *std::move(picture);
}

void SurfaceImport::report(const Image& image, const Status& refused) {
  const MemoryKind kind = image.memory_kind();
  if (reported_[static_cast<size_t>(kind)].exchange(true)) return;
  if (refused.ok()) {
    log(LogLevel::Info, "{} pictures are read where they are ({})", to_string(kind),
        import_extension(kind));
  } else {
    log(LogLevel::Info, "{} pictures are mapped and copied: {}", to_string(kind),
        refused.message());
  }
}

Status SurfaceImport::acquire(cl_command_queue queue, const ImportedPicture& picture) const {
  return pass_on(queue, picture,
                 picture.are_images ? functions_->acquire_surfaces : functions_->acquire_external,
                 "take over a picture");
}

Status SurfaceImport::release(cl_command_queue queue, const ImportedPicture& picture) const {
  return pass_on(queue, picture,
                 picture.are_images ? functions_->release_surfaces : functions_->release_external,
                 "give back a picture");
}

Result<ContextHandle> create_va_context(const Hardware& hardware, void* va_display) {
  if (!hardware.has_extension(kVaSharing)) {
    return error(StatusCode::NotSupported, "the driver has no {}", kVaSharing);
  }
  const auto devices_of =
      function<DevicesOfDisplay>(hardware, "clGetDeviceIDsFromVA_APIMediaAdapterINTEL");
  std::array<cl_device_id, 16> devices{};
  cl_uint found = 0;
  if (devices_of != nullptr &&
      devices_of(hardware.platform, kVaDisplay, va_display, kAllDevicesOfDisplay,
                 static_cast<cl_uint>(devices.size()), devices.data(), &found) != CL_SUCCESS) {
    found = 0;
  }
  const auto end = devices.begin() + std::min<size_t>(found, devices.size());
  if (std::find(devices.begin(), end, hardware.device) == end) {
    return error(StatusCode::NotSupported, "the OpenCL device '{}' shares no surfaces with it",
                 hardware.name);
  }
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(hardware.platform),
      kContextVaDisplay, reinterpret_cast<cl_context_properties>(va_display), 0};
  cl_int code = CL_SUCCESS;
  ContextHandle context(clCreateContext(properties, 1, &hardware.device, nullptr, nullptr, &code));
  HET_TRY(
      cl_status(code, fmt::format("open the OpenCL device '{}' for a VADisplay", hardware.name)));
  return context;
}

void* va_display_of(cl_context context, const Hardware& hardware) {
  // PoCL 3.1 crashes when a context without properties is asked for them.
  if (!hardware.has_extension(kVaSharing)) return nullptr;
  size_t bytes = 0;
  if (clGetContextInfo(context, CL_CONTEXT_PROPERTIES, 0, nullptr, &bytes) != CL_SUCCESS) {
    return nullptr;
  }
  std::vector<cl_context_properties> properties(bytes / sizeof(cl_context_properties));
  clGetContextInfo(context, CL_CONTEXT_PROPERTIES, bytes, properties.data(), nullptr);
  for (size_t i = 0; i + 1 < properties.size() && properties[i] != 0; i += 2) {
    if (properties[i] == kContextVaDisplay) return reinterpret_cast<void*>(properties[i + 1]);
  }
  return nullptr;
}

}  // namespace het::gpu
