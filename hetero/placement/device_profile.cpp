#include "hetero/placement/device_profile.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hetero/members/zero_request.h"
#include "hetero/planner/plan_problem.h"
#include "inference/base/log.h"
#include "inference/passes/convert_ports.h"
#include "inference/passes/prepare_model.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSamples = 15;
constexpr size_t kTransferSamples = 9;
/// Elements of the tensors that are sent.
constexpr int64_t kFew = 64;
constexpr int64_t kMany = int64_t{1} << 18;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A request whose inputs are zeros.
Result<std::unique_ptr<InferRequest>> request_for(const Model& model, const PlacementDevice& device,
                                                  bool with_rows) {
  Properties properties = device.properties;
  if (with_rows) {
    properties["PERF_COUNT"] = "YES";
    // Of devices that tell other times unless they are asked.
    constexpr const char* kMode = "VPU_PERF_REPORT_MODE";
    if (find_property(kMode, device.member->device->name())) properties[kMode] = "PER_LAYER";
  }
  // What is only measured is worth no file.
  constexpr const char* kSharing = "WEIGHT_SHARING";
  if (properties.count(kSharing) > 0) properties[kSharing] = "NO";
  HET_ASSIGN(const std::shared_ptr<CompiledModel> compiled,
             device.member->device->compile_model(model, properties, nullptr));
  return zero_request(*compiled);
}

/// Rows of one subgraph on its device.
class SubgraphTimes {
 public:
  SubgraphTimes(const Model& prepared, NodeTimes& times, ProfileStore& store)
      : prepared_(prepared), times_(times), store_(store) {
    for (size_t n = 0; n < prepared.nodes().size(); ++n) {
      nodes_[prepared.nodes()[n]->name()] = n;
    }
  }

  /// False where it has to be measured.
  bool take_stored(const Subgraph& subgraph, size_t d) {
    std::vector<ProfileStore::NodeTime> known;
    for (const size_t n : subgraph.nodes) {
      const auto time = store_.find(*prepared_.nodes()[n], d);
      if (!time) return false;
      known.push_back(*time);
    }
    for (size_t i = 0; i < known.size(); ++i) {
      times_.seconds[subgraph.nodes[i]][d] = known[i].seconds;
      times_.is_fused[subgraph.nodes[i]][d] = known[i].is_fused;
    }
    return true;
  }

  Status measure(const Subgraph& subgraph, const PlacementDevice& device, size_t d,
                 Clock::time_point end) {
    // What reads sizes that come at run time has no times of its own; zeros leave it where its
    // producer is.
    if (!check_inputs_static(*subgraph.model).ok()) return {};
    HET_ASSIGN(const auto request, request_for(*subgraph.model, device, true));
    HET_TRY(request->infer());
    std::unordered_map<size_t, std::vector<double>> samples;
    for (size_t run = 0; run < kMostSamples && (run == 0 || Clock::now() < end); ++run) {
      HET_TRY(request->infer());
      for (const ProfileRow& row : request->profiling()) {
        const auto node = nodes_.find(row.node_name);
        if (node == nodes_.end()) continue;
        if (row.status == ProfileStatus::Executed) {
          samples[node->second].push_back(1e-6 * static_cast<double>(row.real_us));
        } else {
          times_.is_fused[node->second][d] = true;
        }
      }
    }
    if (samples.empty()) {
      HET_TRY(share_time(subgraph, *request, samples, end));
    }
    for (auto& [node, seconds] : samples) times_.seconds[node][d] = median(std::move(seconds));
    for (const size_t n : subgraph.nodes) {
      store_.add(*prepared_.nodes()[n], d, {times_.seconds[n][d], times_.is_fused[n][d]});
    }
    return {};
  }

 private:
  /// Of a device that does not count nodes: all get the same part of a whole execution.
  static Status share_time(const Subgraph& subgraph, InferRequest& request,
                           std::unordered_map<size_t, std::vector<double>>& samples,
                           Clock::time_point end) {
    const auto parts = static_cast<double>(subgraph.nodes.size());
    for (size_t run = 0; run < kMostSamples && (run == 0 || Clock::now() < end); ++run) {
      const Clock::time_point begin = Clock::now();
      HET_TRY(request.infer());
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      for (const size_t n : subgraph.nodes) samples[n].push_back(seconds / parts);
    }
    return {};
  }

  const Model& prepared_;
  NodeTimes& times_;
  ProfileStore& store_;
  std::unordered_map<std::string_view, size_t> nodes_;
};

