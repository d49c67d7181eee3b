#include "hetero/placement/name_pattern.h"

#include <charconv>
#include <optional>
#include <utility>

namespace het::hetero {
namespace {

using Step = NamePattern::Step;
using ByteSet = std::bitset<256>;

constexpr size_t kMaxDepth = 50;

ByteSet range(unsigned char first, unsigned char last) {
  ByteSet bytes;
  for (size_t c = first; c <= last; ++c) bytes.set(c);
  return bytes;
}

/// \d, \w, \s and their opposites.
std::optional<ByteSet> class_of(char letter) {
  const ByteSet digits = range('0', '9');
  const ByteSet words = digits | range('a', 'z') | range('A', 'Z') | range('_', '_');
  const ByteSet spaces = range(' ', ' ') | range('\t', '\r');
  switch (letter) {
    case 'd':
      return digits;
    case 'D':
      return ~digits;
    case 'w':
      return words;
    case 'W':
      return ~words;
    case 's':
      return spaces;
    case 'S':
      return ~spaces;
    default:
      return std::nullopt;
  }
}

/// What a part of the pattern says.
struct Part {
  enum class Kind { Empty, Bytes, Sequence, Choice, Repeat };
  Kind kind = Kind::Empty;
  ByteSet bytes = {};
  std::vector<Part> parts = {};
  size_t least = 0;  ///< Repeat only
  std::optional<size_t> most = {};
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  Result<Part> run() {
    if (pattern_.size() > NamePattern::kMaxPatternBytes) {
      return error(StatusCode::ParseError, "the pattern has {} bytes, the limit is {}",
                   pattern_.size(), NamePattern::kMaxPatternBytes);
    }
    take('^');
    HET_ASSIGN(Part part, parse_choice(0));
    if (at_ < pattern_.size()) return fail("')' without '('");
    return part;
  }

 private:
  bool is_end() const { return at_ == pattern_.size(); }
  bool is_at(char c) const { return !is_end() && pattern_[at_] == c; }
  bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  Failure fail(std::string_view what) const {
    return error(StatusCode::ParseError, "{} at place {} of '{}'", what, at_ + 1, pattern_);
  }

  Result<Part> parse_choice(size_t depth) {
    if (depth > kMaxDepth) return fail("too many brackets in one another");
    Part choice{Part::Kind::Choice};
    do {
      Part sequence{Part::Kind::Sequence};
      while (!is_end() && !is_at('|') && !is_at(')')) {
        if (is_at('$') && at_ + 1 == pattern_.size()) {
          ++at_;
          break;
        }
        HET_ASSIGN(Part part, parse_atom(depth));
        HET_ASSIGN(part, parse_repeats(std::move(part)));
        sequence.parts.push_back(std::move(part));
      }
      choice.parts.push_back(std::move(sequence));
    } while (take('|'));
    return choice;
  }

  Result<Part> parse_atom(size_t depth) {
    const char c = pattern_[at_];
    if (c == '*' || c == '+' || c == '?' || c == '{') return fail("nothing to repeat");
    if (c == '^' || c == '$') return fail("'^' and '$' belong to the ends; '\\' before others");
    ++at_;
    if (c == '.') return Part{Part::Kind::Bytes, ByteSet().set()};
    if (c == '[') return parse_set();
    if (c == '\\') return parse_escape();
    if (c != '(') return Part{Part::Kind::Bytes, ByteSet().set(static_cast<unsigned char>(c))};
    if (take('?') && !take(':')) return fail("of groups with '?' only (?:...) exists");
    HET_ASSIGN(Part group, parse_choice(depth + 1));
    if (!take(')')) return fail("')' is missing");
    return group;
  }

  Result<Part> parse_escape() {
    if (is_end()) return fail("nothing follows '\\'");
    const char c = pattern_[at_++];
    if (const auto bytes = class_of(c)) return Part{Part::Kind::Bytes, *bytes};
    if (range('0', '9').test(static_cast<unsigned char>(c)) ||
        range('a', 'z').test(static_cast<unsigned char>(c)) ||
        range('A', 'Z').test(static_cast<unsigned char>(c))) {
      --at_;
      return fail("'\\' stands before a letter or digit that has no meaning with it");
    }
    return Part{Part::Kind::Bytes, ByteSet().set(static_cast<unsigned char>(c))};
  }

  Result<Part> parse_set() {
    const bool is_negated = take('^');
    ByteSet bytes;
    for (bool is_first = true; is_first || !is_at(']'); is_first = false) {
      if (is_end()) return fail("']' is missing");
      const char first = pattern_[at_++];
      if (first == '\\') {
        HET_ASSIGN(const Part escape, parse_escape());
        bytes |= escape.bytes;
        continue;
      }
      auto last = first;
      if (is_at('-') && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        last = pattern_[at_ + 1];
        at_ += 2;
        if (last == '\\') return fail("a range ends with '\\'");
      }
      const auto from = static_cast<unsigned char>(first);
      const auto to = static_cast<unsigned char>(last);
      if (from > to) return fail("a range goes backwards");
      bytes |= range(from, to);
    }
    ++at_;
    return Part{Part::Kind::Bytes, is_negated ? ~bytes : bytes};
  }

