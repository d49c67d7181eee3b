#include "inference/model_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "inference/decoders/descriptors/model_metadata.h"
#include "inference/devices/ports.h"
#include "inference/ops/custom_operators.h"
#include "inference/passes/convert_ports.h"
#include "inference/passes/fold_preprocess.h"
#include "inference/passes/infer_shapes.h"

namespace het {
namespace {

Result<std::vector<std::string>> chosen_labels(const VisionModelSettings& settings) {
  if (!settings.labels.empty()) return settings.labels;
  if (!settings.labels_file.empty()) return read_labels(settings.labels_file);
  return std::vector<std::string>{};
}

/// Gives the user's library to the entries that ask for a custom decoder; without any entry it
/// reads the model alone.
Status assign_custom_library(const VisionModelSettings& settings, ModelProc& model_proc) {
  if (settings.custom_library.empty()) return {};
  if (model_proc.outputs.empty()) model_proc.outputs.emplace_back();
  bool used = false;
  for (DecoderConfig& config : model_proc.outputs) {
    if (config.converter.empty()) config.converter = "custom_to_tensor";
    if (config.converter != "custom_to_tensor" && config.converter != "custom_to_roi") continue;
    config.custom_library = settings.custom_library;
    used = true;
  }
  if (used) return {};
  return error(StatusCode::InvalidArgument,
               "custom-postproc-lib '{}' has nothing to read: every entry of output_postproc in "
               "'{}' names another converter; write custom_to_roi or custom_to_tensor there",
               settings.custom_library, settings.model_proc);
}

/// What the user says about pictures, in all entries that are pictures.
Status override_preparation(const VisionModelSettings& settings, ModelProc& model_proc) {
  if (settings.picture_preparation.empty()) return {};
  if (model_proc.inputs.empty()) model_proc.inputs.emplace_back();
  for (InputPreproc& input : model_proc.inputs) {
    if (input.format != "image") continue;
    HET_TRY(override_preparation(settings.picture_preparation, input));
  }
  return {};
}

/// Writes the shape that an input shall have into `shapes`: the user's wish, then the descriptor's,
/// then the file's.
Status bind_shape(const VisionModelSettings& settings, const BoundInput& input, const Value& value,
                  std::map<std::string, Shape>& shapes) {
  const Shape& declared = input.preproc.shape;
  Shape& shape = shapes.try_emplace(value.name(), value.desc().shape).first->second;
  if (!declared.empty() && declared.size() != shape.size())
    return error(StatusCode::ShapeMismatch,
                 "the model-proc's shape {} of input '{}' does not fit the model's {}",
                 to_string(declared), value.name(), to_string(value.desc()));
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    if (shape[axis] == kUnknownDim) shape[axis] = declared[axis];
  }
  if (input.preproc.format != "image" || shape.size() < 3) return {};
  const PictureAxes axes = picture_axes(input.preproc.preprocess, shape.size());
  if (settings.picture_width > 0) shape[axes.width] = settings.picture_width;
  if (settings.picture_height > 0) shape[axes.height] = settings.picture_height;
  for (const size_t axis : {axes.width, axes.height}) {
    if (shape[axis] == kUnknownDim && settings.unknown_side > 0)
      shape[axis] = settings.unknown_side;
  }
  return {};
}

/// Gives every input a static shape, or says which one lacks what.
Status bind_shapes(const VisionModelSettings& settings, const std::vector<BoundInput>& inputs,
                   const BoundInput& picture, Model& model) {
  const std::string& picture_name = model.inputs()[picture.index].value->name();
  std::map<std::string, Shape> shapes;
  for (const auto& [name, shape] : settings.reshape) {
    HET_ASSIGN(const size_t index, find_input(model, name));
    const Value& value = *model.inputs()[index].value;
    if (index == picture.index && (settings.picture_width > 0 || settings.picture_height > 0))
      return error(StatusCode::InvalidArgument,
                   "input '{}' of model '{}' is reshaped twice: to {} and by a picture size; give "
                   "one of them",
                   value.name(), model.name(), to_string(shape));
    if (shape.size() != value.desc().shape.size())
      return error(StatusCode::ShapeMismatch, "input '{}' of model '{}' is {}, it cannot become {}",
                   value.name(), model.name(), to_string(value.desc()), to_string(shape));
    Shape& bound = shapes[value.name()] = value.desc().shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != kUnknownDim) bound[axis] = shape[axis];
    }
  }
  for (const BoundInput& input : inputs)
    HET_TRY(bind_shape(settings, input, *model.inputs()[input.index].value, shapes));

  Shape& picture_shape = shapes.at(picture_name);
  if (picture_shape.size() == 4 && picture_shape[0] == kUnknownDim) picture_shape[0] = 1;
  for (const ModelInput& input : model.inputs()) {
    Shape& shape = shapes.try_emplace(input.value->name(), input.value->desc().shape).first->second;
    if (!shape.empty() && shape[0] == kUnknownDim)
      shape[0] = picture_shape.size() == 4 ? picture_shape[0] : 1;
    if (!is_static(shape))
      return error(StatusCode::InvalidArgument,
                   "input '{}' of model '{}' is {}: give its size by reshape-width and "
                   "reshape-height, or by \"shape\" in the model-proc file",
                   input.value->name(), model.name(), to_string(input.value->desc()));
  }
  return model.reshape(shapes);
}

