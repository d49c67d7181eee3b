#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cpu/layer_choice.h"
#include "devices/cpu/packed_constants.h"
#include "inference/exported_file.h"
#include "inference/model.h"
#include "inference/properties.h"

namespace het::cpu {

/// What packed weights and choices belong to: another one cannot use them.
struct PlanOrigin {
  std::string machine;    ///< processor, instruction sets, versions of libraries
  std::string settings;   ///< threads of a stream and what else decides about kernels
  std::string precision;  ///< "f32" or "bf16"
};

/// The content of an exported model of this device: the graph before the device's own rewrites, the
/// choices, and the packed weights. Weights that a plan needs in packed form only stand in the
/// graph as their shape.
struct ExportedPlan {
  PlanOrigin origin;
  Properties properties;
  LayerChoices choices;
  std::unique_ptr<Model> model;
  std::vector<PackedConstants::Entry> packed;
  BufferPtr memory;  ///< that `packed` lies in
};

/// `prepared` is the model as prepare_model() left it, `packed` what planning it noted.
Status write_exported_plan(std::ostream& stream, const PlanOrigin& origin,
                           const Properties& properties, const LayerChoices& choices,
                           const Model& prepared, const PackedConstants& packed);

/// Fails with ParseError for a damaged file, with NotSupported for one of another machine.
/// Weights that are there in packed form only are zeros in the model.
Result<ExportedPlan> read_exported_plan(
    std::istream& stream, std::string_view machine,
    ExportedFile::Checksums checksums = ExportedFile::Checksums::Verify);

}  // namespace het::cpu
