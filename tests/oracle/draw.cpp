#include "tests/oracle/draw.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "inference/ops/double_values.h"
#include "tests/oracle/generator.h"
#include "tests/oracle/special_values.h"

namespace het::oracle {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

/// What a type can hold; floats hold every bound that generators ask for.
std::pair<double, double> limits(ElementType type) {
  const auto bits = static_cast<int>(bit_width(type));
  switch (type) {
    case ElementType::Bool:
      return {0, 1};
    case ElementType::UInt8:
    case ElementType::UInt16:
    case ElementType::UInt32:
    case ElementType::UInt64:
      return {0, std::ldexp(1, std::min(bits, 53)) - 1};
    case ElementType::Int8:
    case ElementType::Int16:
    case ElementType::Int32:
    case ElementType::Int64:
      return {-std::ldexp(1, std::min(bits - 1, 53)), std::ldexp(1, std::min(bits - 1, 53)) - 1};
    default:
      return {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  }
}

bool is_plain(ElementType type) {
  return is_float(type) || (is_integer(type) && bit_width(type) >= 8) || type == ElementType::Bool;
}

}  // namespace

Tensor converted(const Tensor& tensor, ElementType type) {
  Tensor result = *Tensor::allocate({type, tensor.shape()});
  [[maybe_unused]] const Status status = store_doubles(*to_double_vector(tensor), result);
  assert(status.ok());
  return result;
}

Draw::Draw(const Generator& generator, Choices& choices)
    : generator_(generator),
      choices_(choices),
      sizes_(std::array{Sizes::Any, Sizes::Any, Sizes::Any, Sizes::Any, Sizes::Any, Sizes::Any,
                        Sizes::One, Sizes::Zero}[static_cast<size_t>(choices.below(8))]),
      specials_(choices.below(4) == 3 ? allowed_specials(generator, choices.below(4)) : 0),
      coarse_(choices.below(2) == 0) {}

std::string Draw::word(std::string_view words) {
  const std::vector<std::string> list = split(words, ' ');
  return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
}

ElementType Draw::type(std::string_view names) {
  // The first is the one that devices have kernels for: every other case has it.
  if (flag()) return *parse_element_type(word(names));
  return *parse_element_type(names.substr(0, names.find(' ')));
}

ElementType Draw::type() {
  return type(generator_.types);
}

int64_t Draw::dim() {
  if (sizes_ == Sizes::Zero && below(3) == 2) return 0;
  return size();
}

int64_t Draw::size() {
  if (sizes_ == Sizes::One) return 1;
  return pick<int64_t>({1, 2, 3, 4, 5, 2, 3, 4, 5, 8, 9, 16, 17});
}

Shape Draw::shape(int64_t min_rank, int64_t max_rank) {
  Shape shape(static_cast<size_t>(between(min_rank, max_rank)));
  int64_t count = 1;
  for (int64_t& value : shape) {
    value = dim();
    if (value * count > 4096) value = 1;
    count *= std::max<int64_t>(value, 1);
  }
  return shape;
}

Shape Draw::broadcastable(const Shape& shape) {
  const auto dropped = below(4) == 3 ? below(static_cast<int64_t>(shape.size()) + 1) : 0;
  Shape result(shape.begin() + dropped, shape.end());
  for (int64_t& value : result) {
    if (below(3) == 2) value = 1;
  }
  return result;
}

int64_t Draw::axis(int64_t rank) {
  const int64_t axis = below(2 * rank);
  return axis < rank ? axis : axis - 2 * rank;
}

Ints Draw::permutation(int64_t n) {
  Ints list(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) list[static_cast<size_t>(i)] = i;
  for (size_t i = 0; i + 1 < list.size(); ++i) {
    std::swap(list[i], list[i + static_cast<size_t>(below(n - static_cast<int64_t>(i)))]);
  }
  return list;
}

Ints Draw::axes(int64_t rank, int64_t least) {
  Ints list = permutation(rank);
  list.resize(static_cast<size_t>(between(std::min(least, rank), rank)));
  for (int64_t& value : list) {
    if (below(3) == 2) value -= rank;
  }
  return list;
}

Tensor Draw::tensor(ElementType type, const Shape& shape, double low, double high) {
  std::mt19937_64 random(choices_.seed() * 31 + ++tensors_);
  Tensor tensor = *Tensor::allocate({type, shape});
  if (!is_plain(type)) {
    std::byte* bytes = tensor.bytes();
    for (size_t i = 0; i < tensor.size_bytes(); ++i) bytes[i] = static_cast<std::byte>(random());
    // What lies behind the last packed element is 0, so that tensors compare as bytes.
    const auto bits = static_cast<uint64_t>(tensor.element_count()) * bit_width(type);
    if (bits % 8 != 0) bytes[bits / 8] &= static_cast<std::byte>((1 << (bits % 8)) - 1);
    return tensor;
  }
  const auto [lowest, highest] = limits(type);
  low = std::max(low, lowest);
  high = std::min(high, highest);
  // 24 bits a value: as much as a float32 holds, so that all floats start from the same number.
  const double step = std::ldexp(1, -24);
  std::vector<double> values(static_cast<size_t>(tensor.element_count()));
  for (double& value : values) {
    const double part = static_cast<double>(random() >> 40) * step;
    if (is_float(type)) {
      value = static_cast<float>(low + (high - low) * part);
      const double rounded = std::round(value * 4) / 4;
      if (coarse_ && rounded >= low && rounded <= high) value = rounded;
    } else {
      value = std::floor(std::ceil(low) + (std::floor(high) - std::ceil(low) + 1) * part);
    }
  }
  [[maybe_unused]] const Status status = store_doubles(values, tensor);
  assert(status.ok());
  return tensor;
}

Tensor Draw::list(ElementType type, const Ints& values) {
  return converted(Tensor::from<int64_t>({static_cast<int64_t>(values.size())},
                                         std::span<const int64_t>(values)),
                   type);
}

Tensor Draw::boxes(ElementType type, const Shape& shape, double extent, int64_t images) {
  const Tensor parts = tensor(ElementType::Float64, shape, 0, 1);
  Tensor result = *Tensor::allocate({ElementType::Float64, shape});
  const int64_t columns = shape.back();
  for (int64_t i = 0; i < result.element_count(); i += columns) {
    const double* part = parts.data<double>() + i;
    double* row = result.data<double>() + i;
    if (images > 0) {
      *row++ = std::min<double>(static_cast<double>(images - 1),
                                std::floor(*part++ * static_cast<double>(images)));
    }
    for (const int64_t axis : {0, 1}) {
      row[axis] = part[axis] * extent * 0.75;
      row[axis + 2] = row[axis] + (0.05 + part[axis + 2]) * extent * 0.5;
    }
  }
  return converted(result, type);
}

void Draw::input(Tensor content) {
  call_.inputs.push_back({std::move(content), below(4) == 3});
}

Tensor Draw::with_specials(Tensor plain) {
  if (specials_ == 0 || !is_float(plain.type()) || plain.element_count() == 0) return plain;
  std::mt19937_64 random(choices_.seed() * 37 + ++tensors_);
  std::vector<double> values = *to_double_vector(plain);
  const std::vector<double> specials = special_values(specials_, plain.type());
  bool some = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (random() % 8 != 0 && (some || i + 1 < values.size())) continue;
    values[i] = specials[random() % specials.size()];
    some = true;
  }
  [[maybe_unused]] const Status status = store_doubles(values, plain);
  assert(status.ok());
  return plain;
}

