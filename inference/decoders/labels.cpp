#include "inference/decoders/labels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "inference/decoders/model_proc.h"

namespace het {

namespace fs = std::filesystem;

Result<std::string> read_text_file(const std::string& path, size_t limit_bytes,
                                   std::string_view what) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status))
    return error(StatusCode::NotFound, "cannot read {} '{}': no such file", what, path);
  if (!fs::is_regular_file(status))
    return error(StatusCode::InvalidArgument, "cannot read {} '{}': it is not a regular file", what,
                 path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(StatusCode::NotFound, "cannot open {} '{}'", what, path);
  // One byte more than allowed tells a file that is too big, whatever its size claims to be.
  std::string text(limit_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return error(StatusCode::NotFound, "cannot read {} '{}'", what, path);
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > limit_bytes)
    return error(StatusCode::OutOfMemory, "{} '{}' has more than the allowed {} bytes", what, path,
                 limit_bytes);
  return text;
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<uint8_t>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    const auto second = static_cast<uint8_t>(text[i + 1]);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
      return false;
    i += length;
  }
  return true;
}

Result<std::vector<std::string>> parse_labels(std::string_view text, std::string_view origin) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> labels;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (labels.size() >= kMaxLabels)
      return error(StatusCode::OutOfMemory, "labels file '{}' has more than the allowed {} labels",
                   origin, kMaxLabels);
    if (!is_utf8(line) || line.find('\0') != std::string_view::npos)
      return error(StatusCode::ParseError,
                   "labels file '{}': line {} is not UTF-8 text; one label per line is expected",
                   origin, labels.size() + 1);
    labels.emplace_back(line);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty())
    return error(StatusCode::ParseError, "labels file '{}' has no labels", origin);
  return labels;
}

Result<std::vector<std::string>> read_labels(const std::string& path) {
  HET_ASSIGN(const std::string text, read_text_file(path, kMaxLabelsFileBytes, "labels file"));
  return parse_labels(text, path);
}

Result<std::vector<float>> parse_numbers(std::string_view text, std::string_view origin) {
  std::vector<float> numbers;
  constexpr std::string_view kBetween = " \t\r\n,";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    float number = 0.0f;
    const char* const end = word.data() + word.size();
    const auto [parsed, failure] = std::from_chars(word.data(), end, number);
    if (failure != std::errc{} || parsed != end || !std::isfinite(number))
      return error(StatusCode::ParseError,
                   "'{}': '{}' is no number; numbers are separated by blanks, commas or lines",
                   origin, word.substr(0, 40));
    numbers.push_back(number);
    text.remove_prefix(word.size());
  }
  return numbers;
}

Result<std::string> path_beside(std::string_view named, std::string_view descriptor_path) {
  const fs::path relative = fs::path(named).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..")
    return error(StatusCode::InvalidArgument,
                 "'{}' must be inside the folder of '{}'; the property labels-file names a labels "
                 "file elsewhere",
                 named, descriptor_path);
  return (fs::path(descriptor_path).parent_path() / relative).string();
}

}  // namespace het
