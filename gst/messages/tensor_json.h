#pragma once

#include <nlohmann/json_fwd.hpp>

#include "gst/metadata/metadata_tensors.h"

/// The results of `metadata_tensors` in JSON.
namespace het::gst {

/// Writes an object's keypoints, segmentations and pictures as the keys of these names, without
/// pixels. Coordinates are 0..1 of the object's rectangle, null where a point was not found.
void add_tensor_summaries(const ObjectTensors& tensors, nlohmann::json& object);

/// Every tensor of an object with its values and gvametaconvert's keys: name, precision, layout,
/// dims, format, layer_name, model_name, data; point_names and point_connections of keypoints.
nlohmann::json tensors_to_json(const ObjectTensors& tensors);

/// The shortest number that reads back as the same float; null for NaN and infinity.
nlohmann::json shortest(double value);

}  // namespace het::gst
