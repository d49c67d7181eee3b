#include "frame_json.h"

#include <nlohmann/json.hpp>

#include "tensor_json.h"

namespace het::gst {
namespace {

using nlohmann::json;

json detection_to_json(const ObjectDetection& detection, const std::string& label) {
  json entry = {{"bounding_box",
                 {{"x_min", shortest(detection.x_min)},
                  {"x_max", shortest(detection.x_max)},
                  {"y_min", shortest(detection.y_min)},
                  {"y_max", shortest(detection.y_max)}}}};
  if (detection.confidence) entry["confidence"] = shortest(*detection.confidence);
  if (detection.label_id) entry["label_id"] = *detection.label_id;
  if (!label.empty()) entry["label"] = label;
  if (detection.rotation != 0.0) entry["rotation"] = shortest(detection.rotation);
  return entry;
}

json attribute_to_json(const ObjectAttribute& attribute) {
  json entry = json::object();
  if (attribute.label) entry["label"] = *attribute.label;
  if (!attribute.model_name.empty()) entry["model"] = {{"name", attribute.model_name}};
  if (attribute.confidence) entry["confidence"] = shortest(*attribute.confidence);
  if (attribute.label_id) entry["label_id"] = *attribute.label_id;
  return entry;
}

json landmarks_to_json(const ObjectLandmarks& landmarks) {
  json points = json::array();
  for (size_t i = 0; i < landmarks.x.size(); ++i) {
    json point = {{"x", shortest(landmarks.x[i])}, {"y", shortest(landmarks.y[i])}};
    if (!landmarks.names.empty()) point["name"] = landmarks.names[i];
    points.push_back(std::move(point));
  }
  return points;
}

/// gvaanalytics' keys, and how long an object has been there.
void add_places(const FrameObject& object, json& entry) {
  for (const ObjectZone& zone : object.zones) {
    entry["zone_violations"].push_back(zone.id);
    if (!zone.enter_ns || !zone.dwell_ns) continue;
    entry["zone_visits"].push_back(
        {{"zone_id", zone.id}, {"enter_time", *zone.enter_ns}, {"dwell", *zone.dwell_ns}});
  }
  for (const ObjectCrossing& crossing : object.crossings) {
    entry["tripwire_crossings"].push_back(
        {{"tripwire_id", crossing.id}, {"direction", crossing.direction}});
  }
}

json counts_to_json(const zones::ZoneCounts& counts) {
  return {{"occupancy", counts.occupancy}, {"visits", counts.visits}};
}

json counts_to_json(const zones::TripwireCounts& counts) {
  return {{"forward", counts.forward}, {"backward", counts.backward}};
}

template <class Shape>
json shape_to_json(const char* id_key, const Shape& shape) {
  json entry = counts_to_json(shape.total());
  entry[id_key] = shape.id;
  entry["classes"] = json::object();
  for (const auto& [label, counts] : shape.counts) entry["classes"][label] = counts_to_json(counts);
  return entry;
}

json object_to_json(const FrameObject& object) {
  json entry = {{"x", object.rect.x},
                {"y", object.rect.y},
                {"w", object.rect.width},
                {"h", object.rect.height}};
  if (!object.type.empty()) entry["roi_type"] = object.type;
  if (object.region_id) entry["region_id"] = *object.region_id;
  if (object.parent_id) entry["parent_id"] = *object.parent_id;
  if (object.object_id) entry["id"] = *object.object_id;
  if (object.detection) entry["detection"] = detection_to_json(*object.detection, object.type);
  if (object.landmarks) entry["landmarks"] = landmarks_to_json(*object.landmarks);
  add_tensor_summaries(object.tensors, entry);
  add_places(object, entry);
  // An attribute that is called like a key above does not replace it.
  for (const ObjectAttribute& attribute : object.attributes) {
    entry.emplace(attribute.name, attribute_to_json(attribute));
  }
  return entry;
}

/// The keys that say where an object is: x, y, w and h.
constexpr size_t kPlaceKeys = 4;

}  // namespace

std::string frame_to_json(const FrameDescription& frame, const std::vector<FrameObject>& objects,
                          int indent) {
  json message = {{"resolution", {{"width", frame.width}, {"height", frame.height}}}};
  if (frame.timestamp_ns) message["timestamp"] = *frame.timestamp_ns;
  if (!frame.source.empty()) message["source"] = frame.source;
  if (!frame.system_timestamp.empty()) message["system_timestamp"] = frame.system_timestamp;
  if (frame.sender_time_ns) {
    message["rtp"] = {{"sender_ntp_unix_timestamp_ns", *frame.sender_time_ns}};
  }
  if (!frame.tags_json.empty()) {
    json tags = json::parse(frame.tags_json, nullptr, /*allow_exceptions=*/false);
    if (!tags.is_discarded()) message["tags"] = std::move(tags);
  }
  for (const ZoneRecord::Zone& zone : frame.zones.zones)
    message["zones"].push_back(shape_to_json("zone_id", zone));
  for (const ZoneRecord::Tripwire& line : frame.zones.tripwires)
    message["tripwires"].push_back(shape_to_json("tripwire_id", line));
  for (const FrameObject& object : objects) {
    json entry = object_to_json(object);
    json tensors = frame.add_tensor_data ? tensors_to_json(object.tensors) : json::array();
    if (!is_whole_picture(object)) {
      if (frame.add_tensor_data) entry["tensors"] = std::move(tensors);
    } else {
      for (json& tensor : tensors) message["tensors"].push_back(std::move(tensor));
      // Nothing but its tensors: they stand at the frame, as gvametaconvert has them.
      if (entry.size() == kPlaceKeys && !object.tensors.tensors.empty()) continue;
    }
    message["objects"].push_back(std::move(entry));
  }
  return message.dump(indent, ' ', false, json::error_handler_t::replace);
}

Status check_json(const std::string& text) {
  if (!json::accept(text)) return error(StatusCode::ParseError, "'{}' is not JSON", text);
  return {};
}

}  // namespace het::gst
