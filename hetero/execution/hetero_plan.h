#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hetero/execution/plan_times.h"
#include "hetero/split/subgraph_splitter.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// In which order subgraphs of one request run.
enum class Executor {
  Linear,    ///< one at a time, in the model's order
  Dataflow,  ///< one at a time, of those that could the one with most nodes on the way behind it
  Parallel,  ///< whatever could run does
};

/// A split model whose subgraphs are compiled. Immutable, shared by requests.
struct HeteroPlan {
  HeteroPlan(const Split& split, std::vector<std::shared_ptr<CompiledModel>> subgraphs,
             std::vector<size_t> memory_kinds, Executor executor);

  Split split;                                            ///< without the subgraphs' models
  std::vector<std::shared_ptr<CompiledModel>> subgraphs;  ///< per subgraph of `split`
  /// Per subgraph the names of the file's nodes that it runs.
  std::vector<std::vector<std::string>> node_names;
  /// Per subgraph: how many kinds of memory beside the host's its device takes directly.
  std::vector<size_t> memory_kinds;
  /// Per subgraph: the kinds of memory in which it uses the application's tensors where they are.
  std::vector<std::vector<MemoryKind>> in_place;
  std::vector<std::vector<size_t>> dependents;  ///< per subgraph those that wait for it
  /// Cuts that are outputs of the model too: their tensor may be another in each execution.
  std::vector<size_t> delivered_cuts;
  std::vector<size_t> unsized_cuts;  ///< cuts that are sized at run time
  /// Per subgraph where one runs at a time: of those that could the least runs. Empty: all do.
  std::vector<size_t> turns;
  std::shared_ptr<PlanTimes> times;  ///< null: nobody asks for them
};

}  // namespace het::hetero
