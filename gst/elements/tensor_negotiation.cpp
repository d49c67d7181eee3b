#include "tensor_negotiation.h"

#include "gst/metadata/tensor_caps.h"

namespace het::gst {
namespace {

/// What the peer of `pad` takes or gives, without tensors; `filter` may be null.
GstCaps* plain_peer_caps(GstPad* pad, GstCaps* filter) {
  GstCaps* frames = gst_pad_get_pad_template_caps(pad);
  if (filter != nullptr) {
    GstCaps* plain = without_tensors(gst_caps_ref(filter));
    GstCaps* both = gst_caps_intersect_full(plain, frames, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(plain);
    gst_caps_unref(frames);
    frames = both;
  }
  GstCaps* peer = without_tensors(gst_pad_peer_query_caps(pad, frames));
  GstCaps* result = gst_caps_intersect_full(peer, frames, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(peer);
  gst_caps_unref(frames);
  return gst_caps_simplify(result);
}

/// The field `tensors` of a structure; null where it has none.
const GValue* tensors_of(const GstCaps* caps, guint index) {
  return gst_structure_get_value(gst_caps_get_structure(caps, index), kTensorsField);
}

}  // namespace

void answer_sink_caps(GstPad* source, GstQuery* query) {
  GstCaps* caps = nullptr;
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_parse_accept_caps(query, &caps);
    GstCaps* taken = plain_peer_caps(source, nullptr);
    GstCaps* plain = without_tensors(gst_caps_ref(caps));
    gst_query_set_accept_caps_result(query, gst_caps_can_intersect(plain, taken));
    gst_caps_unref(plain);
    gst_caps_unref(taken);
    return;
  }
  gst_query_parse_caps(query, &caps);
  GstCaps* taken = plain_peer_caps(source, caps);
  gst_query_set_caps_result(query, taken);
  gst_caps_unref(taken);
}

void answer_source_caps(GstPad* sink, const TensorGroup* group, GstQuery* query) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  GstCaps* caps = plain_peer_caps(sink, filter);
  if (group != nullptr) {
    GstCaps* told = with_tensor_group(caps, *group);
    gst_caps_unref(caps);
    caps = told;
  }
  if (filter != nullptr) {
    GstCaps* both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    caps = both;
  }
  gst_query_set_caps_result(query, caps);
  gst_caps_unref(caps);
}

bool tensors_are_taken(GstPad* source, GstEvent* caps_event) {
  GstCaps* told = nullptr;
  gst_event_parse_caps(caps_event, &told);
  const GValue* tensors = tensors_of(told, 0);
  GstCaps* taken = gst_pad_peer_query_caps(source, nullptr);
  const guint count = gst_caps_get_size(taken);
  bool is_taken = tensors == nullptr || count == 0;
  for (guint i = 0; i < count && !is_taken; ++i) {
    const GValue* wanted = tensors_of(taken, i);
    is_taken = wanted == nullptr || gst_value_is_subset(tensors, wanted);
  }
  gst_caps_unref(taken);
  return is_taken;
}

}  // namespace het::gst
