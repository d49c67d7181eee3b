#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/model_inputs.h"
#include "inference/decoders/picture_assumption.h"
#include "inference/model_preparation.h"
#include "inference/vision_model.h"

namespace het {

/// A vision model that is ready to be compiled: read, bound to shapes, prepared, and with what was
/// decided about pictures and results.
struct ModelReading {
  std::unique_ptr<Model> model;
  Properties properties;  ///< those left for the device
  ModelProc model_proc;   ///< the file's, with what metadata and assumptions added
  ModelMetadata metadata;
  std::vector<std::string> labels;  ///< the user's
  std::vector<BoundInput> inputs;
  BoundInput picture;
  std::string prepared;                      ///< who says how pictures get in; empty: nobody
  std::optional<PictureAssumption> assumed;  ///< where nobody does
  /// Widths that the picture's open one is compiled for, ascending; empty: the width is known. The
  /// model has the last of them.
  std::vector<int> widths;
  std::vector<Port> input_ports;  ///< of the model with inferred shapes
  std::vector<Port> output_ports;
  /// How results are read, as far as the model alone tells; a device may know more of the shapes.
  Result<DecoderChoice> choice;

  /// The same choice by other ports: those of the compiled model.
  Result<DecoderChoice> choose(const Model& graph, const std::vector<Port>& input_ports,
                               const std::vector<Port>& output_ports) const;
};

/// Reads, describes and prepares. Errors name the file or property at fault.
HET_API Result<ModelReading> read_vision_model(Core& core, const VisionModelSettings& settings);

}  // namespace het
