#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/ops/detection/het_box_overlap.h"

namespace het {

/// The boxes that suppression has kept so far, and whether one of them overlaps another. They lie
/// in columns as wide as the widest box, so that only those near by are asked: classes that are
/// kept apart by an offset, as exporters write them, cost nothing.
class KeptBoxes {
 public:
  /// For boxes among `all`.
  explicit KeptBoxes(std::span<const BoxSides<float>> all);

  void clear();
  size_t size() const { return size_; }
  void add(const BoxSides<float>& box);
  /// True where the intersection over union with a kept box is above the threshold. In float, as
  /// thresholds are; boxes without an area overlap nothing.
  bool overlaps_any(const BoxSides<float>& box, float iou_threshold) const;

 private:
  /// One array per side.
  struct Column {
    std::vector<float> x_min, y_min, x_max, y_max;
  };
  size_t column_of(float x) const;
  static bool overlaps_any(const Column& column, const BoxSides<float>& box, float iou_threshold);

  float left_ = 0;
  float width_ = 0;  ///< of a column; 0 for a single one
  size_t size_ = 0;
  std::vector<Column> columns_;
};

}  // namespace het
