#include "inference/ops/movement/slice.h"

#include <algorithm>
#include <numeric>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

/// Position `value` of a dimension of length `dim`, counted from the end when negative and clamped
/// to [low, high].
int64_t clamp_position(int64_t value, int64_t dim, int64_t low, int64_t high) {
  if (value < 0) value += dim;  // cannot overflow: value < 0 <= dim
  return std::clamp(value, low, high);
}

int64_t count_steps(int64_t start, int64_t end, int64_t step) {
  if (step > 0) return end > start ? (end - start - 1) / step + 1 : 0;
  // -(step + 1) + 1 would overflow for the smallest step; dividing by it gives 0 and count 1.
  return start > end ? (start - end - 1) / (step == INT64_MIN ? INT64_MAX : -step) + 1 : 0;
}

Result<std::vector<int64_t>> optional_ints(const Tensor* tensor) {
  if (tensor == nullptr) return std::vector<int64_t>();
  return to_int64_vector(*tensor);
}

Status infer_slice(InferContext& context) {
  constexpr std::string_view kNames[] = {"data", "starts", "ends", "axes", "steps"};
  HET_TRY(check_input(context, 0, kNames[0], kWholeByteTypes));
  bool known = true;
  for (size_t i = 1; i < 5; ++i) {
    if (i > 2 && !context.has_input(i)) continue;
    HET_ASSIGN(const auto values, known_ints(context, i, kNames[i]));
    known = known && values.has_value();
  }
  if (!known) {
    context.set_output(0, context.type(0), unknown_shape(context.rank(0)));
    return {};
  }
  HET_ASSIGN(SliceRange range,
             slice_range(context.shape(0), *context.constant(1), *context.constant(2),
                         context.constant(3), context.constant(4)));
  context.set_output(0, context.type(0), std::move(range.shape));
  return {};
}

Status evaluate_slice(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const SliceRange range,
             slice_range(x.shape(), context.input(1), context.input(2), optional_input(context, 3),
                         optional_input(context, 4)));
  if (y.element_count() == 0) return {};
  std::vector<int64_t> strides = row_major_strides(x.shape());
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    offset += range.starts[d] * strides[d];
    // A single element needs no step, which may be too large to multiply.
    strides[d] = range.shape[d] == 1 ? 0 : strides[d] * range.steps[d];
  }
  const size_t width = byte_width(x.type());
  strided_copy(range.shape, width, x.bytes() + offset * static_cast<int64_t>(width), strides,
               y.bytes(), row_major_strides(range.shape));
  return {};
}

}  // namespace

Result<SliceRange> slice_range(const Shape& input, const std::vector<int64_t>& starts,
                               const std::vector<int64_t>& ends, std::vector<int64_t> axes,
                               std::vector<int64_t> steps) {
  const size_t count = starts.size();
  if (axes.empty() && count <= input.size()) {
    axes.resize(count);
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(count, 1);
  if (ends.size() != count || axes.size() != count || steps.size() != count) {
    return error(StatusCode::ShapeMismatch,
                 "{} starts, {} ends, {} axes and {} steps for a tensor of shape {}: they must be "
                 "equally many, one per sliced axis",
                 count, ends.size(), axes.size(), steps.size(), to_string(input));
  }
  HET_ASSIGN(axes, normalize_axes(axes, static_cast<int64_t>(input.size())));
  SliceRange range{std::vector<int64_t>(input.size(), 0), std::vector<int64_t>(input.size(), 1),
                   input};
  for (size_t i = 0; i < count; ++i) {
    const auto d = static_cast<size_t>(axes[i]);
    const int64_t dim = input[d];
    const int64_t step = steps[i];
    if (step == 0) {
      return error(StatusCode::InvalidArgument, "the step of axis {} is 0", axes[i]);
    }
    if (dim > 0) {
      // Backwards a slice cannot start behind the last element and ends before element 0, at -1.
      const int64_t last = step > 0 ? dim : dim - 1;
      const int64_t start = clamp_position(starts[i], dim, 0, last);
      const int64_t end = clamp_position(ends[i], dim, step > 0 ? 0 : -1, last);
      range.shape[d] = count_steps(start, end, step);
      range.starts[d] = range.shape[d] == 0 ? 0 : start;
    }
    range.steps[d] = step;
  }
  return range;
}

Result<SliceRange> slice_range(const Shape& input, const Tensor& starts, const Tensor& ends,
                               const Tensor* axes, const Tensor* steps) {
  HET_ASSIGN(const std::vector<int64_t> start_values, to_int64_vector(starts));
  HET_ASSIGN(const std::vector<int64_t> end_values, to_int64_vector(ends));
  HET_ASSIGN(std::vector<int64_t> axis_values, optional_ints(axes));
  HET_ASSIGN(std::vector<int64_t> step_values, optional_ints(steps));
  return slice_range(input, start_values, end_values, std::move(axis_values),
                     std::move(step_values));
}

HET_REGISTRATION void register_slice(OpRegistry& registry) {
  registry.add({"Slice", "", 13, 3, 5, infer_slice, evaluate_slice});
}

}  // namespace het
