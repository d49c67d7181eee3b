#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/tracking/box_filter.h"

namespace het::tracking {

/// An object as a detector saw it in one frame.
struct Observation {
  Box box;
  std::string label;
  float confidence = 0.0f;
  std::vector<float> feature;  ///< what it looks like, from a re-identification model; may be empty
  int label_id = 0;            ///< passed on
};

/// An object that was not looked for, where the tracker supposes it.
struct SupposedObject {
  int id = 0;
  Box box;
  std::string label;
  float confidence = 0.0f;  ///< of its last observation
  int label_id = 0;         ///< of its last observation
};

/// What a tracker says about one frame.
struct TrackedFrame {
  std::vector<int> ids;  ///< one per observation, from 1 on; kNoId: not (yet) tracked
  /// Observations that are no objects, in ascending order: below track_threshold, and no track
  /// stands for them. Only trackers that take low confidences reject any.
  std::vector<size_t> rejected = {};
  std::vector<SupposedObject> supposed = {};
};

inline constexpr int kNoId = 0;

enum class TrackerType {
  Association,   ///< connects what was detected in every frame
  Prediction,    ///< the same, and fills frames without any detection
  Reappearance,  ///< connects by looks first: deep SORT
  ByteTrack,     ///< by place, and what is seen with low confidence goes on with known objects
  OcSort,        ///< by place, direction and what was seen last; corrects itself after a gap
};

/// A tracker by the name that users write.
struct TrackerName {
  const char* name;
  TrackerType type;
  const char* meaning;
};
/// DL Streamer's names in its order, then ours.
HET_API std::span<const TrackerName> tracker_names();
/// Fails with InvalidArgument, listing the names.
HET_API Result<TrackerType> tracker_type(const std::string& name);
/// True for those that want a detector's low confidences, too, and reject what is none of theirs.
inline bool takes_low_confidences(TrackerType type) {
  return type == TrackerType::ByteTrack || type == TrackerType::OcSort;
}

/// The defaults are DL Streamer's where it has such a setting.
struct TrackerSettings {
  TrackerType type = TrackerType::Association;
  bool per_class = true;     ///< an object keeps its label
  size_t max_objects = 0;    ///< tracked at the same time; 0: no limit but kMaxObjects
  int max_prediction = 5;    ///< frames without detections that are filled at most
  std::string object_class;  ///< only this label is tracked; empty: all
  /// Frames that an object may be missing before it is forgotten.
  int max_age = 30;
  /// 1 - overlap() of a pair at most.
  float max_overlap_distance = 0.7f;
  // Reappearance only.
  int confirmations = 3;  ///< observations in a row before an object gets its id
  float max_cosine_distance = 0.2f;
  size_t feature_budget = 100;  ///< vectors kept per object; 0: all
  int reappearance_age = 0;     ///< further frames after max_age in which looks alone find it again
  // ByteTrack and OcSort only.
  float track_threshold = 0.5f;  ///< confidence of observations that are objects by themselves
  /// Confidence of observations that begin a track; none: track_threshold and 0.1 more, at most 1.
  std::optional<float> new_threshold;
  float low_threshold = 0.1f;  ///< confidence of observations that go on with one
  /// Observations in a row before an object gets its id; in a stream's first frame it has one.
  int first_observations = 2;
};

/// More objects than these are not tracked: bounds the time that a broken detector can cost.
inline constexpr size_t kMaxObjects = 1000;

/// Reads DL Streamer's KEY=VALUE,KEY=VALUE texts into `settings`. Keys of `config`:
/// tracking_per_class, max_num_objects, and ours: max_age, max_prediction, and where the type of
/// `settings` takes low confidences track_threshold, new_threshold, low_threshold, n_init. Of
/// `deep_sort`:
/// max_iou_distance, max_age, n_init, max_cosine_distance, nn_budget, object_class, reid_max_age.
/// Fails with InvalidArgument for unknown keys (listing those that exist) and values out of range.
HET_API Status read_tracker_config(const std::string& config, const std::string& deep_sort,
                                   TrackerSettings& settings);

/// Follows the objects of one stream: who is who, by where they are and perhaps what they look
/// like. One thread at a time. Ids are never used twice between resets.
class HET_API Tracker {
 public:
  virtual ~Tracker() = default;
  /// The next frame, with all objects that were detected in it. Boxes without an area or with
  /// corners that are not finite get no id.
  virtual TrackedFrame update(const std::vector<Observation>& observations) = 0;
  /// A frame in which nobody looked for objects: they move on and miss nothing. A Prediction
  /// supposes those that were there when somebody looked last.
  virtual TrackedFrame pass() = 0;
  /// Forgets everything; ids begin at 1 again.
  virtual void reset() = 0;
};

HET_API std::unique_ptr<Tracker> create_tracker(const TrackerSettings& settings);

}  // namespace het::tracking
