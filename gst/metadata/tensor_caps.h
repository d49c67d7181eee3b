#pragma once

#include <gst/gst.h>

#include <string>

#include "inference/decoders/exchange/tensor_groups.h"

namespace het::gst {

#if defined(HET_GST_ANALYTICS) && GST_CHECK_VERSION(1, 28, 0)
inline constexpr bool kHasTensorCaps = true;
#else
inline constexpr bool kHasTensorCaps = false;
#endif

/// The field of video caps, by which elements negotiate the tensors that frames carry
/// (from GStreamer 1.28 on): a structure "tensorgroups" with a field for each group, a unique list
/// of caps "tensor/strided" (tensor-id, dims, dims-order, type; 0 in dims is an open size).
/// Format: the caps of GStreamer's onnxinference and of its tensor decoders.
inline constexpr char kTensorsField[] = "tensors";

/// Caps (the caller's) that say that frames carry this group besides the groups that they had; in
/// caps of batches those of each stream do. Only where kHasTensorCaps is true.
GstCaps* with_tensor_group(const GstCaps* caps, const TensorGroup& group);

/// The same without the field. Takes `caps` over.
GstCaps* without_tensors(GstCaps* caps);

/// A CAPS event with the group for one without (taken over).
GstEvent* with_tensor_group(GstEvent* caps_event, const TensorGroup& group);

/// "group 'yolo-v8-out' (yolo-v8-out float32 [1,84,8400] col-major)", for messages.
std::string tensor_group_text(const TensorGroup& group);

}  // namespace het::gst
