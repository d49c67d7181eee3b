#include "python/gst/element/json_lists.h"

#include <algorithm>
#include <string_view>

namespace het::python {
namespace {

std::string_view trimmed(std::string_view text) {
  const char* const space = " \t\r\n";
  const size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

bool is_between(std::string_view text, char open, char close) {
  return text.size() >= 2 && text.front() == open && text.back() == close;
}

/// Where the string that begins at `start` ends, past its quotation mark.
size_t string_end(std::string_view text, size_t start) {
  size_t at = start + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// What stands between the commas of the outermost level.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (letter == '[' || letter == '{') ++depth;
    if (letter == ']' || letter == '}') --depth;
    if (letter == ',' && depth == 0) {
      parts.push_back(trimmed(text.substr(start, at - start)));
      start = at + 1;
    }
    at = letter == '"' ? string_end(text, at) : at + 1;
  }
  const std::string_view last = trimmed(text.substr(start));
  if (!last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

/// The elements of an array or the members of an object; of anything else, itself.
std::vector<std::string_view> parts_of(const std::string& value, char open, char close) {
  const std::string_view text = trimmed(value);
  if (!is_between(text, open, close)) return {text};
  return split(text.substr(1, text.size() - 2));
}

std::string_view key_of(std::string_view member) {
  return member.empty() || member.front() != '"' ? member : member.substr(0, string_end(member, 0));
}

std::string joined(const std::vector<std::string_view>& parts, char open, char close) {
  std::string text(1, open);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += ", ";
    text += parts[i];
  }
  return text + close;
}

}  // namespace

std::string combined_array(const std::vector<std::string>& values) {
  std::vector<std::string_view> all;
  for (const std::string& value : values) {
    for (const std::string_view element : parts_of(value, '[', ']')) all.push_back(element);
  }
  return joined(all, '[', ']');
}

std::string combined_object(const std::vector<std::string>& objects) {
  std::vector<std::string_view> all;
  for (const std::string& object : objects) {
    for (const std::string_view member : parts_of(object, '{', '}')) {
      const auto same = std::find_if(all.begin(), all.end(), [&](std::string_view other) {
        return key_of(other) == key_of(member);
      });
      if (same != all.end()) {
        *same = member;
      } else {
        all.push_back(member);
      }
    }
  }
  return joined(all, '{', '}');
}

}  // namespace het::python
