#pragma once

#include "serving/metrics/exposition/metric_text.h"

namespace het::metrics {

/// What Prometheus' clients tell of their process, by their names, which process this is, and how
/// often hetero launch has started it.
void write_process(MetricText& text);

}  // namespace het::metrics
