#pragma once

#include <string>

#include "serving/metrics/exposition/metric_text.h"
#include "serving/metrics/watch/span_counts.h"

namespace het::metrics {

/// Everything that is told now. Of one thread at a time.
std::string scrape(TextFormat format, const SpanCounts& spans, double stall_s);

}  // namespace het::metrics
