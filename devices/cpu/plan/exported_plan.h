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
/// graph as their shape, other larger constants have sections of their own. Constants, weights and
/// plain ones are by the name of their value in the graph.
struct ExportedPlan {
  PlanOrigin origin;
  std::string name;  ///< of the model
  Properties properties;
  LayerChoices choices;
  std::vector<PackedConstants::Entry> packed;
  std::map<std::string, Tensor> constants;
  std::map<std::string, TensorDesc> weights;  ///< that are there in packed form only
  BufferPtr memory;                           ///< that packed weights and constants lie in
  /// Of files in CACHE_DIR: what they were made from, and weights as they were before packing.
  std::string key;
  std::map<std::string, Tensor> plain;
};

/// What files in CACHE_DIR have beyond exported models.
struct StoredExtras {
  std::string key;
  std::map<std::string, Tensor> plain;
};

/// What a compiled model keeps to be exported: the prepared graph as ONNX, without the content of
/// its larger constants. Those that the plan has packed are forgotten, the others are shared with
/// the model that was compiled (and mostly lie in its file), or lie in the file that the plan's
/// packed weights come from. Thread-compatible.
class ExportSource {
 public:
  /// `prepared` is the model as prepare_model() left it, before it is planned.
  explicit ExportSource(const Model& prepared);

  /// A text that tells graphs and the content of all their constants apart; the model's name and
  /// where it comes from do not count. Before anything is forgotten. Fails with what ONNX cannot
  /// say of the graph.
  Result<std::string> content_key() const;

  /// `packed` is what planning noted: contents that belong to the plan.
  void forget_packed(PackedConstants packed);
  /// Packed weights and constants are those of a stored plan of the same content.
  void take_stored(const ExportedPlan& stored);

  /// True when constants lie in memory of this process, not in a model's file that is mapped.
  bool has_own_memory() const { return has_own_memory_; }
  /// Weights that are in packed form only, as `prepared` has them.
  std::map<std::string, Tensor> plain_weights(const Model& prepared) const;
  /// What the file takes for graph, constants and packed weights.
  uint64_t content_bytes() const;

  /// Fails with what ONNX cannot say of the graph, or with Internal when the stream does.
  Status write(std::ostream& stream, const PlanOrigin& origin, const Properties& properties,
               const LayerChoices& choices, const StoredExtras& extras = {}) const;

 private:
  std::string name_;
  bool has_own_memory_ = false;
  Result<std::string> graph_;
  std::map<std::string, std::string> products_;  ///< weights and who reads them, until planned
  std::map<std::string, TensorDesc> packed_weights_;
  std::map<std::string, Tensor> constants_;
  std::vector<PackedConstants::Entry> packed_;
  BufferPtr memory_;  ///< of a stored plan
};

/// Fails with ParseError for a malformed file, with NotSupported for one of another machine.
Result<ExportedPlan> read_exported_plan(const ExportedFile& file, std::string_view machine);
/// The graph of such a file with its constants. Weights that are there in packed form only are
/// zeros. Fails with ParseError.
Result<std::unique_ptr<Model>> read_exported_graph(const ExportedFile& file,
                                                   const ExportedPlan& plan);
/// Gives constants of a model these contents, which are equal to its own. Fails with ParseError
/// when it has no such constant.
Status share_constants(Model& model, const std::map<std::string, Tensor>& contents);

/// The device's name in exported files.
inline constexpr std::string_view kExportDevice = "CPU";

}  // namespace het::cpu