void Draw::input(ElementType type, const Shape& shape, double low, double high) {
  input(with_specials(tensor(type, shape, low, high)));
}

void Draw::weights(ElementType type, const Shape& shape, double low, double high) {
  call_.inputs.push_back({with_specials(tensor(type, shape, low, high)), below(4) != 0});
}

void Draw::ordinary_weights(ElementType type, const Shape& shape, double low, double high) {
  call_.inputs.push_back({tensor(type, shape, low, high), below(4) != 0});
}

void Draw::constant(Tensor content) {
  call_.inputs.push_back({std::move(content), true});
}

void Draw::ints(const Ints& values) {
  call_.inputs.push_back({list(ElementType::Int64, values), below(3) != 2});
}

void Draw::omit() {
  call_.inputs.push_back({});
}

void Draw::attribute(std::string name, Attribute value) {
  call_.attributes.set(std::move(name), std::move(value));
}

void Draw::attributes(std::string_view words) {
  if (words.empty()) return;
  for (const std::string& word : split(words, ' ')) {
    const size_t colon = word.find(':');
    const size_t equals = word.find('=');
    const std::string kind = word.substr(colon + 1, equals - colon - 1);
    const std::vector<std::string> choices = split(word.substr(equals + 1), '|');
    const std::string& text =
        choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
    if (text.empty()) continue;
    Ints integers;
    std::vector<float> floats;
    for (const std::string& part : split(text, ',')) {
      if (kind == "i" || kind == "is") integers.push_back(std::stoll(part));
      if (kind == "f" || kind == "fs") floats.push_back(std::stof(part));
    }
    Attribute value = text;
    if (kind == "i") value = integers[0];
    if (kind == "f") value = floats[0];
    if (kind == "is") value = integers;
    if (kind == "fs") value = floats;
    attribute(word.substr(0, colon), std::move(value));
  }
}

}  // namespace het::oracle
