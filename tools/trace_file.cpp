#include "tools/trace_file.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace het {

Status write_trace(const std::string& path, const std::string& model,
                   const std::vector<TracedExecution>& executions) {
  int64_t first_us = std::numeric_limits<int64_t>::max();
  const auto executed = [](const ProfileRow& row) { return row.status == ProfileStatus::Executed; };
  for (const TracedExecution& execution : executions) {
    for (const ProfileRow& row : execution.rows) {
      if (executed(row)) first_us = std::min(first_us, row.start_us);
    }
  }
  nlohmann::json events = nlohmann::json::array();
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", {{"name", model}}}});
  for (const TracedExecution& execution : executions) {
    for (const ProfileRow& row : execution.rows) {
      if (!executed(row)) continue;
      events.push_back({{"name", row.node_name},
                        {"cat", row.layer_type},
                        {"ph", "X"},
                        {"pid", 0},
                        {"tid", execution.request},
                        {"ts", row.start_us - first_us},
                        {"dur", row.real_us},
                        {"args",
                         {{"exec_type", row.exec_type},
                          {"type", row.type},
                          {"layout", row.layout},
                          {"bytes", row.bytes},
                          {"cpu_us", row.cpu_us}}}});
    }
  }
  std::ofstream file(path);
  file << nlohmann::json{{"traceEvents", events}}.dump() << "\n";
  file.close();
  if (!file) return error(StatusCode::InvalidArgument, "cannot write the trace '{}'", path);
  return {};
}

}  // namespace het
