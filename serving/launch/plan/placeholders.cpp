#include "serving/launch/plan/placeholders.h"

#include <algorithm>
#include <optional>

#include "serving/launch/plan/nearest_first.h"

namespace het::serving {
namespace {

constexpr size_t kMostFilled = 1 << 20;
/// What ends a value of gst_parse_launch's or begins something else, unless '\' is in front.
constexpr std::string_view kSpecial = " \t\"'\\!()";

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_name_character(char c) {
  return is_lower(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// The name of the placeholder that begins at this place.
std::optional<std::string_view> placeholder_at(std::string_view text, size_t begin) {
  if (text[begin] != '{') return std::nullopt;
  size_t end = begin + 1;
  while (end < text.size() && is_name_character(text[end])) ++end;
  const bool is_one =
      end < text.size() && text[end] == '}' && end > begin + 1 && is_lower(text[begin + 1]);
  return is_one ? std::optional(text.substr(begin + 1, end - begin - 1)) : std::nullopt;
}

/// A property's value that begins with a quotation mark.
struct MarkedValue {
  size_t end = 0;
  char quote = '\0';  ///< the mark around all of it, if it is one
};

/// Reads it as gst_parse_launch does, which takes the longest of what the value could be: up to a
/// mark or up to a blank, not one behind '\'.
MarkedValue read_marked(std::string_view text, size_t begin) {
  size_t quoted = 0;
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] != text[begin]) continue;
    quoted = i + 1;
    if (text[i - 1] != '\\') break;
  }
  size_t plain = begin + 1;
  while (plain < text.size() && (!is_blank(text[plain]) || text[plain - 1] == '\\')) ++plain;
  if (quoted >= plain) return {quoted, text[begin]};
  return {plain, '\0'};
}

class TemplateFilling {
 public:
  TemplateFilling(std::string_view text, const PlaceholderValues& values)
      : text_(text), values_(values) {}

  Result<std::string> run() {
    for (size_t i = 0; i < text_.size();) {
      if (i >= marked_.end && last_ == '=' && (text_[i] == '"' || text_[i] == '\'')) {
        marked_ = read_marked(text_, i);
      }
      const char quote = i < marked_.end ? marked_.quote : '\0';
      if (const auto name = placeholder_at(text_, i)) {
        HET_TRY(put(*name, quote));
        i += name->size() + 2;
      } else if (text_[i] == '\\' && i + 1 < text_.size()) {
        filled_ += text_.substr(i, 2);
        last_ = '\\';
        i += 2;
      } else {
        if (is_blank(text_[i])) {
          if (quote == '\0') HET_TRY(end_word());
        } else {
          last_ = text_[i];
        }
        filled_ += text_[i++];
      }
      if (filled_.size() > kMostFilled) {
        return error(StatusCode::InvalidArgument, "the pipeline is longer than {} bytes",
                     kMostFilled);
      }
    }
    HET_TRY(end_word());
    return std::move(filled_);
  }

 private:
  Status put(std::string_view name, char quote) {
    const auto value = values_.find(name);
    if (value == values_.end()) {
      std::vector<std::string_view> known;
      for (const auto& [other, _] : values_) known.push_back(other);
      return error(StatusCode::InvalidArgument, "nothing is known for {{{}}}; there are {}", name,
                   nearest_first(std::move(known), name, "{", "}"));
    }
    const std::string& text = value->second;
    if (!text.empty() && text.front() == '"' && text.back() == '"') {
      return error(StatusCode::InvalidArgument,
                   "{{{}}} is {}: GStreamer takes away quotation marks around a value", name, text);
    }
    if (quote != '\0' && text.find('\\') != std::string::npos) {
      return error(StatusCode::InvalidArgument,
                   "{{{}}} is {}: GStreamer has no way to write a '\\' between quotation marks; "
                   "take those around {{{}}} away, blanks in values need none",
                   name, text, name);
    }
    const bool has_lines =
        std::ranges::any_of(text, [](char c) { return c >= 0 && c < ' ' && c != '\t'; });
    if (has_lines) {
      return error(StatusCode::InvalidArgument, "{{{}}} has control characters or several lines",
                   name);
    }
    for (const char c : text) {
      const bool is_special = quote == '"' ? c == '"' : kSpecial.find(c) != std::string_view::npos;
      if (is_special) filled_ += '\\';
      filled_ += c;
    }
    has_placeholder_ = true;
    if (!text.empty()) last_ = '}';
    return {};
  }

  Status end_word() {
    // A blank behind '\' belongs to the value, even where that '\' is behind another.
    if (has_placeholder_ && filled_.ends_with('\\')) {
      return error(StatusCode::InvalidArgument,
                   "a value ends with '\\', which GStreamer cannot tell from what follows");
    }
    // Without a value behind '=', it takes what comes next for one.
    if (has_placeholder_ && last_ == '=') {
      filled_ += "\"\"";
      last_ = '"';
    }
    has_placeholder_ = false;
    return {};
  }

  std::string_view text_;
  const PlaceholderValues& values_;
  std::string filled_;
  char last_ = '\0';              ///< before here, without blanks
  MarkedValue marked_;            ///< the last one
  bool has_placeholder_ = false;  ///< in this word
};

}  // namespace

PlaceholderValues placeholder_values(const StreamSettings& stream, const std::string& instance,
                                     const std::string& node) {
  PlaceholderValues values(stream.variables.begin(), stream.variables.end());
  values["name"] = stream.name;
  values["instance"] = instance;
  values["node"] = node;
  return values;
}

bool is_placeholder_name(std::string_view name) {
  return !name.empty() && is_lower(name.front()) && std::ranges::all_of(name, is_name_character);
}

std::set<std::string, std::less<>> placeholder_names(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (size_t i = 0; i < text.size(); i += text[i] == '\\' ? 2 : 1) {
    if (const auto name = placeholder_at(text, i)) names.emplace(*name);
  }
  return names;
}

Result<std::string> fill_template(std::string_view text, const PlaceholderValues& values) {
  return TemplateFilling(text, values).run();
}

std::string fill_argument(std::string_view argument, const PlaceholderValues& values) {
  std::string filled;
  for (size_t i = 0; i < argument.size();) {
    const auto name = placeholder_at(argument, i);
    const auto value = name ? values.find(*name) : values.end();
    if (value == values.end()) {
      filled += argument[i++];
    } else {
      filled += value->second;
      i += name->size() + 2;
    }
  }
  return filled;
}

Result<std::vector<std::string>> fill_pipeline(const StreamSettings& stream, bool is_command_line,
                                               const PlaceholderValues& values) {
  std::vector<std::string> filled;
  for (const std::string& part : stream.pipeline) {
    if (is_command_line) {
      filled.push_back(fill_argument(part, values));
    } else {
      HET_ASSIGN(filled.emplace_back(), fill_template(part, values));
    }
  }
  return filled;
}

}  // namespace het::serving
