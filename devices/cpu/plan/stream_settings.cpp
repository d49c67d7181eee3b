#include "devices/cpu/plan/stream_settings.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/machine/processor_list.h"

namespace het::cpu {

namespace {

Result<std::vector<PhysicalCore>> chosen_cores(const Properties& properties,
                                               const Topology& topology, bool latency) {
  const std::string type = property_text(properties, "SCHEDULING_CORE_TYPE");
  const auto of_kind = [&](CoreKind kind) {
    std::vector<PhysicalCore> cores;
    std::ranges::copy_if(topology.cores, std::back_inserter(cores),
                         [&](const PhysicalCore& core) { return core.kind == kind; });
    return cores;
  };
  std::vector<PhysicalCore> cores = topology.cores;
  if (type == "PCORE_ONLY") cores = of_kind(CoreKind::Performance);
  if (type == "ECORE_ONLY") cores = of_kind(CoreKind::Efficiency);
  if (type == "ANY_CORE" && latency) {
    std::vector<PhysicalCore> fast = of_kind(CoreKind::Performance);
    if (!fast.empty()) cores = std::move(fast);
  }
  if (cores.empty()) {
    return error(StatusCode::NotSupported,
                 "SCHEDULING_CORE_TYPE={}: none of the {} cores that this process may use is one",
                 type, topology.cores.size());
  }
  return cores;
}

/// The part of the machine that PROCESSORS names.
Result<Topology> only(const Topology& machine, const std::string& text) {
  auto wanted = parse_processors(text);
  if (!wanted) return Failure(wanted.error().with_context("PROCESSORS"));
  std::set<int> missing(wanted->begin(), wanted->end());
  Topology part;
  size_t processors = 0;
  for (PhysicalCore core : machine.cores) {
    std::erase_if(core.processors, [&](int processor) { return missing.erase(processor) == 0; });
    processors += core.processors.size();
    if (!core.processors.empty()) part.cores.push_back(std::move(core));
  }
  if (!missing.empty()) {
    return error(StatusCode::NotSupported,
                 "PROCESSORS={}: this process may not run on processor {}, or the machine has "
                 "none of that number; see taskset --cpu-list --pid $$",
                 text, *missing.begin());
  }
  part.max_threads = std::min(machine.max_threads, processors);
  return part;
}

/// A team that is bound to no single core.
TeamPlaces anywhere_of(const Topology& topology, size_t threads) {
  std::vector<int> processors;
  for (const PhysicalCore& core : topology.cores)
    processors.insert(processors.end(), core.processors.begin(), core.processors.end());
  std::ranges::sort(processors);
  return TeamPlaces(threads, processors);
}

/// Economical ones first: a fast one serves a team better than it does a thread that mostly waits.
void leave_cores(std::vector<PhysicalCore>& cores, size_t count) {
  for (; count > 0 && cores.size() > 1; --count) {
    auto left = std::find_if(cores.rbegin(), cores.rend(), [](const PhysicalCore& core) {
      return core.kind == CoreKind::Efficiency;
    });
    if (left == cores.rend()) left = cores.rbegin();
    cores.erase(std::next(left).base());
  }
}

size_t node_count(const std::vector<PhysicalCore>& cores) {
  std::set<size_t> nodes;
  for (const PhysicalCore& core : cores) nodes.insert(core.numa_node);
  return nodes.size();
}

Binding binding_of(const Properties& properties) {
  const std::string text = property_text(properties, "ENABLE_CPU_PINNING");
  if (text == "NO") return Binding::None;
  return text == "NUMA" ? Binding::NumaNode : Binding::Core;
}

}  // namespace

Result<StreamSettings> stream_settings(const Properties& properties, const Topology& machine) {
  StreamSettings settings;
  const std::string processors = property_text(properties, "PROCESSORS");
  HET_ASSIGN(const Topology topology,
             processors.empty() ? Result<Topology>(machine) : only(machine, processors));
  settings.own_threads_only = !processors.empty();
  const std::string wanted_streams = property_text(properties, "NUM_STREAMS");
  const bool latency = property_text(properties, "PERFORMANCE_HINT") == "LATENCY";
  const bool automatic = wanted_streams == "AUTO" || wanted_streams == "-1";
  const bool one_team = latency && !automatic;
  HET_ASSIGN(std::vector<PhysicalCore> cores, chosen_cores(properties, topology, one_team));
  const int64_t wanted_threads = property_integer(properties, "INFERENCE_NUM_THREADS");
  size_t most_threads = topology.max_threads;
  if (wanted_threads <= 0) {
    const size_t spare = std::min(static_cast<size_t>(property_integer(properties, "SPARE_CORES")),
                                  topology.cores.size() - 1);
    const size_t unused = topology.cores.size() - cores.size();
    leave_cores(cores, spare - std::min(spare, unused));
    most_threads -= std::min(spare, most_threads - 1);
    settings.spare_cores = spare;
  }
  const bool hyper_threads = properties.count("ENABLE_HYPER_THREADING") > 0
                                 ? property_boolean(properties, "ENABLE_HYPER_THREADING")
                                 : !one_team;
  const std::vector<Slot> slots = make_slots(cores, hyper_threads);

  const size_t threads = wanted_threads > 0 ? static_cast<size_t>(wanted_threads)
                                            : std::min(slots.size(), most_threads);
  const size_t nodes = std::min(node_count(cores), threads);
  const int64_t streams =
      wanted_streams == "NUMA" || automatic ? 0 : property_integer(properties, "NUM_STREAMS");
  if (streams > 0) {
    settings.streams = static_cast<size_t>(streams);
  } else if (wanted_streams == "NUMA" || one_team) {
    settings.streams = nodes;
  } else {
    settings.streams = threads;
    const int64_t requests = property_integer(properties, "PERFORMANCE_HINT_NUM_REQUESTS");
    if (requests > 0) settings.streams = std::min(threads, static_cast<size_t>(requests));
  }
  settings.threads_per_stream = std::max<size_t>(threads / settings.streams, 1);
  // While one request of a stream is collected, refilled or waits for its turn, another one runs.
  settings.optimal_requests =
      settings.streams == 1 || (one_team && streams <= 0) ? settings.streams : 2 * settings.streams;
  settings.places =
      place_streams(slots, settings.streams, settings.threads_per_stream, binding_of(properties));
  if (settings.own_threads_only && binding_of(properties) == Binding::None)
    settings.places.assign(settings.streams, anywhere_of(topology, settings.threads_per_stream));
  const bool accurate = property_text(properties, "EXECUTION_MODE_HINT") == "ACCURACY";
  settings.fast_algorithms = !accurate;
  settings.flush_subnormals = properties.count("CPU_DENORMALS_OPTIMIZATION") > 0
                                  ? property_boolean(properties, "CPU_DENORMALS_OPTIMIZATION")
                                  : !accurate;

  const std::string precision = property_text(properties, "INFERENCE_PRECISION_HINT");
  if (precision == "f16") {
    return error(StatusCode::NotSupported,
                 "device CPU does not compute in f16; use INFERENCE_PRECISION_HINT=f32 or bf16");
  }
  if (precision == "bf16") {
    if (!has_bfloat16()) {
      return error(StatusCode::NotSupported,
                   "this processor has no AVX-512, which device CPU needs for bf16; use "
                   "INFERENCE_PRECISION_HINT=f32");
    }
    settings.precision = ElementType::BFloat16;
  }
  settings.precision_is_open = precision == "dynamic" && !accurate && has_bfloat16_arithmetic();
  settings.int8 = computes_int8() && property_text(properties, "EXECUTION_MODE_HINT") != "ACCURACY";
  return settings;
}

std::string plan_settings(const StreamSettings& settings) {
  return fmt::format("threads of a stream: {}, int8: {}, fast algorithms: {}",
                     settings.threads_per_stream, settings.int8 ? "yes" : "no",
                     settings.fast_algorithms ? "yes" : "no");
}

}  // namespace het::cpu
