#include "inference/decoders/boxes/object_parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"

namespace het {
namespace {

/// Cells that a range of the input picture touches, with the neighbour that sampling needs.
struct CellRange {
  int64_t first = 0;
  int64_t count = 0;
};

CellRange cells_of(float low, float high, float input_size, int64_t cells) {
  const float scale = static_cast<float>(cells) / input_size;
  const auto last_cell = static_cast<float>(cells - 1);
  const auto first =
      static_cast<int64_t>(std::clamp(std::floor(low * scale - 0.5f), 0.0f, last_cell));
  const auto last =
      static_cast<int64_t>(std::clamp(std::ceil(high * scale - 0.5f), 0.0f, last_cell));
  return {first, std::max<int64_t>(last - first + 1, 1)};
}

/// Two neighbours of a range and the weight of the second.
struct Neighbours {
  size_t low = 0;
  size_t high = 0;
  float weight = 0.0f;
};

Neighbours neighbours_of(float position, const CellRange& range) {
  const float inside = std::clamp(position - static_cast<float>(range.first), 0.0f,
                                  static_cast<float>(range.count - 1));
  const float low = std::floor(inside);
  const auto index = static_cast<size_t>(low);
  return {index, std::min(index + 1, static_cast<size_t>(range.count - 1)), inside - low};
}

/// A mask has so many places for each cell of the pictures that it is made of. Those of YOLO have a
/// quarter of the input's sides: each pixel of the input has its place, as in Ultralytics' masks.
constexpr float kSamplesPerCell = 4.0f;

/// Number of samples of a mask along one side of the box.
int64_t samples(float side, float input_size, int64_t cells) {
  const float most = kSamplesPerCell * static_cast<float>(cells);
  return static_cast<int64_t>(std::clamp(std::ceil(side / input_size * most), 1.0f, most));
}

/// Where the `count` samples of a side of the box lie among the cells of a range.
std::vector<Neighbours> sampled(float low, float side, int count, float input_size, int64_t cells,
                                const CellRange& range) {
  std::vector<Neighbours> places;
  places.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const float place = low + (static_cast<float>(i) + 0.5f) / static_cast<float>(count) * side;
    places.push_back(neighbours_of(place * static_cast<float>(cells) / input_size - 0.5f, range));
  }
  return places;
}

}  // namespace

Result<PointRow> point_row(const DecoderConfig& config, int64_t values) {
  const size_t named = config.point_names.size();
  const auto count = static_cast<size_t>(std::max<int64_t>(values, 0));
  for (const size_t each : {size_t{3}, size_t{2}}) {
    if (count == 0 || count % each != 0) continue;
    if (named == 0 || named * each == count) return PointRow{count / each, each};
  }
  return error(StatusCode::ShapeMismatch,
               "converter '{}' finds {} values for points in a row: neither three nor two for each "
               "of {} point_names; give the names of all points, and \"classes\" or labels",
               config.converter, values, named);
}

Landmarks read_points(const float* values, size_t step, const PointRow& row,
                      const PointScheme& scheme, const Candidate& box,
                      const PictureTransform& transform) {
  Landmarks landmarks;
  landmarks.names = scheme.names;
  landmarks.connections = scheme.connections;
  for (size_t p = 0; p < row.points; ++p) {
    const float* point = values + p * row.values * step;
    float x = point[0];
    float y = point[step];
    float confidence = row.values > 2 ? point[2 * step] : 1.0f;
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(confidence)) {
      x = (box.x_min + box.x_max) / 2.0f;
      y = (box.y_min + box.y_max) / 2.0f;
      confidence = 0.0f;
    }
    landmarks.points.push_back(to_source(x, y, transform));
    if (row.values > 2) landmarks.confidences.push_back(confidence);
  }
  return landmarks;
}

Mask mask_of_box(const MaskPictures& pictures, const float* coefficients, size_t step,
                 const Candidate& box, const DecodeContext& context) {
  const float width = box.x_max - box.x_min;
  const float height = box.y_max - box.y_min;
  const bool usable =
      std::isfinite(width) && std::isfinite(height) && width > 0.0f && height > 0.0f;
  if (!usable || pictures.width < 1 || pictures.height < 1) return {};
  const auto input_width = static_cast<float>(context.input_width);
  const auto input_height = static_cast<float>(context.input_height);
  const CellRange columns = cells_of(box.x_min, box.x_max, input_width, pictures.width);
  const CellRange rows = cells_of(box.y_min, box.y_max, input_height, pictures.height);
  // The weighted sum where the box lies; summing before sampling saves most of the work.
  std::vector<float> sum(static_cast<size_t>(columns.count * rows.count), 0.0f);
  for (size_t k = 0; k < pictures.count; ++k) {
    const float coefficient = coefficients[k * step];
    const float* picture =
        pictures.logits + k * static_cast<size_t>(pictures.width * pictures.height);
    for (int64_t y = 0; y < rows.count; ++y) {
      const float* line = picture + (rows.first + y) * pictures.width + columns.first;
      float* target = sum.data() + y * columns.count;
      for (int64_t x = 0; x < columns.count; ++x) target[x] += coefficient * line[x];
    }
  }
  Mask mask;
  mask.width = static_cast<int>(samples(width, input_width, pictures.width));
  mask.height = static_cast<int>(samples(height, input_height, pictures.height));
  mask.values.resize(static_cast<size_t>(mask.width) * static_cast<size_t>(mask.height));
  const std::vector<Neighbours> across =
      sampled(box.x_min, width, mask.width, input_width, pictures.width, columns);
  const std::vector<Neighbours> down =
      sampled(box.y_min, height, mask.height, input_height, pictures.height, rows);
  const auto cells = static_cast<size_t>(columns.count);
  std::vector<float> line(cells);
  float* value = mask.values.data();
  for (const Neighbours& v : down) {
    const float* low = sum.data() + v.low * cells;
    const float* high = sum.data() + v.high * cells;
    for (size_t x = 0; x < cells; ++x) line[x] = low[x] + (high[x] - low[x]) * v.weight;
    for (const Neighbours& h : across) {
      const float share = sigmoid(line[h.low] + (line[h.high] - line[h.low]) * h.weight);
      *value++ = std::isfinite(share) ? share : 0.0f;
    }
  }
  return mask;
}

}  // namespace het
