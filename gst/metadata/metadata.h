#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/decoders/results.h"
#include "inference/tensors/image.h"
#include "inference/vision_model.h"
#include "metadata_tensors.h"
#include "object_classes.h"
#include "region_meta.h"

/// The one place where results become GstMeta and are read from it again. An object is a region
/// (region_meta.h says in which meta) whose type is the label and whose params are:
///   "detection"       x_min, x_max, y_min, y_max (0..1 of the picture), confidence: double;
///                     label_id: int; label (where known), model_name: string; rotation (radians,
///                     clockwise about the centre; only where the box is turned): double. The
///                     region is clipped to the picture; of a turned box it is the upright
///                     rectangle around it, and the coordinates are not clipped.
///   "landmarks"       x, y (0..1 of the picture): arrays of double; names: array of string;
///                     model_name: string
///   "object_id"       id: int, the same for the same object in all frames of a stream
///   "classification"  attribute_name, label (where known), model_name: string;
///                     label_id: int (absent for texts that were read); confidence: double
/// and those of metadata_tensors.h and zone_record.h.
/// Attributes and tensors of a whole picture sit on a region of the picture's size whose type is
/// empty. Objects, classes, segmentations and tracks that other elements attached as
/// GstAnalyticsRelationMeta are read, too; classes and segmentations without an object are of the
/// whole picture.
namespace het::gst {

/// A region of a frame, as an element finds it there. `index` counts the frame's regions.
struct FrameRegion {
  int index = 0;
  Rect rect;  ///< as the meta says it, not clipped
  std::string type;
  std::optional<int> object_id;  ///< who it is, from a tracker
};

/// What a model found in one region (index as in FrameRegion), or in the whole picture (-1).
struct RegionResults {
  int index = -1;
  Results results;
  /// Outputs for decoders of others; only MetadataForm::Analytics has a place for them.
  std::vector<ExchangedTensor> tensors = {};
};

/// One attribute of an object, as it is written to JSON and on pictures.
struct ObjectAttribute {
  std::string name;
  std::optional<std::string> label;
  std::string model_name;
  std::optional<int> label_id;
  std::optional<double> confidence;
};

struct ObjectDetection {
  double x_min = 0.0, x_max = 0.0, y_min = 0.0, y_max = 0.0;  ///< 0..1 of the picture
  std::optional<double> confidence;
  std::optional<int> label_id;
  double rotation = 0.0;  ///< radians, clockwise about the box's centre
};

/// Points in 0..1 of the picture.
struct ObjectLandmarks {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<std::string> names;  ///< empty or one per point
};

/// A zone that an object is in; times are ns of stream time.
struct ObjectZone {
  std::string id;
  std::optional<uint64_t> enter_ns;  ///< of objects with an id
  std::optional<uint64_t> dwell_ns;
};

/// A tripwire that an object has crossed.
struct ObjectCrossing {
  std::string id;
  int direction = 0;
};

/// Everything known about one object of a frame.
struct FrameObject {
  Rect rect;
  std::string type;              ///< label; empty where there is none
  std::optional<int> region_id;  ///< which of the frame's regions it is; none: the whole picture
  std::optional<int> parent_id;  ///< region_id of the object that it was found in
  std::optional<int> object_id;  ///< who it is, from a tracker
  std::optional<ObjectDetection> detection;
  std::vector<ObjectAttribute> attributes;
  std::optional<ObjectLandmarks> landmarks;
  ObjectTensors tensors;
  std::vector<ObjectZone> zones;
  std::vector<ObjectCrossing> crossings;
  bool is_carried = false;  ///< results of an earlier frame, or where a tracker supposes it
};

/// What stands for the whole picture is no object that was found.
bool is_whole_picture(const FrameObject& object);

/// The regions of a frame, in the order in which they were attached. What others said of the whole
/// picture is counted, but none of them.
std::vector<FrameRegion> frame_regions(GstBuffer* buffer);

/// How old results are that a frame got from an earlier one.
struct ResultAge {
  guint frames = 0;
  GstClockTime time = GST_CLOCK_TIME_NONE;  ///< ns of stream time; none without timestamps
};

/// Attaches results to a writable buffer: a region for each detection (clipped to the picture; one
/// without a pixel inside is left out), all else to the region that it belongs to.
/// With an age the structures of what is added have "age-frames" (uint) and "age" (uint64, ns).
/// Returns how many objects were added; `classes` counts them by their labels.
int attach_results(GstBuffer* buffer, const GstVideoInfo& info, std::string_view model_name,
                   MetadataForm form, const std::vector<RegionResults>& found,
                   const ResultAge* age = nullptr, ObjectClasses* classes = nullptr);

/// Adds a region without results to a writable buffer, behind those that it has; `rect` lies inside
/// the picture.
void add_region(GstBuffer* buffer, const Rect& rect, std::string_view type);

/// Who a region is, from a tracker.
std::optional<int> object_id(const RegionMeta& region);
/// Says who a region of a writable buffer is; replaces what was said before.
void set_object_id(RegionMeta& region, int id);
/// The same for the n-th region.
void set_object_id(GstBuffer* buffer, int index, int id);

/// Reads the objects of a frame of this size back, in the order in which they were attached.
std::vector<FrameObject> frame_objects(GstBuffer* buffer, int width, int height);

}  // namespace het::gst
