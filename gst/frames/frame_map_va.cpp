// Without libva there is no surface.
#include "frame_map.h"

#ifdef HET_VA
#include <va/va.h>

#include "va_library.h"
#endif

namespace het::gst {

#ifdef HET_VA
std::optional<FrameSurface> frame_surface(GstBuffer* buffer) {
  // Other memories are not asked for: GStreamer's library would complain about them.
  GstMemory* memory = gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  const VaLibrary* va = memory ? va_library() : nullptr;
  if (!va || !G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, va->gst_va_allocator_get_type()))
    return std::nullopt;
  GstVaDisplay* display = va->gst_va_buffer_peek_display(buffer);
  const VASurfaceID surface = va->gst_va_buffer_get_surface(buffer);
  if (!display || surface == VA_INVALID_ID) return std::nullopt;
  return FrameSurface{GST_OBJECT(display), va->gst_va_display_get_va_dpy(display), surface};
}

namespace {

/// A display of the element's own contexts; the caller's reference.
GstVaDisplay* display_of_contexts(GstElement* element) {
  GstContext* context = gst_element_get_context(element, GST_VA_DISPLAY_HANDLE_CONTEXT_TYPE_STR);
  if (!context) return nullptr;
  GstVaDisplay* display = nullptr;
  if (const VaLibrary* va = va_library()) {
    gst_structure_get(gst_context_get_structure(context), "gst-display",
                      va->gst_va_display_get_type(), &display, nullptr);
  }
  gst_context_unref(context);
  return display;
}

/// Asks what is on the other side of the element's pads; an answer becomes a context of it.
gboolean ask_peer(GstElement* element, GstPad* pad, gpointer) {
  GstQuery* query = gst_query_new_context(GST_VA_DISPLAY_HANDLE_CONTEXT_TYPE_STR);
  GstContext* context = nullptr;
  if (gst_pad_peer_query(pad, query)) {
    gst_query_parse_context(query, &context);
    if (context) gst_element_set_context(element, context);
  }
  gst_query_unref(query);
  return context == nullptr;  // goes on
}

}  // namespace

SharedDisplay shared_display(GstElement* element) {
  GstVaDisplay* display = display_of_contexts(element);
  if (!display) {
    gst_element_foreach_pad(element, ask_peer, nullptr);
    display = display_of_contexts(element);
  }
  if (!display) {
    gst_element_post_message(
        element,
        gst_message_new_need_context(GST_OBJECT(element), GST_VA_DISPLAY_HANDLE_CONTEXT_TYPE_STR));
    display = display_of_contexts(element);
  }
  if (!display) return {};
  return {GST_OBJECT(display), va_library()->gst_va_display_get_va_dpy(display)};
}

bool has_display(GstElement* element) {
  GstVaDisplay* const display = display_of_contexts(element);
  if (display) gst_object_unref(display);
  return display != nullptr;
}
#else
std::optional<FrameSurface> frame_surface(GstBuffer*) {
  return std::nullopt;
}

SharedDisplay shared_display(GstElement*) {
  return {};
}

bool has_display(GstElement*) {
  return false;
}
#endif

}  // namespace het::gst
