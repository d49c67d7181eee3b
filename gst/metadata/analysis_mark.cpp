#include "analysis_mark.h"

namespace het::gst {
namespace {

constexpr char kMarkName[] = "GstHeteroNotAnalysedMeta";

/// A custom meta without fields and tags: it goes along when a buffer is copied or changed.
void register_mark() {
  static const char* no_tags[] = {nullptr};
  [[maybe_unused]] static const GstMetaInfo* const info =
      gst_meta_register_custom(kMarkName, no_tags, nullptr, nullptr, nullptr);
}

}  // namespace

void mark_not_analysed(GstBuffer* buffer) {
  register_mark();
  if (!is_marked_not_analysed(buffer)) gst_buffer_add_custom_meta(buffer, kMarkName);
}

bool is_marked_not_analysed(GstBuffer* buffer) {
  register_mark();
  return gst_buffer_get_custom_meta(buffer, kMarkName) != nullptr;
}

}  // namespace het::gst
