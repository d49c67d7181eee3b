#include "tools/accuracy/class_folders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace het {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kPictureExtensions = {
    ".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm", ".pgm", ".tif", ".tiff"};

/// What is in a folder, by name; empty where it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code code;
  for (fs::directory_iterator it(folder, code); !code && it != fs::directory_iterator();
       it.increment(code)) {
    entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> pictures = entries_of(folder);
  std::erase_if(pictures, [](const fs::path& path) {
    std::error_code code;
    return !is_picture_name(path.filename().string()) || !fs::is_regular_file(path, code);
  });
  return pictures;
}

}  // namespace

bool is_picture_name(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kPictureExtensions.begin(), kPictureExtensions.end(), extension) !=
         kPictureExtensions.end();
}

bool has_class_folders(const std::string& folder) {
  const std::vector<fs::path> entries = entries_of(folder);
  return std::any_of(entries.begin(), entries.end(), [](const fs::path& path) {
    std::error_code code;
    return fs::is_directory(path, code) && !pictures_in(path).empty();
  });
}

Result<Dataset> read_class_folders(const std::string& folder) {
  Dataset dataset;
  dataset.kind = DatasetKind::ClassFolders;
  dataset.origin = folder;
  for (const fs::path& path : entries_of(folder)) {
    std::error_code code;
    if (!fs::is_directory(path, code)) continue;
    const std::vector<fs::path> pictures = pictures_in(path);
    if (pictures.empty()) {
      return error(StatusCode::NotFound, "class folder '{}' has no picture in it", path.string());
    }
    const std::string name = path.filename().string();
    for (const fs::path& file : pictures) {
      LabelledPicture picture;
      picture.id = name + "/" + file.filename().string();
      picture.file = file.string();
      picture.category = dataset.categories.size();
      dataset.pictures.push_back(std::move(picture));
    }
    dataset.categories.push_back({static_cast<int64_t>(dataset.categories.size()), name});
  }
  if (dataset.pictures.empty()) {
    return error(StatusCode::NotFound, "'{}' has no folders of pictures", folder);
  }
  return dataset;
}

}  // namespace het
