#include "tests/decoders/match_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace het::test {
namespace {

using nlohmann::json;

constexpr float kScore = 0.5f;
constexpr float kSameObjectIou = 0.5f;

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

/// UltraFace objects have a class number, YuNet's none, the others a label.
std::string label_of(const json& object) {
  if (object.contains("label")) return object["label"].get<std::string>();
  return object.value("cls", 1) == 2 ? "mask_face" : "face";
}

std::vector<ReferenceObject> objects_of(const json& result) {
  const json& list = result.is_object() ? result["faces"] : result;
  std::vector<ReferenceObject> objects;
  for (const json& entry : list) {
    const json& box = entry["box"];
    objects.push_back({label_of(entry), entry["score"].get<float>(), box[0].get<float>(),
                       box[1].get<float>(), box[2].get<float>(), box[3].get<float>()});
  }
  return objects;
}

float iou(const ReferenceObject& a, const ReferenceObject& b) {
  const float width = std::min(a.x_max, b.x_max) - std::max(a.x_min, b.x_min);
  const float height = std::min(a.y_max, b.y_max) - std::max(a.y_min, b.y_min);
  if (width <= 0.0f || height <= 0.0f) return 0.0f;
  const float both = width * height;
  return both / ((a.x_max - a.x_min) * (a.y_max - a.y_min) +
                 (b.x_max - b.x_min) * (b.y_max - b.y_min) - both);
}

/// Index of the best overlapping object with the same label, or -1; skips those that are taken.
int best_partner(const ReferenceObject& object, const std::vector<ReferenceObject>& others,
                 const std::vector<bool>& taken, float& best) {
  int index = -1;
  best = 0.0f;
  for (size_t i = 0; i < others.size(); ++i) {
    const float overlap = iou(object, others[i]);
    if (taken[i] || others[i].label != object.label || overlap <= best) continue;
    best = overlap;
    index = static_cast<int>(i);
  }
  return index;
}

std::string describe(const ReferenceObject& object) {
  return fmt::format("{} {:.3f} [{:.1f},{:.1f},{:.1f},{:.1f}]", object.label, object.score,
                     object.x_min, object.y_min, object.x_max, object.y_max);
}

}  // namespace

PictureObjects read_picture_reference(const std::string& path, const std::string& model) {
  PictureObjects pictures;
  const json document = read_json(path);
  const json& results = document.at("results");
  if (!results.contains(model)) return pictures;
  for (const auto& [picture, entry] : results[model].items())
    pictures[picture] = objects_of(entry.at("result"));
  return pictures;
}

VideoObjects read_video_reference(const std::string& path, const std::string& model) {
  VideoObjects videos;
  const json document = read_json(path);
  for (const auto& [video, entry] : document.at("videos").items()) {
    for (const auto& [frame, models] : entry.at("at").items())
      videos[video][std::stoi(frame)] = objects_of(models.at(model));
  }
  return videos;
}

std::map<std::string, IrObjects> read_ir_reference(const std::string& path) {
  // Rows of label id, score and corners.
  const auto read = [](const json& rows) {
    std::vector<ReferenceObject> objects;
    for (const json& row : rows)
      objects.push_back({std::to_string(row.at(0).get<int>()), row.at(1).get<float>(),
                         row.at(2).get<float>(), row.at(3).get<float>(), row.at(4).get<float>(),
                         row.at(5).get<float>()});
    return objects;
  };
  std::map<std::string, IrObjects> models;
  const json document = read_json(path);
  for (const auto& [model, entry] : document.at("models").items()) {
    for (const auto& [picture, rows] : entry.at("images").items())
      models[model].pictures[picture] = read(rows);
    for (const auto& [video, frames] : entry.at("videos").items()) {
      for (const auto& [frame, rows] : frames.at("detections").items())
        models[model].videos[video][std::stoi(frame)] = read(rows);
    }
  }
  return models;
}

std::map<std::string, std::set<int>> read_top_classes(const std::string& path,
                                                      const std::string& model) {
  std::map<std::string, std::set<int>> classes;
  const json document = read_json(path);
  for (const auto& [picture, entry] : document.at("results").at(model).items()) {
    const json& ranking = entry.at("result");  // rows of label, label id, score
    for (const json& row : ranking) {
      if (row.at(2) == ranking.at(0).at(2)) classes[picture].insert(row.at(1).get<int>());
    }
  }
  return classes;
}

MatchCounts& MatchCounts::operator+=(const MatchCounts& other) {
  wanted += other.wanted;
  found += other.found;
  given += other.given;
  extra += other.extra;
  misses.insert(misses.end(), other.misses.begin(), other.misses.end());
  return *this;
}

MatchCounts match_objects(const std::string& where, const std::vector<ReferenceObject>& reference,
                          const std::vector<ReferenceObject>& found, float found_iou) {
  MatchCounts counts;
  std::vector<bool> taken(found.size(), false);
  for (const ReferenceObject& wanted : reference) {
    if (!(wanted.score > kScore)) continue;
    ++counts.wanted;
    float overlap = 0.0f;
    const int partner = best_partner(wanted, found, taken, overlap);
    if (partner >= 0 && overlap >= found_iou) {
      taken[static_cast<size_t>(partner)] = true;
      ++counts.found;
      continue;
    }
    counts.misses.push_back(fmt::format(
        "{}: missing {}, nearest {}", where, describe(wanted),
        partner < 0 ? "none"
                    : fmt::format("{} IoU {:.3f}", describe(found[static_cast<size_t>(partner)]),
                                  overlap)));
  }
  const std::vector<bool> free(reference.size(), false);
  for (const ReferenceObject& object : found) {
    if (!(object.score > kScore)) continue;
    ++counts.given;
    float overlap = 0.0f;
    if (best_partner(object, reference, free, overlap) >= 0 && overlap >= kSameObjectIou) continue;
    ++counts.extra;
    counts.misses.push_back(fmt::format("{}: extra {}", where, describe(object)));
  }
  return counts;
}

}  // namespace het::test
