#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model/attributes.h"
#include "inference/tensors/tensor.h"
#include "tests/oracle/choices.h"

namespace het::oracle {

/// Types of operators, as a Generator's list has them.
inline constexpr std::string_view kFloats = "f32 f16 f64 bf16";
inline constexpr std::string_view kSummed = "f32 f16 f64 bf16 i32 i64 u32 u64";

using Ints = std::vector<int64_t>;

struct Argument {
  Tensor content;         ///< empty: omitted
  bool constant = false;  ///< part of the model, not given at run time
};

/// The same values in another type.
Tensor converted(const Tensor& tensor, ElementType type);

/// One call of an operator.
struct Call {
  std::vector<Argument> inputs;
  Attributes attributes;
  size_t outputs = 1;
};

struct Generator;

/// What a generator makes a Call with. Every decision goes through Choices.
class Draw {
 public:
  Draw(const Generator& generator, Choices& choices);

  const Generator& generator() const { return generator_; }
  Call& call() { return call_; }
  Choices& choices() { return choices_; }

  int64_t below(int64_t bound) { return choices_.below(bound); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool flag() { return below(2) != 0; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  /// One of the words.
  std::string word(std::string_view words);
  /// One of the types named, or of the generator's.
  ElementType type(std::string_view names);
  ElementType type();

  /// A dimension: 1 to 5, now and then 8, 9, 16 or 17; in one case of eight it may be 0, and in one
  /// it is 1 throughout.
  int64_t dim();
  /// The same without 0.
  int64_t size();
  /// Up to 4096 elements.
  Shape shape(int64_t min_rank = 0, int64_t max_rank = 4);
  /// A shape that broadcasts to this one: with ones, or with leading dimensions left out.
  Shape broadcastable(const Shape& shape);
  /// In [-rank, rank).
  int64_t axis(int64_t rank);
  /// Some of the axes of a rank in any order, at least `least`; possibly negative.
  Ints axes(int64_t rank, int64_t least = 0);
  /// The numbers below n in any order.
  Ints permutation(int64_t n);

  /// Random content within [low, high], cut to what the type holds. Of the types below a byte and
  /// the narrow floats any bits.
  Tensor tensor(ElementType type, const Shape& shape, double low = -2, double high = 2);
  /// Integers of any type up to int64.
  static Tensor list(ElementType type, const Ints& values);

  /// Rows [x1, y1, x2, y2] with x1 < x2 and y1 < y2, both below 1.3 times `extent`, in the last
  /// dimension; each begins with the number of one of `images` when there are any.
  Tensor boxes(ElementType type, const Shape& shape, double extent, int64_t images = 0);

  /// Inputs in order. Most are given at run time, some are constants; weights are the reverse. In
  /// one case of four some of their floats are NaN, infinities, zeros or subnormal numbers, except
  /// where special_values.h says that no result is defined.
  void input(Tensor content);
  void input(ElementType type, const Shape& shape, double low = -2, double high = 2);
  void weights(ElementType type, const Shape& shape, double low = -2, double high = 2);
  void constant(Tensor content);
  /// As weights(), ordinary numbers always: of scales, which have to be positive, and of kernels
  /// over padding, where ONNX leaves it open what 0 times NaN counts.
  void ordinary_weights(ElementType type, const Shape& shape, double low, double high);
  /// An int64 vector: a constant or known at run time only.
  void ints(const Ints& values);
  void omit();

  void attribute(std::string name, Attribute value);
  /// Words NAME:KIND=CHOICE|CHOICE with the kinds i, f, s, is (integers), fs (floats). An empty
  /// choice leaves the attribute out.
  void attributes(std::string_view words);

 private:
  /// What dimensions may be, beside sizes of 1 and more.
  enum class Sizes : uint8_t { Any, One, Zero };

  /// The tensor with some of its floats replaced.
  Tensor with_specials(Tensor plain);

  const Generator& generator_;
  Choices& choices_;
  Call call_;
  Sizes sizes_;
  uint8_t specials_;  ///< of special_values.h
  bool coarse_;       ///< floats are multiples of a quarter: ties and exact halves
  uint64_t tensors_ = 0;
};

}  // namespace het::oracle