/// Two nodes that change the values of `elements` floats.
std::unique_ptr<Model> chain(int64_t elements, const char* first, const char* second) {
  auto model = std::make_unique<Model>("transfer");
  Value* x = model->add_input("x", {ElementType::Float32, {1, elements}});
  Value* y = model->add_node("first", first, "", {x}, {"y"})->output();
  model->set_desc(y, x->desc());
  Value* z = model->add_node("second", second, "", {y}, {"z"})->output();
  model->set_desc(z, x->desc());
  model->add_output("z", z);
  return model;
}

/// An operator of one input that the device runs; null: none of the usual ones.
const char* simple_operator(const PlacementDevice& device) {
  for (const char* type : {"Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Softmax"}) {
    const auto rows =
        device.member->device->query_model(*chain(kFew, type, type), device.properties);
    if (rows && (*rows)[0].supported() && (*rows)[1].supported()) return type;
  }
  return nullptr;
}

/// A device with what it is measured with.
struct ChainDevice {
  const PlacementDevice* device = nullptr;
  const char* type = nullptr;  ///< an operator that it runs
  std::array<double, 2>
      own{};  ///< seconds of a chain on the device alone, with few and many elements
};

constexpr std::array<int64_t, 2> kSizes = {kFew, kMany};

Result<ChainDevice> chain_device(const PlacementDevice& device) {
  ChainDevice result{&device, simple_operator(device), {}};
  if (result.type == nullptr) {
    return error(StatusCode::NotSupported,
                 "{} runs none of the operators that transfers are measured with",
                 device.member->name);
  }
  for (size_t i = 0; i < kSizes.size(); ++i) {
    std::vector<std::unique_ptr<InferRequest>> requests(1);
    HET_ASSIGN(requests[0],
               request_for(*chain(kSizes[i], result.type, result.type), device, false));
    HET_ASSIGN(result.own[i], median_seconds(requests, kTransferSamples));
  }
  return result;
}

/// The chain's parts, one after the other as the executor hands them over.
Result<double> split_seconds(int64_t elements, const ChainDevice& from, const ChainDevice& to,
                             Crossing crossing) {
  const std::unique_ptr<Model> model = chain(elements, from.type, to.type);
  HET_ASSIGN(const Split split,
             split_model(*model, {from.device->member->name, to.device->member->name}));
  if (crossing == Crossing::AsFloat16) {
    HET_TRY(set_output_type(*split.subgraphs[0].model, 0, ElementType::Float16));
    HET_TRY(set_input_type(*split.subgraphs[1].model, 0, ElementType::Float16));
    HET_TRY(split.subgraphs[1].model->sort());
  }
  std::vector<std::unique_ptr<InferRequest>> requests(2);
  HET_ASSIGN(requests[0], request_for(*split.subgraphs[0].model, *from.device, false));
  HET_ASSIGN(requests[1], request_for(*split.subgraphs[1].model, *to.device, false));
  HET_TRY(requests[1]->set_input(0, requests[0]->output(0)));
  return median_seconds(requests, kTransferSamples);
}

/// Where a device cannot be measured: as if through a slow link.
constexpr TransferTime kUnmeasured = {100e-6, 1e-9};
/// What noise may not go below: one device learns that another has ended.
constexpr double kLeastStart = 2e-6;

class TransferMeasurement {
 public:
  TransferMeasurement(const std::vector<PlacementDevice>& devices, ProfileStore& store)
      : devices_(devices), store_(store), chains_(devices.size()) {}

  /// From the store, or measured and kept there, or guessed.
  TransferTime time(size_t from, size_t to, Crossing crossing) {
    const std::string& from_name = devices_[from].member->name;
    const std::string& to_name = devices_[to].member->name;
    if (const auto known = store_.find_transfer(from_name, to_name, crossing)) return *known;
    const auto measured = measure(from, to, crossing);
    if (!measured) {
      log(LogLevel::Debug, "from {} to {}: {}", from_name, to_name, measured.error().message());
      return kUnmeasured;
    }
    store_.add_transfer(from_name, to_name, crossing, *measured);
    return *measured;
  }

 private:
  /// Made when a transfer needs it.
  Result<const ChainDevice*> chain_of(size_t d) {
    if (!chains_[d]) {
      HET_ASSIGN(chains_[d], chain_device(devices_[d]));
    }
    return &*chains_[d];
  }

