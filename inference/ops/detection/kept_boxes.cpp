#include "inference/ops/detection/kept_boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace het {
namespace {

/// More columns than boxes of a picture need; they cost memory, too.
constexpr size_t kMostColumns = 1024;

}  // namespace

KeptBoxes::KeptBoxes(std::span<const BoxSides<float>> all) : columns_(1) {
  float right = -std::numeric_limits<float>::infinity();
  left_ = std::numeric_limits<float>::infinity();
  for (const BoxSides<float>& box : all) {
    const float width = box.x_max - box.x_min;
    // Boxes without a number or an end lie in no column.
    if (!std::isfinite(width)) {
      width_ = 0;
      return;
    }
    // They may be turned inside out.
    left_ = std::min({left_, box.x_min, box.x_max});
    right = std::max({right, box.x_min, box.x_max});
    width_ = std::max(width_, width);
  }
  const float columns = (right - left_) / width_;
  if (!(columns > 1.0f) || !std::isfinite(columns)) {
    width_ = 0;
    return;
  }
  const auto most = static_cast<float>(kMostColumns - 1);
  if (columns > most) width_ = (right - left_) / most;
  columns_.resize(column_of(right) + 1);
}

size_t KeptBoxes::column_of(float x) const {
  const float column = (x - left_) / width_;
  if (!(width_ > 0) || !(column > 0)) return 0;
  return std::min(static_cast<size_t>(std::min(column, static_cast<float>(kMostColumns))),
                  kMostColumns - 1);
}

void KeptBoxes::clear() {
  size_ = 0;
  for (Column& column : columns_) {
    for (auto* sides : {&column.x_min, &column.y_min, &column.x_max, &column.y_max}) sides->clear();
  }
}

void KeptBoxes::add(const BoxSides<float>& box) {
  Column& column = columns_[column_of(box.x_min)];
  column.x_min.push_back(box.x_min);
  column.y_min.push_back(box.y_min);
  column.x_max.push_back(box.x_max);
  column.y_max.push_back(box.y_max);
  ++size_;
}

bool KeptBoxes::overlaps_any(const BoxSides<float>& box, float iou_threshold) const {
  // Boxes that reach into this one begin less than a column before it; one more for rounding.
  const size_t from = column_of(box.x_min - width_);
  const size_t last = std::min(column_of(box.x_max), columns_.size() - 1);
  for (size_t i = from > 0 ? from - 1 : 0; i <= last; ++i) {
    if (overlaps_any(columns_[i], box, iou_threshold)) return true;
  }
  return false;
}

bool KeptBoxes::overlaps_any(const Column& column, const BoxSides<float>& box,
                             float iou_threshold) {
  constexpr size_t kAtOnce = 64;
  const float area = (box.x_max - box.x_min) * (box.y_max - box.y_min);
  for (size_t first = 0; first < column.x_min.size(); first += kAtOnce) {
    const size_t end = std::min(first + kAtOnce, column.x_min.size());
    // Without branches, for vectors of boxes.
    int any = 0;
    for (size_t i = first; i < end; ++i) {
      const float width =
          std::min(box.x_max, column.x_max[i]) - std::max(box.x_min, column.x_min[i]);
      const float height =
          std::min(box.y_max, column.y_max[i]) - std::max(box.y_min, column.y_min[i]);
      const float other = (column.x_max[i] - column.x_min[i]) * (column.y_max[i] - column.y_min[i]);
      const float intersection = width * height;
      const float both = area + other - intersection;
      any |= static_cast<int>(width > 0) & static_cast<int>(height > 0) &
             static_cast<int>(area > 0) & static_cast<int>(other > 0) & static_cast<int>(both > 0) &
             static_cast<int>(intersection / both > iou_threshold);
    }
    if (any != 0) return true;
  }
  return false;
}

}  // namespace het
