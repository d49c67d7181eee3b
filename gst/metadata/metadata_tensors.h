#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/decoders/results.h"
#include "region_meta.h"

/// The part of `metadata` that is about results other than boxes and attributes. Params of a
/// region; the fields precision, layout, dims, data_buffer, format, layer_name and model_name are
/// those of DL Streamer's tensors:
///   "tensor"        attribute_name (where given); the values
///   "keypoints"     values float [points, 2 or 3]: x, y in 0..1 of the region, perhaps depth;
///                   point_names, point_connections (pairs of indices), point_confidences,
///                   confidence. A point that was not found has confidence 0 and x = y = -1.
///   "segmentation"  values [1, rows, columns]: class ids, one byte each where all are below 256,
///                   else two; x_min, x_max, y_min, y_max (0..1 of the picture, may leave it):
///                   where they lie; attribute_name; labels
///   "mask"          values float [rows, columns] in 0..1: how likely a place belongs to the
///   object;
///                   x_min, x_max, y_min, y_max (0..1 of the picture, may leave it): the box that
///                   they are stretched over
///   "picture"       attribute_name; sample: a GstSample with video/x-raw caps
namespace het::gst {

/// How keypoints, segmentations and tensors say where they come from.
struct TensorOrigin {
  std::string attribute;
  std::string format;
  std::string layer_name;
  std::string model_name;
};

struct ObjectTensor {
  TensorOrigin origin;
  Tensor values;
};

/// Coordinates in 0..1 of the object's rectangle.
struct ObjectKeypoints {
  TensorOrigin origin;
  Tensor values;  ///< float32 [points, 2 or 3]
  std::vector<std::string> names;
  std::vector<std::pair<int, int>> connections;  ///< indices below the number of points
  std::vector<double> confidences;               ///< one per point
  std::optional<double> confidence;

  size_t size() const { return static_cast<size_t>(values.shape()[0]); }
  float x(size_t point) const { return at(point, 0); }
  float y(size_t point) const { return at(point, 1); }
  bool found(size_t point) const { return confidences[point] > 0.0; }

 private:
  float at(size_t point, size_t column) const {
    return values.values<float>()[point * static_cast<size_t>(values.shape()[1]) + column];
  }
};

struct ObjectSegmentation {
  TensorOrigin origin;
  Tensor values;  ///< uint8 or uint16 [1, rows, columns]
  double x_min = 0.0, x_max = 0.0, y_min = 0.0, y_max = 0.0;
  std::vector<std::string> labels;

  int rows() const { return static_cast<int>(values.shape()[1]); }
  int columns() const { return static_cast<int>(values.shape()[2]); }
  uint16_t class_id(size_t cell) const {
    return values.type() == ElementType::UInt8 ? values.values<uint8_t>()[cell]
                                               : values.values<uint16_t>()[cell];
  }
};

/// From here on a place of a mask belongs to the object.
inline constexpr float kCovered = 0.5f;

struct ObjectMask {
  TensorOrigin origin;
  Tensor values;  ///< float32 [rows, columns]
  double x_min = 0.0, x_max = 0.0, y_min = 0.0, y_max = 0.0;

  int rows() const { return static_cast<int>(values.shape()[0]); }
  int columns() const { return static_cast<int>(values.shape()[1]); }
  bool covers(size_t cell) const { return values.values<float>()[cell] >= kCovered; }
};

struct ObjectPicture {
  TensorOrigin origin;
  std::string format;  ///< of the pixels: GRAY8, RGB, BGR
  int width = 0;
  int height = 0;
};

/// Everything of this file that a region carries.
struct ObjectTensors {
  std::vector<ObjectTensor> tensors;
  std::vector<ObjectKeypoints> keypoints;
  std::vector<ObjectSegmentation> segmentations;
  std::vector<ObjectMask> masks;
  std::vector<ObjectPicture> pictures;

  bool empty() const {
    return tensors.empty() && keypoints.empty() && segmentations.empty() && masks.empty() &&
           pictures.empty();
  }
};

/// True when `results` has something that add_tensors() attaches.
bool has_tensors(const Results& results);

/// Attaches it to a region of a picture of width x height pixels.
void add_tensors(RegionMeta region, float width, float height, std::string_view model_name,
                 const Results& results);

/// Attaches the mask of a detection, if it has one, to its region.
void add_mask(RegionMeta region, float width, float height, std::string_view model_name,
              const Detection& detection);

/// Reads one param of a region into `tensors`; false when it is none of these, which includes
/// those that do not fit together.
bool read_tensors(const GstStructure* params, ObjectTensors& tensors);

/// Adds what another element found, of which `read.ids` has the shape [1, rows, columns], as a
/// segmentation or a mask of a picture of width x height pixels.
void read_segmentation(const RegionSegmentation& read, int width, int height,
                       ObjectTensors& tensors);

}  // namespace het::gst
