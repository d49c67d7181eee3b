// A VA driver whose surfaces are ordinary memory, for tests on machines without VA hardware. libva
// loads it by name; it shares no code with the library.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <va/va_backend.h>
#include <va/va_backend_vpp.h>
#include <va/va_drmcommon.h>
#include <va/va_vpp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tests/va/driver_state.h"
#include "tests/va/memory_surface.h"

namespace het::va_test {
namespace {

DriverState state;

constexpr uint32_t kFormats[] = {VA_FOURCC_NV12, VA_FOURCC_RGBP, VA_FOURCC_BGRX};

/// The bytes of an image are those of a surface or its own.
struct MemoryBuffer {
  std::vector<uint8_t> own;
  std::shared_ptr<MemorySurface> surface;
  uint8_t* address() { return surface ? surface->bytes.data() : own.data(); }
};

struct Context {
  VASurfaceID target = VA_INVALID_SURFACE;
  std::vector<VABufferID> parameters;
};

/// What one display has. Ids of displays differ, so that using another's is an error.
struct Objects {
  std::mutex mutex;  ///< protects everything below
  uint32_t next = 1;
  std::map<VASurfaceID, std::shared_ptr<MemorySurface>> surfaces;
  std::map<VABufferID, MemoryBuffer> buffers;
  std::map<VAImageID, VAImage> images;
  std::map<VAContextID, Context> contexts;
  std::set<VAConfigID> configs;
};

Objects& objects(VADriverContextP ctx) {
  return *static_cast<Objects*>(ctx->pDriverData);
}

std::shared_ptr<MemorySurface> surface_of(Objects& all, VASurfaceID id) {
  const auto found = all.surfaces.find(id);
  return found == all.surfaces.end() ? nullptr : found->second;
}

/// What a call that is not needed answers.
template <class... Arguments>
VAStatus unsupported(VADriverContextP, Arguments...) {
  return VA_STATUS_ERROR_UNIMPLEMENTED;
}

VAStatus terminate(VADriverContextP ctx) {
  Objects* all = &objects(ctx);
  state.counters.surfaces -= static_cast<int>(all->surfaces.size());
  state.counters.images -= static_cast<int>(all->images.size());
  delete all;
  ctx->pDriverData = nullptr;
  return VA_STATUS_SUCCESS;
}

// --- Configs and contexts ------------------------------------------------------------------------

VAStatus query_profiles(VADriverContextP, VAProfile* profiles, int* count) {
  profiles[0] = VAProfileNone;
  *count = 1;
  return VA_STATUS_SUCCESS;
}

VAStatus query_entrypoints(VADriverContextP, VAProfile profile, VAEntrypoint* entrypoints,
                           int* count) {
  if (profile != VAProfileNone) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  entrypoints[0] = VAEntrypointVideoProc;
  *count = 1;
  return VA_STATUS_SUCCESS;
}

VAStatus get_config_attributes(VADriverContextP, VAProfile, VAEntrypoint, VAConfigAttrib* list,
                               int count) {
  for (int i = 0; i < count; ++i) {
    list[i].value = list[i].type == VAConfigAttribRTFormat
                        ? VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_RGBP | VA_RT_FORMAT_RGB32
                        : VA_ATTRIB_NOT_SUPPORTED;
  }
  return VA_STATUS_SUCCESS;
}

VAStatus create_config(VADriverContextP ctx, VAProfile profile, VAEntrypoint entrypoint,
                       VAConfigAttrib*, int, VAConfigID* id) {
  if (profile != VAProfileNone) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  if (entrypoint != VAEntrypointVideoProc || state.faults.no_processor) {
    return VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
  }
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  *id = all.next++;
  all.configs.insert(*id);
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_config(VADriverContextP ctx, VAConfigID id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  return all.configs.erase(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONFIG;
}

VAStatus query_config_attributes(VADriverContextP ctx, VAConfigID, VAProfile* profile,
                                 VAEntrypoint* entrypoint, VAConfigAttrib* list, int* count) {
  *profile = VAProfileNone;
  *entrypoint = VAEntrypointVideoProc;
  list[0].type = VAConfigAttribRTFormat;
  *count = 1;
  return get_config_attributes(ctx, *profile, *entrypoint, list, *count);
}

VAStatus create_context(VADriverContextP ctx, VAConfigID config, int, int, int, VASurfaceID*, int,
                        VAContextID* id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  if (all.configs.count(config) == 0) return VA_STATUS_ERROR_INVALID_CONFIG;
  *id = all.next++;
  all.contexts[*id] = {};
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_context(VADriverContextP ctx, VAContextID id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  return all.contexts.erase(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONTEXT;
}

// --- Surfaces ------------------------------------------------------------------------------------

uint32_t fourcc_of_rt_format(unsigned format) {
  if (format & VA_RT_FORMAT_RGBP) return VA_FOURCC_RGBP;
  return format & VA_RT_FORMAT_RGB32 ? VA_FOURCC_BGRX : VA_FOURCC_NV12;
}

/// Lets a surface show what lies in DMA-BUFs. False for a layout that this driver does not know.
bool import(const VADRMPRIMESurfaceDescriptor& from, MemorySurface& surface) {
  struct Plane {
    std::shared_ptr<const uint8_t> memory;
    uint32_t offset = 0;
    uint32_t pitch = 0;
  };
  std::vector<Plane> planes;
  const uint64_t modifier = from.objects[0].drm_format_modifier;
  if (modifier != 0 && modifier != kOwnModifier) return false;
  for (uint32_t i = 0; i < from.layers[0].num_planes; ++i) {
    const int file = from.objects[from.layers[0].object_index[i]].fd;
    struct stat info {};
    if (fstat(file, &info) != 0) return false;
    const auto size = static_cast<size_t>(info.st_size);
    void* const address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) return false;
    planes.push_back({{static_cast<const uint8_t*>(address),
                       [address, size](const uint8_t*) { munmap(address, size); }},
                      from.layers[0].offset[i],
                      from.layers[0].pitch[i]});
  }
  if (planes.size() != surface.layout.planes) return false;
  surface.refresh = [planes, modifier, to = &surface] {
    const uint8_t mask = modifier == kOwnModifier ? 0xff : 0;
    for (size_t p = 0; p < planes.size(); ++p) {
      const int rows = p > 0 && to->fourcc == VA_FOURCC_NV12 ? to->height / 2 : to->height;
      const uint32_t bytes = std::min(planes[p].pitch, to->layout.pitch[p]);
      for (int y = 0; y < rows; ++y) {
        const uint8_t* in =
            planes[p].memory.get() + planes[p].offset + static_cast<size_t>(y) * planes[p].pitch;
        uint8_t* out =
            to->bytes.data() + to->layout.offset[p] + static_cast<size_t>(y) * to->layout.pitch[p];
        for (uint32_t x = 0; x < bytes; ++x) out[x] = in[x] ^ mask;
      }
    }
  };
  ++state.counters.imported;
  return true;
}

VAStatus create_surfaces2(VADriverContextP ctx, unsigned format, unsigned width, unsigned height,
                          VASurfaceID* ids, unsigned count, VASurfaceAttrib* attributes,
                          unsigned attribute_count) {
  if (state.faults.lost) return VA_STATUS_ERROR_OPERATION_FAILED;
  uint32_t fourcc = fourcc_of_rt_format(format);
  const VADRMPRIMESurfaceDescriptor* dma_bufs = nullptr;
  for (unsigned i = 0; i < attribute_count; ++i) {
    if (attributes[i].type == VASurfaceAttribPixelFormat) {
      fourcc = static_cast<uint32_t>(attributes[i].value.value.i);
    }
    if (attributes[i].type == VASurfaceAttribExternalBufferDescriptor) {
      dma_bufs = static_cast<const VADRMPRIMESurfaceDescriptor*>(attributes[i].value.value.p);
    }
  }
  if (std::find(std::begin(kFormats), std::end(kFormats), fourcc) == std::end(kFormats)) {
    return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  }
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  for (unsigned i = 0; i < count; ++i) {
    auto surface = std::make_shared<MemorySurface>();
    surface->fourcc = fourcc;
    surface->width = static_cast<int>(width);
    surface->height = static_cast<int>(height);
    surface->layout = layout_of(fourcc, surface->width, surface->height);
    // Not black, so that what was never written shows.
    surface->bytes.assign(surface->layout.size, 0xa5);
    if (dma_bufs != nullptr && !import(*dma_bufs, *surface)) {
      return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    }
    ids[i] = all.next++;
    all.surfaces[ids[i]] = std::move(surface);
    ++state.counters.surfaces;
  }
  return VA_STATUS_SUCCESS;
}

VAStatus create_surfaces(VADriverContextP ctx, int width, int height, int format, int count,
                         VASurfaceID* ids) {
  return create_surfaces2(ctx, static_cast<unsigned>(format), static_cast<unsigned>(width),
                          static_cast<unsigned>(height), ids, static_cast<unsigned>(count), nullptr,
                          0);
}

/// A memfd with a copy of what the surface shows, a layer for each plane.
VAStatus export_surface_handle(VADriverContextP ctx, VASurfaceID id, uint32_t memory_type,
                               uint32_t flags, void* descriptor) {
  if (memory_type != VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) {
    return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
  }
  if ((flags & VA_EXPORT_SURFACE_SEPARATE_LAYERS) == 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto found = all.surfaces.find(id);
  if (found == all.surfaces.end()) return VA_STATUS_ERROR_INVALID_SURFACE;
  const MemorySurface& surface = *found->second;
  const int file = memfd_create("surface", MFD_CLOEXEC);
  if (file < 0) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  if (write(file, surface.bytes.data(), surface.bytes.size()) !=
      static_cast<ssize_t>(surface.bytes.size())) {
    close(file);
    return VA_STATUS_ERROR_ALLOCATION_FAILED;
  }
  auto& to = *static_cast<VADRMPRIMESurfaceDescriptor*>(descriptor);
  to = {};
  to.fourcc = surface.fourcc;
  to.width = static_cast<uint32_t>(surface.width);
  to.height = static_cast<uint32_t>(surface.height);
  to.num_objects = 1;
  to.objects[0].fd = file;
  to.objects[0].size = static_cast<uint32_t>(surface.bytes.size());
  to.num_layers = surface.layout.planes;
  for (uint32_t p = 0; p < surface.layout.planes; ++p) {
    to.layers[p].num_planes = 1;
    to.layers[p].offset[0] = surface.layout.offset[p];
    to.layers[p].pitch[0] = surface.layout.pitch[p];
  }
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_surfaces(VADriverContextP ctx, VASurfaceID* ids, int count) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  for (int i = 0; i < count; ++i) {
    if (all.surfaces.erase(ids[i]) == 0) return VA_STATUS_ERROR_INVALID_SURFACE;
    --state.counters.surfaces;
  }
  return VA_STATUS_SUCCESS;
}

VAStatus query_surface_attributes(VADriverContextP, VAConfigID, VASurfaceAttrib* list,
                                  unsigned* count) {
  std::vector<VASurfaceAttrib> known;
  const auto add = [&known](VASurfaceAttribType type, int value) {
    VASurfaceAttrib attribute{};
    attribute.type = type;
    attribute.flags = VA_SURFACE_ATTRIB_GETTABLE | VA_SURFACE_ATTRIB_SETTABLE;
    attribute.value.type = VAGenericValueTypeInteger;
    attribute.value.value.i = value;
    known.push_back(attribute);
  };
  for (const uint32_t fourcc : kFormats) {
    add(VASurfaceAttribPixelFormat, static_cast<int>(fourcc));
  }
  add(VASurfaceAttribMinWidth, 1);
  add(VASurfaceAttribMinHeight, 1);
  add(VASurfaceAttribMaxWidth, 8192);
  add(VASurfaceAttribMaxHeight, 8192);
  add(VASurfaceAttribMemoryType,
      VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2);
  const bool fits = list != nullptr && *count >= known.size();
  const bool is_asked = list != nullptr;
  *count = static_cast<unsigned>(known.size());
  if (!is_asked) return VA_STATUS_SUCCESS;
  if (!fits) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
  std::copy(known.begin(), known.end(), list);
  return VA_STATUS_SUCCESS;
}

VAStatus sync_surface(VADriverContextP ctx, VASurfaceID id) {
  ++state.counters.synced;
  if (state.faults.lost) return VA_STATUS_ERROR_OPERATION_FAILED;
  Objects& all = objects(ctx);
  std::function<void()> pending;
  {
    std::lock_guard lock(all.mutex);
    const auto surface = surface_of(all, id);
    if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
    pending = std::exchange(surface->pending, nullptr);
  }
  if (pending) pending();
  return VA_STATUS_SUCCESS;
}

VAStatus query_surface_status(VADriverContextP ctx, VASurfaceID id, VASurfaceStatus* status) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto surface = surface_of(all, id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  *status = surface->pending ? VASurfaceRendering : VASurfaceReady;
  return VA_STATUS_SUCCESS;
}

// --- Buffers and images --------------------------------------------------------------------------

VAStatus create_buffer(VADriverContextP ctx, VAContextID, VABufferType, unsigned size,
                       unsigned count, void* content, VABufferID* id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  *id = all.next++;
  MemoryBuffer& buffer = all.buffers[*id];
  buffer.own.resize(size_t{size} * count);
  if (content != nullptr) std::memcpy(buffer.own.data(), content, buffer.own.size());
  return VA_STATUS_SUCCESS;
}

VAStatus map_buffer(VADriverContextP ctx, VABufferID id, void** address) {
  if (state.faults.no_map || state.faults.lost) return VA_STATUS_ERROR_OPERATION_FAILED;
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto found = all.buffers.find(id);
  if (found == all.buffers.end()) return VA_STATUS_ERROR_INVALID_BUFFER;
  ++state.counters.mapped;
  *address = found->second.address();
  return VA_STATUS_SUCCESS;
}

VAStatus unmap_buffer(VADriverContextP ctx, VABufferID id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  return all.buffers.count(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

VAStatus destroy_buffer(VADriverContextP ctx, VABufferID id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  return all.buffers.erase(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

VAImageFormat image_format(uint32_t fourcc) {
  VAImageFormat format{};
  format.fourcc = fourcc;
  format.byte_order = VA_LSB_FIRST;
  format.bits_per_pixel = fourcc == VA_FOURCC_NV12 ? 12 : fourcc == VA_FOURCC_RGBP ? 24 : 32;
  if (fourcc == VA_FOURCC_BGRX) {
    format.depth = 24;
    format.red_mask = 0x00ff0000;
    format.green_mask = 0x0000ff00;
    format.blue_mask = 0x000000ff;
  }
  return format;
}

VAStatus query_image_formats(VADriverContextP, VAImageFormat* list, int* count) {
  *count = 0;
  for (const uint32_t fourcc : kFormats) list[(*count)++] = image_format(fourcc);
  return VA_STATUS_SUCCESS;
}

/// The caller holds the lock.
void make_image(Objects& all, uint32_t fourcc, int width, int height, MemoryBuffer buffer,
                VAImage* image) {
  const PlaneLayout layout = layout_of(fourcc, width, height);
  *image = {};
  image->image_id = all.next++;
  image->buf = all.next++;
  image->format = image_format(fourcc);
  image->width = static_cast<uint16_t>(width);
  image->height = static_cast<uint16_t>(height);
  image->data_size = layout.size;
  image->num_planes = layout.planes;
  std::copy(layout.offset.begin(), layout.offset.end(), image->offsets);
  std::copy(layout.pitch.begin(), layout.pitch.end(), image->pitches);
  all.images[image->image_id] = *image;
  all.buffers[image->buf] = std::move(buffer);
  ++state.counters.images;
}

VAStatus create_image(VADriverContextP ctx, VAImageFormat* format, int width, int height,
                      VAImage* image) {
  const uint32_t size = layout_of(format->fourcc, width, height).size;
  if (size == 0) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  make_image(all, format->fourcc, width, height, {std::vector<uint8_t>(size), nullptr}, image);
  return VA_STATUS_SUCCESS;
}

VAStatus derive_image(VADriverContextP ctx, VASurfaceID id, VAImage* image) {
  if (state.faults.no_derive || state.faults.lost) return VA_STATUS_ERROR_OPERATION_FAILED;
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto surface = surface_of(all, id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (surface->refresh) surface->refresh();
  make_image(all, surface->fourcc, surface->width, surface->height, {{}, surface}, image);
  ++state.counters.derived;
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_image(VADriverContextP ctx, VAImageID id) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto found = all.images.find(id);
  if (found == all.images.end()) return VA_STATUS_ERROR_INVALID_IMAGE;
  all.buffers.erase(found->second.buf);
  all.images.erase(found);
  --state.counters.images;
  return VA_STATUS_SUCCESS;
}

/// Copies whole pictures of one layout; nothing else is asked for here.
VAStatus copy_image(VADriverContextP ctx, VASurfaceID id, VAImageID image_id, bool to_surface) {
  if (state.faults.lost) return VA_STATUS_ERROR_OPERATION_FAILED;
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto surface = surface_of(all, id);
  const auto image = all.images.find(image_id);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (image == all.images.end()) return VA_STATUS_ERROR_INVALID_IMAGE;
  if (image->second.format.fourcc != surface->fourcc ||
      image->second.data_size != surface->layout.size) {
    return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
  }
  if (surface->refresh) surface->refresh();
  uint8_t* const bytes = all.buffers[image->second.buf].address();
  if (to_surface) {
    std::memcpy(surface->bytes.data(), bytes, surface->bytes.size());
  } else {
    std::memcpy(bytes, surface->bytes.data(), surface->bytes.size());
    ++state.counters.copied;
  }
  return VA_STATUS_SUCCESS;
}

VAStatus get_image(VADriverContextP ctx, VASurfaceID id, int, int, unsigned, unsigned,
                   VAImageID image) {
  return copy_image(ctx, id, image, false);
}

VAStatus put_image(VADriverContextP ctx, VASurfaceID id, VAImageID image, int, int, unsigned,
                   unsigned, int, int, unsigned, unsigned) {
  return copy_image(ctx, id, image, true);
}

// --- Video processor -----------------------------------------------------------------------------

VAStatus begin_picture(VADriverContextP ctx, VAContextID context, VASurfaceID target) {
  if (state.faults.lost) return VA_STATUS_ERROR_OPERATION_FAILED;
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto found = all.contexts.find(context);
  if (found == all.contexts.end()) return VA_STATUS_ERROR_INVALID_CONTEXT;
  if (!surface_of(all, target)) return VA_STATUS_ERROR_INVALID_SURFACE;
  found->second = {target, {}};
  return VA_STATUS_SUCCESS;
}

VAStatus render_picture(VADriverContextP ctx, VAContextID context, VABufferID* ids, int count) {
  Objects& all = objects(ctx);
  std::lock_guard lock(all.mutex);
  const auto found = all.contexts.find(context);
  if (found == all.contexts.end()) return VA_STATUS_ERROR_INVALID_CONTEXT;
  found->second.parameters.insert(found->second.parameters.end(), ids, ids + count);
  return VA_STATUS_SUCCESS;
}

VARectangle region_or_all(const VARectangle* region, const MemorySurface& surface) {
  if (region != nullptr) return *region;
  return {0, 0, static_cast<uint16_t>(surface.width), static_cast<uint16_t>(surface.height)};
}

VAStatus end_picture(VADriverContextP ctx, VAContextID context) {
  std::function<void()> work;
  {
    Objects& all = objects(ctx);
    std::lock_guard lock(all.mutex);
    const auto found = all.contexts.find(context);
    if (found == all.contexts.end()) return VA_STATUS_ERROR_INVALID_CONTEXT;
    if (found->second.parameters.size() != 1) return VA_STATUS_ERROR_INVALID_PARAMETER;
    VAProcPipelineParameterBuffer p;
    std::memcpy(&p, all.buffers[found->second.parameters[0]].own.data(), sizeof p);
    const auto from = surface_of(all, p.surface);
    const auto to = surface_of(all, found->second.target);
    if (!from || !to) return VA_STATUS_ERROR_INVALID_SURFACE;
    const VARectangle source = region_or_all(p.surface_region, *from);
    const VARectangle target = region_or_all(p.output_region, *to);
    if (source.x < 0 || source.y < 0 || source.x + source.width > from->width ||
        source.y + source.height > from->height || target.x + target.width > to->width ||
        target.y + target.height > to->height) {
      return VA_STATUS_ERROR_INVALID_PARAMETER;
    }
    const Colors colors{p.surface_color_standard == VAProcColorStandardBT709,
                        p.input_color_properties.color_range == VA_SOURCE_RANGE_FULL};
    work = [from, to, source, target, colors] {
      std::this_thread::sleep_for(std::chrono::milliseconds(state.faults.slow_ms));
      if (from->refresh) from->refresh();
      process(*from, source, *to, target, colors);
    };
    ++state.counters.processed;
    if ((p.filter_flags & VA_FILTER_SCALING_MASK) == VA_FILTER_SCALING_FAST)
      ++state.counters.processed_fast;
    if (state.faults.defer) to->pending = std::exchange(work, nullptr);
  }
  if (work) work();
  return VA_STATUS_SUCCESS;
}

VAStatus query_filters(VADriverContextP, VAContextID, VAProcFilterType*, unsigned* count) {
  *count = 0;
  return VA_STATUS_SUCCESS;
}

VAStatus query_pipeline_caps(VADriverContextP, VAContextID, VABufferID*, unsigned,
                             VAProcPipelineCaps* caps) {
  *caps = {};
  caps->max_input_width = caps->max_output_width = 8192;
  caps->max_input_height = caps->max_output_height = 8192;
  caps->min_input_width = caps->min_output_width = 1;
  caps->min_input_height = caps->min_output_height = 1;
  return VA_STATUS_SUCCESS;
}

VAStatus query_display_attributes(VADriverContextP, VADisplayAttribute*, int* count) {
  *count = 0;
  return VA_STATUS_SUCCESS;
}

VAStatus get_display_attributes(VADriverContextP, VADisplayAttribute* list, int count) {
  for (int i = 0; i < count; ++i) list[i].flags = VA_DISPLAY_ATTRIB_NOT_SUPPORTED;
  return VA_STATUS_SUCCESS;
}

VAStatus query_subpicture_formats(VADriverContextP, VAImageFormat*, unsigned*, unsigned* count) {
  *count = 0;
  return VA_STATUS_SUCCESS;
}

void fill(VADriverVTable& table) {
  table.vaTerminate = terminate;
  table.vaQueryConfigProfiles = query_profiles;
  table.vaQueryConfigEntrypoints = query_entrypoints;
  table.vaGetConfigAttributes = get_config_attributes;
  table.vaCreateConfig = create_config;
  table.vaDestroyConfig = destroy_config;
  table.vaQueryConfigAttributes = query_config_attributes;
  table.vaCreateSurfaces = create_surfaces;
  table.vaCreateSurfaces2 = create_surfaces2;
  table.vaDestroySurfaces = destroy_surfaces;
  table.vaQuerySurfaceAttributes = query_surface_attributes;
  table.vaCreateContext = create_context;
  table.vaDestroyContext = destroy_context;
  table.vaCreateBuffer = create_buffer;
  table.vaBufferSetNumElements = unsupported;
  table.vaMapBuffer = map_buffer;
  table.vaUnmapBuffer = unmap_buffer;
  table.vaDestroyBuffer = destroy_buffer;
  table.vaBeginPicture = begin_picture;
  table.vaRenderPicture = render_picture;
  table.vaEndPicture = end_picture;
  table.vaSyncSurface = sync_surface;
  table.vaQuerySurfaceStatus = query_surface_status;
  table.vaPutSurface = unsupported;
  table.vaQueryImageFormats = query_image_formats;
  table.vaCreateImage = create_image;
  table.vaDeriveImage = derive_image;
  table.vaDestroyImage = destroy_image;
  table.vaSetImagePalette = unsupported;
  table.vaGetImage = get_image;
  table.vaPutImage = put_image;
  table.vaQuerySubpictureFormats = query_subpicture_formats;
  table.vaCreateSubpicture = unsupported;
  table.vaDestroySubpicture = unsupported;
  table.vaSetSubpictureImage = unsupported;
  table.vaSetSubpictureChromakey = unsupported;
  table.vaSetSubpictureGlobalAlpha = unsupported;
  table.vaAssociateSubpicture = unsupported;
  table.vaDeassociateSubpicture = unsupported;
  table.vaQueryDisplayAttributes = query_display_attributes;
  table.vaGetDisplayAttributes = get_display_attributes;
  table.vaSetDisplayAttributes = unsupported;
  // GStreamer's elements would offer other caps.
  if (std::getenv("HET_VA_EXPORT") != nullptr) table.vaExportSurfaceHandle = export_surface_handle;
}

}  // namespace
}  // namespace het::va_test

extern "C" __attribute__((visibility("default"))) het::va_test::DriverState* het_va_driver_state() {
  return &het::va_test::state;
}

extern "C" __attribute__((visibility("default"))) VAStatus __vaDriverInit_1_0(
    VADriverContextP ctx) {
  static std::atomic<uint32_t> displays = 0;
  auto* all = new het::va_test::Objects();
  all->next = 1 + (++displays << 20);
  ctx->pDriverData = all;
  ctx->version_major = VA_MAJOR_VERSION;
  ctx->version_minor = VA_MINOR_VERSION;
  ctx->max_profiles = 1;
  ctx->max_entrypoints = 1;
  ctx->max_attributes = 8;
  ctx->max_image_formats = static_cast<int>(std::size(het::va_test::kFormats));
  ctx->max_subpic_formats = 1;
  ctx->max_display_attributes = 1;
  ctx->str_vendor = "driver of gst-hetero's tests";
  het::va_test::fill(*ctx->vtable);
  ctx->vtable_vpp->version = VA_DRIVER_VTABLE_VPP_VERSION;
  ctx->vtable_vpp->vaQueryVideoProcFilters = het::va_test::query_filters;
  ctx->vtable_vpp->vaQueryVideoProcPipelineCaps = het::va_test::query_pipeline_caps;
  return VA_STATUS_SUCCESS;
}
