#include "params_transform.h"

#include <vector>

#include "structure_fields.h"

namespace het::gst {
namespace {

/// False where the params have none.
bool transform_box(GstStructure* params, const PictureChange& change) {
  double x_min = 0.0;
  double y_min = 0.0;
  double x_max = 0.0;
  double y_max = 0.0;
  if (!gst_structure_get(params, "x_min", G_TYPE_DOUBLE, &x_min, "y_min", G_TYPE_DOUBLE, &y_min,
                         "x_max", G_TYPE_DOUBLE, &x_max, "y_max", G_TYPE_DOUBLE, &y_max, nullptr))
    return false;
  change.relative_box(x_min, y_min, x_max, y_max);
  gst_structure_set(params, "x_min", G_TYPE_DOUBLE, x_min, "y_min", G_TYPE_DOUBLE, y_min, "x_max",
                    G_TYPE_DOUBLE, x_max, "y_max", G_TYPE_DOUBLE, y_max, nullptr);
  return true;
}

void transform_detection(GstStructure* params, const PictureChange& change) {
  transform_box(params, change);
  gdouble rotation = 0.0;
  if (change.is_mirrored() && gst_structure_get_double(params, "rotation", &rotation))
    gst_structure_set(params, "rotation", G_TYPE_DOUBLE, -rotation, nullptr);
}

void transform_landmarks(GstStructure* params, const PictureChange& change) {
  std::vector<double> x = read_doubles(params, "x");
  std::vector<double> y = read_doubles(params, "y");
  if (x.size() != y.size()) return;
  for (size_t i = 0; i < x.size(); ++i) change.relative_point(x[i], y[i]);
  set_doubles(params, "x", x);
  set_doubles(params, "y", y);
}

/// Calls `move(x, y)` for each point that was found.
template <class Move>
void change_keypoints(GstStructure* params, Move move) {
  const std::optional<Tensor> values = read_tensor(params);
  if (!values || values->type() != ElementType::Float32 || values->rank() != 2 ||
      values->shape()[1] < 2)
    return;
  const Result<Tensor> moved = values->clone();
  if (!moved) return;
  const std::vector<double> confidences = read_doubles(params, "point_confidences");
  const auto columns = static_cast<size_t>(values->shape()[1]);
  const std::span<float> places = moved->values<float>();
  for (size_t i = 0; i * columns < places.size(); ++i) {
    if (i < confidences.size() && !(confidences[i] > 0.0)) continue;
    double x = static_cast<double>(places[i * columns]);
    double y = static_cast<double>(places[i * columns + 1]);
    move(x, y);
    places[i * columns] = static_cast<float>(x);
    places[i * columns + 1] = static_cast<float>(y);
  }
  set_tensor(params, *moved);
}

bool is_grid(const GstStructure* params) {
  return gst_structure_has_name(params, "segmentation") || gst_structure_has_name(params, "mask");
}

}  // namespace

void transform_params(GList*& params, const PictureChange& change) {
  if (change.keeps_relative_places()) return;
  for (GList* link = params; link != nullptr;) {
    GList* next = link->next;
    auto* structure = static_cast<GstStructure*>(link->data);
    if (is_grid(structure)) {
      if (change.is_upright()) {
        transform_box(structure, change);
      } else {
        gst_structure_free(structure);
        params = g_list_delete_link(params, link);
      }
    } else if (gst_structure_has_name(structure, "detection")) {
      transform_detection(structure, change);
    } else if (gst_structure_has_name(structure, "landmarks")) {
      transform_landmarks(structure, change);
    } else if (gst_structure_has_name(structure, "keypoints") && !change.is_upright()) {
      change_keypoints(structure, [&](double& x, double& y) { change.point_of_rect(x, y); });
    }
    link = next;
  }
}

void move_params(GList* params, const Rect& from, const Rect& to) {
  if (from == to || to.width <= 0 || to.height <= 0) return;
  for (GList* link = params; link != nullptr; link = link->next) {
    auto* structure = static_cast<GstStructure*>(link->data);
    if (!gst_structure_has_name(structure, "keypoints")) continue;
    change_keypoints(structure, [&](double& x, double& y) {
      x = (from.x + x * from.width - to.x) / to.width;
      y = (from.y + y * from.height - to.y) / to.height;
    });
  }
}

}  // namespace het::gst
