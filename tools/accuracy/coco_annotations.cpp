#include "tools/accuracy/coco_annotations.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/accuracy/json_file.h"

namespace het {
namespace {

/// Places in a list by id.
using PlacesById = std::map<int64_t, size_t>;

template <class T, class Id>
PlacesById sort_by_id(std::vector<T>& items, Id id) {
  std::sort(items.begin(), items.end(), [id](const T& a, const T& b) { return a.*id < b.*id; });
  PlacesById places;
  for (size_t i = 0; i < items.size(); ++i) places[items[i].*id] = i;
  return places;
}

Result<std::vector<Category>> read_categories(const nlohmann::json& document,
                                              const std::string& path) {
  HET_ASSIGN(const nlohmann::json* list, json_list(document, path, "categories"));
  std::vector<Category> categories;
  for (size_t i = 0; i < list->size(); ++i) {
    HET_ASSIGN(const JsonEntry entry, JsonEntry::at(*list, path, "categories", i));
    Category category;
    HET_ASSIGN(category.id, entry.integer("id"));
    HET_ASSIGN(category.name, entry.text("name"));
    categories.push_back(std::move(category));
  }
  if (categories.empty()) return error(StatusCode::ParseError, "{}: categories is empty", path);
  return categories;
}

Result<int> read_size(const JsonEntry& entry, const char* key) {
  if (!entry.has(key)) return 0;
  HET_ASSIGN(const int64_t size, entry.integer(key));
  if (size < 1 || size > 1'000'000) {
    return entry.fail(key, fmt::format("{} is no size of a picture", size));
  }
  return static_cast<int>(size);
}

Result<std::vector<LabelledPicture>> read_images(const nlohmann::json& document,
                                                 const std::string& path) {
  HET_ASSIGN(const nlohmann::json* list, json_list(document, path, "images"));
  std::vector<LabelledPicture> pictures;
  for (size_t i = 0; i < list->size(); ++i) {
    HET_ASSIGN(const JsonEntry entry, JsonEntry::at(*list, path, "images", i));
    LabelledPicture picture;
    HET_ASSIGN(picture.number, entry.integer("id"));
    picture.id = std::to_string(picture.number);
    HET_ASSIGN(picture.file, entry.text("file_name"));
    HET_ASSIGN(picture.width, read_size(entry, "width"));
    HET_ASSIGN(picture.height, read_size(entry, "height"));
    pictures.push_back(std::move(picture));
  }
  if (pictures.empty()) return error(StatusCode::ParseError, "{}: images is empty", path);
  return pictures;
}

Result<bool> read_crowd(const JsonEntry& entry) {
  if (!entry.has("iscrowd")) return false;
  if (entry["iscrowd"].is_boolean()) return entry["iscrowd"].get<bool>();
  HET_ASSIGN(const int64_t value, entry.integer("iscrowd"));
  if (value != 0 && value != 1) return entry.fail("iscrowd", fmt::format("0 or 1, not {}", value));
  return value == 1;
}

Status read_objects(const nlohmann::json& document, const std::string& path,
                    const PlacesById& pictures, const PlacesById& categories, Dataset& dataset) {
  HET_ASSIGN(const nlohmann::json* list, json_list(document, path, "annotations"));
  for (size_t i = 0; i < list->size(); ++i) {
    HET_ASSIGN(const JsonEntry entry, JsonEntry::at(*list, path, "annotations", i));
    HET_ASSIGN(const int64_t image_id, entry.integer("image_id"));
    HET_ASSIGN(const int64_t category_id, entry.integer("category_id"));
    const auto picture = pictures.find(image_id);
    if (picture == pictures.end()) {
      return entry.fail("image_id", fmt::format("{} is no id of images", image_id));
    }
    const auto category = categories.find(category_id);
    if (category == categories.end()) {
      return entry.fail("category_id", fmt::format("{} is no id of categories", category_id));
    }
    HET_ASSIGN(const std::vector<double> box, entry.box("bbox"));
    TruthBox truth;
    truth.box = {box[0], box[1], box[2], box[3]};
    truth.area = truth.box.area();
    if (entry.has("area")) {
      HET_ASSIGN(truth.area, entry.number("area"));
    }
    truth.category = category->second;
    HET_ASSIGN(truth.is_crowd, read_crowd(entry));
    dataset.pictures[picture->second].truth.push_back(truth);
  }
  return {};
}

}  // namespace

Result<Dataset> read_coco_annotations(const std::string& path) {
  HET_ASSIGN(const nlohmann::json document, read_json_file(path));
  Dataset dataset;
  dataset.kind = DatasetKind::Coco;
  dataset.origin = path;
  HET_ASSIGN(dataset.categories, read_categories(document, path));
  HET_ASSIGN(dataset.pictures, read_images(document, path));
  const PlacesById categories = sort_by_id(dataset.categories, &Category::id);
  const PlacesById pictures = sort_by_id(dataset.pictures, &LabelledPicture::number);
  for (size_t i = 1; i < dataset.categories.size(); ++i) {
    if (dataset.categories[i - 1].id != dataset.categories[i].id) continue;
    return error(StatusCode::ParseError, "{}: categories: id {} is there twice", path,
                 dataset.categories[i].id);
  }
  for (size_t i = 1; i < dataset.pictures.size(); ++i) {
    if (dataset.pictures[i - 1].number != dataset.pictures[i].number) continue;
    return error(StatusCode::ParseError, "{}: images: id {} is there twice, of '{}' and '{}'", path,
                 dataset.pictures[i].id, dataset.pictures[i - 1].file, dataset.pictures[i].file);
  }
  HET_TRY(read_objects(document, path, pictures, categories, dataset));
  return dataset;
}

bool is_coco_annotations(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  // The lists stand in any order; what tells them from results and from anything else is near.
  std::string text(size_t{64} << 20, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' &&
         text.find("\"images\"") != std::string::npos;
}

}  // namespace het
