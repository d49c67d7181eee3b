#include "tools/stub_gain.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "tools/bench_session.h"
#include "tools/model_source.h"
#include "tools/stub.h"

namespace het {
namespace {

constexpr std::string_view kFused = "fused:";
constexpr double kProfileSeconds = 1.0;
constexpr size_t kShownRows = 5;

/// "subgraph2: conv1" is conv1 in subgraph2.
std::pair<std::string, std::string> split_row_name(const std::string& name) {
  const size_t colon = name.find(": ");
  if (!name.starts_with("subgraph") || colon == std::string::npos) return {"", name};
  return {name.substr(0, colon), name.substr(colon + 2)};
}

/// The times of nodes in one request, driven alone.
Result<std::vector<ProfileRow>> profile(Core& core, const BenchOptions& options,
                                        const Model& model) {
  BenchOptions own = options;
  own.counters = true;
  own.api = "sync";
  HET_ASSIGN(const auto session, BenchSession::create(core, own, model));
  const double seconds = std::min(kProfileSeconds, options.seconds.value_or(kBenchSeconds));
  HET_TRY(session->measure(1, seconds, options.iterations));
  return average_counters(session->result());
}

void count_parts(const std::vector<ProfileRow>& rows, const std::set<std::string>& stubs,
                 const std::unordered_map<std::string, std::string>& devices,
                 const std::string& whole, StubGain& gain) {
  std::map<std::string, StubPart> parts;
  for (const ProfileRow& row : rows) {
    const auto [subgraph, node] = split_row_name(row.node_name);
    StubPart& part = parts[subgraph];
    part.subgraph = subgraph;
    const auto device = devices.find(node);
    if (part.device.empty() && device != devices.end()) part.device = device->second;
    const bool is_stub = stubs.contains(node);
    if (row.status == ProfileStatus::Executed) {
      part.all_us += row.real_us;
      part.rows += is_stub ? 1 : 0;
      part.stubbed_us += is_stub ? row.real_us : 0;
      continue;
    }
    if (!row.exec_type.starts_with(kFused)) continue;
    const std::string other = row.exec_type.substr(kFused.size());
    if (is_stub && !stubs.contains(other)) {
      gain.inseparable.push_back(
          fmt::format("{} runs in the kernel of {}, and is in none of the times", node, other));
    } else if (!is_stub && stubs.contains(other)) {
      gain.inseparable.push_back(
          fmt::format("{} runs in the kernel of {}, and is in its time", node, other));
    }
  }
  for (auto& [subgraph, part] : parts) {
    if (part.device.empty() || subgraph.empty()) part.device = whole;
    gain.parts.push_back(std::move(part));
  }
}

/// Which stubbed nodes the first device of HETERO's list cannot run.
Status find_refused(Core& core, const BenchOptions& options, const Model& model,
                    const std::set<std::string>& stubs, StubGain& gain) {
  const DeviceName name = parse_device_name(options.device);
  if (name.kind != "HETERO" || name.arguments.empty()) return {};
  gain.first_device = name.arguments.substr(0, name.arguments.find(','));
  HET_ASSIGN(const auto rows, core.query_model(model, gain.first_device));
  for (const NodeSupport& row : rows) {
    if (row.supported() || !stubs.contains(row.node_name)) continue;
    gain.refused.push_back(fmt::format("{} ({}): {}", row.node_name, row.op_type, row.reason));
  }
  return {};
}

/// What takes the time once the stubs are in.
void count_left(std::vector<ProfileRow>& rows, StubGain& gain) {
  std::ranges::stable_sort(rows, std::ranges::greater(), &ProfileRow::real_us);
  for (const ProfileRow& row : rows) {
    gain.left_us += row.real_us;
    const bool is_stub = row.layer_type == "Stub" || row.layer_type == "het.Stub";
    if (is_stub) gain.stub_us += row.real_us;
    if (is_stub || gain.left.size() == kShownRows || row.real_us == 0) continue;
    gain.left.push_back(fmt::format("{:.3f} ms {} {} ({})",
                                    static_cast<double>(row.real_us) / 1000.0, row.layer_type,
                                    row.node_name, row.exec_type));
  }
}

void count_types(const std::vector<const Node*>& nodes, StubGain& gain) {
  std::map<std::string, size_t> counts;
  for (const Node* node : nodes) ++counts[node->qualified_type()];
  for (const auto& [type, count] : counts) gain.types.push_back(fmt::format("{} {}", type, count));
  gain.nodes = nodes.size();
}

std::string subgraphs(BenchSession& session) {
  const auto count = session.result().settings.find("HETERO_NUMBER_OF_SUBMODELS");
  return count == session.result().settings.end() ? std::string() : count->second;
}

}  // namespace

double amdahl_bound(double latency_ms, double share) {
  return latency_ms * (1.0 - share);
}

Result<StubGain> measure_stub_gain(Core& core, const BenchOptions& options) {
  HET_ASSIGN(const auto model, load_model(core, options.models.front(), options.preparation));
  HET_ASSIGN(const std::vector<const Node*> nodes, find_stubs(*model, options.stubs));
  HET_ASSIGN(const auto with, with_stubs(*model, nodes));
  StubGain gain;
  count_types(nodes, gain);
  std::set<std::string> names;
  for (const Node* node : nodes) names.insert(node->name());
  HET_TRY(find_refused(core, options, *model, names, gain));

  HET_ASSIGN(const auto stubbed, BenchSession::create(core, options, *with));
  auto baseline = BenchSession::create(core, options, *model);
  if (!baseline && baseline.error().code() != StatusCode::NotSupported) {
    return Failure(baseline.error());
  }
  if (!baseline) gain.baseline_failure = baseline.error().message();
  gain.subgraphs_after = subgraphs(*stubbed);
  if (baseline) gain.subgraphs_before = subgraphs(**baseline);
  const double seconds = options.seconds.value_or(kBenchSeconds) / (2.0 * options.rounds);
  for (int round = 0; round < options.rounds; ++round) {
    if (baseline) {
      HET_ASSIGN(const Measured run, (*baseline)->measure(0, seconds, options.iterations));
      gain.baseline.push_back(one_round(run, (*baseline)->result().batch));
    }
    HET_ASSIGN(const Measured run, stubbed->measure(0, seconds, options.iterations));
    gain.stubbed.push_back(one_round(run, stubbed->result().batch));
  }

  HET_ASSIGN(auto stub_rows, profile(core, options, *with));
  count_left(stub_rows, gain);
  if (!baseline) return gain;
  HET_ASSIGN(const Properties properties, bench_properties(core, options));
  HET_ASSIGN(const auto support, core.query_model(*model, options.device, properties));
  std::unordered_map<std::string, std::string> devices;
  for (const NodeSupport& row : support) devices[row.node_name] = row.device;
  HET_ASSIGN(const auto rows, profile(core, options, *model));
  count_parts(rows, names, devices, options.device, gain);
  return gain;
}

}  // namespace het
