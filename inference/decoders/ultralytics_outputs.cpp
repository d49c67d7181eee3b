#include "inference/decoders/ultralytics_outputs.h"

#include <algorithm>

#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

constexpr int64_t kMostEndToEndRows = 1000;

/// A way to write objects: how wide an object is, how many there are, and where both stand.
struct Form {
  std::string_view converter;
  size_t width_axis = 2;
  int64_t width = kUnknownDim;
  int64_t count = kUnknownDim;
  bool end_to_end = false;
};

/// Larger is likelier; below 0: does not fit.
int likelihood(const Form& form, const Shape& shape, bool end_to_end) {
  const int64_t width = shape[form.width_axis];
  const int64_t count = shape[3 - form.width_axis];
  int score = 0;
  if (width != kUnknownDim && form.width != kUnknownDim) {
    if (width != form.width) return -1;
    score += 4;
  }
  if (count != kUnknownDim && form.count != kUnknownDim) score += count == form.count ? 4 : 0;
  if (form.end_to_end && count != kUnknownDim) score += count <= kMostEndToEndRows ? 2 : 0;
  // Points whose number is not told: an object has fewer values than there are objects.
  if (form.width == kUnknownDim && width != kUnknownDim && count != kUnknownDim)
    score += width < count ? 3 : 0;
  return score + (form.end_to_end == end_to_end ? 1 : 0);
}

}  // namespace

std::string ultralytics_converter(const ModelMetadata& metadata, const std::vector<Port>& inputs,
                                  const std::vector<Port>& outputs,
                                  const std::vector<size_t>& selected) {
  const std::string& task = metadata.task;
  if (task == "classify") return "label";
  if (task == "semantic") return "semantic_segmentation";
  if (task == "depth") return "depth_estimation";
  if (metadata.queries) return "rtdetr_rows";
  const Shape* rows = nullptr;
  int64_t masks = kUnknownDim;
  for (const size_t index : selected) {
    const Shape& shape = outputs[index].desc.shape;
    if (shape.size() == 3 && rows == nullptr) rows = &shape;
    if (shape.size() == 4) masks = shape[1];
  }
  if (rows == nullptr) return "";
  std::string suffix;
  int64_t more = 0;  // values of an object besides box, classes and score
  if (task == "segment") {
    suffix = "_seg";
    more = masks;
  } else if (task == "pose") {
    suffix = "_pose";
    more = metadata.point_values;
  } else if (task == "obb") {
    suffix = "_obb";
    more = 1;
  }
  const auto wide = [more](int64_t values) {
    return more == kUnknownDim ? kUnknownDim : values + more;
  };
  const auto classes = static_cast<int64_t>(metadata.output.labels.size());
  const int64_t cells = cell_count(picture_input_size(inputs));
  const int64_t anchors = cells == kUnknownDim ? kUnknownDim : 3 * cells;
  std::vector<Form> forms{{"yolo_v8", 1, wide(4 + classes), cells, false},
                          {"yolo_v8", 2, wide(4 + classes), cells, false},
                          {"yolo_v26", 2, wide(6), kUnknownDim, true}};
  if (suffix.empty()) forms.push_back({"yolo_v5", 2, 5 + classes, anchors, false});
  const auto score = [&](const Form& form) { return likelihood(form, *rows, metadata.end_to_end); };
  const auto best = std::ranges::max_element(forms, {}, score);
  return score(*best) < 0 ? "" : std::string(best->converter) + suffix;
}

}  // namespace het