/// The widths of the picture input's entry, where nobody says its width.
Result<std::vector<int>> open_widths(const VisionModelSettings& settings,
                                     const ModelReading& reading) {
  const InputPreproc& preproc = reading.picture.preproc;
  if (preproc.widths.empty() || settings.picture_width > 0) return std::vector<int>{};
  const Value& value = *reading.model->inputs()[reading.picture.index].value;
  if (settings.reshape.contains(value.name())) return std::vector<int>{};
  const Shape& shape = value.desc().shape;
  const bool is_picture = shape.size() >= 3;
  const size_t axis = is_picture ? picture_axes(preproc.preprocess, shape.size()).width : 0;
  if (is_picture && shape[axis] == kUnknownDim) return preproc.widths;
  if (!settings.model_proc.empty())
    return error(StatusCode::InvalidArgument,
                 "'{}' has widths for input '{}' {}, whose width is known", settings.model_proc,
                 value.name(), to_string(value.desc()));
  return std::vector<int>{};
}

/// The metadata's entry for the picture input: the only input of rank 4 with three channels first
/// may take its size from it.
InputPreproc input_of_metadata(const ModelMetadata& metadata, const Model& model) {
  InputPreproc input = *metadata.input;
  const bool planar =
      std::any_of(model.inputs().begin(), model.inputs().end(), [](const ModelInput& candidate) {
        const Shape& shape = candidate.value->desc().shape;
        return shape.size() == 4 && shape[1] == 3;
      });
  if (!planar) input.shape.clear();
  return input;
}

/// What is usual with who reads the results, or what the published model wants.
PictureAssumption assumption_for(const DecoderChoice& choice, const Model& model,
                                 const Value& picture) {
  PictureAssumption assumed = assume_pictures(choice.configs.front(), model, picture);
  if (choice.plain_pictures)
    assumed = PictureAssumption{.reason = "as the published model wants them"};
  if (choice.pictures)
    assumed = PictureAssumption{*choice.pictures, "as the published model wants them"};
  assumed.input.layer_name = picture.name();
  return assumed;
}

/// Before the model is compiled, since what reads the results tells how pictures get in.
Status decide(const VisionModelSettings& settings, const ModelPreparation& preparation,
              ModelReading& reading) {
  const std::unique_ptr<Model> shaped = reading.model->clone();
  // What does not infer does not compile, which says why.
  if (settings.raw_tensors || !infer_shapes(*shaped).ok()) return {};
  HET_TRY(apply_preprocess(reading.model_proc, *shaped));  // tells the size of the picture
  reading.input_ports = input_ports(*shaped);
  reading.output_ports = with_declared_sizes(output_ports(*shaped), *reading.model);
  reading.choice = reading.choose(*shaped, reading.input_ports, reading.output_ports);
  // Who prepares the model's channels, means and scales knows which pictures it gets.
  const bool prepared =
      preparation.reverse_channels || !preparation.mean.empty() || !preparation.scale.empty();
  const bool open = !prepared && settings.model_proc.empty() &&
                    settings.picture_preparation.empty() && reading.model_proc.outputs.empty();
  const bool unsaid = open && !reading.metadata.input && !reading.metadata.plain_pictures;
  const bool resize_unsaid = open && reading.metadata.input && reading.metadata.is_resize_open;
  if ((!unsaid && !resize_unsaid) || !reading.choice) return {};
  const Value& picture = *shaped->inputs()[reading.picture.index].value;
  const PictureAssumption assumed = assumption_for(*reading.choice, *shaped, picture);
  if (unsaid) {
    reading.assumed = assumed;
    reading.prepared = assumed.reason;
    reading.model_proc.inputs = {assumed.input};
  } else {
    PreprocessDesc& desc = reading.model_proc.inputs.front().preprocess;
    desc.resize = assumed.input.preprocess.resize;
    desc.pad_value = assumed.input.preprocess.pad_value;
    reading.prepared += ", resized " + assumed.reason;
  }
  HET_ASSIGN(reading.inputs, bind_inputs(reading.model_proc, *reading.model));
  HET_ASSIGN(reading.picture, picture_input(reading.inputs, *reading.model));
  return {};
}

}  // namespace

