#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "hetero/execution/exported_plan.h"

/// How an exported model of HETERO is split, whatever the file's checksums say. What is read must
/// be fit to run.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace het::hetero;
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  const auto plan = read_exported_plan(stream, het::ExportedFile::Checksums::Ignore);
  if (!plan) return 0;
  if (plan->ways.empty()) abort();
  for (const ExportedWay& way : plan->ways) {
    const auto& subgraphs = way.split.subgraphs;
    if (subgraphs.size() != way.subgraphs.size()) abort();
    if (way.split.outputs.size() != plan->outputs.size()) abort();
    if (way.split.input_readers.size() != plan->inputs.size()) abort();
    for (size_t i = 0; i < subgraphs.size(); ++i) {
      if (subgraphs[i].inputs.size() != way.subgraphs[i].inputs.size()) abort();
      for (const size_t before : subgraphs[i].dependencies) {
        if (before >= i) abort();
      }
    }
    for (const CutValue& cut : way.split.cuts) {
      if (cut.producer.index >= way.subgraphs[cut.producer.subgraph].outputs.size()) abort();
      if (cut.readers.empty()) abort();
    }
  }
  // Written and read again it is the same.
  std::stringstream copy;
  if (!write_exported_plan(copy, *plan).ok()) abort();
  const auto again = read_exported_plan(copy);
  if (!again || again->ways.size() != plan->ways.size()) abort();
  return 0;
}
