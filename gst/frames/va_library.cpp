#include "va_library.h"

#include "optional_library.h"

namespace het::gst {
namespace {

/// False where one of them is missing.
bool load_va_library(VaLibrary& va) {
  const OptionalLibrary library("libgstva-1.0.so.0");
#define HET_FIND(name) library.find(#name, va.name)
  return HET_FIND(gst_va_allocator_get_type) && HET_FIND(gst_va_buffer_get_surface) &&
         HET_FIND(gst_va_buffer_peek_display) && HET_FIND(gst_va_display_get_type) &&
#if GST_CHECK_VERSION(1, 24, 0)
         HET_FIND(gst_va_dmabuf_memories_setup) && HET_FIND(gst_va_memory_get_surface) &&
#endif
         HET_FIND(gst_va_display_get_va_dpy);
#undef HET_FIND
}

}  // namespace

const VaLibrary* va_library() {
  if (g_type_from_name("GstVaDisplay") == 0) return nullptr;
  static VaLibrary va = {};
  static const bool is_complete = load_va_library(va);
  return is_complete ? &va : nullptr;
}

}  // namespace het::gst
