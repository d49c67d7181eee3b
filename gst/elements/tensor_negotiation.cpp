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

/// Behind the pad is a bin with nothing inside: tensordecodebin that knows no decoder.
bool leads_nowhere(GstPad* source) {
  GstPad* peer = gst_pad_get_peer(source);
  GstPad* target = GST_IS_GHOST_PAD(peer) ? gst_ghost_pad_get_target(GST_GHOST_PAD(peer)) : peer;
  const bool nowhere = peer != nullptr && target == nullptr;
  if (target != nullptr && target != peer) gst_object_unref(target);
  if (peer != nullptr) gst_object_unref(peer);
  return nowhere;
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

bool tensors_are_refused(GstPad* source, GstFlowReturn flow) {
  if (flow != GST_FLOW_NOT_NEGOTIATED && !(flow == GST_FLOW_NOT_LINKED && leads_nowhere(source)))
    return false;
  GstCaps* caps = gst_pad_get_current_caps(source);
  if (caps == nullptr) return false;
  GstCaps* plain = without_tensors(gst_caps_ref(caps));
  GstCaps* taken = plain_peer_caps(source, nullptr);
  const bool refused =
      !gst_caps_is_strictly_equal(caps, plain) && gst_caps_can_intersect(plain, taken);
  gst_caps_unref(caps);
  gst_caps_unref(plain);
  gst_caps_unref(taken);
  return refused;
}

}  // namespace het::gst
