#include "allocation.h"

#include "gst/frames/frame_map.h"

namespace het::gst {
namespace {

bool has_plain_rows(const GstVideoMeta& meta, const GstVideoInfo& info) {
  for (guint i = 0; i < meta.n_planes; ++i) {
    if (meta.offset[i] != GST_VIDEO_INFO_PLANE_OFFSET(&info, i) ||
        meta.stride[i] != GST_VIDEO_INFO_PLANE_STRIDE(&info, i)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool complete_allocation(GstQuery* query, bool answered, guint frames_held) {
  const bool reads_meta =
      answered && gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (!reads_meta) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);

  const guint pools = gst_query_get_n_allocation_pools(query);
  for (guint i = 0; i < pools; ++i) {
    GstBufferPool* pool = nullptr;
    guint size = 0;
    guint min = 0;
    guint max = 0;
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
    if (max > 0) max += frames_held;
    gst_query_set_nth_allocation_pool(query, i, pool, size, min + frames_held, max);
    if (pool) gst_object_unref(pool);
  }
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (pools == 0 && caps && read_video_info(caps, &info)) {
    gst_query_add_allocation_pool(query, nullptr, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)),
                                  frames_held + 1, 0);
  }
  // Rows of surfaces and DMA-BUFs are nobody's business but their drivers'.
  const bool in_system_memory =
      !caps || gst_caps_features_is_equal(gst_caps_get_features(caps, 0),
                                          GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
  return !reads_meta && in_system_memory;
}

GstBuffer* with_plain_rows(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta || has_plain_rows(*meta, info)) return buffer;
  GstVideoFrame from;
  GstVideoFrame to;
  GstBuffer* plain = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
  if (!plain || !gst_video_frame_map(&from, &info, buffer, GST_MAP_READ)) {
    gst_clear_buffer(&plain);
    return buffer;
  }
  if (!gst_video_frame_map(&to, &info, plain, GST_MAP_WRITE)) {
    gst_video_frame_unmap(&from);
    gst_buffer_unref(plain);
    return buffer;
  }
  gst_video_frame_copy(&to, &from);
  gst_video_frame_unmap(&to);
  gst_video_frame_unmap(&from);
  gst_buffer_copy_into(
      plain, buffer,
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS |
                                      GST_BUFFER_COPY_META),
      0, static_cast<gsize>(-1));
  // The copied GstVideoMeta describes the old rows.
  if (GstVideoMeta* copied = gst_buffer_get_video_meta(plain)) {
    gst_buffer_remove_meta(plain, reinterpret_cast<GstMeta*>(copied));
  }
  gst_buffer_unref(buffer);
  return plain;
}

}  // namespace het::gst
