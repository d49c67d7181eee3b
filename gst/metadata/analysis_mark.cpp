#include "analysis_mark.h"

#include <initializer_list>

namespace het::gst {
namespace {

constexpr char kNotAnalysed[] = "GstHeteroNotAnalysedMeta";
constexpr char kStill[] = "GstHeteroStillMeta";

/// Custom metas without fields and tags: they go along when a buffer is copied or changed.
void register_marks() {
  static const char* no_tags[] = {nullptr};
  [[maybe_unused]] static const bool registered = [] {
    for (const char* name : {kNotAnalysed, kStill})
      gst_meta_register_custom(name, no_tags, nullptr, nullptr, nullptr);
    return true;
  }();
}

bool has_mark(GstBuffer* buffer, const char* name) {
  register_marks();
  return gst_buffer_get_custom_meta(buffer, name) != nullptr;
}

void set_mark(GstBuffer* buffer, const char* name) {
  if (!has_mark(buffer, name)) gst_buffer_add_custom_meta(buffer, name);
}

}  // namespace

void mark_not_analysed(GstBuffer* buffer) {
  set_mark(buffer, kNotAnalysed);
}

bool is_marked_not_analysed(GstBuffer* buffer) {
  return has_mark(buffer, kNotAnalysed);
}

void mark_still(GstBuffer* buffer) {
  set_mark(buffer, kStill);
}

bool is_marked_still(GstBuffer* buffer) {
  return has_mark(buffer, kStill);
}

}  // namespace het::gst
