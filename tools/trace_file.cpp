#include "tools/trace_file.h"

#include <algorithm>
#include <limits>

#include "inference/base/chrome_trace.h"

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
  ChromeTrace trace(path);
  trace.name_process(0, model);
  for (const TracedExecution& execution : executions) {
    for (const ProfileRow& row : execution.rows) {
      if (!executed(row)) continue;
      trace.bar(row.node_name, row.layer_type, 0, static_cast<int64_t>(execution.request),
                static_cast<double>(row.start_us - first_us), static_cast<double>(row.real_us),
                {{"exec_type", row.exec_type},
                 {"type", row.type},
                 {"layout", row.layout},
                 {"bytes", row.bytes},
                 {"cpu_us", row.cpu_us}});
    }
  }
  return trace.close();
}

}  // namespace het
