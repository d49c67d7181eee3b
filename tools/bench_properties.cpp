#include "inference/devices/older_names.h"
#include "tools/bench_session.h"
#include "tools/load_config.h"

namespace het {
bool is_counting(const BenchOptions& options) {
  return options.counters || !options.counters_sort.empty();
}

Result<Properties> bench_properties(Core& core, const BenchOptions& options) {
  HET_ASSIGN(Properties properties, read_config(core, options.load_config, options.device));
  if (options.hint == "throughput" || options.hint == "tput" || options.hint.empty()) {
    // As benchmark_app: without a hint it measures throughput.
    set_default(properties, "PERFORMANCE_HINT", "THROUGHPUT");
  } else if (options.hint == "cumulative_throughput" || options.hint == "ctput") {
    replace_property(properties, "PERFORMANCE_HINT", "CUMULATIVE_THROUGHPUT");
  } else if (options.hint == "latency") {
    replace_property(properties, "PERFORMANCE_HINT", "LATENCY");
  } else if (options.hint != "none") {
    return error(StatusCode::InvalidArgument,
                 "-hint takes latency, throughput, cumulative_throughput or none, not '{}'",
                 options.hint);
  }
  if (!options.config_file.empty()) {
    replace_property(properties, "CONFIG_FILE", options.config_file);
  }
  if (!options.streams.empty()) replace_property(properties, "NUM_STREAMS", options.streams);
  if (options.threads > 0) {
    replace_property(properties, "INFERENCE_NUM_THREADS", std::to_string(options.threads));
  }
  if (options.cache_dir) replace_property(properties, "CACHE_DIR", *options.cache_dir);
  if (!options.precision.empty()) {
    replace_property(properties, "INFERENCE_PRECISION_HINT", options.precision);
  }
  if (is_counting(options) || !options.trace.empty()) {
    replace_property(properties, "PERF_COUNT", "YES");
  }
  if (options.requests > 0) {
    replace_property(properties, "PERFORMANCE_HINT_NUM_REQUESTS", std::to_string(options.requests));
  }
  return properties;
}

}  // namespace het
