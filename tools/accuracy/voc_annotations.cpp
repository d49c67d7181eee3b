#include "tools/accuracy/voc_annotations.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>

namespace het {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostXmlBytes = uintmax_t{16} << 20;

Result<double> xml_number(const pugi::xml_node& parent, const char* name, const std::string& file) {
  const std::string text = parent.child_value(name);
  const char* const first = text.c_str() + std::min(text.find_first_not_of(" \t\r\n"), text.size());
  char* end = nullptr;
  const double value = std::strtod(first, &end);
  const bool is_number =
      end != first && std::string(end).find_first_not_of(" \t\r\n") == std::string::npos;
  if (is_number && std::abs(value) <= 1e9) return value;
  return error(StatusCode::ParseError, "{}: {}/{}: a number is wanted, not '{}'", file,
               parent.name(), name, text);
}

/// An object with the name of its category, whose place is not known yet.
struct NamedObject {
  std::string name;
  TruthBox truth;
};

Result<NamedObject> read_object(const pugi::xml_node& node, const std::string& file) {
  NamedObject object;
  object.name = node.child_value("name");
  if (object.name.empty()) {
    return error(StatusCode::ParseError, "{}: object/name is missing", file);
  }
  const pugi::xml_node corners = node.child("bndbox");
  if (!corners) {
    return error(StatusCode::ParseError, "{}: object/bndbox of '{}' is missing", file, object.name);
  }
  double values[4];
  const char* const names[4] = {"xmin", "ymin", "xmax", "ymax"};
  for (int i = 0; i < 4; ++i) {
    HET_ASSIGN(values[i], xml_number(corners, names[i], file));
  }
  if (values[2] < values[0] || values[3] < values[1]) {
    return error(StatusCode::ParseError, "{}: object/bndbox of '{}' is ({}, {}) - ({}, {})", file,
                 object.name, values[0], values[1], values[2], values[3]);
  }
  object.truth.box = {values[0] - 1.0, values[1] - 1.0, values[2] - values[0] + 1.0,
                      values[3] - values[1] + 1.0};
  object.truth.area = object.truth.box.area();
  const std::string difficult = node.child_value("difficult");
  object.truth.is_ignored = difficult == "1";
  return object;
}

/// One file of Annotations.
struct AnnotatedPicture {
  LabelledPicture picture;
  std::vector<NamedObject> objects;
};

Result<AnnotatedPicture> read_xml(const fs::path& path) {
  const std::string file = path.string();
  std::error_code code;
  if (fs::file_size(path, code) > kMostXmlBytes || code) {
    return error(StatusCode::ParseError, "cannot read '{}', or it has more than {} bytes", file,
                 kMostXmlBytes);
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_file(path.c_str());
  if (!parsed) {
    return error(StatusCode::ParseError, "{}: no XML at byte {}: {}", file, parsed.offset,
                 parsed.description());
  }
  const pugi::xml_node root = document.child("annotation");
  if (!root) return error(StatusCode::ParseError, "{}: there is no <annotation>", file);
  AnnotatedPicture annotated;
  annotated.picture.id = path.stem().string();
  annotated.picture.file = root.child_value("filename");
  for (const auto& [name, member] : {std::pair("width", &LabelledPicture::width),
                                     std::pair("height", &LabelledPicture::height)}) {
    if (!root.child("size")) continue;
    HET_ASSIGN(const double size, xml_number(root.child("size"), name, file));
    if (size < 1 || size > 1e6) {
      return error(StatusCode::ParseError, "{}: size/{}: {} is no size of a picture", file, name,
                   size);
    }
    annotated.picture.*member = static_cast<int>(size);
  }
  for (const pugi::xml_node& node : root.children("object")) {
    HET_ASSIGN(NamedObject object, read_object(node, file));
    annotated.objects.push_back(std::move(object));
  }
  return annotated;
}

/// The names in a list of ImageSets/Main, which may have a second column.
Result<std::vector<std::string>> read_image_set(const fs::path& path) {
  std::ifstream stream(path);
  if (!stream) return error(StatusCode::NotFound, "cannot open '{}'", path.string());
  std::vector<std::string> names;
  std::set<std::string> seen;
  std::string line;
  while (std::getline(stream, line)) {
    std::string name;
    if (!(std::istringstream(line) >> name)) continue;
    if (!seen.insert(name).second) {
      return error(StatusCode::ParseError, "{}: '{}' is there twice", path.string(), name);
    }
    names.push_back(name);
  }
  return names;
}

Result<std::vector<std::string>> chosen_names(const fs::path& folder, const std::string& split,
                                              const std::vector<std::string>& all) {
  const fs::path sets = folder / "ImageSets" / "Main";
  if (!split.empty()) return read_image_set(sets / (split + ".txt"));
  for (const char* name : {"val.txt", "test.txt"}) {
    std::error_code code;
    if (fs::exists(sets / name, code)) return read_image_set(sets / name);
  }
  return all;
}

}  // namespace

Result<Dataset> read_voc_annotations(const std::string& folder, const std::string& split) {
  const fs::path annotations = fs::path(folder) / "Annotations";
  std::vector<std::string> all;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(annotations, code)) {
    if (entry.path().extension() == ".xml") all.push_back(entry.path().stem().string());
  }
  std::sort(all.begin(), all.end());
  HET_ASSIGN(const std::vector<std::string> chosen, chosen_names(folder, split, all));
  std::map<std::string, AnnotatedPicture> by_name;
  std::map<std::string, size_t> categories;
  for (const std::string& name : all) {
    HET_ASSIGN(AnnotatedPicture annotated, read_xml(annotations / (name + ".xml")));
    for (const NamedObject& object : annotated.objects) categories[object.name] = 0;
    by_name[name] = std::move(annotated);
  }
  Dataset dataset;
  dataset.kind = DatasetKind::Voc;
  dataset.origin = annotations.string();
  for (auto& [name, place] : categories) {
    place = dataset.categories.size();
    dataset.categories.push_back({static_cast<int64_t>(place) + 1, name});
  }
  for (const std::string& name : chosen) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      return error(StatusCode::NotFound, "the image set has '{}', and there is no '{}'", name,
                   (annotations / (name + ".xml")).string());
    }
    LabelledPicture picture = found->second.picture;
    for (NamedObject& object : found->second.objects) {
      object.truth.category = categories[object.name];
      picture.truth.push_back(object.truth);
    }
    dataset.pictures.push_back(std::move(picture));
  }
  if (dataset.pictures.empty() || categories.empty()) {
    return error(StatusCode::ParseError, "'{}' has {} pictures with {} categories",
                 annotations.string(), dataset.pictures.size(), categories.size());
  }
  return dataset;
}

}  // namespace het
