#include "serving/metrics/metrics_settings.h"

#include <fmt/format.h>
#include <gst/gst.h>

#include <limits>
#include <string_view>

namespace het::metrics {
namespace {

constexpr const char* kThereAre =
    "there are port=NUMBER (0 to 65535), address=ADDRESS, latency=pipeline, element, "
    "pipeline+element or none, and stall=SECONDS";

bool set_port(MetricsSettings& settings, const GValue* value) {
  if (!G_VALUE_HOLDS_INT(value)) return false;
  const int number = g_value_get_int(value);
  if (number < 0 || number > std::numeric_limits<uint16_t>::max()) return false;
  settings.port = static_cast<uint16_t>(number);
  return true;
}

bool set_latency(MetricsSettings& settings, const GValue* value) {
  if (!G_VALUE_HOLDS_STRING(value)) return false;
  bool pipelines = false;
  bool elements = false;
  std::string_view text = g_value_get_string(value);
  const bool is_none = text == "none";
  while (!is_none) {
    const size_t plus = text.find('+');
    const std::string_view word = text.substr(0, plus);
    if (word != "pipeline" && word != "element") return false;
    (word == "pipeline" ? pipelines : elements) = true;
    if (plus == std::string_view::npos) break;
    text.remove_prefix(plus + 1);
  }
  settings.measures_pipelines = pipelines;
  settings.measures_elements = elements;
  return true;
}

bool set_stall(MetricsSettings& settings, const GValue* value) {
  double seconds = 0;
  if (G_VALUE_HOLDS_INT(value)) seconds = g_value_get_int(value);
  if (G_VALUE_HOLDS_DOUBLE(value)) seconds = g_value_get_double(value);
  if (!(seconds > 0) || seconds > 86400) return false;
  settings.stall_s = seconds;
  return true;
}

bool set_address(MetricsSettings& settings, const GValue* value) {
  if (!G_VALUE_HOLDS_STRING(value)) return false;
  settings.address = g_value_get_string(value);
  return true;
}

bool set_one(MetricsSettings& settings, std::string_view name, const GValue* value) {
  if (name == "port") return set_port(settings, value);
  if (name == "address") return set_address(settings, value);
  if (name == "latency") return set_latency(settings, value);
  return name == "stall" && set_stall(settings, value);
}

}  // namespace

MetricsSettings read_settings(const char* parameters) {
  MetricsSettings settings;
  if (!parameters || !*parameters) return settings;
  GstStructure* fields =
      gst_structure_from_string(fmt::format("heterometrics,{}", parameters).c_str(), nullptr);
  if (!fields) {
    settings.refused.push_back(
        fmt::format("cannot read the parameters '{}'; {}", parameters, kThereAre));
    return settings;
  }
  for (gint i = 0; i < gst_structure_n_fields(fields); ++i) {
    const char* name = gst_structure_nth_field_name(fields, static_cast<guint>(i));
    const GValue* value = gst_structure_get_value(fields, name);
    if (set_one(settings, name, value)) continue;
    gchar* shown = gst_value_serialize(value);
    settings.refused.push_back(
        fmt::format("'{}={}' is not taken; {}", name, shown ? shown : "?", kThereAre));
    g_free(shown);
  }
  gst_structure_free(fields);
  return settings;
}

}  // namespace het::metrics
