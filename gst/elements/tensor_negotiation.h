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

/// False where all that downstream takes wants other tensors than a CAPS event tells. Asked before
/// the event is pushed: 1.28's tensordecodebin gives a reference too many back of caps that it
/// finds no decoder for.
bool tensors_are_taken(GstPad* source, GstEvent* caps_event);

}  // namespace het::gst
