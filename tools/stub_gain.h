#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/core.h"
#include "tools/bench.h"
#include "tools/spread.h"

namespace het {

/// Rows of PERF_COUNT of one subgraph, or of a device that runs the whole model.
struct StubPart {
  std::string subgraph;  ///< "subgraph2"; empty where the model is in one piece
  std::string device;
  size_t rows = 0;         ///< of stubbed nodes
  int64_t stubbed_us = 0;  ///< their time
  int64_t all_us = 0;      ///< that of all rows
};

/// What --stub measured of a model as it is and with stubs.
struct StubGain {
  std::vector<std::string> types;  ///< "Conv 12"
  size_t nodes = 0;
  std::string baseline_failure;  ///< why the model as it is does not run; empty when it does
  std::vector<BenchRound> baseline;
  std::vector<BenchRound> stubbed;
  int64_t stub_us = 0;            ///< that het.Stub took in a request: writing zeros
  int64_t left_us = 0;            ///< of all rows of a request with stubs
  std::vector<std::string> left;  ///< the largest of them, "0.250 ms MaxPool pool1 (jit)"
  std::string subgraphs_before;
  std::string subgraphs_after;
  std::vector<StubPart> parts;
  std::vector<std::string> inseparable;  ///< rows that stubbed nodes share with others
  std::string first_device;              ///< of HETERO's list
  std::vector<std::string> refused;      ///< stubbed nodes that it cannot run today, with reasons
};

/// What would be gained if nodes took no time: an upper bound for what another implementation of
/// them can give. Two numbers: the model is run as it is and with stubs in turn; and by the times
/// of nodes, after G. M. Amdahl, "Validity of the single processor approach to achieving large
/// scale computing capabilities" (1967): latency * (1 - share of the nodes). With HETERO the stubs
/// run on the first device that takes them, so that what is around them stays together there.
Result<StubGain> measure_stub_gain(Core& core, const BenchOptions& options);

/// Measures, and prints a table or one JSON object; the file of -report.
Status print_stub_gain(Core& core, const BenchOptions& options);

/// Of a latency when what has `share` (0 to 1) of the time takes none.
double amdahl_bound(double latency_ms, double share);

}  // namespace het
