// Where there is a VA display of GStreamer's there is its library.
#include "frame_map_import.h"

#include <gst/allocators/allocators.h>
#include <gst/video/video.h>

#if defined(HET_VA) && GST_CHECK_VERSION(1, 24, 0)
#include <va/va.h>

#include "va_library.h"
#define HET_GST_IMPORT
#endif

namespace het::gst {

#ifdef HET_GST_IMPORT
namespace {

constexpr guint64 kLinear = 0;  // DRM_FORMAT_MOD_LINEAR

class ImportByVa final : public DmaBufImport {
 public:
  ImportByVa(const GstVideoInfoDmaDrm& layout, const SharedDisplay& display)
      : layout_(layout),
        display_(reinterpret_cast<GstVaDisplay*>(gst_object_ref(display.display))),
        va_display_(display.va_display) {}
  ~ImportByVa() override { gst_object_unref(display_); }

  Result<FrameSurface> surface(GstBuffer* buffer) override {
    GstMemory* memory =
        gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
    if (!memory || !gst_is_dmabuf_memory(memory)) {
      return error(StatusCode::InvalidArgument,
                   "a buffer of DMA-BUF caps holds other memory; its caps do not describe it");
    }
    const VaLibrary& va = *va_library();
    if (va.gst_va_memory_get_surface(memory) == VA_INVALID_ID) HET_TRY(import(buffer));
    return FrameSurface{GST_OBJECT(display_), va_display_, va.gst_va_memory_get_surface(memory)};
  }

 private:
  Status import(GstBuffer* buffer) {
    GstVideoInfoDmaDrm layout = layout_;
    GstVideoInfo& info = layout.vinfo;
    if (const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer)) {
      for (guint i = 0; i < meta->n_planes; ++i) {
        GST_VIDEO_INFO_PLANE_OFFSET(&info, i) = meta->offset[i];
        GST_VIDEO_INFO_PLANE_STRIDE(&info, i) = meta->stride[i];
      }
    }
    GstMemory* memories[GST_VIDEO_MAX_PLANES] = {};
    uintptr_t files[GST_VIDEO_MAX_PLANES] = {};
    gsize offsets[GST_VIDEO_MAX_PLANES] = {};
    bool fits = true;
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&info) && fits; ++i) {
      guint index = 0;
      guint length = 0;
      gsize skip = 0;
      fits = gst_buffer_find_memory(buffer, GST_VIDEO_INFO_PLANE_OFFSET(&info, i), 1, &index,
                                    &length, &skip) != FALSE;
      GstMemory* memory = fits ? gst_buffer_peek_memory(buffer, index) : nullptr;
      fits = memory != nullptr && gst_is_dmabuf_memory(memory);
      if (!fits) break;
      memories[i] = memory;
      files[i] = static_cast<uintptr_t>(gst_dmabuf_memory_get_fd(memory));
      offsets[i] = memory->offset + skip;
    }
    if (fits &&
        va_library()->gst_va_dmabuf_memories_setup(display_, &layout, memories, files, offsets,
                                                   VA_SURFACE_ATTRIB_USAGE_HINT_VPP_READ))
      return {};
    gchar* format = gst_video_dma_drm_fourcc_to_string(layout_.drm_fourcc, layout_.drm_modifier);
    const Status status = error(StatusCode::NotSupported,
                                "the VA driver does not import DMA-BUFs of drm-format {}; put "
                                "vapostproc before the element, or ask for another drm-format",
                                format);
    g_free(format);
    return status;
  }

  const GstVideoInfoDmaDrm layout_;
  GstVaDisplay* const display_;
  void* const va_display_;
};

}  // namespace

bool needs_import(const GstCaps* caps) {
  GstVideoInfoDmaDrm drm;
  return gst_video_is_dma_drm_caps(caps) && gst_video_info_dma_drm_from_caps(&drm, caps) &&
         drm.drm_modifier != kLinear;
}

Result<std::unique_ptr<DmaBufImport>> DmaBufImport::create(const GstCaps* caps,
                                                           const SharedDisplay& display) {
  GstVideoInfoDmaDrm layout;
  GstVideoInfo info;
  if (!gst_video_info_dma_drm_from_caps(&layout, caps) || !read_video_info(caps, &info)) {
    return error(StatusCode::InvalidArgument, "the caps describe no DMA-BUF");
  }
  if (!display.display) {
    gchar* format = gst_video_dma_drm_fourcc_to_string(layout.drm_fourcc, layout.drm_modifier);
    const Status status =
        error(StatusCode::NotSupported,
              "DMA-BUFs of drm-format {} can only be read through VA, and the pipeline shares no "
              "VA display; put vapostproc before the element, or ask for linear DMA-BUFs",
              format);
    g_free(format);
    return Failure(status);
  }
  // GStreamer leaves the planes of formats with modifiers open.
  layout.vinfo = info;
  return std::unique_ptr<DmaBufImport>(std::make_unique<ImportByVa>(layout, display));
}
#else
bool needs_import(const GstCaps*) {
  return false;
}

Result<std::unique_ptr<DmaBufImport>> DmaBufImport::create(const GstCaps*, const SharedDisplay&) {
  return error(StatusCode::NotSupported, "this build imports no DMA-BUFs");
}
#endif

}  // namespace het::gst
