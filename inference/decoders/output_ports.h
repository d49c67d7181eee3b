#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het {

/// The outputs that `config` names, in its order; all of them when it names none. Fails when a
/// layer does not exist, listing those that do.
Result<std::vector<size_t>> select_outputs(const DecoderConfig& config,
                                           const std::vector<Port>& outputs);

/// The same where a converter reads exactly one output.
Result<size_t> select_single_output(const DecoderConfig& config, const std::vector<Port>& outputs);

/// True when nothing is known of the output before an execution; its tensor is checked then.
bool is_sized_at_run_time(const Port& port);

/// One dimension of an output, unknown where the output is sized at run time.
int64_t dimension(const Port& port, size_t axis);

/// A shape to compare with, as a Shape or in braces: a view, so that reading an output allocates
/// nothing.
class ShapePattern {
 public:
  ShapePattern(std::initializer_list<int64_t> dims) : dims_(dims.begin(), dims.size()) {}
  ShapePattern(const Shape& shape) : dims_(shape) {}
  size_t size() const { return dims_.size(); }
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  std::string text() const { return to_string(Shape(dims_.begin(), dims_.end())); }

 private:
  std::span<const int64_t> dims_;
};

/// True when ranks agree and every dimension of `pattern` that is known equals the shape's; an
/// unknown dimension of the shape agrees with everything.
bool matches(const Shape& shape, ShapePattern pattern);

/// Fails unless matches() or is_sized_at_run_time(), naming converter, output and both shapes.
Status expect_shape(std::string_view converter, const Port& port, ShapePattern pattern);
/// The same for the tensor that an execution left, which may have been sized at run time.
Status expect_shape(std::string_view converter, const Tensor& tensor, ShapePattern pattern);

/// "'boxes' float32[1,4420,4], 'scores' float32[1,4420,2]"
std::string describe(const std::vector<Port>& outputs, const std::vector<size_t>& selected);

/// What the results of each selected output are called: the descriptor's attribute_name, else the
/// layer's name.
std::vector<std::string> attribute_names(const DecoderConfig& config,
                                         const std::vector<Port>& outputs,
                                         const std::vector<size_t>& selected);

/// Fails when labels are given but their number is not `classes` (unknown: not checked).
Status expect_labels(const DecoderConfig& config, int64_t classes);

/// Width and height of the model's picture input as far as known.
struct InputSize {
  int64_t width = kUnknownDim;
  int64_t height = kUnknownDim;
};
InputSize picture_input_size(const std::vector<Port>& inputs);
/// Number of pictures that one execution takes, as far as known.
int64_t picture_batch(const std::vector<Port>& inputs);
/// Fails where the first dimension of an output is known not to be that number: steps, objects or
/// rows that a converter would take for pictures.
Status expect_batch(std::string_view converter, const std::vector<Port>& inputs, const Port& port);

}  // namespace het
