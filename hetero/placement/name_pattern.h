#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::hetero {

/// A regular expression that a whole name has to match. Time is proportional to the lengths of
/// pattern and name whatever they are, and nothing recurses over a name: all ways to match are
/// followed side by side (K. Thompson, "Regular expression search algorithm", 1968). std::regex
/// does neither, and names come from untrusted models. Bytes are compared, so '.' is one byte.
/// Immutable.
///
/// Syntax: characters, '.', [a-z] and [^...], the classes \d \w \s \D \W \S, '\' before any other
/// sign, (...) and (?:...), '|', and behind a part '*', '+', '?', {n}, {n,} or {n,m}. '^' in front
/// and '$' at the end change nothing. References and look-around do not exist.
class NamePattern {
 public:
  static constexpr size_t kMaxPatternBytes = 1'000;
  static constexpr size_t kMaxRepetitions = 100;
  static constexpr size_t kMaxSteps = 10'000;

  /// Fails with ParseError, saying at which place of the pattern.
  static Result<NamePattern> parse(std::string_view pattern);
  bool matches(std::string_view name) const;

  /// One byte of the set is read, then the step after it follows; or two steps follow; or the end.
  struct Step {
    enum class Kind { Read, Fork, End };
    Kind kind = Kind::End;
    size_t next = 0;
    size_t other = 0;  ///< Fork only
    std::bitset<256> bytes = {};
  };

 private:
  explicit NamePattern(std::vector<Step> steps, size_t first)
      : steps_(std::move(steps)), first_(first) {}

  std::vector<Step> steps_;
  size_t first_;
};

}  // namespace het::hetero
