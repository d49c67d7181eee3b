#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/descriptors/model_metadata.h"
#include "inference/model/model.h"

namespace het {

/// Where the values of an exchanged tensor name places of the picture, and in which unit.
enum class TensorPlaces {
  None,
  PixelPlanes,       ///< [1, values, N]: the first four are centre and size in pixels
  PixelPointPlanes,  ///< the same, with x, y and a confidence for each point behind the classes
  PixelCorners,      ///< [1, N, values]: the first four are x_min, y_min, x_max, y_max in pixels
  Corners,           ///< [1, N, 4]: x_min, y_min, x_max, y_max in 0..1
  CornersRowFirst,   ///< [1, N, 4]: y_min, x_min, y_max, x_max in 0..1
};

/// One output of a model as programs that exchange tensors know it.
struct GroupTensor {
  std::string output;  ///< the model's name for it
  std::string id;
  /// What GStreamer's property dims-order says: of tensors whose values of an object lie a plane
  /// apart, upstream says col-major. The memory is row-major either way.
  bool column_major = false;
  TensorPlaces places = TensorPlaces::None;
  bool is_known = false;       ///< the id is one that decoders of others read: values are float32
  bool is_transposed = false;  ///< the model gives [1, N, values] where [1, values, N] is meant
  int first_point = 0;         ///< of PixelPointPlanes: the first plane of points
  ElementType type = ElementType::Float32;
  Shape shape;  ///< as exchanged, of one picture; unknown dimensions are kUnknownDim
};

/// The outputs of a model together: what its family is called, and each of them.
struct TensorGroup {
  std::string id;
  std::vector<GroupTensor> tensors;  ///< in the order of the model's outputs
};

/// The group of a model's outputs: what its .modelinfo file says, else the family that `choice`
/// recognises, else the names of model and outputs ("NAME-out"). An id that the model's metadata
/// has under an output's name wins over the family's. Ids and formats: GStreamer's tensor decoders
/// and the registry https://github.com/collabora/tensor-id-registry.
HET_API TensorGroup tensor_group(const Model& model, const ModelMetadata& metadata,
                                 const Result<DecoderChoice>& choice,
                                 const std::vector<Port>& inputs, const std::vector<Port>& outputs);

}  // namespace het
