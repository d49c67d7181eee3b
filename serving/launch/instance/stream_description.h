#pragma once

#include <gst/gst.h>

#include <string>

#include "serving/launch/report.h"

namespace het::serving {

/// What is in a pipeline, by the properties of its elements. Opens nothing.
StreamDescription describe_stream(const std::string& stream, GstElement* pipeline);

/// What one inference element itself says, for people: "heterodetect0 says itself
/// INFERENCE_NUM_THREADS=1"; empty where it says nothing.
std::string own_settings_text(const StreamDescription::Inference& inference);

}  // namespace het::serving
