#include "inference/decoders/descriptors/metadata_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "inference/decoders/labels.h"

namespace het {
namespace {

constexpr size_t kMaxNumbers = 64;

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ';';
}

/// Pieces between separators.
std::vector<std::string_view> pieces(std::string_view text) {
  std::vector<std::string_view> found;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_separator(text[i])) continue;
    if (i > start) found.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  return found;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_separator(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_separator(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_brackets(std::string_view text) {
  text = trimmed(text);
  const bool enclosed = text.size() >= 2 && ((text.front() == '[' && text.back() == ']') ||
                                             (text.front() == '(' && text.back() == ')'));
  return enclosed ? trimmed(text.substr(1, text.size() - 2)) : text;
}

/// Reads a quoted text at the front of `rest`, with Python's escapes of quotes and backslashes.
std::optional<std::string> take_quoted(std::string_view& rest) {
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) return std::nullopt;
  const char quote = rest.front();
  std::string text;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) {
      text += rest[++i];
    } else if (rest[i] == quote) {
      rest.remove_prefix(i + 1);
      return text;
    } else {
      text += rest[i];
    }
  }
  return std::nullopt;
}

}  // namespace

bool metadata_flag(std::string_view text) {
  std::string lower(trimmed(text));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "true" || lower == "yes" || lower == "1";
}

std::vector<float> metadata_numbers(std::string_view text) {
  std::vector<float> numbers;
  for (std::string_view piece : pieces(without_brackets(text))) {
    float number = 0.0f;
    const auto [end, failure] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
    if (failure != std::errc{} || end != piece.data() + piece.size() || !std::isfinite(number) ||
        numbers.size() == kMaxNumbers)
      return {};
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<std::array<float, 3>> metadata_channels(std::string_view text) {
  const std::vector<float> numbers = metadata_numbers(text);
  if (numbers.size() == 1) return std::array<float, 3>{numbers[0], numbers[0], numbers[0]};
  if (numbers.size() == 3) return std::array<float, 3>{numbers[0], numbers[1], numbers[2]};
  return std::nullopt;
}

std::vector<std::string> metadata_labels(std::string_view text) {
  std::vector<std::string> labels;
  if (text.size() > kMaxLabelsFileBytes) return labels;
  for (std::string_view piece : pieces(text)) {
    if (labels.size() == kMaxLabels) return {};
    labels.emplace_back(piece);
  }
  return labels;
}

std::vector<std::string> metadata_names(std::string_view text) {
  text = trimmed(text);
  if (text.size() > kMaxLabelsFileBytes || text.size() < 2) return {};
  const bool numbered = text.front() == '{' && text.back() == '}';
  if (!numbered && (text.front() != '[' || text.back() != ']')) return {};
  std::string_view rest = trimmed(text.substr(1, text.size() - 2));
  std::map<size_t, std::string> names;
  while (!rest.empty()) {
    size_t id = names.size();
    if (numbered) {
      const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), id);
      if (failure != std::errc{} || id >= kMaxLabels) return {};
      rest = trimmed(rest.substr(static_cast<size_t>(end - rest.data())));
      if (rest.empty() || rest.front() != ':') return {};
      rest = trimmed(rest.substr(1));
    }
    const std::optional<std::string> name = take_quoted(rest);
    if (!name || names.size() >= kMaxLabels) return {};
    names[id] = *name;
    rest = trimmed(rest);
  }
  std::vector<std::string> labels(names.empty() ? 0 : names.rbegin()->first + 1);
  for (auto& [id, name] : names) labels[id] = std::move(name);
  return labels;
}

}  // namespace het
