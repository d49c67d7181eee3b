#include "inference/decoders/model_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace het {
namespace {

bool is_channels(int64_t dim) {
  return dim == 1 || dim == 3;
}

/// NCHW or NHWC by where the channels are; NCHW wins where both fit.
std::optional<Layout> layout_of(const Shape& shape) {
  if (shape.size() != 3 && shape.size() != 4) return std::nullopt;
  if (is_channels(shape[shape.size() - 3])) return Layout::NCHW;
  if (is_channels(shape.back())) return Layout::NHWC;
  return std::nullopt;
}

bool looks_like_picture(const Shape& shape) {
  return shape.size() == 4 && layout_of(shape);
}

std::string describe_inputs(const Model& model) {
  std::string text;
  for (const ModelInput& input : model.inputs())
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", input.value->name(),
                        to_string(input.value->desc()));
  return text.empty() ? "no inputs" : text;
}

/// Layout and grey where the descriptor leaves them to the input.
void complete(InputPreproc& preproc, const TensorDesc& desc) {
  const Shape& shape = desc.shape;
  if (preproc.format != "image") return;
  if (!preproc.layout_given) {
    if (desc.layout == Layout::NCHW || desc.layout == Layout::NHWC) {
      preproc.preprocess.tensor_layout = desc.layout;
    } else if (const auto layout = layout_of(shape)) {
      preproc.preprocess.tensor_layout = *layout;
    }
  }
  if (preproc.color_given || shape.size() < 3) return;
  const bool last = preproc.preprocess.tensor_layout == Layout::NHWC;
  const int64_t channels = last ? shape.back() : shape[shape.size() - 3];
  if (channels == 1) preproc.preprocess.color_order = ColorOrder::Gray;
}

/// Inputs that take no picture, by the names that their exporters give them: the picture's size of
/// RT-DETR and its relatives, of Open Model Zoo's two-stage detectors and of PaddleDetection (whose
/// scale_factor is 1), the sequence of Open Model Zoo's readers of licence plates.
std::optional<InputPreproc> known_input(const std::string& name) {
  if (name == "seq_ind" || name == "scale_factor") {
    InputPreproc sequence;
    sequence.layer_name = name;
    sequence.format = "sequence_index";
    return sequence;
  }
  const bool width_first = name == "orig_target_sizes";
  if (!width_first && name != "image_info" && name != "im_info" && name != "im_shape" &&
      name != "image_shape")
    return std::nullopt;
  InputPreproc entry;
  entry.layer_name = name;
  entry.format = "image_info";
  entry.width_first = width_first;
  return entry;
}

/// The input that an entry without a name means: the only one of its kind that is not taken.
Result<size_t> only_input(const InputPreproc& entry, const Model& model,
                          const std::vector<bool>& taken) {
  std::vector<size_t> fitting;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const bool picture = looks_like_picture(model.inputs()[i].value->desc().shape);
    if (!taken[i] && picture == (entry.format == "image")) fitting.push_back(i);
  }
  if (fitting.size() == 1) return fitting.front();
  // A model with one input has no choice, whatever its shape.
  if (fitting.empty() && model.inputs().size() == 1 && !taken[0]) return size_t{0};
  return error(StatusCode::InvalidArgument,
               "input_preproc entry of format '{}' without layer_name: {} inputs fit among {}; "
               "name one",
               entry.format, fitting.size(), describe_inputs(model));
}

}  // namespace

Result<std::vector<BoundInput>> bind_inputs(const ModelProc& model_proc, const Model& model) {
  std::vector<BoundInput> bound;
  std::vector<bool> taken(model.inputs().size(), false);
  const auto claim = [&](size_t index, const InputPreproc& entry) -> Status {
    const Value& value = *model.inputs()[index].value;
    if (taken[index])
      return error(StatusCode::InvalidArgument, "two input_preproc entries describe input '{}'",
                   value.name());
    taken[index] = true;
    bound.push_back({index, entry});
    complete(bound.back().preproc, value.desc());
    return {};
  };
  for (const InputPreproc& entry : model_proc.inputs) {
    if (entry.layer_name.empty()) continue;
    HET_ASSIGN(const size_t index, find_input(model, entry.layer_name));
    HET_TRY(claim(index, entry));
  }
  for (const InputPreproc& entry : model_proc.inputs) {
    if (!entry.layer_name.empty()) continue;
    HET_ASSIGN(const size_t index, only_input(entry, model, taken));
    HET_TRY(claim(index, entry));
  }
  const bool described = std::any_of(bound.begin(), bound.end(), [](const BoundInput& input) {
    return input.preproc.format == "image";
  });
  for (size_t i = 0; i < model.inputs().size() && !described; ++i) {
    if (!taken[i] && looks_like_picture(model.inputs()[i].value->desc().shape))
      HET_TRY(claim(i, InputPreproc{}));
  }
  // A picture without a batch, which only an input that is alone is taken for.
  if (!described && bound.empty() && model.inputs().size() == 1 &&
      model.inputs()[0].value->desc().shape.size() == 3 &&
      layout_of(model.inputs()[0].value->desc().shape))
    HET_TRY(claim(0, InputPreproc{}));
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const std::optional<InputPreproc> known = known_input(model.inputs()[i].value->name());
    if (!taken[i] && known) HET_TRY(claim(i, *known));
  }
  std::sort(bound.begin(), bound.end(),
            [](const BoundInput& a, const BoundInput& b) { return a.index < b.index; });
  return bound;
}

Result<BoundInput> picture_input(const std::vector<BoundInput>& inputs, const Model& model) {
  std::vector<const BoundInput*> pictures;
  for (const BoundInput& input : inputs) {
    if (input.preproc.format == "image") pictures.push_back(&input);
  }
  if (pictures.size() == 1) return *pictures.front();
  return error(
      StatusCode::InvalidArgument,
      "model '{}' needs exactly one picture input (rank 4 with 1 or 3 channels), {} fit "
      "among {}; {}",
      model.name(), pictures.size(), describe_inputs(model),
      pictures.size() > 1
          ? "a network of several pictures, such as of both eyes, cannot be fed with one; "
            "where only one is a picture, describe it in input_preproc of a model-proc file"
          : "describe it in input_preproc of a model-proc file");
}

PictureAxes picture_axes(const PreprocessDesc& desc, size_t rank) {
  const size_t last = desc.tensor_layout == Layout::NHWC ? rank - 2 : rank - 1;
  return {last - 1, last};
}

Status apply_preprocess(const ModelProc& model_proc, Model& model) {
  HET_ASSIGN(const std::vector<BoundInput> inputs, bind_inputs(model_proc, model));
  for (const BoundInput& input : inputs) {
    if (input.preproc.format != "image") continue;
    const Value& value = *model.inputs()[input.index].value;
    if (Status status = validate(input.preproc.preprocess, value.desc()); !status.ok())
      return status.with_context(
          fmt::format("preprocessing of input '{}' of model '{}'", value.name(), model.name()));
    model.set_preprocess(input.index, input.preproc.preprocess);
  }
  return {};
}

}  // namespace het
