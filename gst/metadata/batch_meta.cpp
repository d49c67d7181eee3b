#include "batch_meta.h"

#if defined(HET_GST_ANALYTICS) && GST_CHECK_VERSION(1, 28, 0)
#include <gst/analytics/analytics.h>

#include <algorithm>
#include <span>
#include <utility>

namespace het::gst {
namespace {

/// Null for other buffers. The library that registers its type is not asked: who made a batch has
/// loaded it.
GstAnalyticsBatchMeta* batch_meta(GstBuffer* buffer) {
  const GType api = g_type_from_name("GstAnalyticsBatchMetaAPI");
  return api != 0 ? reinterpret_cast<GstAnalyticsBatchMeta*>(gst_buffer_get_meta(buffer, api))
                  : nullptr;
}

std::span<GstAnalyticsBatchStream> streams_of_batch(GstBuffer* buffer) {
  const GstAnalyticsBatchMeta* meta = batch_meta(buffer);
  if (meta == nullptr) return {};
  return {meta->streams, meta->n_streams};
}

}  // namespace

Result<std::shared_ptr<FrameBatch>> FrameBatch::open(GstBuffer* buffer, size_t streams) {
  std::shared_ptr<FrameBatch> batch(new FrameBatch(gst_buffer_make_writable(buffer)));
  const GstAnalyticsBatchMeta* meta = batch_meta(batch->buffer_);
  if (meta == nullptr) {
    return error(StatusCode::InvalidArgument,
                 "a buffer came without GstAnalyticsBatchMeta, and the caps say that batches come");
  }
  if (meta->n_streams != streams) {
    return error(StatusCode::InvalidArgument,
                 "a batch of {} streams came, and the caps say that there are {}", meta->n_streams,
                 streams);
  }
  return batch;
}

FrameBatch::~FrameBatch() {
  for (const OpenList& list : lists_)
    for (GstBuffer* frame : list.frames)
      if (frame != nullptr) gst_buffer_unref(frame);
  if (buffer_ == nullptr) return;
  // Frames that were taken out are no longer here.
  for (GstAnalyticsBatchStream& stream : streams_of_batch(buffer_)) {
    stream.n_objects = static_cast<gsize>(
        std::remove(stream.objects, stream.objects + stream.n_objects, nullptr) - stream.objects);
  }
  gst_buffer_unref(buffer_);
}

std::vector<BatchObject> FrameBatch::objects(size_t index) {
  GstAnalyticsBatchStream& stream = streams_of_batch(buffer_)[index];
  std::vector<BatchObject> objects;
  objects.reserve(stream.n_sticky_events + stream.n_objects);
  for (gsize i = 0; i < stream.n_sticky_events; ++i)
    objects.push_back({&stream.sticky_events[i], nullptr, true});
  for (gsize i = 0; i < stream.n_objects; ++i) {
    GstMiniObject** place = &stream.objects[i];
    if (GST_IS_EVENT(*place)) {
      objects.push_back({reinterpret_cast<GstEvent**>(place), nullptr, false});
    } else if (GST_IS_BUFFER(*place)) {
      objects.push_back({nullptr, reinterpret_cast<GstBuffer**>(place), false});
    } else if (GST_IS_BUFFER_LIST(*place)) {
      open_list(place, objects);
    }
  }
  return objects;
}

void FrameBatch::open_list(GstMiniObject** place, std::vector<BatchObject>& objects) {
  GstBufferList* buffers = GST_BUFFER_LIST(std::exchange(*place, nullptr));
  OpenList& list = lists_.emplace_back(OpenList{place, {}});
  for (guint i = 0; i < gst_buffer_list_length(buffers); ++i)
    list.frames.push_back(gst_buffer_ref(gst_buffer_list_get(buffers, i)));
  gst_buffer_list_unref(buffers);
  for (GstBuffer*& frame : list.frames) objects.push_back({nullptr, &frame, false});
}

GstBuffer* FrameBatch::close() {
  for (OpenList& list : lists_) {
    GstBufferList* buffers = gst_buffer_list_new_sized(static_cast<guint>(list.frames.size()));
    for (GstBuffer*& frame : list.frames)
      gst_buffer_list_add(buffers, std::exchange(frame, nullptr));
    *list.place = GST_MINI_OBJECT_CAST(buffers);
  }
  lists_.clear();
  return std::exchange(buffer_, nullptr);
}

}  // namespace het::gst

#else

namespace het::gst {

// Templates of pads have no batches here, so that none comes.

Result<std::shared_ptr<FrameBatch>> FrameBatch::open(GstBuffer* buffer, size_t) {
  gst_buffer_unref(buffer);
  return error(StatusCode::NotSupported, "batches of frames need GStreamer 1.28");
}

FrameBatch::~FrameBatch() {
  if (buffer_ != nullptr) gst_buffer_unref(buffer_);
}

std::vector<BatchObject> FrameBatch::objects(size_t) {
  return {};
}

void FrameBatch::open_list(GstMiniObject**, std::vector<BatchObject>&) {}

GstBuffer* FrameBatch::close() {
  GstBuffer* buffer = buffer_;
  buffer_ = nullptr;
  return buffer;
}

}  // namespace het::gst

#endif
