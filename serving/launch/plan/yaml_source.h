#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::serving {

/// A key of a map and what stands behind it.
struct YamlEntry {
  std::string key;
  YAML::Mark mark;  ///< of the key
  YAML::Node value;
};

/// A YAML file and the types of what is in it. Failures begin with "FILE:LINE: "; yaml-cpp's
/// exceptions pass.
class YamlSource {
 public:
  explicit YamlSource(std::string path) : path_(std::move(path)) {}

  /// Its only document. Fails with NotFound, and with ParseError for more than 1 MiB, for what is
  /// no YAML and for what is not in UTF-8.
  Result<YAML::Node> read() const;

  /// The entries of a map. Fails with ParseError for something else, and for a key that is there
  /// twice.
  Result<std::vector<YamlEntry>> entries(const YAML::Node& node, const YAML::Mark& mark,
                                         std::string_view what) const;

  /// A text, number or boolean as it is written; no control characters but, with `may_have_lines`,
  /// ends of lines and tabs. At most `longest` bytes.
  Result<std::string> text(const YamlEntry& entry, size_t longest = 4096,
                           bool may_have_lines = false) const;
  Result<double> number(const YamlEntry& entry, double least, double most) const;
  Result<size_t> count(const YamlEntry& entry, size_t least, size_t most) const;
  /// Seconds: "2s", "500ms", "1m" or a number of seconds, up to a day.
  Result<double> seconds(const YamlEntry& entry) const;
  /// The place of the text in `words`.
  Result<size_t> word(const YamlEntry& entry, std::span<const std::string_view> words) const;

  /// For a key that is none of `keys`.
  Failure unknown_key(const YamlEntry& entry, std::string_view what,
                      std::span<const std::string_view> keys) const;
  /// For a value that is not what it should be.
  Failure expected(const YamlEntry& entry, std::string_view what) const;
  Failure wrong(StatusCode code, const YAML::Mark& mark, std::string_view what) const;

 private:
  std::string path_;
};

}  // namespace het::serving
