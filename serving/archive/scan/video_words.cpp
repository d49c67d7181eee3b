#include "serving/archive/scan/video_words.h"

#include <fmt/format.h>
#include <glob.h>
#include <gst/gst.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "serving/archive/records/pipeline_words.h"

namespace het::archive {
namespace {

namespace fs = std::filesystem;

bool is_url(const std::string& word) {
  return gst_uri_is_valid(word.c_str());
}

bool is_list(const std::string& word) {
  return word == "-" || word.ends_with(".txt") || word.ends_with(".lst");
}

bool has_wildcards(const std::string& word) {
  return word.find_first_of("*?[") != std::string::npos;
}

class VideoSearch {
 public:
  /// `in_list`: what is missing is found out by whoever reads it.
  Status add(const std::string& word, const std::string& place, bool in_list) {
    if (!g_utf8_validate(word.data(), static_cast<gssize>(word.size()), nullptr)) {
      return error(StatusCode::InvalidArgument, "{}: '{}' is no UTF-8; rename it", place, word);
    }
    if (is_url(word)) return add_url(word, place);
    std::error_code failed;
    if (in_list || fs::exists(word, failed)) {
      if (!has_wildcards(word) || fs::exists(word, failed)) return add_file(word);
    }
    if (has_wildcards(word)) return add_glob(word, place);
    return error(StatusCode::NotFound, "{}: there is no file '{}'", place, word);
  }

  Status add_list(const std::string& list) {
    if (list == "-") return add_lines(std::cin, "standard input");
    errno = 0;
    std::ifstream file(list);
    if (!file) {
      return error(StatusCode::NotFound, "cannot read the list '{}': {}", list,
                   std::strerror(errno));
    }
    return add_lines(file, list);
  }

  std::vector<VideoPlace> take() {
    name_files();
    make_names_unique();
    return std::move(found_);
  }

 private:
  Status add_lines(std::istream& lines, const std::string& list) {
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line[begin] == '#') continue;
      const size_t end = line.find_last_not_of(" \t\r");
      HET_TRY(add(line.substr(begin, end - begin + 1), fmt::format("line {} of {}", number, list),
                  true));
    }
    if (lines.bad()) return error(StatusCode::NotFound, "cannot read all of '{}'", list);
    return {};
  }

  Status add_url(const std::string& url, const std::string& place) {
    if (url.starts_with("file:")) {
      gchar* const path = g_filename_from_uri(url.c_str(), nullptr, nullptr);
      if (!path) {
        return error(StatusCode::InvalidArgument, "{}: '{}' is no URL of a file", place, url);
      }
      const std::string text = path;
      g_free(path);
      return add_file(text);
    }
    if (!seen_.insert(url).second) return {};
    const std::string plain = unsigned_uri(url);
    found_.push_back({plain.substr(plain.find("://") + 3), url, ""});
    return {};
  }

  Status add_file(const std::string& word) {
    std::error_code failed;
    const fs::path path = fs::absolute(word, failed).lexically_normal();
    if (!seen_.insert(path.string()).second) return {};
    gchar* const uri = gst_filename_to_uri(path.c_str(), nullptr);
    found_.push_back({"", uri ? uri : "file://" + path.string(), path.string()});
    g_free(uri);
    return {};
  }

  Status add_glob(const std::string& word, const std::string& place) {
    glob_t matches = {};
    const int failed = ::glob(word.c_str(), 0, nullptr, &matches);
    std::vector<std::string> paths;
    for (size_t i = 0; failed == 0 && i < matches.gl_pathc; ++i) {
      paths.emplace_back(matches.gl_pathv[i]);
    }
    ::globfree(&matches);
    if (paths.empty()) {
      return error(StatusCode::NotFound, "{}: nothing matches '{}'", place, word);
    }
    std::ranges::sort(paths);
    for (const std::string& path : paths) {
      if (!g_utf8_validate(path.data(), static_cast<gssize>(path.size()), nullptr)) {
        return error(StatusCode::InvalidArgument, "{}: '{}', which '{}' matches, is no UTF-8",
                     place, path, word);
      }
      HET_TRY(add_file(path));
    }
    return {};
  }

  void name_files() {
    std::optional<fs::path> common;
    for (const VideoPlace& video : found_) {
      if (video.path.empty()) continue;
      const fs::path folder = fs::path(video.path).parent_path();
      if (!common) common = folder;
      const auto ends = std::mismatch(common->begin(), common->end(), folder.begin(), folder.end());
      fs::path shared;
      for (auto part = common->begin(); part != ends.first; ++part) shared /= *part;
      common = shared;
    }
    for (VideoPlace& video : found_) {
      if (!video.path.empty()) video.name = fs::path(video.path).lexically_relative(*common);
    }
  }

  void make_names_unique() {
    std::set<std::string> names;
    for (VideoPlace& video : found_) {
      std::string name = video.name;
      for (size_t i = 2; !names.insert(name).second; ++i) {
        name = fmt::format("{}#{}", video.name, i);
      }
      video.name = name;
    }
  }

  std::vector<VideoPlace> found_;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::vector<VideoPlace>> find_videos(const std::vector<std::string>& words) {
  VideoSearch search;
  for (const std::string& word : words) {
    if (is_list(word)) {
      HET_TRY(search.add_list(word));
    } else {
      HET_TRY(search.add(word, "videos", false));
    }
  }
  std::vector<VideoPlace> videos = search.take();
  if (videos.empty()) {
    return error(StatusCode::InvalidArgument,
                 "there is no video; give files, globs, URLs or lists (.txt, .lst)");
  }
  return videos;
}

}  // namespace het::archive
