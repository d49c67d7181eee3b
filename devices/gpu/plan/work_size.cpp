#include "devices/gpu/plan/work_size.h"

#include <algorithm>
#include <limits>

namespace het::gpu {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;
constexpr size_t kMostText = 1024;
constexpr int kMostDepth = 32;

/// sum = product {(+|-) product}; product = factor {(*|/|%) factor};
/// factor = number | letter | ( sum ) | - factor
class Parser {
 public:
  Parser(std::string_view text, const FormulaSizes& sizes) : text_(text), sizes_(sizes) {}

  Result<int64_t> run() {
    HET_ASSIGN(const int64_t value, sum(0));
    if (next() != '\0') return malformed();
    return value;
  }

 private:
  Failure malformed() const {
    return error(StatusCode::ParseError,
                 "'{}' is no formula of numbers, B, F, Y, X and + - * / % (at character {})", text_,
                 at_ + 1);
  }

  Result<int64_t> limited(int64_t value) const {
    if (value >= -kLargest && value <= kLargest) return value;
    return error(StatusCode::InvalidArgument, "'{}' is beyond 2^40", text_);
  }

  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Result<int64_t> sum(int depth) {
    HET_ASSIGN(int64_t value, product(depth));
    for (char sign = next(); sign == '+' || sign == '-'; sign = next()) {
      ++at_;
      HET_ASSIGN(const int64_t other, product(depth));
      HET_ASSIGN(value, limited(sign == '+' ? value + other : value - other));
    }
    return value;
  }

  Result<int64_t> product(int depth) {
    HET_ASSIGN(int64_t value, factor(depth));
    for (char sign = next(); sign == '*' || sign == '/' || sign == '%'; sign = next()) {
      ++at_;
      HET_ASSIGN(const int64_t other, factor(depth));
      if (sign == '*') {
        int64_t made = 0;
        if (__builtin_mul_overflow(value, other, &made)) made = kLargest + 1;
        HET_ASSIGN(value, limited(made));
      } else if (other == 0) {
        return error(StatusCode::InvalidArgument, "'{}' divides by zero", text_);
      } else {
        value = sign == '/' ? value / other : value % other;
      }
    }
    return value;
  }

  Result<int64_t> factor(int depth) {
    if (depth > kMostDepth) return malformed();
    const char sign = next();
    if (sign == '-') {
      ++at_;
      HET_ASSIGN(const int64_t value, factor(depth + 1));
      return -value;
    }
    if (sign == '(') {
      ++at_;
      HET_ASSIGN(const int64_t value, sum(depth + 1));
      if (next() != ')') return malformed();
      ++at_;
      return value;
    }
    const size_t letter = std::string_view("BFYXbfyx").find(sign);
    if (sign != '\0' && letter != std::string_view::npos) {
      ++at_;
      return limited(sizes_[letter % 4]);
    }
    if (sign < '0' || sign > '9') return malformed();
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      HET_ASSIGN(value, limited(value * 10 + (text_[at_] - '0')));
    }
    return value;
  }

  std::string_view text_;
  const FormulaSizes& sizes_;
  size_t at_ = 0;
};

}  // namespace

Result<int64_t> evaluate_formula(std::string_view text, const FormulaSizes& sizes) {
  if (text.size() > kMostText) {
    return error(StatusCode::ParseError, "a formula has {} characters, {} at most", text.size(),
                 kMostText);
  }
  return Parser(text, sizes).run();
}

Result<std::vector<size_t>> evaluate_work_sizes(std::string_view text, const FormulaSizes& sizes) {
  std::vector<size_t> values;
  if (text.find_first_not_of(' ') == std::string_view::npos) return values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    HET_ASSIGN(const int64_t value, evaluate_formula(text.substr(begin, end - begin), sizes));
    if (value < 1 || value > std::numeric_limits<int32_t>::max()) {
      return error(StatusCode::InvalidArgument, "the work size '{}' is {}",
                   text.substr(begin, end - begin), value);
    }
    values.push_back(static_cast<size_t>(value));
    begin = end + 1;
  }
  if (values.size() > 3) {
    return error(StatusCode::ParseError, "'{}' has {} work sizes, three at most", text,
                 values.size());
  }
  return values;
}

}  // namespace het::gpu
