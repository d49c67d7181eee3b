#include "inference/tensors/shape.h"

#include <algorithm>
#include <charconv>

namespace het {

bool is_static(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d >= 0; });
}

int64_t element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

Result<int64_t> checked_element_count(const Shape& shape) {
  // A zero anywhere makes the product zero, but the other dimensions still have to be sane: the
  // limit leaves room for sizes and strides in bytes. No memory bounds those of an empty tensor,
  // and loops over 2^53 empty rows do not end.
  constexpr int64_t kMaxCount = INT64_MAX / 64;
  constexpr int64_t kMaxEmptyCount = int64_t{1} << 32;
  int64_t count = 1;
  bool empty = false;
  for (int64_t d : shape) {
    if (d < 0) {
      return error(StatusCode::ShapeMismatch, "shape {} has an unknown or negative dimension",
                   to_string(shape));
    }
    if (d == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, d, &count) || count > kMaxCount) {
      return error(StatusCode::OutOfMemory, "shape {} has more elements than can be counted",
                   to_string(shape));
    }
  }
  if (empty && count > kMaxEmptyCount) {
    return error(StatusCode::OutOfMemory,
                 "shape {} is empty, but its other dimensions give more than 2^32",
                 to_string(shape));
  }
  return empty ? 0 : count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += shape[i] == kUnknownDim ? "?" : std::to_string(shape[i]);
  }
  return text + ']';
}

Result<Shape> parse_shape(std::string_view text) {
  const std::string_view original = text;
  const auto failure = [&] {
    return error(StatusCode::InvalidArgument,
                 "'{}' is not a shape; write for example [1,3,224,224], with ? for unknown",
                 original);
  };
  const auto trim = [](std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
  };
  text = trim(text);
  if (!text.empty() && text.front() == '[') {
    if (text.size() < 2 || text.back() != ']') return failure();
    text = trim(text.substr(1, text.size() - 2));
  }
  Shape shape;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = trim(text.substr(0, comma));
    if (comma != std::string_view::npos && comma + 1 == text.size()) return failure();
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (item == "?" || item == "-1") {
      shape.push_back(kUnknownDim);
      continue;
    }
    int64_t value = 0;
    const auto [end, code] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (code != std::errc() || end != item.data() + item.size() || value < 0) return failure();
    shape.push_back(value);
  }
  return shape;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return error(StatusCode::ShapeMismatch, "shapes {} and {} cannot be broadcast together",
                   to_string(a), to_string(b));
    }
    result[result.size() - 1 - i] = da == 1 ? db : da;
  }
  return result;
}

Result<int64_t> normalize_axis(int64_t axis, int64_t rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    return error(StatusCode::InvalidArgument, "{} {} is outside [{}, {}) for a rank {} tensor",
                 what, axis, -rank, rank, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace het
