#include "tools/accuracy/coco_results.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "inference/base/new_file.h"
#include "tools/accuracy/json_file.h"

namespace het {
namespace {

/// The id of a picture, which VOC's may write as a number ("000012" and 12).
Result<std::string> picture_id(const JsonEntry& entry) {
  if (entry["image_id"].is_string()) return entry.text("image_id");
  HET_ASSIGN(const int64_t number, entry.integer("image_id"));
  return std::to_string(number);
}

/// The same without zeros before a number.
std::string short_id(const std::string& id) {
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) return id;
  const size_t first = id.find_first_not_of('0');
  return first == std::string::npos ? "0" : id.substr(first);
}

/// By whole ids, and by short ones where no picture has that as its whole id.
std::map<std::string, size_t> places_by_id(const Dataset& dataset) {
  std::map<std::string, size_t> places;
  for (size_t p = 0; p < dataset.pictures.size(); ++p) places[dataset.pictures[p].id] = p;
  for (size_t p = 0; p < dataset.pictures.size(); ++p) {
    places.emplace(short_id(dataset.pictures[p].id), p);
  }
  return places;
}

}  // namespace

Result<std::vector<Found>> read_coco_results(const std::string& path, const Dataset& dataset,
                                             std::span<const LabelledPicture> unread) {
  HET_ASSIGN(const nlohmann::json document, read_json_file(path));
  if (!document.is_array()) {
    return error(StatusCode::ParseError,
                 "{}: COCO's results are a list of {{image_id, category_id, bbox, score}}", path);
  }
  const std::map<std::string, size_t> pictures = places_by_id(dataset);
  std::set<std::string> passed_over;
  for (const LabelledPicture& picture : unread) passed_over.insert(short_id(picture.id));
  std::map<int64_t, size_t> categories;
  for (size_t c = 0; c < dataset.categories.size(); ++c) categories[dataset.categories[c].id] = c;

  std::vector<Found> found(dataset.pictures.size());
  for (size_t i = 0; i < document.size(); ++i) {
    HET_ASSIGN(const JsonEntry entry, JsonEntry::at(document, path, "", i));
    HET_ASSIGN(const std::string id, picture_id(entry));
    HET_ASSIGN(const int64_t category_id, entry.integer("category_id"));
    HET_ASSIGN(const std::vector<double> box, entry.box("bbox"));
    FoundBox result;
    HET_ASSIGN(result.score, entry.number("score"));
    const auto category = categories.find(category_id);
    if (category == categories.end()) {
      return entry.fail("category_id",
                        fmt::format("{} is no category of {}", category_id, dataset.origin));
    }
    result.box = {box[0], box[1], box[2], box[3]};
    result.category = category->second;
    auto picture = pictures.find(id);
    if (picture == pictures.end()) picture = pictures.find(short_id(id));
    if (picture != pictures.end()) {
      found[picture->second].boxes.push_back(result);
    } else if (!passed_over.contains(short_id(id))) {
      return entry.fail("image_id", fmt::format("{} is no picture of {}", id, dataset.origin));
    }
  }
  return found;
}

Status write_coco_results(const std::string& path, const Dataset& dataset,
                          std::span<const Found> found) {
  HET_ASSIGN(NewFile file, NewFile::create(path));
  file.stream() << "[";
  const char* separator = "\n";
  for (size_t p = 0; p < found.size(); ++p) {
    const LabelledPicture& picture = dataset.pictures[p];
    for (const FoundBox& box : found[p].boxes) {
      const nlohmann::json entry = {
          {"image_id", dataset.kind == DatasetKind::Coco ? nlohmann::json(picture.number)
                                                         : nlohmann::json(picture.id)},
          {"category_id", dataset.categories[box.category].id},
          {"bbox", {box.box.x, box.box.y, box.box.width, box.box.height}},
          {"score", box.score}};
      file.stream() << separator << entry.dump();
      separator = ",\n";
    }
  }
  file.stream() << "\n]\n";
  return file.keep();
}

}  // namespace het
