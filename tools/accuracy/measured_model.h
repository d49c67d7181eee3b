#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "inference/vision_model.h"
#include "tools/accuracy/dataset.h"
#include "tools/accuracy/label_mapping.h"

namespace het {

/// A model whose accuracy is measured.
struct MeasuredModelSettings {
  VisionModelSettings model;
  LabelRule label_rule = LabelRule::Automatic;
  double threshold = 0.001;      ///< least score of a detection
  size_t most_detections = 100;  ///< of a category in a picture
};

/// A model with what the dataset calls its labels. Thread-bound.
class MeasuredModel {
 public:
  static Result<MeasuredModel> load(Core& core, const MeasuredModelSettings& settings,
                                    const Dataset& dataset);

  const LabelMapping& mapping() const { return mapping_; }
  /// Type of the arithmetic, as the device tells it; may be empty.
  const std::string& precision() const { return precision_; }

  /// Runs on the pictures of the dataset whose entry in `found` is empty, several at a time, and
  /// fills it. Boxes are clipped to the picture. `ended` is called after each picture; false ends
  /// the run early. The error names the picture.
  Status run(const Dataset& dataset, std::vector<std::optional<Found>>& found,
             const std::function<bool()>& ended);

  /// Pictures whose size is not the one that the dataset says, which its boxes are for.
  size_t resized_count() const { return resized_count_; }
  const std::string& first_resized() const { return first_resized_; }

 private:
  struct Slot;

  MeasuredModel(std::shared_ptr<VisionModel> model, LabelMapping mapping)
      : model_(std::move(model)), mapping_(std::move(mapping)) {}

  Status start(const Dataset& dataset, Slot& slot);
  Status collect(const Dataset& dataset, Slot& slot, std::vector<std::optional<Found>>& found);
  Result<Found> read_boxes(const Slot& slot, size_t item) const;
  Result<Found> read_ranking(const Slot& slot, size_t item) const;
  void check_size(const LabelledPicture& picture, const Image& image);

  std::shared_ptr<VisionModel> model_;
  LabelMapping mapping_;
  std::string precision_;
  double threshold_ = 0.0;
  size_t most_detections_ = 0;
  size_t resized_count_ = 0;
  std::string first_resized_;
};

}  // namespace het
