#include "region_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "gst/metadata/metadata.h"
#include "inference_settings.h"

namespace het::gst {
namespace {

using nlohmann::json;

constexpr std::streamoff kMaxFileBytes = 64 << 20;

/// Json values of another type count as missing.
double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::quiet_NaN();
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int whole(double value) {
  return static_cast<int>(std::clamp(value, -1.0e9, 1.0e9));
}

/// "w" or "bounding_box.x_min" is not there, or is no number.
Failure missing(const json& object, const std::string& key) {
  const auto found = object.find(key.substr(key.find('.') + 1));
  return error(
      StatusCode::ParseError, "\"{}\" {}", key,
      found == object.end() ? "is missing" : "is " + found->dump() + ", which is no number");
}

Result<ListedRegion> read_region(const json& object) {
  if (!object.is_object()) return error(StatusCode::ParseError, "an object is no JSON object");
  ListedRegion region;
  region.label = text(object, "roi_type");
  const double id = number(object, "id");
  if (id == id) region.object_id = whole(id);
  const auto detection = object.find("detection");
  if (detection != object.end() && detection->is_object()) {
    if (region.label.empty()) region.label = text(*detection, "label");
    const auto box = detection->find("bounding_box");
    if (box != detection->end() && box->is_object()) {
      Detection found;
      found.x_min = static_cast<float>(number(*box, "x_min"));
      found.x_max = static_cast<float>(number(*box, "x_max"));
      found.y_min = static_cast<float>(number(*box, "y_min"));
      found.y_max = static_cast<float>(number(*box, "y_max"));
      for (const char* key : {"x_min", "x_max", "y_min", "y_max"}) {
        if (std::isnan(number(*box, key))) return missing(*box, std::string("bounding_box.") + key);
      }
      if (!(found.x_max > found.x_min) || !(found.y_max > found.y_min))
        return error(StatusCode::ParseError,
                     "bounding_box has x_min {} and x_max {}, y_min {} and y_max {}: the second of "
                     "each has to be larger",
                     found.x_min, found.x_max, found.y_min, found.y_max);
      const double confidence = number(*detection, "confidence");
      found.confidence = confidence == confidence ? static_cast<float>(confidence) : 0.0f;
      const double label_id = number(*detection, "label_id");
      found.label_id = label_id == label_id ? whole(label_id) : 0;
      found.label = region.label;
      region.detection = found;
      return region;
    }
  }
  const double x = number(object, "x");
  const double y = number(object, "y");
  const double w = number(object, "w");
  const double h = number(object, "h");
  if (std::isnan(x) && std::isnan(y) && std::isnan(w) && std::isnan(h))
    return error(StatusCode::ParseError,
                 "an object has neither detection.bounding_box nor x, y, w, h");
  for (const char* key : {"x", "y", "w", "h"}) {
    const double value = number(object, key);
    if (std::isnan(value)) return missing(object, key);
    const bool is_size = *key == 'w' || *key == 'h';
    if (is_size ? value > 0.0 : value >= 0.0) continue;
    return error(StatusCode::ParseError, "\"{}\" is {}, and has to be {}", key, value,
                 is_size ? "more than 0" : "at least 0");
  }
  region.rect = {whole(x), whole(y), whole(w), whole(h)};
  return region;
}

}  // namespace

Result<RegionList> RegionList::read(const std::string& path, bool by_timestamp) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return error(StatusCode::NotFound, "cannot open '{}'", path);
  if (file.tellg() > kMaxFileBytes)
    return error(StatusCode::InvalidArgument, "'{}' is larger than 64 MiB", path);
  file.seekg(0);
  const json content = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!content.is_array())
    return error(StatusCode::ParseError, "'{}' is no JSON array with one entry per frame", path);
  RegionList list;
  for (const json& entry : content) {
    const size_t index = list.frames_.size();
    std::vector<ListedRegion>& regions = list.frames_.emplace_back();
    const auto malformed = [&](std::string_view why) {
      return error(StatusCode::ParseError, "entry {} of '{}': {}", index, path, why);
    };
    if (!entry.is_object()) return malformed("it is no JSON object");
    if (by_timestamp) {
      const auto timestamp = entry.find("timestamp");
      if (timestamp == entry.end() || !timestamp->is_number_unsigned())
        return malformed("it has no timestamp in ns, which mode=timestamp needs");
      list.by_timestamp_.emplace(timestamp->get<uint64_t>(), index);
    }
    const auto objects = entry.find("objects");
    if (objects == entry.end()) continue;
    if (!objects->is_array()) return malformed("\"objects\" is no array");
    for (const json& object : *objects) {
      auto region = read_region(object);
      if (!region) return malformed(region.error().message());
      regions.push_back(std::move(*region));
    }
  }
  return list;
}

const std::vector<ListedRegion>* RegionList::regions_at(uint64_t timestamp_ns) const {
  const auto found = by_timestamp_.find(timestamp_ns);
  return found == by_timestamp_.end() ? nullptr : &frames_[found->second];
}

Result<Rect> parse_region(const std::string& roi) {
  const std::vector<std::string> items = split_list(roi);
  std::vector<int> corners;
  for (const std::string& item : items) {
    int value = -1;
    const auto [end, failure] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (failure == std::errc() && end == item.data() + item.size() && value >= 0)
      corners.push_back(value);
  }
  if (items.size() != 4 || corners.size() != 4 || corners[2] <= corners[0] ||
      corners[3] <= corners[1]) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is not x_top_left,y_top_left,x_bottom_right,y_bottom_right in pixels with "
                 "the second corner right of and below the first",
                 roi);
  }
  return Rect{corners[0], corners[1], corners[2] - corners[0], corners[3] - corners[1]};
}

void attach_regions(GstBuffer* buffer, const GstVideoInfo& info,
                    const std::vector<ListedRegion>& regions) {
  const int width = GST_VIDEO_INFO_WIDTH(&info);
  const int height = GST_VIDEO_INFO_HEIGHT(&info);
  const MetadataForm form = RegionMeta::form_of(buffer).value_or(default_metadata_form());
  auto next = static_cast<int>(RegionMeta::all(buffer).size());
  for (const ListedRegion& region : regions) {
    if (region.detection) {
      Detection detection = *region.detection;
      detection.x_min *= static_cast<float>(width);
      detection.x_max *= static_cast<float>(width);
      detection.y_min *= static_cast<float>(height);
      detection.y_max *= static_cast<float>(height);
      Results results;
      results.detections.push_back(detection);
      if (attach_results(buffer, info, "", form, {{-1, std::move(results)}}) == 0) continue;
    } else {
      const Rect rect = clip(region.rect, width, height);
      if (rect.width <= 0 || rect.height <= 0) continue;
      add_region(buffer, rect, region.label);
    }
    if (region.object_id) set_object_id(buffer, next, *region.object_id);
    ++next;
  }
}

}  // namespace het::gst
