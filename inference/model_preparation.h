#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"

namespace het {

/// What is changed in a model between reading and compiling; texts have the forms of
/// port_texts.h. The properties of the same meaning stand in property_table.cpp.
struct ModelPreparation {
  std::string outputs;            ///< MODEL_OUTPUTS: names or NODE:PORT, separated by ',' or ';'
  std::string shapes;             ///< INPUT_SHAPES: "[1,3,320,320]", "images[...]", "height=320"
  std::string layouts;            ///< INPUT_LAYOUTS: "NCHW", "images[NHWC->NCHW]"
  int64_t batch = 0;              ///< BATCH_SIZE; 0: as it is
  std::string mean;               ///< MEAN_VALUES: "[123.7,116.3,103.5]", "images[...]"
  std::string scale;              ///< SCALE_VALUES: the same
  bool reverse_channels = false;  ///< REVERSE_INPUT_CHANNELS, of every picture input
  std::string input_types;        ///< INPUT_TYPES: "u8", "images:u8"
  std::string output_types;       ///< OUTPUT_TYPES
  bool fold_preprocess = false;   ///< FOLD_PREPROCESS; implied by mean, scale and reverse_channels
  bool compress_weights = false;  ///< COMPRESS_TO_FP16

  bool is_empty() const;
};

/// Takes the preparation's properties out of a map, which keeps the others. Fails on a malformed
/// value.
HET_API Result<ModelPreparation> take_preparation(Properties& properties);

/// Prepares a model: outputs, shapes, layouts, batch, normalisation, channels, input and output
/// types, folding into the first convolution, compression, in this order. A Cast to another input
/// type comes first in the graph, so mean and scale apply to its result. Errors name the port.
HET_API Status apply(const ModelPreparation& preparation, Model& model);

/// A prepared copy, or null when the properties ask for nothing (which is most often so).
HET_API Result<std::unique_ptr<Model>> prepared_copy(const Model& model, Properties& properties);

}  // namespace het
