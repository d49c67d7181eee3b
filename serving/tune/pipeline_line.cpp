#include "serving/tune/pipeline_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "inference/devices/properties.h"
#include "serving/launch/shell_quoted.h"

namespace het::serving {
namespace {

constexpr std::array<std::string_view, 3> kInferenceElements = {"heterodetect", "heteroclassify",
                                                                "heteroinference"};
constexpr const char* kConfig = "ie-config";

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Words of a text by GStreamer's rules, as arguments of gst-launch-1.0 that mean the same: blanks
/// that were escaped stand by themselves, those in quotation marks stay there.
std::vector<std::string> words_of_text(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool is_inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_space(c)) {
      if (is_inside) words.push_back(std::exchange(word, {}));
      is_inside = false;
      continue;
    }
    is_inside = true;
    if (c == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      // Of an argument GStreamer escapes blanks itself.
      if (quote != 0 || next != ' ') word.push_back(c);
      word.push_back(next);
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      word.push_back('"');
    } else if (c == quote) {
      quote = 0;
      word.push_back('"');
    } else {
      if (quote == '\'' && c == '"') word.push_back('\\');
      word.push_back(c);
    }
  }
  if (is_inside) words.push_back(word);
  return words;
}

/// "model", "=", "x" and "model=", "x" are one word.
std::vector<std::string> with_joined_assignments(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool wants_value = false;
  for (const std::string& word : words) {
    const bool continues = !joined.empty() && (wants_value || word.starts_with('='));
    if (continues) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    wants_value = word.ends_with('=') && joined.back().find('=') == joined.back().size() - 1;
  }
  return joined;
}

/// Nothing for a word that assigns nothing.
std::optional<std::string> assigned_property(std::string_view word) {
  const size_t end = word.find('=');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view name = word.substr(0, end);
  const bool is_name = std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':';
  });
  if (!is_name || std::isalpha(static_cast<unsigned char>(name.front())) == 0) return std::nullopt;
  return std::string(name);
}

std::string without_quotes(std::string_view value) {
  const bool has_quotes = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  if (has_quotes) value = value.substr(1, value.size() - 2);
  std::string plain;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    plain.push_back(value[i]);
  }
  return plain;
}

/// Within an argument of gst-launch-1.0.
std::string with_quotes(const std::string& value) {
  const bool is_plain = !value.empty() && std::ranges::all_of(value, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_.,:;/=+").find(c) != std::string_view::npos;
  });
  if (is_plain) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

bool is_of_config(const std::string& property) {
  return std::isupper(static_cast<unsigned char>(property.front())) != 0;
}

std::string config_text(const Properties& properties) {
  std::string text;
  for (const auto& [name, value] : properties) {
    text += (text.empty() ? "" : ",") + name + "=" + value;
  }
  return text;
}

}  // namespace

PipelineLine::PipelineLine(std::vector<std::string> arguments) {
  if (arguments.size() == 1) arguments = words_of_text(arguments.front());
  words_ = with_joined_assignments(arguments);
  find_inferences();
}

void PipelineLine::find_inferences() {
  inferences_.clear();
  std::map<std::string, size_t> counts;
  for (size_t i = 0; i < words_.size(); ++i) {
    if (std::ranges::find(kInferenceElements, words_[i]) == kInferenceElements.end()) continue;
    Inference& inference = inferences_.emplace_back();
    inference.factory = words_[i];
    inference.word = i;
    const size_t number = ++counts[words_[i]];
    inference.label = word_value(inferences_.size() - 1, "name")
                          .value_or(inference.factory + "#" + std::to_string(number));
  }
}

size_t PipelineLine::end_of_properties(size_t word) const {
  size_t end = word + 1;
  while (end < words_.size() && assigned_property(words_[end])) ++end;
  return end;
}

std::optional<std::string> PipelineLine::word_value(size_t inference,
                                                    const std::string& property) const {
  const size_t begin = inferences_[inference].word;
  for (size_t i = end_of_properties(begin); i-- > begin + 1;) {
    if (assigned_property(words_[i]) == property) {
      return without_quotes(std::string_view(words_[i]).substr(property.size() + 1));
    }
  }
  return std::nullopt;
}

std::optional<std::string> PipelineLine::value(size_t inference,
                                               const std::string& property) const {
  if (!is_of_config(property)) return word_value(inference, property);
  const auto properties = parse_properties(word_value(inference, kConfig).value_or(""));
  if (!properties) return std::nullopt;
  const auto found = properties->find(property);
  return found == properties->end() ? std::nullopt : std::optional(found->second);
}

void PipelineLine::set_word(size_t inference, const std::string& property,
                            const std::optional<std::string>& value) {
  const size_t begin = inferences_[inference].word;
  const std::string word = value ? property + "=" + with_quotes(*value) : "";
  bool is_set = false;
  for (size_t i = end_of_properties(begin); i-- > begin + 1;) {
    if (assigned_property(words_[i]) != property) continue;
    if (value && !is_set) {
      words_[i] = word;
      is_set = true;
    } else {
      words_.erase(words_.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  if (value && !is_set) {
    words_.insert(words_.begin() + static_cast<ptrdiff_t>(end_of_properties(begin)), word);
  }
  find_inferences();
}

void PipelineLine::set(size_t inference, const std::string& property,
                       const std::optional<std::string>& value) {
  if (!is_of_config(property)) return set_word(inference, property, value);
  auto properties = parse_properties(word_value(inference, kConfig).value_or(""));
  if (!properties) return;  // the element says what is wrong with it
  properties->erase(property);
  if (value) (*properties)[property] = *value;
  const std::string text = config_text(*properties);
  set_word(inference, kConfig, text.empty() ? std::nullopt : std::optional(text));
}

std::string PipelineLine::command(const std::string& program) const {
  std::string text = program;
  for (const std::string& word : words_) text += " " + shell_quoted(word);
  return text;
}

}  // namespace het::serving
