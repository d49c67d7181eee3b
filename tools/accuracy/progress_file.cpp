#include "tools/accuracy/progress_file.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "inference/base/new_file.h"

namespace het {
namespace {

constexpr const char* kMark = "hetero accuracy";

nlohmann::json results_line(const Found& found) {
  nlohmann::json boxes = nlohmann::json::array();
  for (const FoundBox& box : found.boxes) {
    boxes.push_back({box.category, box.box.x, box.box.y, box.box.width, box.box.height, box.score});
  }
  return {{"boxes", std::move(boxes)}, {"ranking", found.ranking}};
}

/// Throws where the line is none of ours.
Found read_found(const nlohmann::json& line, size_t categories) {
  Found found;
  for (const nlohmann::json& numbers : line.at("boxes")) {
    FoundBox box;
    box.category = numbers.at(0).get<size_t>();
    if (box.category >= categories) throw std::out_of_range("a category that is not there");
    box.box = {numbers.at(1).get<double>(), numbers.at(2).get<double>(),
               numbers.at(3).get<double>(), numbers.at(4).get<double>()};
    box.score = numbers.at(5).get<double>();
    found.boxes.push_back(box);
  }
  found.ranking = line.at("ranking").get<std::vector<int>>();
  return found;
}

class Fnv {
 public:
  void add(std::string_view bytes) {
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 1099511628211u;
  }
  std::string digits() const { return fmt::format("{:016x}", hash_); }

 private:
  uint64_t hash_ = 14695981039346656037u;
};

bool add_file(Fnv& hash, const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return false;
  std::string block(size_t{1} << 20, '\0');
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())),
         stream.gcount() > 0) {
    hash.add(std::string_view(block).substr(0, static_cast<size_t>(stream.gcount())));
  }
  return true;
}

}  // namespace

std::string content_hash(std::string_view content) {
  Fnv hash;
  hash.add(content);
  return hash.digits();
}

std::string file_hash(const std::string& path) {
  Fnv hash;
  if (path.empty() || !add_file(hash, path)) return "none";
  add_file(hash, std::filesystem::path(path).replace_extension(".bin").string());
  for (const char* suffix : {".data", "_data"}) add_file(hash, path + suffix);
  return hash.digits();
}

Status ProgressFile::load(const Dataset& dataset, PictureResults& results) const {
  std::error_code code;
  if (!is_kept() || !std::filesystem::exists(path_, code)) return {};
  std::ifstream stream(path_, std::ios::binary);
  std::map<std::string, size_t> pictures;
  for (size_t p = 0; p < dataset.pictures.size(); ++p) pictures[dataset.pictures[p].id] = p;
  std::string text;
  size_t number = 0;
  try {
    while (std::getline(stream, text)) {
      const nlohmann::json line = nlohmann::json::parse(text);
      if (++number == 1) {
        if (line.at("state_of") != kMark) throw std::out_of_range("its first line is another's");
        const auto saved = line.at("run").get<RunIdentity>();
        for (const auto& [name, value] : identity_) {
          const auto found = saved.find(name);
          if (found != saved.end() && found->second == value) continue;
          return error(StatusCode::InvalidArgument,
                       "state '{}' is of another run: {} is {} now and was {} then; remove the "
                       "file, or give another --state",
                       path_, name, value, found == saved.end() ? "absent" : found->second);
        }
        continue;
      }
      const auto column = line.at("column").get<size_t>();
      const auto picture = pictures.find(line.at("picture").get<std::string>());
      if (picture == pictures.end()) continue;  // beyond --limit
      results.at(column)[picture->second] = read_found(line, dataset.categories.size());
    }
    if (number == 0) throw std::out_of_range("it is empty");
  } catch (const std::exception& exception) {
    return error(StatusCode::ParseError,
                 "'{}' is no state of an accuracy run (line {}: {}); remove it, or give another "
                 "--state",
                 path_, number + 1, exception.what());
  }
  return {};
}

Status ProgressFile::save(const Dataset& dataset, const PictureResults& results) const {
  if (!is_kept()) return {};
  HET_ASSIGN(NewFile file, NewFile::create(path_));
  file.stream() << nlohmann::json({{"state_of", kMark}, {"run", identity_}}).dump() << '\n';
  for (size_t column = 0; column < results.size(); ++column) {
    for (size_t p = 0; p < results[column].size(); ++p) {
      if (!results[column][p]) continue;
      nlohmann::json line = results_line(*results[column][p]);
      line["column"] = column;
      line["picture"] = dataset.pictures[p].id;
      file.stream() << line.dump() << '\n';
    }
  }
  return file.keep();
}

void ProgressFile::remove() const {
  std::error_code code;
  if (is_kept()) std::filesystem::remove(path_, code);
}

}  // namespace het
