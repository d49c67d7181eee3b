#pragma once

#include <gst/gst.h>

#include <vector>

#include "serving/density/trial_report.h"

namespace het::density {

/// Of all elements that count how long a frame takes them (the inference elements' `stats`), the
/// mean of the streams.
std::vector<ElementTime> element_times(const std::vector<GstElement*>& pipelines);

}  // namespace het::density
