#pragma once

#include <gst/va/gstva.h>
#include <gst/va/gstvaallocator.h>

namespace het::gst {

/// The functions of libgstva-1.0 that frames need, under their own names.
struct VaLibrary {
  decltype(&::gst_va_allocator_get_type) gst_va_allocator_get_type;
  decltype(&::gst_va_buffer_get_surface) gst_va_buffer_get_surface;
  decltype(&::gst_va_buffer_peek_display) gst_va_buffer_peek_display;
  decltype(&::gst_va_display_get_type) gst_va_display_get_type;
  decltype(&::gst_va_display_get_va_dpy) gst_va_display_get_va_dpy;
#if GST_CHECK_VERSION(1, 24, 0)
  decltype(&::gst_va_dmabuf_memories_setup) gst_va_dmabuf_memories_setup;
  decltype(&::gst_va_memory_get_surface) gst_va_memory_get_surface;
#endif
};

/// Null while nothing in the process has a VA display of GStreamer's: then there is no surface
/// either, and nothing is loaded.
const VaLibrary* va_library();

}  // namespace het::gst
