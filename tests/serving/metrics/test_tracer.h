#pragma once

namespace het::metrics::test {

/// Counts what pipelines of this process do from now on, as the tracer does.
void begin_watching(bool with_pipeline_latency, bool with_element_latency);

}  // namespace het::metrics::test
