#pragma once

#include <gst/gst.h>

#include <vector>

#include "inference/vision_model.h"

#ifdef HET_GST_ANALYTICS
#include <gst/analytics/analytics.h>

namespace het::gst {

/// Attaches the tensors of a whole picture as GstTensorMeta (from GStreamer 1.26 on), so that
/// upstream's tensor decoders read them: row-major in memory, with the batch dimension, sharing the
/// values' memory, under the ids that this version's decoders know. Tensors whose type GStreamer
/// cannot tell are left out; without GStreamer's library nothing is attached.
void attach_tensor_meta(GstBuffer* buffer, const std::vector<ExchangedTensor>& tensors);

/// The same of an object: GstAnalyticsTensorMtds that it RELATE_TO (from GStreamer 1.28 on; before
/// that nothing is added). `object` is the id of its ODMtd.
void add_tensor_mtds(GstAnalyticsRelationMeta* relations, guint object,
                     const std::vector<ExchangedTensor>& tensors);

}  // namespace het::gst

#else

namespace het::gst {

inline void attach_tensor_meta(GstBuffer*, const std::vector<ExchangedTensor>&) {}

}  // namespace het::gst

#endif
