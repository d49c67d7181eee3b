#include "serving/archive/merge/tracked_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

using nlohmann::json;

// The parser tells no places, and writing a line anew may change its numbers. The text below has
// been parsed before, so it is JSON.

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Behind the text that begins at `at`.
size_t string_end(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// Behind the value that begins at `at`.
size_t value_end(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (depth > 0 && (c == '}' || c == ']')) {
      --depth;
      ++at;
    } else if (depth > 0) {
      ++at;
      continue;
    } else {
      while (at < text.size() && !is_space(text[at]) && text[at] != ',' && text[at] != '}' &&
             text[at] != ']') {
        ++at;
      }
      return at;
    }
    if (depth == 0) return at;
  }
  return at;
}

/// Where a value stands.
struct Place {
  size_t begin = 0;
  size_t end = 0;
};

/// The member of the object at `at`; the last one of several, as the parser takes it.
std::optional<Place> member_place(std::string_view text, size_t at, std::string_view quoted_key) {
  std::optional<Place> found;
  at = skip_space(text, at + 1);
  while (at < text.size() && text[at] == '"') {
    const size_t key_end = string_end(text, at);
    const bool is_wanted = text.substr(at, key_end - at) == quoted_key;
    const size_t begin = skip_space(text, skip_space(text, key_end) + 1);
    const size_t end = value_end(text, begin);
    if (is_wanted) found = Place{begin, end};
    at = skip_space(text, end);
    if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
  }
  return found;
}

/// Of each object in the list "objects": where its id stands, if it has one.
std::vector<std::optional<Place>> id_places(std::string_view line) {
  std::vector<std::optional<Place>> places;
  const auto objects = member_place(line, skip_space(line, 0), "\"objects\"");
  if (!objects) return places;
  size_t at = skip_space(line, objects->begin + 1);
  while (at < objects->end && line[at] == '{') {
    places.push_back(member_place(line, at, "\"id\""));
    at = skip_space(line, value_end(line, at));
    if (at < objects->end && line[at] == ',') at = skip_space(line, at + 1);
  }
  return places;
}

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// What the detector said, which is finer than pixels, else the region.
ObjectBox box_of(const json& object) {
  const auto detection = object.find("detection");
  if (detection != object.end() && detection->is_object()) {
    const auto box = detection->find("bounding_box");
    if (box != detection->end() && box->is_object()) {
      return {number(*box, "x_min"), number(*box, "y_min"), number(*box, "x_max"),
              number(*box, "y_max")};
    }
  }
  const double x = number(object, "x");
  const double y = number(object, "y");
  return {x, y, x + number(object, "w"), y + number(object, "h")};
}

std::string label_of(const json& object) {
  const auto type = object.find("roi_type");
  return type != object.end() && type->is_string() ? type->get<std::string>() : "";
}

}  // namespace

double overlap(const ObjectBox& a, const ObjectBox& b) {
  const double width = std::min(a.x_max, b.x_max) - std::max(a.x_min, b.x_min);
  const double height = std::min(a.y_max, b.y_max) - std::max(a.y_min, b.y_min);
  if (!(width > 0) || !(height > 0)) return 0;
  const double common = width * height;
  const double all = (a.x_max - a.x_min) * (a.y_max - a.y_min) +
                     (b.x_max - b.x_min) * (b.y_max - b.y_min) - common;
  return all > 0 ? common / all : 0;
}

Result<TrackedLine> read_tracked_line(std::string_view line, std::string_view place) {
  HET_ASSIGN(const json value, serving::parse_json_object(line, place));
  const auto timestamp = value.find("timestamp");
  if (timestamp == value.end() || !timestamp->is_number_integer()) {
    return error(StatusCode::ParseError,
                 "{} has no whole number 'timestamp'; the pipeline has to write lines of "
                 "heterometaconvert",
                 place);
  }
  TrackedLine read;
  read.timestamp_ns = timestamp->get<int64_t>();
  const auto objects = value.find("objects");
  if (objects == value.end() || !objects->is_array()) return read;
  const std::vector<std::optional<Place>> places = id_places(line);
  if (places.size() != objects->size()) {
    return error(StatusCode::ParseError, "{} has {} objects, of which {} can be found in its text",
                 place, objects->size(), places.size());
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const json& object = (*objects)[i];
    const auto id = object.find("id");
    // An attribute may be called like that, too.
    if (id == object.end() || !id->is_number_integer() || !places[i]) continue;
    read.objects.push_back({id->get<int64_t>(), label_of(object), box_of(object), places[i]->begin,
                            places[i]->end - places[i]->begin});
  }
  return read;
}

std::string with_ids(std::string_view line, const TrackedLine& read,
                     const std::vector<int64_t>& ids) {
  std::string text;
  size_t done = 0;
  for (size_t i = 0; i < read.objects.size(); ++i) {
    const TrackedObject& object = read.objects[i];
    text += line.substr(done, object.id_begin - done);
    text += std::to_string(ids[i]);
    done = object.id_begin + object.id_size;
  }
  text += line.substr(done);
  return text;
}

}  // namespace het::archive
