#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het {

/// Detections from the queries of a DETR-like network: class logits [batch, queries, classes],
/// boxes [batch, queries, 4] as centre x, centre y, width, height in shares of the input picture,
/// and with `masks` mask logits [batch, queries, height, width]. Score = the best class after a
/// softmax where `do_cls_softmax` says so; else every class has its own after a sigmoid, and the
/// best of all boxes and classes count, as many as there are queries, or 100. Classes beyond the
/// labels are "no object". No suppression: the networks do not repeat objects. Sources: Hugging
/// Face's documentation of RTDetrImageProcessor.post_process_object_detection, RF-DETR's of its
/// export.
Result<std::unique_ptr<Decoder>> create_detr_queries(const DecoderConfig& config, bool masks,
                                                     const std::vector<Port>& outputs);

}  // namespace het