  Result<TransferTime> measure(size_t first, size_t second, Crossing crossing) {
    HET_ASSIGN(const ChainDevice* const from, chain_of(first));
    HET_ASSIGN(const ChainDevice* const to, chain_of(second));
    std::array<double, 2> rest{};
    for (size_t i = 0; i < kSizes.size(); ++i) {
      HET_ASSIGN(const double split, split_seconds(kSizes[i], *from, *to, crossing));
      // Half of the work is on either side.
      rest[i] = split - 0.5 * (from->own[i] + to->own[i]);
    }
    TransferTime time;
    time.start = std::max(kLeastStart, rest[0]);
    time.per_byte =
        std::max(0.0, (rest[1] - time.start) / (4.0 * static_cast<double>(kMany - kFew)));
    return time;
  }

  const std::vector<PlacementDevice>& devices_;
  ProfileStore& store_;
  std::vector<std::optional<ChainDevice>> chains_;
};

}  // namespace

double TransferTimes::seconds(size_t from, size_t to, const TensorDesc& desc) const {
  const auto size = dense_size_bytes(desc);
  const double bytes = size ? static_cast<double>(*size) : 0.0;
  const double as_it_is = times[from * places + to].seconds(bytes);
  if (desc.type != ElementType::Float32 || half_times.empty()) return as_it_is;
  return std::min(as_it_is, half_times[from * places + to].seconds(bytes));
}

bool stores_half(const Properties& properties) {
  return property_text(properties, "INFERENCE_PRECISION_HINT") == "f16";
}

Result<NodeTimes> measure_nodes(const Model& prepared, const SupportTable& table,
                                ProfileStore& store, double budget_seconds) {
  const size_t nodes = prepared.nodes().size();
  const size_t devices = table.devices().size();
  NodeTimes times;
  times.seconds.assign(nodes, std::vector<double>(devices, 0.0));
  times.is_fused.assign(nodes, std::vector<bool>(devices, false));
  SubgraphTimes subgraphs(prepared, times, store);
  for (size_t d = 0; d < devices; ++d) {
    const PlacementDevice& device = table.devices()[d];
    std::vector<std::string> names(nodes, "another device");
    for (size_t n = 0; n < nodes; ++n) {
      if (table.supports(n, d)) {
        names[n] = device.member->name;
      } else {
        times.seconds[n][d] = kImpossible;
      }
    }
    HET_ASSIGN(const Split split, split_model(prepared, names));
    const auto start = Clock::now();
    for (size_t i = 0; i < split.subgraphs.size(); ++i) {
      if (split.subgraphs[i].device != device.member->name) continue;
      if (subgraphs.take_stored(split.subgraphs[i], d)) continue;
      // The budget is shared evenly.
      const double part = static_cast<double>(i + 1) / static_cast<double>(split.subgraphs.size());
      const auto end = start + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(budget_seconds * part));
      const Status status = subgraphs.measure(split.subgraphs[i], device, d, end);
      if (status.ok()) continue;
      // A device may take a node only beside others: plans go without it there.
      log(LogLevel::Debug, "cannot measure {} on {}: {}", split.subgraphs[i].name,
          device.member->name, status.message());
      for (const size_t node : split.subgraphs[i].nodes) times.seconds[node][d] = kImpossible;
    }
  }
  return times;
}

TransferTimes measure_transfers(const SupportTable& table, ProfileStore& store) {
  const auto& devices = table.devices();
  TransferTimes result;
  result.home = devices.size();
  for (size_t d = devices.size(); d-- > 0;) {
    if (devices[d].member->device->direct_memory_kinds() ==
        std::vector<MemoryKind>{MemoryKind::Host}) {
      result.home = d;
    }
  }
  result.places = devices.size() + (result.home == devices.size() ? 1 : 0);
  result.times.resize(result.places * result.places);
  result.half_times.assign(result.times.size(), {kImpossible, 0});
  TransferMeasurement measurement(devices, store);
  for (size_t from = 0; from < devices.size(); ++from) {
    for (size_t to = 0; to < devices.size(); ++to) {
      if (from == to) continue;
      const size_t pair = from * result.places + to;
      result.times[pair] = measurement.time(from, to, Crossing::AsItIs);
      if (!stores_half(devices[from].properties) && !stores_half(devices[to].properties)) continue;
      result.half_times[pair] = measurement.time(from, to, Crossing::AsFloat16);
    }
  }
  // The host as a place of its own is reached as fast as the slowest other device.
  if (result.home < devices.size()) return result;
  for (size_t d = 0; d < devices.size(); ++d) {
    TransferTime& out = result.times[d * result.places + result.home];
    for (size_t other = 0; other < devices.size(); ++other) {
      const TransferTime& time = result.times[d * result.places + other];
      out.start = std::max(out.start, time.start);
      out.per_byte = std::max(out.per_byte, time.per_byte);
    }
    result.times[result.home * result.places + d] = out;
  }
  return result;
}

}  // namespace het::hetero
