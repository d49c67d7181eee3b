#pragma once

#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/plan/layer_choice.h"
#include "inference/devices/properties.h"
#include "inference/model/exported_file.h"
#include "inference/model/model.h"

namespace het::cpu {

/// What packed weights and choices belong to: another one cannot use them.
struct PlanOrigin {
  std::string machine;    ///< processor, instruction sets, versions of libraries
  std::string settings;   ///< threads of a stream and what else decides about kernels
  std::string precision;  ///< "f32" or "bf16"
};

/// The content of an exported model of this device: the graph before the device's own rewrites, the
/// choices, and the packed weights. Weights that a plan needs in packed form only stand in the
/// graph as their shape, other larger constants have sections of their own.
struct ExportedPlan {
  PlanOrigin origin;
  Properties properties;
  LayerChoices choices;
  std::unique_ptr<Model> model;
  std::vector<PackedConstants::Entry> packed;
  BufferPtr memory;  ///< that `packed` lies in
};

/// What a compiled model keeps to be exported: the prepared graph as ONNX, without the content of
/// its larger constants. Those that the plan has packed are forgotten, the others are shared with
/// the model that was compiled (and mostly lie in its file). Thread-compatible.
class ExportSource {
 public:
  /// `prepared` is the model as prepare_model() left it, before it is planned.
  explicit ExportSource(const Model& prepared);

  /// `packed` is what planning noted: contents that belong to the plan.
  void forget_packed(PackedConstants packed);

  /// Fails with what ONNX cannot say of the graph, or with Internal when the stream does.
  Status write(std::ostream& stream, const PlanOrigin& origin, const Properties& properties,
               const LayerChoices& choices) const;

 private:
  std::string name_;
  Result<std::string> graph_;
  std::map<std::string, std::string> products_;  ///< weights and who reads them, until planned
  std::map<std::string, TensorDesc> packed_weights_;
  std::map<std::string, Tensor> constants_;
  std::vector<PackedConstants::Entry> packed_;
};

/// Fails with ParseError for a damaged file, with NotSupported for one of another machine.
/// Weights that are there in packed form only are zeros in the model.
Result<ExportedPlan> read_exported_plan(
    std::istream& stream, std::string_view machine,
    ExportedFile::Checksums checksums = ExportedFile::Checksums::Verify);

}  // namespace het::cpu
