// The only file that includes GStreamer's va headers; without libva it finds no surface.
#include "frame_map.h"

#ifdef HET_VA
#include <gst/va/gstva.h>
#include <gst/va/gstvaallocator.h>
#include <va/va.h>
#endif

namespace het::gst {

#ifdef HET_VA
std::optional<FrameSurface> frame_surface(GstBuffer* buffer) {
  // Other memories are not asked for: GStreamer's library would complain about them.
  GstMemory* memory = gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!memory || !memory->allocator || !GST_IS_VA_ALLOCATOR(memory->allocator)) return std::nullopt;
  GstVaDisplay* display = gst_va_buffer_peek_display(buffer);
  const VASurfaceID surface = gst_va_buffer_get_surface(buffer);
  if (!display || surface == VA_INVALID_ID) return std::nullopt;
  return FrameSurface{GST_OBJECT(display), gst_va_display_get_va_dpy(display), surface};
}
#else
std::optional<FrameSurface> frame_surface(GstBuffer*) {
  return std::nullopt;
}
#endif

}  // namespace het::gst
