#pragma once

#include <string>

#include "inference/model_reading.h"

namespace het {

/// A .modelinfo file (GStreamer 1.28) for the model: its tensors with types, sizes and ids, and the
/// ranges that pixels of its picture input are brought to. Format: GStreamer's documentation of
/// GstAnalyticsModelInfo.
std::string modelinfo_text(const ModelReading& reading);

}  // namespace het
