#include "inference/ops/movement/pad.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Result<std::vector<int64_t>> axes_of(const Tensor* axes) {
  if (axes == nullptr) return std::vector<int64_t>();
  HET_ASSIGN(std::vector<int64_t> values, to_int64_vector(*axes));
  return values;
}

Status infer_pad(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  HET_ASSIGN(const PadMode mode, pad_mode(context.attributes()));
  HET_ASSIGN(const auto pads, known_ints(context, 1, "pads"));
  if (context.has_input(2)) {
    HET_TRY(check_input(context, 2, "constant_value", kWholeByteTypes));
    HET_TRY(check_same_type(context, 0, 2));
    HET_ASSIGN(const int64_t count, checked_element_count(context.shape(2)));
    if (count > 1) {
      return error(StatusCode::ShapeMismatch, "constant_value has shape {}, but must be a scalar",
                   to_string(context.shape(2)));
    }
  }
  std::vector<int64_t> axes;
  bool known = pads.has_value();
  if (context.has_input(3)) {
    HET_ASSIGN(const auto values, known_ints(context, 3, "axes"));
    known = known && values.has_value();
    if (known) axes = *values;
    // No axes at all is not the same as all axes.
    if (known && axes.empty()) {
      context.set_output(0, context.type(0), context.shape(0));
      return {};
    }
  }
  if (!known) {
    context.set_output(0, context.type(0), unknown_shape(context.rank(0)));
    return {};
  }
  HET_ASSIGN(const PadWidths widths, pad_widths(context.shape(0), *pads, axes));
  HET_ASSIGN(Shape shape, padded_shape(context.shape(0), widths, mode));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Copies the row along the last dimension that lies at `offset` of the input, or fills it.
void write_row(const Tensor& x, const std::vector<int64_t>& sources, bool inside, int64_t offset,
               const std::byte* fill, std::byte* dst) {
  const size_t width = byte_width(x.type());
  for (const int64_t source : sources) {
    const std::byte* src =
        inside && source >= 0 ? x.bytes() + static_cast<size_t>(offset + source) * width : fill;
    std::memcpy(dst, src, width);
    dst += width;
  }
}

Status evaluate_pad(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  std::byte fill[8] = {};
  const size_t width = byte_width(x.type());
  if (context.has_input(2) && context.input(2).element_count() == 1) {
    std::memcpy(fill, context.input(2).bytes(), width);
  }
  HET_ASSIGN(const PadMode mode, pad_mode(context.attributes()));
  HET_ASSIGN(std::vector<int64_t> pads, to_int64_vector(context.input(1)));
  HET_ASSIGN(const std::vector<int64_t> axes,
             axes_of(context.has_input(3) ? &context.input(3) : nullptr));
  if (context.has_input(3) && axes.empty()) pads.assign(2 * x.shape().size(), 0);
  HET_ASSIGN(const PadWidths widths, pad_widths(x.shape(), pads, axes));
  write_padded(x, widths, mode, fill, y);
  return {};
}

}  // namespace

Result<PadMode> pad_mode(const Attributes& attributes) {
  HET_TRY(check_attributes(attributes, {{"mode", AttributeType::String}}));
  const std::string mode = attributes.get_string("mode", "constant");
  if (mode == "constant") return PadMode::Constant;
  if (mode == "reflect") return PadMode::Reflect;
  if (mode == "edge") return PadMode::Edge;
  if (mode == "wrap") return PadMode::Wrap;
  return error(StatusCode::InvalidArgument,
               "mode is '{}', but must be constant, reflect, edge or wrap", mode);
}

