#pragma once

#include <gst/gst.h>

#include "serving/metrics/exposition/metric_text.h"
#include "serving/metrics/watch/registry.h"

namespace het::metrics {

/// Everything about one element: what was counted, its levels where it is a queue, and its property
/// `stats` where this knows what that means (elements of ours, by their names; sinks).
void write_element(MetricText& text, const Registry::Entry& entry);

}  // namespace het::metrics
