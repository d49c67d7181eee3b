#include "metadata_transform.h"

namespace het::gst {
namespace {

/// Only the buffer's list of metas changes, so its memory may be shared: no pixel is copied.
GstFlowReturn prepare_output_buffer(GstBaseTransform*, GstBuffer* input, GstBuffer** output) {
  *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
  return GST_FLOW_OK;
}

gboolean propose_allocation(GstBaseTransform* base, GstQuery*, GstQuery* query) {
  return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(base), query);
}

}  // namespace

void make_metadata_transform(GstBaseTransformClass* klass) {
  klass->prepare_output_buffer = prepare_output_buffer;
  klass->propose_allocation = propose_allocation;
}

}  // namespace het::gst
