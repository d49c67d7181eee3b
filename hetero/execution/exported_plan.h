#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/model/exported_file.h"
#include "inference/tensors/buffer.h"

namespace het::hetero {

/// A subgraph in the file: what its own device exported, and the ports that the split relies on.
struct ExportedSubgraph {
  std::vector<std::string> nodes;  ///< names
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::span<const std::byte> content;
};

/// One of the plans that executions take.
struct ExportedWay {
  double share = 1;
  Split split;  ///< without nodes and models
  std::vector<ExportedSubgraph> subgraphs;
  std::vector<size_t> turns;  ///< as HeteroPlan's
};

/// Where the model came from, for plans without a lost device.
struct ExportedSource {
  std::string path;          ///< absolute; empty: not known
  uint64_t fingerprint = 0;  ///< of the prepared model with its weights
};

/// The content of an exported model of HETERO: how it is split, and a file within the file for each
/// subgraph.
struct ExportedPlan {
  std::string model;
  std::string devices;                   ///< the list behind the colon: "GPU,CPU"
  std::string explanation;               ///< HETERO_PLAN
  Properties properties;                 ///< not validated
  std::optional<ExportedSource> source;  ///< none: without fail-over
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  size_t requests = 0;  ///< as PlanMix's
  std::vector<ExportedWay> ways;
  BufferPtr memory;  ///< that the contents lie in, when read
};

/// Cuts, dependencies and readers of a split follow from its sources and are not written. Fails
/// with Internal when the stream does.
Status write_exported_plan(std::ostream& stream, const ExportedPlan& plan);

/// Whatever is in the file, there is a way, its sources name ports that are there and have the type
/// and shape of what reads them, and subgraphs read from earlier ones only. Fails with ParseError
/// for a damaged file, with NotSupported for one of another device or version.
Result<ExportedPlan> read_exported_plan(
    std::istream& stream, ExportedFile::Checksums checksums = ExportedFile::Checksums::Verify);

/// Name, type, shape and preprocessing; not the layout, which files of models do not hold.
bool same_port(const Port& a, const Port& b);

}  // namespace het::hetero