  Result<Part> parse_repeats(Part part) {
    while (!is_end()) {
      Part repeat{Part::Kind::Repeat};
      if (take('*')) {
      } else if (take('+')) {
        repeat.least = 1;
      } else if (take('?')) {
        repeat.most = 1;
      } else if (take('{')) {
        HET_ASSIGN(repeat.least, parse_count());
        repeat.most = repeat.least;
        if (take(',')) {
          repeat.most.reset();
          if (!is_at('}')) {
            HET_ASSIGN(repeat.most, parse_count());
          }
        }
        if (!take('}')) return fail("'}' is missing");
        if (repeat.most && *repeat.most < repeat.least) return fail("{n,m} has m below n");
      } else {
        break;
      }
      repeat.parts.push_back(std::move(part));
      part = std::move(repeat);
    }
    return part;
  }

  Result<size_t> parse_count() {
    size_t count = 0;
    const char* const start = pattern_.data() + at_;
    const auto [end, code] = std::from_chars(start, pattern_.data() + pattern_.size(), count);
    if (code != std::errc() || count > NamePattern::kMaxRepetitions) {
      return fail(fmt::format("a number up to {} is expected", NamePattern::kMaxRepetitions));
    }
    at_ += static_cast<size_t>(end - start);
    return count;
  }

  std::string_view pattern_;
  size_t at_ = 0;
};

/// Turns parts into steps, from the end to the start: each part knows what follows it.
class Compiler {
 public:
  std::vector<Step> steps{{Step::Kind::End}};

  /// The first step of `part` when `next` follows; nothing when there would be too many steps.
  std::optional<size_t> compile(const Part& part, size_t next) {
    switch (part.kind) {
      case Part::Kind::Empty:
        return next;
      case Part::Kind::Bytes:
        return add({Step::Kind::Read, next, 0, part.bytes});
      case Part::Kind::Sequence: {
        std::optional<size_t> first = next;
        for (auto it = part.parts.rbegin(); first && it != part.parts.rend(); ++it) {
          first = compile(*it, *first);
        }
        return first;
      }
      case Part::Kind::Choice: {
        std::optional<size_t> first = compile(part.parts.back(), next);
        for (auto it = part.parts.rbegin() + 1; first && it != part.parts.rend(); ++it) {
          const auto other = compile(*it, next);
          first = other ? add({Step::Kind::Fork, *other, *first}) : std::nullopt;
        }
        return first;
      }
      case Part::Kind::Repeat:
        return compile_repeat(part, next);
    }
    return std::nullopt;
  }

 private:
  std::optional<size_t> compile_repeat(const Part& part, size_t next) {
    std::optional<size_t> first = next;
    if (!part.most) {
      first = add({Step::Kind::Fork, 0, next});
      const auto body = first ? compile(part.parts[0], *first) : std::nullopt;
      if (!body) return std::nullopt;
      steps[*first].next = *body;
    }
    for (size_t i = part.least; part.most && i < *part.most; ++i) {
      const auto body = compile(part.parts[0], *first);
      first = body ? add({Step::Kind::Fork, *body, next}) : std::nullopt;
      if (!first) return std::nullopt;
    }
    for (size_t i = 0; i < part.least; ++i) {
      const auto body = compile(part.parts[0], *first);
      // Repetitions of nothing inside each other would take long.
      if (body == first) break;
      first = body;
      if (!first) break;
    }
    return first;
  }

  std::optional<size_t> add(Step step) {
    if (steps.size() >= NamePattern::kMaxSteps) return std::nullopt;
    steps.push_back(std::move(step));
    return steps.size() - 1;
  }
};

/// Steps that are reached, each once.
class StepSet {
 public:
  explicit StepSet(const std::vector<Step>& steps) : steps_(&steps), seen_(steps.size()) {}

  void clear() {
    for (const size_t step : reached_) seen_[step] = false;
    reached_.clear();
  }
  /// Adds a step and what follows without reading.
  void add(size_t step) {
    for (std::vector<size_t> pending{step}; !pending.empty();) {
      const size_t next = pending.back();
      pending.pop_back();
      if (seen_[next]) continue;
      seen_[next] = true;
      reached_.push_back(next);
      const Step& fork = (*steps_)[next];
      if (fork.kind != Step::Kind::Fork) continue;
      pending.push_back(fork.next);
      pending.push_back(fork.other);
    }
  }
  const std::vector<size_t>& reached() const { return reached_; }
  bool has(size_t step) const { return seen_[step]; }

 private:
  const std::vector<Step>* steps_;
  std::vector<bool> seen_;
  std::vector<size_t> reached_;
};

}  // namespace

Result<NamePattern> NamePattern::parse(std::string_view pattern) {
  HET_ASSIGN(const Part part, Parser(pattern).run());
  Compiler compiler;
  const auto first = compiler.compile(part, 0);
  if (!first) {
    return error(StatusCode::ParseError, "'{}' repeats so much that it takes more than {} steps",
                 pattern, kMaxSteps);
  }
  return NamePattern(std::move(compiler.steps), *first);
}

bool NamePattern::matches(std::string_view name) const {
  StepSet now(steps_);
  StepSet later(steps_);
  now.add(first_);
  for (const char c : name) {
    later.clear();
    for (const size_t step : now.reached()) {
      const Step& read = steps_[step];
      if (read.kind == Step::Kind::Read && read.bytes.test(static_cast<unsigned char>(c))) {
        later.add(read.next);
      }
    }
    std::swap(now, later);
    if (now.reached().empty()) return false;
  }
  return now.has(0);
}

}  // namespace het::hetero
