#include "inference/readers/onnx/external_file.h"

#include <filesystem>
#include <system_error>

namespace het::onnx {
namespace {

namespace fs = std::filesystem;

/// Why a location is refused before any file is touched; empty when it is not.
std::string_view refuse(std::string_view location) {
  if (location.empty()) return "it is empty";
  if (location.find('\0') != std::string_view::npos) return "it contains a zero byte";
  const fs::path path(location);
  if (path.is_absolute()) return "it is absolute";
  for (const fs::path& part : path) {
    if (part == "..") return "it contains '..'";
  }
  return {};
}

bool is_below(const fs::path& path, const fs::path& folder) {
  auto part = path.begin();
  for (const fs::path& wanted : folder) {
    if (part == path.end() || *part != wanted) return false;
    ++part;
  }
  return part != path.end();
}

}  // namespace

ModelFolder folder_of_model(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  ModelFolder found{folder.empty() ? "." : folder, {}};
  std::error_code code;
  if (fs::is_symlink(path, code)) {
    const fs::path file = fs::canonical(path, code);
    if (!code) found.linked = file.parent_path().string();
  }
  return found;
}

Result<std::string> ExternalFiles::find(std::string_view location) const {
  if (folder_.path.empty()) {
    return error(
        StatusCode::NotSupported,
        "external data '{}' cannot be read: the model comes from memory, not from a folder",
        location);
  }
  if (const std::string_view reason = refuse(location); !reason.empty()) {
    return error(StatusCode::ParseError,
                 "external data '{}' is refused: {}; it must name a file in the model's folder",
                 location, reason);
  }
  std::error_code code;
  const fs::path folder = fs::canonical(folder_.path, code);
  const fs::path file = code ? fs::path() : fs::canonical(folder / fs::path(location), code);
  if (code) {
    return error(StatusCode::NotFound, "external data '{}' is missing in folder '{}': {}", location,
                 folder_.path, code.message());
  }
  const bool is_beside = !folder_.linked.empty() && file.parent_path() == folder_.linked;
  if (!is_below(file, folder) && !is_beside) {
    return error(StatusCode::ParseError,
                 "external data '{}' is refused: it is a link to '{}', outside the model's folder "
                 "'{}'",
                 location, file.string(), folder.string());
  }
  return file.string();
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(std::string_view location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  HET_ASSIGN(const std::string file, find(location));
  HET_ASSIGN(auto mapped, MappedFile::open(file));
  files_.emplace(location, mapped);
  total_bytes_ += mapped->bytes().size();
  return mapped;
}

}  // namespace het::onnx