Result<PadWidths> pad_widths(const Shape& input, const std::vector<int64_t>& pads,
                             const std::vector<int64_t>& axes) {
  std::vector<int64_t> chosen(input.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (!axes.empty()) {
    HET_ASSIGN(chosen, normalize_axes(axes, static_cast<int64_t>(input.size())));
  }
  if (pads.size() != 2 * chosen.size()) {
    return error(StatusCode::ShapeMismatch,
                 "pads has {} entries, but a begin and an end for each of {} axes are needed",
                 pads.size(), chosen.size());
  }
  PadWidths widths{std::vector<int64_t>(input.size()), std::vector<int64_t>(input.size())};
  for (size_t i = 0; i < chosen.size(); ++i) {
    widths.begin[static_cast<size_t>(chosen[i])] = pads[i];
    widths.end[static_cast<size_t>(chosen[i])] = pads[chosen.size() + i];
  }
  return widths;
}

Result<Shape> padded_shape(const Shape& input, const PadWidths& widths, PadMode mode) {
  Shape shape = input;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t begin = widths.begin[d];
    const int64_t end = widths.end[d];
    const bool overflow = __builtin_add_overflow(shape[d], begin, &shape[d]) ||
                          __builtin_add_overflow(shape[d], end, &shape[d]);
    // Each side can remove at most what is there.
    if (overflow || shape[d] < 0 || begin < -input[d] || end < -input[d]) {
      return error(StatusCode::InvalidArgument, "cannot pad dimension {} of shape {} by {} and {}",
                   d, to_string(input), begin, end);
    }
    const int64_t left = input[d] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    if (mode != PadMode::Constant && left <= 0 && shape[d] > 0) {
      return error(StatusCode::InvalidArgument,
                   "dimension {} of shape {} has nothing to repeat in its padding by {} and {}", d,
                   to_string(input), begin, end);
    }
  }
  return shape;
}

std::vector<int64_t> pad_sources(int64_t dim, int64_t begin, int64_t end, PadMode mode) {
  const int64_t first = std::max<int64_t>(-begin, 0);
  const int64_t left = dim - first - std::max<int64_t>(-end, 0);
  std::vector<int64_t> sources(static_cast<size_t>(dim + begin + end));
  for (size_t i = 0; i < sources.size(); ++i) {
    int64_t position = static_cast<int64_t>(i) - std::max<int64_t>(begin, 0);
    if (position < 0 || position >= left) {
      const int64_t period = mode == PadMode::Wrap ? left : std::max<int64_t>(2 * (left - 1), 1);
      switch (mode) {
        case PadMode::Constant:
          position = -1 - first;
          break;
        case PadMode::Edge:
          position = std::clamp<int64_t>(position, 0, left - 1);
          break;
        case PadMode::Reflect:
        case PadMode::Wrap:
          position = ((position % period) + period) % period;
          if (position >= left) position = period - position;
          break;
      }
    }
    sources[i] = position + first;
  }
  return sources;
}

void write_padded(const Tensor& x, const PadWidths& widths, PadMode mode, const std::byte* fill,
                  Tensor& y) {
  if (y.element_count() == 0) return;
  const size_t width = byte_width(x.type());
  const size_t rank = x.shape().size();
  if (rank == 0) {
    std::memcpy(y.bytes(), x.bytes(), width);
    return;
  }
  std::vector<std::vector<int64_t>> sources;
  for (size_t d = 0; d < rank; ++d) {
    sources.push_back(pad_sources(x.shape()[d], widths.begin[d], widths.end[d], mode));
  }
  const std::vector<int64_t> strides = row_major_strides(x.shape());
  const auto row_length = static_cast<size_t>(y.shape().back());
  const size_t rows = static_cast<size_t>(y.element_count()) / row_length;
  std::vector<size_t> position(rank);
  for (size_t row = 0; row < rows; ++row) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d + 1 < rank; ++d) {
      const int64_t source = sources[d][position[d]];
      inside = inside && source >= 0;
      offset += source * strides[d];
    }
    write_row(x, sources.back(), inside, offset, fill, y.bytes() + row * row_length * width);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++position[d] < sources[d].size()) break;
      position[d] = 0;
    }
  }
}

HET_REGISTRATION void register_pad(OpRegistry& registry) {
  registry.add({"Pad", "", 25, 2, 4, infer_pad, evaluate_pad});
}

}  // namespace het
