#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

#include "devices/register_devices.h"
#include "inference/core.h"
#include "inference/ops/double_values.h"
#include "inference/passes/print_model.h"
#include "inference/requests/infer_request.h"
#include "tests/oracle/random_graph.h"

namespace het::oracle {
namespace {

uint64_t number_of(const char* variable, uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

constexpr size_t kRequests = 3;

/// What request number r is given: the values of the model's inputs, each moved on by r places
/// where items are kept apart, so that requests differ.
Tensor given(const RandomGraph& graph, size_t input, size_t r, RandomGraph::Items items) {
  Tensor content = *graph.built.inputs[input].clone();
  if (items == RandomGraph::Items::Apart && content.type() == ElementType::Float32) {
    const std::span<float> values = content.values<float>();
    std::rotate(values.begin(), values.begin() + static_cast<ptrdiff_t>(r % values.size()),
                values.end());
  }
  return content;
}

/// Of requests in flight at once, one after the other.
Result<std::vector<std::vector<Tensor>>> outputs_on(Core& core, const RandomGraph& graph,
                                                    RandomGraph::Items items,
                                                    const std::string& device) {
  HET_ASSIGN(const auto compiled, core.compile_model(graph.built.model, device, {}));
  std::vector<std::shared_ptr<InferRequest>> requests;
  for (size_t r = 0; r < kRequests; ++r) {
    HET_ASSIGN(requests.emplace_back(), compiled->create_infer_request());
    for (size_t i = 0; i < graph.built.inputs.size(); ++i) {
      HET_TRY(requests[r]->set_input(i, given(graph, i, r, items)));
    }
  }
  for (const auto& request : requests) HET_TRY(request->start_async());
  for (const auto& request : requests) HET_TRY(request->wait());
  std::vector<std::vector<Tensor>> outputs(kRequests);
  for (size_t r = 0; r < kRequests; ++r) {
    for (size_t i = 0; i < compiled->outputs().size(); ++i) {
      HET_ASSIGN(outputs[r].emplace_back(), requests[r]->output(i).clone());
    }
  }
  return outputs;
}

/// Empty when each element is within what errors on the way explain. They were measured with the
/// first request's values; of the others the largest in an output counts for all of its elements.
std::string distance(const RandomGraph& graph, size_t request, const std::vector<Tensor>& got,
                     const std::vector<Tensor>& wanted) {
  constexpr double kNoises = 64;
  constexpr double kTolerance = 2e-4;
  for (size_t o = 0; o < wanted.size(); ++o) {
    if (got[o].desc() != wanted[o].desc()) {
      return fmt::format("request {}, output {}: {} instead of {}", request, o,
                         to_string(got[o].desc()), to_string(wanted[o].desc()));
    }
    const std::vector<double> a = *to_double_vector(got[o]);
    const std::vector<double> b = *to_double_vector(wanted[o]);
    const std::vector<double>& slack = graph.slack[o];
    const double largest = slack.empty() ? 0.0 : *std::ranges::max_element(slack);
    for (size_t i = 0; i < a.size(); ++i) {
      const double noise = request == 0 ? slack[i] : largest;
      const double allowed =
          is_float(wanted[o].type()) ? kNoises * noise + kTolerance * (1 + std::abs(b[i])) : 0.0;
      if (a[i] == b[i] || std::abs(a[i] - b[i]) <= allowed) continue;
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      return fmt::format("request {}, output {}, element {}: {} instead of {}", request, o, i, a[i],
                         b[i]);
    }
  }
  return {};
}

/// What a device makes of a graph.
struct Outcome {
  std::string failure;  ///< empty: none
  bool refused = false;
};

Outcome outcome_of(Core& core, const RandomGraph& graph, RandomGraph::Items items,
                   const std::string& device) {
  const auto wanted = outputs_on(core, graph, items, "REF");
  if (!wanted) return {"REF: " + wanted.error().message()};
  const auto got = outputs_on(core, graph, items, device);
  if (!got) {
    // GPU alone has not every operator, and BATCH takes independent items only.
    const bool may_refuse = device == "GPU" || device.rfind("BATCH", 0) == 0;
    if (may_refuse && got.error().code() == StatusCode::NotSupported) {
      return {{}, true};
    }
    return {got.error().message()};
  }
  for (size_t r = 0; r < kRequests; ++r) {
    const std::string text = distance(graph, r, (*got)[r], (*wanted)[r]);
    if (!text.empty()) return {text};
  }
  return {};
}

/// A seed's graph: in one of four items stay apart.
RandomGraph::Items items_of(uint64_t seed) {
  return seed % 4 == 0 ? RandomGraph::Items::Apart : RandomGraph::Items::Mixed;
}

/// The fewest nodes that still fail, as text.
std::string smallest(Core& core, uint64_t seed, int64_t nodes, const std::string& device,
                     std::string failure) {
  for (int64_t fewer = 1; fewer < nodes; ++fewer) {
    const RandomGraph graph(seed, fewer, items_of(seed));
    const Outcome outcome = outcome_of(core, graph, items_of(seed), device);
    if (outcome.failure.empty()) continue;
    failure = outcome.failure;
    nodes = fewer;
    break;
  }
  const RandomGraph graph(seed, nodes, items_of(seed));
  return fmt::format("{}, {} nodes: {}\n{}", device, nodes, failure,
                     print_model(graph.built.model));
}

/// Graphs of 5 to 40 drawn nodes: HET_GRAPHS (10) from seed HET_GRAPHS_SEED (1). The first
/// HET_GRAPHS_ACCELERATED (1) of them run on devices with a GPU as well, whose kernels OpenCL on a
/// CPU takes seconds to build.
TEST(RandomGraphs, DevicesAgree) {
  const uint64_t first = number_of("HET_GRAPHS_SEED", 1);
  const uint64_t graphs = number_of("HET_GRAPHS", 10);
  const uint64_t accelerated = number_of("HET_GRAPHS_ACCELERATED", 1);
  std::cout << "seed " << first << ", " << graphs << " graphs\n";
  const std::shared_ptr<Core> core = het::core();
  const std::vector<std::string> available = core->available_devices();
  const bool has_gpu = std::ranges::count(available, "GPU") > 0;
  std::map<std::string, std::pair<uint64_t, uint64_t>> counts;  // run, refused
  for (uint64_t seed = first; seed < first + graphs; ++seed) {
    const int64_t nodes = 5 + static_cast<int64_t>(seed * 7 % 36);
    const RandomGraph graph(seed, nodes, items_of(seed));
    if (graph.built.model.outputs().empty()) continue;
    std::vector<std::string> devices{"CPU", "HETERO:CPU,REF", "MULTI:CPU,REF", "BATCH:CPU(3)"};
    if (has_gpu && seed < first + accelerated) {
      devices.insert(devices.end(), {"GPU", "HETERO:GPU,CPU", "MULTI:GPU,CPU"});
    }
    for (const std::string& device : devices) {
      const Outcome outcome = outcome_of(*core, graph, items_of(seed), device);
      auto& [run, refused] = counts[device];
      ++(outcome.refused ? refused : run);
      EXPECT_TRUE(outcome.failure.empty())
          << "seed " << seed << ", " << smallest(*core, seed, nodes, device, outcome.failure);
    }
  }
  for (const auto& [device, count] : counts) {
    std::cout << device << ": " << count.first << " run, " << count.second << " refused\n";
  }
}

}  // namespace
}  // namespace het::oracle
