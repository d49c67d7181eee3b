#pragma once

#include <gst/gst.h>

#include "inference/decoders/exchange/tensor_groups.h"

namespace het::gst {

/// How an element negotiates that adds tensors to frames and says so in their caps (see
/// gst/metadata/tensor_caps.h): upstream hears nothing of them, downstream may ask for them.

/// Answers CAPS and ACCEPT_CAPS on the sink pad: what downstream takes, whatever tensors it wants.
void answer_sink_caps(GstPad* source, GstQuery* query);

/// Answers CAPS on the source pad: what upstream gives, with the group; null: it is not known yet.
void answer_source_caps(GstPad* sink, const TensorGroup* group, GstQuery* query);

/// True where a push that returned `flow` failed because downstream would take the frames, but not
/// these tensors.
bool tensors_are_refused(GstPad* source, GstFlowReturn flow);

}  // namespace het::gst
