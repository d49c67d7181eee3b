#include <numeric>

#include "inference/base/registration.h"
#include "inference/ops/movement/pad.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Result<std::vector<int64_t>> crop_axes(const Attributes& attributes, int64_t rank) {
  HET_TRY(check_attributes(attributes, {{"axes", AttributeType::Ints}}));
  if (attributes.has("axes")) return normalize_axes(attributes.get_ints("axes"), rank);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Status infer_center_crop_pad(InferContext& context) {
  HET_TRY(check_input(context, 0, "input_data", kWholeByteTypes));
  HET_ASSIGN(const std::vector<int64_t> axes, crop_axes(context.attributes(), context.rank(0)));
  HET_ASSIGN(const auto wanted, known_ints(context, 1, "shape"));
  Shape shape = context.shape(0);
  if (wanted && (wanted->size() != axes.size() || !is_static(*wanted))) {
    return error(StatusCode::InvalidArgument,
                 "shape {} must have one entry >= 0 for each of {} axes", to_string(*wanted),
                 axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    shape[static_cast<size_t>(axes[i])] = wanted ? (*wanted)[i] : kUnknownDim;
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Crops and padding are negative and positive pad widths; the odd element goes to the end when
/// padding and is cut from the end when cropping.
Status evaluate_center_crop_pad(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  PadWidths widths;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    const int64_t difference = y.shape()[d] - x.shape()[d];
    widths.begin.push_back(difference / 2);  // rounds towards zero: floor of what is cut or added
    widths.end.push_back(difference - difference / 2);
  }
  constexpr std::byte kZero[8] = {};
  write_padded(x, widths, PadMode::Constant, kZero, y);
  return {};
}

}  // namespace

HET_REGISTRATION void register_center_crop_pad(OpRegistry& registry) {
  registry.add({"CenterCropPad", "", 18, 2, 2, infer_center_crop_pad, evaluate_center_crop_pad});
}

}  // namespace het
