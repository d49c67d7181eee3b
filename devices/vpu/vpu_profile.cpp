#include "devices/vpu/vpu_profile.h"

#include <algorithm>

namespace het::vpu {
namespace {

ProfileRow row_of(const char* name, std::chrono::nanoseconds time, std::string how = {}) {
  ProfileRow row;
  row.node_name = name;
  row.exec_type = std::move(how);
  row.real_us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  row.status = time.count() > 0 ? ProfileStatus::Executed : ProfileStatus::OptimizedOut;
  return row;
}

/// What the host itself did.
ProfileRow host_row(const char* name, std::chrono::nanoseconds time) {
  ProfileRow row = row_of(name, time);
  row.cpu_us = row.real_us;
  return row;
}

void add_nodes(const std::vector<ProfileRow>& nodes, const std::vector<Stage>& stages,
               std::vector<ProfileRow>& rows) {
  const size_t first = rows.size();
  rows.insert(rows.end(), nodes.begin(), nodes.end());
  for (const Stage& stage : stages) {
    const auto row = std::find_if(rows.begin() + static_cast<ptrdiff_t>(first), rows.end(),
                                  [&](const ProfileRow& r) { return r.node_name == stage.name; });
    if (row == rows.end()) continue;
    row->status = ProfileStatus::Executed;
    row->exec_type = stage.kind;
    row->real_us = static_cast<int64_t>(stage.ns / 1000);
  }
}

}  // namespace

std::vector<ProfileRow> profile_rows(const VpuCompiledModel& model, const Completed& completed,
                                     std::chrono::nanoseconds prepared,
                                     std::chrono::nanoseconds way_back,
                                     std::chrono::nanoseconds delivered) {
  using std::chrono::nanoseconds;
  std::vector<ProfileRow> rows;
  rows.push_back(host_row("1. input preprocessing (mean data/VPU)", prepared));
  rows.push_back(row_of("2. input transfer to DDR", nanoseconds(completed.received_ns)));
  if (completed.stages.empty()) {
    rows.push_back(row_of("3. VPU execute time", nanoseconds(completed.executed_ns),
                          fmt::format("unit{}", completed.unit)));
  } else {
    add_nodes(model.rows(), completed.stages, rows);
  }
  rows.push_back(row_of("4. output transfer from DDR", way_back));
  // The device gives what the model says.
  rows.push_back(row_of("5. VPU output postprocessing", {}));
  rows.push_back(host_row("6. copy to IE blob", delivered));
  return rows;
}

}  // namespace het::vpu
