#pragma once

#include <string>
#include <vector>

#include "inference/decoders/exchange/tensor_groups.h"
#include "inference/model_reading.h"

namespace het {

/// A .modelinfo file, and what whoever uses it has to know.
struct ModelinfoFile {
  std::string text;
  /// What onnxinference does differently from this library, or cannot do; a sentence each.
  std::vector<std::string> notes;
};

/// A file that describes a model for GStreamer's onnxinference (1.28 and newer): names, types and
/// dimensions as the model's file has them, how pixels get in, what decoders know the outputs by.
/// Keys that GStreamer passes over say the rest of how pictures get in, for this library.
///
/// `file` is the model as it was read, without sizes that somebody bound; outputs are in the order
/// of `group`.
ModelinfoFile modelinfo_file(const Model& file, const ModelReading& reading,
                             const TensorGroup& group);

}  // namespace het
