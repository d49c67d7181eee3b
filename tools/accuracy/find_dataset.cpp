#include "tools/accuracy/find_dataset.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tools/accuracy/class_folders.h"
#include "tools/accuracy/coco_annotations.h"
#include "tools/accuracy/voc_annotations.h"

namespace het {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

std::vector<fs::path> json_files(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code); !code && it != fs::directory_iterator();
       it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".json") && is_file(it->path())) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string names_of(const std::vector<fs::path>& paths) {
  std::string names;
  for (const fs::path& path : paths) {
    names += (names.empty() ? "'" : ", '") + path.string() + "'";
  }
  return names;
}

/// The annotations in a folder; empty where there are none. Of several those of a split called
/// val... are taken.
Result<std::string> annotations_in(const fs::path& folder, const std::string& split) {
  if (!split.empty()) {
    const fs::path file = folder / "annotations" / ("instances_" + split + ".json");
    return is_file(file) ? file.string() : std::string();
  }
  std::vector<fs::path> files = json_files(folder / "annotations", "instances_");
  if (files.empty()) files = json_files(folder, "");
  std::erase_if(files, [](const fs::path& file) { return !is_coco_annotations(file.string()); });
  if (files.empty()) return std::string();
  if (files.size() == 1) return files.front().string();
  std::vector<fs::path> of_val = files;
  std::erase_if(of_val, [](const fs::path& file) {
    return !file.filename().string().starts_with("instances_val");
  });
  if (of_val.size() == 1) return of_val.front().string();
  return error(StatusCode::InvalidArgument,
               "'{}' has several annotations, {}; choose with --annotations FILE or --split NAME",
               folder.string(), names_of(files));
}

/// The folders in which COCO's pictures may lie.
std::vector<fs::path> picture_folders(const fs::path& folder, const std::string& annotations) {
  const std::string stem = fs::path(annotations).stem().string();
  const std::string split =
      stem.starts_with("instances_") ? stem.substr(sizeof("instances_") - 1) : std::string();
  std::vector<fs::path> folders = {folder, folder / "images"};
  if (!split.empty()) {
    folders.insert(folders.end(), {folder / split, folder / "images" / split});
  }
  for (const char* name : {"val2017", "val", "test", "train"}) {
    folders.insert(folders.end(), {folder / name, folder / "images" / name});
  }
  return folders;
}

Status check_all_found(const Dataset& dataset, const std::vector<std::string>& missing,
                       const std::vector<fs::path>& folders) {
  if (missing.empty()) return {};
  return error(StatusCode::NotFound,
               "{} of the {} pictures of '{}' are missing, the first is '{}'; "
               "looked for in {}",
               missing.size(), dataset.pictures.size(), dataset.origin, missing.front(),
               names_of(folders));
}

/// A name in a dataset leads to files of the dataset only.
bool is_inside(const fs::path& name) {
  return name.is_relative() && std::find(name.begin(), name.end(), "..") == name.end();
}

Status locate_coco_pictures(Dataset& dataset, const fs::path& folder) {
  std::vector<fs::path> folders = picture_folders(folder, dataset.origin);
  std::erase_if(folders, [](const fs::path& path) { return !is_folder(path); });
  std::vector<std::string> missing;
  for (LabelledPicture& picture : dataset.pictures) {
    if (!is_inside(picture.file)) {
      return error(StatusCode::ParseError,
                   "{}: file_name '{}' of image {} leads out of the dataset; names are taken from "
                   "the folder of the pictures",
                   dataset.origin, picture.file, picture.id);
    }
    const auto found = std::find_if(folders.begin(), folders.end(), [&](const fs::path& path) {
      return is_file(path / picture.file);
    });
    if (found == folders.end()) {
      missing.push_back(picture.file);
    } else {
      picture.file = (*found / picture.file).string();
    }
  }
  return check_all_found(dataset, missing, folders);
}

Status locate_voc_pictures(Dataset& dataset, const fs::path& folder) {
  const fs::path pictures = folder / "JPEGImages";
  std::vector<std::string> missing;
  for (LabelledPicture& picture : dataset.pictures) {
    // <filename> is often wrong or has no suffix; the name of the file with the truth is right.
    std::vector<std::string> names;
    for (const char* suffix : {".jpg", ".jpeg", ".png", ".JPG", ".bmp"}) {
      names.push_back(picture.id + suffix);
    }
    if (!picture.file.empty() && is_inside(picture.file)) names.push_back(picture.file);
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return is_file(pictures / name);
    });
    if (found == names.end()) {
      missing.push_back(names.front());
    } else {
      picture.file = (pictures / *found).string();
    }
  }
  return check_all_found(dataset, missing, {pictures});
}

Result<Dataset> read_coco(const DatasetPlace& place, const std::string& annotations,
                          const fs::path& folder) {
  HET_ASSIGN(Dataset dataset, read_coco_annotations(annotations));
  if (place.needs_pictures) HET_TRY(locate_coco_pictures(dataset, folder));
  return dataset;
}

}  // namespace

Result<Dataset> find_dataset(const DatasetPlace& place) {
  const fs::path path = place.path;
  if (is_file(path)) {
    if (!place.annotations.empty()) {
      return error(StatusCode::InvalidArgument,
                   "'{}' is a file; with --annotations the dataset is the folder of the pictures",
                   place.path);
    }
    fs::path folder = path.parent_path();
    if (folder.filename() == "annotations") folder = folder.parent_path();
    return read_coco(place, place.path, folder.empty() ? fs::path(".") : folder);
  }
  if (!is_folder(path)) {
    return error(StatusCode::NotFound, "there is no dataset '{}'", place.path);
  }
  if (!place.annotations.empty()) return read_coco(place, place.annotations, path);
  HET_ASSIGN(const std::string annotations, annotations_in(path, place.split));
  if (!annotations.empty()) return read_coco(place, annotations, path);
  if (is_folder(path / "Annotations")) {
    HET_ASSIGN(Dataset dataset, read_voc_annotations(place.path, place.split));
    if (place.needs_pictures) HET_TRY(locate_voc_pictures(dataset, path));
    return dataset;
  }
  std::vector<fs::path> folders = {path / "val", path / "validation", path / "test", path};
  if (!place.split.empty()) folders = {path / place.split};
  for (const fs::path& folder : folders) {
    if (has_class_folders(folder.string())) return read_class_folders(folder.string());
  }
  return error(StatusCode::NotFound,
               "'{0}' is no dataset that is known here. Looked for: COCO's annotations "
               "({0}/annotations/instances_{1}.json{2}, or --annotations FILE), VOC's ({0}/"
               "Annotations/*.xml) and folders of pictures per class ({3}/CLASS/*.jpg)",
               place.path, place.split.empty() ? "*" : place.split,
               place.split.empty() ? ", " + place.path + "/*.json" : std::string(),
               folders.back().string());
}

}  // namespace het
