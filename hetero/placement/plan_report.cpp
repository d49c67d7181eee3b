#include "hetero/placement/plan_report.h"

#include <algorithm>

namespace het::hetero {
namespace {

/// "GPU 12, CPU 3"
std::string nodes_text(const Placement& placement, const SupportTable& table) {
  std::string text;
  for (size_t d = 0; d < table.devices().size(); ++d) {
    const auto count = std::ranges::count(placement.devices, d);
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", table.devices()[d].member->name, count);
  }
  return text;
}

}  // namespace

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::Latency:
      return "latency";
    case Policy::Parallel:
      return "parallel";
    case Policy::Throughput:
      return "throughput";
    case Policy::Priority:
      break;
  }
  return "priority";
}

Policy policy_of(const Properties& properties) {
  const std::string text = property_text(properties, "HETERO_POLICY");
  for (const Policy policy : {Policy::Latency, Policy::Parallel, Policy::Throughput}) {
    if (text == to_string(policy)) return policy;
  }
  return Policy::Priority;
}

std::string describe(const PlanReport& report, const SupportTable& table) {
  std::string text = fmt::format("{:<24} {:>9} {:>9} {:>13} {:>12} {:>7}  {}",
                                 fmt::format("policy {}", to_string(report.policy)), "subgraphs",
                                 "in flight", "predicted ms", "measured ms", "spread", "nodes");
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const PlanCandidate& candidate = report.candidates[i];
    std::string nodes;
    size_t subgraphs = 0;
    for (const CandidateWay& way : candidate.ways) {
      if (!nodes.empty()) nodes += "; ";
      if (candidate.ways.size() > 1) nodes += fmt::format("{:.0f} %: ", 100 * way.share);
      nodes += nodes_text(way.placement, table);
      subgraphs += way.placement.split.subgraphs.size();
    }
    text += fmt::format(
        "\n{}{:<22} {:>9} {:>9} {:>13.3f} {:>12} {:>7}  {}", i == report.chosen ? "* " : "  ",
        candidate.name, subgraphs,
        candidate.requests > 0 ? std::to_string(candidate.requests) : std::string("-"),
        candidate.predicted_ms,
        candidate.measured_ms > 0 ? fmt::format("{:.3f}", candidate.measured_ms) : std::string("-"),
        candidate.measured_ms > 0 ? fmt::format("{:.0f} %", 100 * candidate.measured_spread)
                                  : std::string("-"),
        nodes);
  }
  return text;
}

}  // namespace het::hetero
