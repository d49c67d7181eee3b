#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>
#include <vector>

#include "inference/decoders/results.h"

namespace het::gst {

#ifdef HET_GST_ANALYTICS
inline constexpr bool kHasTensorMeta = true;
#else
inline constexpr bool kHasTensorMeta = false;
#endif

/// Attaches the tensors of a whole picture as GstTensorMeta (from GStreamer 1.26 on), so that
/// upstream's tensor decoders read them: row-major, with the batch dimension, sharing the values'
/// memory. `id_of` says what decoders know an output by. Tensors whose type GStreamer cannot tell
/// are left out; without GStreamer's library nothing is attached. May only be called where
/// kHasTensorMeta is true.
void attach_tensor_meta(GstBuffer* buffer, const std::vector<TensorResult>& tensors,
                        const std::function<std::string(const std::string& output)>& id_of);

}  // namespace het::gst
