#include "devices/vpu/vpu_metrics.h"

#include <array>

namespace het::vpu {
namespace {

using UnitText = std::string (*)(const Welcome& device, const Telemetry::Unit& unit, size_t number);

struct UnitMetric {
  std::string_view name;
  UnitText text;
};

constexpr double kMegabyte = 1 << 20;

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / kMegabyte);
}

constexpr std::array kUnitMetrics = {
    UnitMetric{"HDDL_DEVICE_ID", [](const Welcome&, const Telemetry::Unit&,
                                    size_t number) { return std::to_string(number); }},
    UnitMetric{"HDDL_DEVICE_MEMORY_TOTAL", [](const Welcome& device, const Telemetry::Unit&,
                                              size_t) { return megabytes(device.memory_bytes); }},
    UnitMetric{"HDDL_DEVICE_MEMORY_USED", [](const Welcome&, const Telemetry::Unit& unit,
                                             size_t) { return megabytes(unit.memory_used); }},
    UnitMetric{"HDDL_DEVICE_MODEL", [](const Welcome& device, const Telemetry::Unit&,
                                       size_t) { return device.profile; }},
    UnitMetric{"HDDL_DEVICE_NAME",
               [](const Welcome& device, const Telemetry::Unit&, size_t number) {
                 return fmt::format("{}.{}", device.profile, number);
               }},
    UnitMetric{"HDDL_DEVICE_SUBCLASS",
               [](const Welcome&, const Telemetry::Unit&, size_t) { return std::string("0"); }},
    UnitMetric{"HDDL_DEVICE_TAG", [](const Welcome&, const Telemetry::Unit& unit,
                                     size_t) { return unit.tag.empty() ? "-" : unit.tag; }},
    UnitMetric{"HDDL_DEVICE_THERMAL",
               [](const Welcome&, const Telemetry::Unit& unit, size_t) {
                 return fmt::format("{:.1f}", 1e-3 * unit.millidegrees);
               }},
    UnitMetric{"HDDL_DEVICE_UTILIZATION",
               [](const Welcome&, const Telemetry::Unit& unit, size_t) {
                 return fmt::format("{:.1f}", 0.1 * unit.utilisation_permille);
               }},
};

const UnitMetric* find(std::string_view name) {
  for (const UnitMetric& metric : kUnitMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

Result<Telemetry> telemetry_of(Connection& connection) {
  HET_ASSIGN(const Frame frame, connection.call(FrameType::GetTelemetry, {}, FrameType::Telemetry));
  return Telemetry::decode(frame.payload);
}

}  // namespace

bool is_metric(std::string_view name) {
  return name == "FULL_DEVICE_NAME" || name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS" ||
         name == "DEVICE_TOTAL_MEM_SIZE" || name == "HDDL_DEVICE_NUM" ||
         name == "HDDL_DEVICE_GROUP_TOTAL_NUM" || name == "HDDL_DEVICE_GROUP_USING_NUM" ||
         find(name) != nullptr;
}

Result<std::string> metric(Connection& connection, const std::string& device,
                           std::string_view name) {
  const Welcome& welcome = connection.welcome();
  if (name == "FULL_DEVICE_NAME") {
    return fmt::format("{} of profile {} ({})", device, welcome.profile, welcome.firmware);
  }
  if (name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(welcome.credits);
  if (name == "DEVICE_TOTAL_MEM_SIZE") return std::to_string(welcome.memory_bytes);
  if (name == "HDDL_DEVICE_NUM" || name == "HDDL_DEVICE_GROUP_TOTAL_NUM") {
    return std::to_string(welcome.units);
  }
  HET_ASSIGN(const Telemetry telemetry, telemetry_of(connection));
  if (name == "HDDL_DEVICE_GROUP_USING_NUM") {
    size_t used = 0;
    for (const Telemetry::Unit& unit : telemetry.units) used += unit.models > 0;
    return std::to_string(used);
  }
  std::string values;
  for (size_t i = 0; i < telemetry.units.size(); ++i) {
    if (i > 0) values += ' ';
    values += find(name)->text(welcome, telemetry.units[i], i);
  }
  return values;
}

}  // namespace het::vpu
