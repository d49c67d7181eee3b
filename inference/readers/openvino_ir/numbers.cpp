#include "inference/readers/openvino_ir/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "inference/readers/openvino_ir/limits.h"

namespace het::ir {
namespace {

/// Text for a message: long ones are cut.
std::string_view shown(std::string_view text) {
  return text.substr(0, 80);
}

template <class T>
bool parses(std::string_view text, T& value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

/// Calls `add` with every entry of a list that commas separate.
template <class Add>
Status for_each_entry(std::string_view text, Add add) {
  text = trimmed(text);
  if (text.empty()) return {};
  for (size_t count = 1;; ++count) {
    if (count > kMaxListNumbers) {
      return error(StatusCode::OutOfMemory, "a list has more than {} numbers", kMaxListNumbers);
    }
    const size_t comma = text.find(',');
    HET_TRY(add(trimmed(text.substr(0, comma))));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  if (parses(trimmed(text), value)) return value;
  uint64_t large = 0;
  if (parses(trimmed(text), large)) return std::numeric_limits<int64_t>::max();
  double real = 0;
  if (parses(trimmed(text), real) && real == std::floor(real) && std::abs(real) < 0x1p53) {
    return static_cast<int64_t>(real);
  }
  return error(StatusCode::ParseError, "'{}' is not an integer", shown(text));
}

Result<float> parse_real(std::string_view text) {
  double value = 0;
  if (parses(trimmed(text), value)) return static_cast<float>(value);
  // from_chars gives no value for numbers outside double's range.
  return error(StatusCode::ParseError, "'{}' is not a number", shown(text));
}

Result<bool> parse_flag(std::string_view text) {
  const std::string_view word = trimmed(text);
  if (word == "true" || word == "True" || word == "TRUE" || word == "1") return true;
  if (word == "false" || word == "False" || word == "FALSE" || word == "0") return false;
  return error(StatusCode::ParseError, "'{}' is neither true nor false", shown(text));
}

Result<std::vector<int64_t>> parse_integers(std::string_view text) {
  std::vector<int64_t> values;
  HET_TRY(for_each_entry(text, [&](std::string_view entry) -> Status {
    HET_ASSIGN(const int64_t value, parse_integer(entry));
    values.push_back(value);
    return {};
  }));
  return values;
}

Result<std::vector<float>> parse_reals(std::string_view text) {
  std::vector<float> values;
  HET_TRY(for_each_entry(text, [&](std::string_view entry) -> Status {
    HET_ASSIGN(const float value, parse_real(entry));
    values.push_back(value);
    return {};
  }));
  return values;
}

Result<Shape> parse_dims(std::string_view text) {
  Shape shape;
  if (trimmed(text) == "...") {
    return error(StatusCode::NotSupported,
                 "its shape '...' leaves the number of dimensions open; convert the model with a "
                 "shape of known rank, unknown dimensions as '?'");
  }
  HET_TRY(for_each_entry(text, [&](std::string_view entry) -> Status {
    if (shape.size() >= kMaxRank) {
      return error(StatusCode::ParseError, "the shape '{}' has more than {} dimensions",
                   shown(text), kMaxRank);
    }
    if (entry == "?" || entry == "-1" || entry.find("..") != std::string_view::npos) {
      shape.push_back(kUnknownDim);
      return {};
    }
    HET_ASSIGN(const int64_t size, parse_integer(entry));
    if (size < 0) {
      return error(StatusCode::ParseError, "the shape '{}' has the dimension {}", shown(text),
                   size);
    }
    shape.push_back(size);
    return {};
  }));
  return shape;
}

std::vector<int64_t> moved(int64_t rank, int64_t from, int64_t to) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

}  // namespace het::ir
