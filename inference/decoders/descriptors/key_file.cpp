#include "inference/decoders/descriptors/key_file.h"

#include <algorithm>
#include <optional>

namespace het {
namespace {

std::string_view without_outer_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The name in "[name]", which has neither brackets nor control characters.
std::optional<std::string_view> section_name(std::string_view line) {
  if (line.size() < 3 || line.front() != '[' || line.back() != ']') return std::nullopt;
  const std::string_view name = line.substr(1, line.size() - 2);
  const bool is_valid = std::ranges::none_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '[' || c == ']' || byte < ' ' || byte == 0x7f;
  });
  return is_valid ? std::optional(name) : std::nullopt;
}

/// Other escapes stay as they stand.
std::string unescaped(std::string_view text) {
  constexpr std::pair<char, char> kEscapes[] = {
      {'s', ' '}, {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'\\', '\\'}};
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const auto* const escape = std::ranges::find(kEscapes, next, &std::pair<char, char>::first);
    if (text[i] == '\\' && escape != std::end(kEscapes)) {
      value += escape->second;
      ++i;
    } else {
      value += text[i];
    }
  }
  return value;
}

}  // namespace

std::string KeyFileSection::value_of(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

Result<std::vector<KeyFileSection>> parse_key_file(std::string_view text) {
  std::vector<KeyFileSection> sections;
  size_t current = 0;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_outer_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    if (const auto name = section_name(line)) {
      const auto same = std::ranges::find(sections, *name, &KeyFileSection::name);
      current = static_cast<size_t>(same - sections.begin());
      if (same == sections.end()) sections.push_back({std::string(*name), {}});
      continue;
    }
    const size_t equals = line.find('=');
    const bool has_key = equals != std::string_view::npos && equals > 0 && line.front() != '[';
    if (!has_key || sections.empty())
      return error(StatusCode::InvalidArgument, "line {} is '{}', {} was expected", number,
                   line.substr(0, 80),
                   has_key ? "\"[section]\" before the first key"
                           : "\"[section]\", \"key=value\" or \"# a remark\"");
    sections[current].values.insert_or_assign(
        std::string(without_outer_blanks(line.substr(0, equals))),
        unescaped(without_outer_blanks(line.substr(equals + 1))));
  }
  return sections;
}

}  // namespace het
