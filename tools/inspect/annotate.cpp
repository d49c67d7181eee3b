#include "tools/inspect/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/base/new_file.h"
#include "tools/inspect/picture_canvas.h"

namespace het {
namespace {

/// Colours that lie far apart for neighbouring ids: a hue in degrees, paled.
Color colour_of(int id) {
  const double hue = static_cast<double>((id * 47 + 15) % 180) / 30.0;
  const auto channel = [&](double offset) {
    const double at = std::fmod(offset + hue, 6.0);
    return 1.0 - 200.0 / 255.0 * std::clamp(std::min(at, 4.0 - at), 0.0, 1.0);
  };
  return {channel(5.0), channel(3.0), channel(1.0)};
}

std::string name_of(const std::string& label, int id, float confidence) {
  return fmt::format("{} {:.2f}", label.empty() ? std::to_string(id) : label, confidence);
}

void draw_points(PictureCanvas& canvas, const Landmarks& landmarks, const Color& colour) {
  for (const auto& [from, to] : landmarks.connections)
    canvas.line(landmarks.points[static_cast<size_t>(from)],
                landmarks.points[static_cast<size_t>(to)], colour);
  for (const Point& point : landmarks.points) canvas.dot(point, colour);
}

void draw_detection(PictureCanvas& canvas, const Detection& d) {
  const Color colour = colour_of(d.label_id);
  const CanvasBox box{d.x_min, d.y_min, d.x_max, d.y_max};
  canvas.box(box, d.rotation, colour);
  if (!d.mask.empty()) {
    canvas.blend(box, d.mask.width, d.mask.height, colour,
                 [&](size_t cell) { return d.mask.values[cell] >= 0.5f; });
  }
  draw_points(canvas, d.landmarks, colour);
  canvas.text(name_of(d.label, d.label_id, d.confidence), {d.x_min, d.y_min}, colour);
}

void draw_segmentation(PictureCanvas& canvas, const Segmentation& map) {
  std::vector<uint16_t> ids = map.class_ids;
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (const uint16_t id : ids) {
    canvas.blend({map.x_min, map.y_min, map.x_max, map.y_max}, map.width, map.height, colour_of(id),
                 [&](size_t cell) { return map.class_ids[cell] == id; });
  }
}

}  // namespace

Status write_annotated_picture(const std::string& path, const Image& picture,
                               const Results& results) {
  HET_ASSIGN(const auto canvas, PictureCanvas::create(picture));
  for (const Segmentation& map : results.segmentations) draw_segmentation(*canvas, map);
  for (const Detection& detection : results.detections) draw_detection(*canvas, detection);
  for (const Keypoints& keypoints : results.keypoints)
    draw_points(*canvas, keypoints.landmarks, colour_of(1));
  int line = 1;
  for (const Classification& c : results.classifications)
    canvas->text(c.attribute + ": " + name_of(c.label, c.label_id, c.confidence),
                 {4.0f, static_cast<float>(30 * line++)}, colour_of(c.label_id));
  HET_ASSIGN(const std::string bytes, canvas->png());
  return write_new_file(path, bytes);
}

}  // namespace het
