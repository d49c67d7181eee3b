#include "metadata.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analytics_tensors.h"
#include "structure_fields.h"

namespace het::gst {
namespace {

constexpr char kDetection[] = "detection";
constexpr char kLandmarks[] = "landmarks";
constexpr char kClassification[] = "classification";
constexpr char kObjectId[] = "object_id";
constexpr char kZone[] = "zone";
constexpr char kTripwire[] = "tripwire";
constexpr char kAgeFrames[] = "age-frames";

/// Whole pixels covered by a range of the picture: at least one where the range is not empty.
void to_pixels(float low, float high, int limit, int* start, int* count) {
  *start = std::clamp(static_cast<int>(std::lround(low)), 0, limit - 1);
  const int end = std::clamp(static_cast<int>(std::lround(high)), *start + 1, limit);
  *count = end - *start;
}

void add_landmarks(RegionMeta region, const Landmarks& landmarks, float width, float height,
                   std::string_view model_name) {
  if (landmarks.points.empty()) return;
  std::vector<double> x;
  std::vector<double> y;
  for (const Point& point : landmarks.points) {
    x.push_back(point.x / width);
    y.push_back(point.y / height);
  }
  GstStructure* params = gst_structure_new_empty(kLandmarks);
  set_doubles(params, "x", x);
  set_doubles(params, "y", y);
  if (!landmarks.names.empty()) set_texts(params, "names", landmarks.names);
  set_text(params, "model_name", model_name);
  region.add_params(params);
}

/// Joints of a body, and masks: params of the object's region.
void add_parts(RegionMeta region, const Detection& detection, float width, float height,
               std::string_view model_name) {
  if (detection.landmarks.confidences.empty()) {
    add_landmarks(region, detection.landmarks, width, height, model_name);
  } else {
    Results body;
    Keypoints& keypoints = body.keypoints.emplace_back();
    keypoints.landmarks = detection.landmarks;
    keypoints.confidence = detection.confidence;
    add_tensors(region, width, height, model_name, body);
  }
  add_mask(region, width, height, model_name, detection);
}

/// The upright rectangle around a box that is turned about its centre.
Detection upright(const Detection& detection) {
  if (detection.rotation == 0.0f) return detection;
  Detection box = detection;
  const float centre_x = (detection.x_min + detection.x_max) / 2.0f;
  const float centre_y = (detection.y_min + detection.y_max) / 2.0f;
  const float half_width = (detection.x_max - detection.x_min) / 2.0f;
  const float half_height = (detection.y_max - detection.y_min) / 2.0f;
  const float cosine = std::abs(std::cos(detection.rotation));
  const float sine = std::abs(std::sin(detection.rotation));
  const float reach_x = half_width * cosine + half_height * sine;
  const float reach_y = half_width * sine + half_height * cosine;
  box.x_min = centre_x - reach_x;
  box.x_max = centre_x + reach_x;
  box.y_min = centre_y - reach_y;
  box.y_max = centre_y + reach_y;
  return box;
}

/// As its meta holds it: in whole pixels, turned by 0 to 2 pi.
TurnedBox turned_box(const Detection& detection) {
  const auto pixel = [](float place) {
    return static_cast<int>(std::lround(std::clamp(place, -1.0e9f, 1.0e9f)));
  };
  TurnedBox box;
  box.rect.x = pixel(detection.x_min);
  box.rect.y = pixel(detection.y_min);
  box.rect.width = std::max(1, pixel(detection.x_max) - box.rect.x);
  box.rect.height = std::max(1, pixel(detection.y_max) - box.rect.y);
  constexpr float kFullTurn = 2.0f * std::numbers::pi_v<float>;
  box.rotation = std::fmod(detection.rotation, kFullTurn);
  if (box.rotation < 0.0f) box.rotation += kFullTurn;
  return box;
}

/// False when the object has no part inside the picture.
bool add_detection(GstBuffer* buffer, const GstVideoInfo& info, std::string_view model_name,
                   MetadataForm form, const RegionMeta* parent, const Detection& detection) {
  const auto width = static_cast<float>(GST_VIDEO_INFO_WIDTH(&info));
  const auto height = static_cast<float>(GST_VIDEO_INFO_HEIGHT(&info));
  const Detection around = upright(detection);
  float x_min = std::clamp(around.x_min, 0.0f, width);
  float x_max = std::clamp(around.x_max, 0.0f, width);
  float y_min = std::clamp(around.y_min, 0.0f, height);
  float y_max = std::clamp(around.y_max, 0.0f, height);
  if (!(x_max > x_min) || !(y_max > y_min)) return false;  // also NaN

  Rect rect;
  to_pixels(x_min, x_max, GST_VIDEO_INFO_WIDTH(&info), &rect.x, &rect.width);
  to_pixels(y_min, y_max, GST_VIDEO_INFO_HEIGHT(&info), &rect.y, &rect.height);
  const TurnedBox turned = turned_box(detection);
  RegionMeta region = RegionMeta::add(buffer, form, rect, detection.label, detection.confidence,
                                      detection.rotation != 0.0f ? &turned : nullptr);
  region.set_parent(buffer, parent);
  if (detection.rotation != 0.0f) {
    x_min = detection.x_min;
    x_max = detection.x_max;
    y_min = detection.y_min;
    y_max = detection.y_max;
  }
  GstStructure* params =
      gst_structure_new(kDetection, "x_min", G_TYPE_DOUBLE, static_cast<double>(x_min / width),
                        "x_max", G_TYPE_DOUBLE, static_cast<double>(x_max / width), "y_min",
                        G_TYPE_DOUBLE, static_cast<double>(y_min / height), "y_max", G_TYPE_DOUBLE,
                        static_cast<double>(y_max / height), "confidence", G_TYPE_DOUBLE,
                        static_cast<double>(detection.confidence), "label_id", G_TYPE_INT,
                        detection.label_id, nullptr);
  if (detection.rotation != 0.0f)
    gst_structure_set(params, "rotation", G_TYPE_DOUBLE, static_cast<double>(detection.rotation),
                      nullptr);
  if (!detection.label.empty()) set_text(params, "label", detection.label);
  set_text(params, "model_name", model_name);
  region.add_params(params);
  add_parts(region, detection, width, height, model_name);
  return true;
}

void add_classification(RegionMeta region, std::string_view model_name,
                        const Classification& classification) {
  GstStructure* params = gst_structure_new(kClassification, "confidence", G_TYPE_DOUBLE,
                                           static_cast<double>(classification.confidence), nullptr);
  if (classification.label_id != kNoLabelId)
    gst_structure_set(params, "label_id", G_TYPE_INT, classification.label_id, nullptr);
  set_text(params, "attribute_name",
           classification.attribute.empty() ? kClassification : classification.attribute);
  if (!classification.label.empty()) set_text(params, "label", classification.label);
  set_text(params, "model_name", model_name);
  region.add_params(params);
}

std::optional<ObjectDetection> read_detection(const GstStructure* params) {
  ObjectDetection detection;
  if (!gst_structure_get(params, "x_min", G_TYPE_DOUBLE, &detection.x_min, "x_max", G_TYPE_DOUBLE,
                         &detection.x_max, "y_min", G_TYPE_DOUBLE, &detection.y_min, "y_max",
                         G_TYPE_DOUBLE, &detection.y_max, nullptr)) {
    return std::nullopt;
  }
  detection.confidence = number<double>(params, "confidence", G_TYPE_DOUBLE);
  detection.label_id = number<int>(params, "label_id", G_TYPE_INT);
  const double rotation = number<double>(params, "rotation", G_TYPE_DOUBLE).value_or(0.0);
  if (std::isfinite(rotation)) detection.rotation = rotation;
  return detection;
}

std::optional<ObjectLandmarks> read_landmarks(const GstStructure* params) {
  ObjectLandmarks landmarks{read_doubles(params, "x"), read_doubles(params, "y"),
                            read_texts(params, "names")};
  if (landmarks.x.empty() || landmarks.x.size() != landmarks.y.size()) return std::nullopt;
  if (landmarks.names.size() != landmarks.x.size()) landmarks.names.clear();
  return landmarks;
}

/// False where it is neither a zone nor a crossing.
bool read_places(const GstStructure* params, FrameObject& object) {
  if (gst_structure_has_name(params, kZone)) {
    const auto id = text(params, "zone_id");
    if (!id) return false;
    object.zones.push_back({*id, number<guint64>(params, "enter-time", G_TYPE_UINT64),
                            number<guint64>(params, "dwell", G_TYPE_UINT64)});
    return true;
  }
  if (!gst_structure_has_name(params, kTripwire)) return false;
  const auto id = text(params, "tripwire_id");
  if (!id) return false;
  object.crossings.push_back({*id, number<int>(params, "direction", G_TYPE_INT).value_or(0)});
  return true;
}

/// Any other structure with a label or a label id is an attribute; so those of other elements
/// count.
std::optional<ObjectAttribute> read_attribute(const GstStructure* params) {
  ObjectAttribute attribute;
  attribute.name = text(params, "attribute_name").value_or(gst_structure_get_name(params));
  attribute.label = text(params, "label");
  attribute.model_name = text(params, "model_name").value_or("");
  attribute.label_id = number<int>(params, "label_id", G_TYPE_INT);
  attribute.confidence = number<double>(params, "confidence", G_TYPE_DOUBLE);
  if (!attribute.label && !attribute.label_id) return std::nullopt;
  return attribute;
}

/// Marks everything behind the first `earlier` regions.
void mark_age(GstBuffer* buffer, size_t earlier, const ResultAge& age) {
  std::vector<RegionMeta> regions = RegionMeta::all(buffer);
  for (size_t i = earlier; i < regions.size(); ++i) {
    for (const GList* link = regions[i].params(); link; link = link->next) {
      auto* params = static_cast<GstStructure*>(link->data);
      gst_structure_set(params, kAgeFrames, G_TYPE_UINT, age.frames, nullptr);
      if (GST_CLOCK_TIME_IS_VALID(age.time)) {
        gst_structure_set(params, "age", G_TYPE_UINT64, age.time, nullptr);
      }
    }
  }
}

/// What other elements found, as their meta says it: boxes, classes and segmentations.
void read_foreign(const RegionMeta& region, int width, int height, FrameObject& object) {
  const std::optional<float> confidence = region.confidence();
  if (confidence && !object.detection && width > 0 && height > 0) {
    const auto part = [](int position, int size) {
      return static_cast<double>(position) / static_cast<double>(size);
    };
    const std::optional<TurnedBox> turned = region.turned_box();
    const Rect& rect = turned ? turned->rect : object.rect;
    ObjectDetection& detection = object.detection.emplace();
    if (turned) detection.rotation = static_cast<double>(turned->rotation);
    detection.x_min = part(rect.x, width);
    detection.x_max = part(rect.x + rect.width, width);
    detection.y_min = part(rect.y, height);
    detection.y_max = part(rect.y + rect.height, height);
    detection.confidence = *confidence;
  }
  for (RegionClass& found : region.classes()) {
    const auto is_known = [&](const ObjectAttribute& known) { return known.label == found.label; };
    if (std::any_of(object.attributes.begin(), object.attributes.end(), is_known)) continue;
    ObjectAttribute& attribute = object.attributes.emplace_back();
    attribute.name = kClassification;
    attribute.label = std::move(found.label);
    if (found.confidence >= 0.0f) attribute.confidence = found.confidence;
  }
  if (width <= 0 || height <= 0) return;
  for (const RegionSegmentation& found : region.segmentations())
    read_segmentation(found, width, height, object.tensors);
}

FrameObject read_object(const RegionMeta& region, int width, int height) {
  FrameObject object;
  object.rect = region.has_rect() ? region.rect() : Rect{0, 0, width, height};
  object.type = region.type();
  object.object_id = object_id(region);
  for (const GList* link = region.params(); link; link = link->next) {
    const auto* params = static_cast<const GstStructure*>(link->data);
    if (gst_structure_has_name(params, kDetection)) {
      object.detection = read_detection(params);
      object.is_carried = gst_structure_has_field(params, kAgeFrames) != FALSE;
    } else if (gst_structure_has_name(params, kLandmarks)) {
      object.landmarks = read_landmarks(params);
    } else if (read_places(params, object) || read_tensors(params, object.tensors)) {
      continue;
    } else if (auto attribute = read_attribute(params)) {
      object.attributes.push_back(std::move(*attribute));
    }
  }
  read_foreign(region, width, height, object);
  return object;
}

}  // namespace

void add_region(GstBuffer* buffer, const Rect& rect, std::string_view type) {
  const MetadataForm form = RegionMeta::form_of(buffer).value_or(default_metadata_form());
  RegionMeta::add(buffer, form, rect, type, 1.0f);
}

std::optional<int> object_id(const RegionMeta& region) {
  for (const GList* link = region.params(); link; link = link->next) {
    const auto* params = static_cast<const GstStructure*>(link->data);
    if (gst_structure_has_name(params, kObjectId)) return number<int>(params, "id", G_TYPE_INT);
  }
  return region.track_id();
}

void set_object_id(RegionMeta& region, int id) {
  for (const GList* link = region.params(); link; link = link->next) {
    auto* params = static_cast<GstStructure*>(link->data);
    if (!gst_structure_has_name(params, kObjectId)) continue;
    gst_structure_set(params, "id", G_TYPE_INT, id, nullptr);
    region.set_track_id(id);
    return;
  }
  region.add_params(gst_structure_new(kObjectId, "id", G_TYPE_INT, id, nullptr));
}

void set_object_id(GstBuffer* buffer, int index, int id) {
  if (std::optional<RegionMeta> region = RegionMeta::at(buffer, index)) set_object_id(*region, id);
}

std::vector<FrameRegion> frame_regions(GstBuffer* buffer) {
  std::vector<FrameRegion> regions;
  RegionMeta::Cursor cursor;
  for (int index = 0; const auto region = RegionMeta::next(buffer, cursor); ++index) {
    if (!region->has_rect()) continue;
    regions.push_back({index, region->rect(), std::string(region->type()), object_id(*region)});
  }
  return regions;
}

int attach_results(GstBuffer* buffer, const GstVideoInfo& info, std::string_view model_name,
                   MetadataForm form, const std::vector<RegionResults>& found, const ResultAge* age,
                   ObjectClasses* classes) {
  const int width = GST_VIDEO_INFO_WIDTH(&info);
  const int height = GST_VIDEO_INFO_HEIGHT(&info);
  // Before any is added, as indices count those that were there.
  const auto is_of_region = [](const RegionResults& part) { return part.index >= 0; };
  std::vector<RegionMeta> regions;
  if (std::any_of(found.begin(), found.end(), is_of_region)) regions = RegionMeta::all(buffer);
  int added = 0;
  const size_t earlier = age ? RegionMeta::all(buffer).size() : 0;
  for (const RegionResults& part : found) {
    std::optional<RegionMeta> region;
    if (part.index >= 0 && static_cast<size_t>(part.index) < regions.size())
      region = regions[static_cast<size_t>(part.index)];
    const RegionMeta* parent = region ? &*region : nullptr;
    std::optional<RegionMeta> whole;
    const bool of_region = !part.results.classifications.empty() || has_tensors(part.results);
    if (!region && of_region) {
      whole = RegionMeta::add_whole_picture(buffer, form, width, height);
      ++added;
      if (classes) classes->count("");
    }
    if (std::optional<RegionMeta>& target = region ? region : whole) {
      for (const Classification& classification : part.results.classifications)
        add_classification(*target, model_name, classification);
      add_tensors(*target, static_cast<float>(width), static_cast<float>(height), model_name,
                  part.results);
      if (region && form == MetadataForm::Analytics) region->add_tensors(part.tensors);
    }
    if (!region && form == MetadataForm::Analytics && !part.tensors.empty())
      attach_tensor_meta(buffer, part.tensors);
    for (const Detection& detection : part.results.detections) {
      if (!add_detection(buffer, info, model_name, form, parent, detection)) continue;
      ++added;
      if (classes) classes->count(detection.label);
    }
  }
  if (age) mark_age(buffer, earlier, *age);
  return added;
}

bool is_whole_picture(const FrameObject& object) {
  return !object.detection && object.type.empty();
}

std::vector<FrameObject> frame_objects(GstBuffer* buffer, int width, int height) {
  const std::vector<RegionMeta> regions = RegionMeta::all(buffer);
  std::vector<FrameObject> objects;
  for (size_t i = 0; i < regions.size(); ++i) {
    FrameObject& object = objects.emplace_back(read_object(regions[i], width, height));
    object.region_id = regions[i].id();
    if (const auto parent = parent_of(regions, i)) object.parent_id = regions[*parent].id();
  }
  return objects;
}

}  // namespace het::gst
