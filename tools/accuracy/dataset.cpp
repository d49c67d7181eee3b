#include "tools/accuracy/dataset.h"

#include <algorithm>

namespace het {

double overlap(const Box& found, const Box& truth, bool is_crowd) {
  const double width = std::min(found.x + found.width, truth.x + truth.width) -  //
                       std::max(found.x, truth.x);
  const double height =
      std::min(found.y + found.height, truth.y + truth.height) - std::max(found.y, truth.y);
  if (width <= 0.0 || height <= 0.0) return 0.0;
  const double shared = width * height;
  return shared / (is_crowd ? found.area() : found.area() + truth.area() - shared);
}

const char* to_string(DatasetKind kind) {
  switch (kind) {
    case DatasetKind::Coco:
      return "COCO";
    case DatasetKind::Voc:
      return "VOC";
    case DatasetKind::ClassFolders:
      break;
  }
  return "class folders";
}

}  // namespace het
