#include <fstream>
#include <nlohmann/json.hpp>

#include "inference/devices/older_names.h"
#include "tools/bench_session.h"

namespace het {
namespace {

/// A file's {device: {KEY: value}}: returns what is for `device`; what is for others is set for the
/// members of a composite device. Sections for devices that are not there are left out, as
/// benchmark_app does. Fails with NotFound for a name that no device has.
Result<Properties> read_config(Core& core, const std::string& path, const std::string& device) {
  Properties own;
  if (path.empty()) return own;
  std::ifstream stream(path);
  if (!stream) return error(StatusCode::NotFound, "cannot open -load_config '{}'", path);
  const std::string kind = parse_device_name(device).kind;
  try {
    const nlohmann::json config = nlohmann::json::parse(stream);
    for (const auto& [section, values] : config.items()) {
      Properties properties;
      for (const auto& [name, value] : values.items()) {
        properties[name] = value.is_string() ? value.get<std::string>() : value.dump();
      }
      if (section == device || section == kind) {
        own.merge(properties);
        continue;
      }
      Status status = core.devices().check_kind(section);
      const bool is_kind = status.ok();
      if (is_kind && !core.devices().is_composite(kind)) continue;
      if (is_kind) status = core.set_property(section, properties);
      if (status.ok() || (is_kind && status.code() == StatusCode::NotFound)) continue;
      return error(status.code(), "-load_config '{}', section '{}': {}", path, section,
                   status.message());
    }
  } catch (const nlohmann::json::exception& exception) {
    return error(StatusCode::ParseError, "-load_config '{}': {}", path, exception.what());
  }
  return own;
}

}  // namespace

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