Result<DecoderChoice> ModelReading::choose(const Model& graph,
                                           const std::vector<Port>& graph_inputs,
                                           const std::vector<Port>& graph_outputs) const {
  return choose_decoders(model_proc, metadata, graph, graph_inputs, graph_outputs, labels);
}

Result<ModelReading> read_vision_model(Core& core, const VisionModelSettings& settings) {
  HET_TRY(load_extensions(settings.properties));
  ModelReading reading{.choice = error(StatusCode::NotFound, "not chosen yet")};
  HET_ASSIGN(reading.model, core.read_model(settings.model));
  Model& model = *reading.model;
  reading.properties = settings.properties;
  HET_ASSIGN(const ModelPreparation preparation, take_preparation(reading.properties));
  HET_TRY(apply(preparation, model)
              .with_context(fmt::format("cannot prepare model '{}'", settings.model)));
  if (!settings.model_proc.empty()) {
    HET_ASSIGN(reading.model_proc, read_model_proc(settings.model_proc));
  }
  reading.metadata = read_model_metadata(model, settings.model);
  reading.metadata.file_stem = std::filesystem::path(settings.model).stem().string();
  if (reading.model_proc.inputs.empty() && reading.metadata.input.has_value()) {
    reading.model_proc.inputs.push_back(input_of_metadata(reading.metadata, model));
    reading.prepared = "as " + reading.metadata.source + " say";
  }
  HET_TRY(override_preparation(settings, reading.model_proc));
  HET_TRY(assign_custom_library(settings, reading.model_proc));
  HET_ASSIGN(reading.labels, chosen_labels(settings));
  HET_ASSIGN(reading.inputs, bind_inputs(reading.model_proc, model));
  HET_ASSIGN(reading.picture, picture_input(reading.inputs, model));
  if (reading.inputs.size() != model.inputs().size())
    return error(
        StatusCode::InvalidArgument,
        "model '{}' has {} inputs, {} of them are filled; describe the others in "
        "input_preproc of a model-proc file (format image_info, sequence_index or constant)",
        settings.model, model.inputs().size(), reading.inputs.size());
  HET_ASSIGN(reading.widths, open_widths(settings, reading));
  VisionModelSettings bound = settings;
  if (!reading.widths.empty()) bound.picture_width = reading.widths.back();
  HET_TRY(bind_shapes(bound, reading.inputs, reading.picture, model));
  const size_t index = reading.picture.index;
  if (const auto& fourth = reading.picture.preproc.fourth_channel) {
    const bool last = reading.picture.preproc.preprocess.tensor_layout == Layout::NHWC;
    HET_TRY(append_constant_channel(model, index, last ? 3 : 1, *fourth));
  }
  // Pictures of wider integers (MoveNet's of int32) are bytes that a Cast widens.
  const ElementType type = model.inputs()[index].value->desc().type;
  if (!is_float(type) && bit_width(type) > 8) {
    HET_TRY(set_input_type(model, index, ElementType::UInt8));
  }
  HET_TRY(decide(settings, preparation, reading));
  if (reading.picture.preproc.is_bytes && is_float(model.inputs()[index].value->desc().type)) {
    HET_TRY(set_input_type(model, index, ElementType::UInt8));
  }
  HET_TRY(apply_preprocess(reading.model_proc, model));
  // Pictures of bytes cannot be normalised on their way in: the model does it.
  HET_ASSIGN(const bool is_moved, move_normalisation(model, index));
  if (is_moved || preparation.fold_preprocess) fold_preprocess(model);
  return reading;
}

}  // namespace het
