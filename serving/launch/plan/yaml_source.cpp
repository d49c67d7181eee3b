#include "serving/launch/plan/yaml_source.h"

#include <fmt/format.h>
#include <glib.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "serving/launch/plan/nearest_first.h"

namespace het::serving {
namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr double kDay = 86400;
constexpr size_t kShown = 64;

/// As much of a text of the file as a message shows, on one line.
std::string shown(const std::string& text) {
  std::string line = text.substr(0, kShown);
  while (!line.empty() &&
         !g_utf8_validate(line.data(), static_cast<gssize>(line.size()), nullptr)) {
    line.pop_back();
  }
  std::ranges::replace_if(
      line, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return text.size() > kShown ? line + "..." : line;
}

std::string describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "'" + shown(node.Scalar()) + "'";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
  }
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, value);
  const bool is_number = last == end && failed == std::errc() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

/// Where a document begins. YAML::LoadAll() reads documents without end where a text goes on after
/// the first one has ended.
struct DocumentStart final : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark& begin) override { mark = begin; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  YAML::Mark mark = YAML::Mark::null_mark();
};

}  // namespace

Result<YAML::Node> YamlSource::read() const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    return error(StatusCode::NotFound, "cannot open the launch file '{}': {}", path_,
                 std::strerror(errno));
  }
  std::string text;
  std::array<char, 16384> part{};
  while (file && text.size() <= kMostBytes) {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= kMostBytes) {
    return error(StatusCode::NotFound, "cannot read the launch file '{}'", path_);
  }
  if (text.size() > kMostBytes) {
    return error(StatusCode::ParseError, "the launch file '{}' is longer than {} bytes", path_,
                 kMostBytes);
  }
  const char* end = nullptr;
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), &end)) {
    const auto line = std::count(static_cast<const char*>(text.data()), end, '\n') + 1;
    return error(StatusCode::ParseError, "{}:{}: this is no text in UTF-8", path_, line);
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentStart first;
    DocumentStart second;
    if (parser.HandleNextDocument(first) && parser.HandleNextDocument(second)) {
      return wrong(StatusCode::ParseError, second.mark,
                   "here the document of the file has ended and another begins; a launch file has "
                   "one");
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& failure) {
    return wrong(StatusCode::ParseError, failure.mark, "this is no YAML: " + failure.msg);
  }
}

Result<std::vector<YamlEntry>> YamlSource::entries(const YAML::Node& node, const YAML::Mark& mark,
                                                   std::string_view what) const {
  if (!node.IsMap()) {
    return wrong(StatusCode::ParseError, mark,
                 fmt::format("{} is a map of keys and values, here is {}", what, describe(node)));
  }
  std::vector<YamlEntry> found;
  std::set<std::string> keys;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      return wrong(StatusCode::ParseError, pair.first.Mark(),
                   fmt::format("a key of {} is a text, here is {}", what, describe(pair.first)));
    }
    found.push_back({pair.first.Scalar(), pair.first.Mark(), pair.second});
    if (!keys.insert(found.back().key).second) {
      return wrong(StatusCode::ParseError, found.back().mark,
                   fmt::format("'{}' is there twice in {}", shown(found.back().key), what));
    }
  }
  return found;
}

Result<std::string> YamlSource::text(const YamlEntry& entry, size_t longest,
                                     bool may_have_lines) const {
  if (entry.value.IsNull()) return expected(entry, "a text (\"\" for an empty one)");
  if (!entry.value.IsScalar()) return expected(entry, "a text, number or boolean");
  const std::string& text = entry.value.Scalar();
  if (text.size() > longest) {
    return expected(entry, fmt::format("a text of at most {} bytes", longest));
  }
  const bool has_control = std::ranges::any_of(text, [&](char c) {
    const bool is_line = c == '\n' || c == '\r' || c == '\t';
    return c == '\x7f' || (c >= 0 && c < ' ' && !(may_have_lines && is_line));
  });
  if (has_control) return expected(entry, "a text on one line, without control characters");
  return text;
}

Result<double> YamlSource::number(const YamlEntry& entry, double least, double most) const {
  const auto value = entry.value.IsScalar() ? parse_number(entry.value.Scalar()) : std::nullopt;
  if (!value || *value < least || *value > most) {
    return expected(entry, fmt::format("a number from {:g} to {:g}", least, most));
  }
  return *value;
}

Result<size_t> YamlSource::count(const YamlEntry& entry, size_t least, size_t most) const {
  size_t value = 0;
  const std::string text = entry.value.IsScalar() ? entry.value.Scalar() : std::string();
  const char* end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || last != end || failed != std::errc() || value < least || value > most) {
    return expected(entry, fmt::format("a whole number from {} to {}", least, most));
  }
  return value;
}

Result<double> YamlSource::seconds(const YamlEntry& entry) const {
  std::string_view text;
  if (entry.value.IsScalar()) text = entry.value.Scalar();
  double unit = 1;
  if (text.ends_with("ms")) {
    unit = 1e-3;
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  } else if (text.ends_with('m')) {
    unit = 60;
    text.remove_suffix(1);
  }
  const std::optional<double> value = parse_number(text);
  if (!value || *value < 0 || *value * unit > kDay) {
    return expected(entry, "a time, as 2s, 500ms, 1m or a number of seconds, up to a day");
  }
  return *value * unit;
}

Result<size_t> YamlSource::word(const YamlEntry& entry,
                                std::span<const std::string_view> words) const {
  const std::string text = entry.value.IsScalar() ? entry.value.Scalar() : std::string();
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) {
    return expected(entry, "one of " + nearest_first({words.begin(), words.end()}, text));
  }
  return static_cast<size_t>(found - words.begin());
}

Failure YamlSource::unknown_key(const YamlEntry& entry, std::string_view what,
                                std::span<const std::string_view> keys) const {
  return wrong(StatusCode::InvalidArgument, entry.mark,
               fmt::format("'{}' is no key of {}; those are {}", shown(entry.key), what,
                           nearest_first({keys.begin(), keys.end()}, entry.key)));
}

Failure YamlSource::expected(const YamlEntry& entry, std::string_view what) const {
  return wrong(
      StatusCode::InvalidArgument, entry.value.Mark().is_null() ? entry.mark : entry.value.Mark(),
      fmt::format("'{}' is {}; expected {}", shown(entry.key), describe(entry.value), what));
}

Failure YamlSource::wrong(StatusCode code, const YAML::Mark& mark, std::string_view what) const {
  if (mark.is_null()) return error(code, "{}: {}", path_, what);
  return error(code, "{}:{}: {}", path_, mark.line + 1, what);
}

}  // namespace het::serving
