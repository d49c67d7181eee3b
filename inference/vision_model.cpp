#include "inference/vision_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "inference/base/log.h"
#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/descriptors/model_metadata.h"
#include "inference/decoders/model_inputs.h"
#include "inference/decoders/name_list.h"
#include "inference/decoders/picture_assumption.h"
#include "inference/devices/ports.h"
#include "inference/model_preparation.h"
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

/// Entries that leave tensors stay; others become copies of the outputs that they are about.
void copy_outputs(ModelProc& model_proc) {
  if (model_proc.outputs.empty()) model_proc.outputs.emplace_back();
  for (DecoderConfig& config : model_proc.outputs) {
    if (!leaves_tensors(config.converter)) config.converter = "raw_data_copy";
  }
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

template <class T>
void fill(Tensor& tensor, const std::vector<float>& row) {
  const std::span<T> values = tensor.values<T>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(row[i % row.size()]);
}

/// The content of an input that is no picture: every batch item is `row`.
Result<Tensor> make_fixed_input(const Port& port, const std::vector<float>& row) {
  HET_ASSIGN(Tensor tensor, Tensor::allocate(port.desc));
  switch (port.desc.type) {
    case ElementType::Float32:
      fill<float>(tensor, row);
      return tensor;
    case ElementType::Float64:
      fill<double>(tensor, row);
      return tensor;
    case ElementType::Float16:
      fill<Float16>(tensor, row);
      return tensor;
    case ElementType::Int64:
      fill<int64_t>(tensor, row);
      return tensor;
    case ElementType::Int32:
      fill<int32_t>(tensor, row);
      return tensor;
    default:
      return error(StatusCode::NotSupported,
                   "input '{}' {} cannot hold sizes or indices; float32, float64, float16, int64 "
                   "and int32 can",
                   port.name, to_string(port.desc));
  }
}

/// DL Streamer's rules: image_info is the size of the picture input, then `scale`; sequence_index
/// is all ones.
Result<Tensor> fixed_input(const Port& port, const InputPreproc& preproc, int width, int height) {
  if (preproc.format == "sequence_index") return make_fixed_input(port, {1.0f});
  const int64_t values = port.desc.shape.empty() ? 0 : port.desc.shape.back();
  if (values < 2 || values > 64)
    return error(StatusCode::ShapeMismatch,
                 "input '{}' {} cannot be image_info: its last dimension has to hold the size and "
                 "perhaps a scale",
                 port.name, to_string(port.desc));
  std::vector<float> row(static_cast<size_t>(values), preproc.scale);
  row[0] = static_cast<float>(preproc.width_first ? width : height);
  row[1] = static_cast<float>(preproc.width_first ? height : width);
  return make_fixed_input(port, row);
}

}  // namespace

Result<std::shared_ptr<VisionModel>> VisionModel::load(Core& core,
                                                       const VisionModelSettings& settings) {
  HET_TRY(load_extensions(settings.properties));
  HET_ASSIGN(const std::unique_ptr<Model> model, core.read_model(settings.model));
  Properties properties = settings.properties;
  HET_ASSIGN(const ModelPreparation preparation, take_preparation(properties));
  HET_TRY(apply(preparation, *model)
              .with_context(fmt::format("cannot prepare model '{}'", settings.model)));
  ModelProc model_proc;
  if (!settings.model_proc.empty()) {
    HET_ASSIGN(model_proc, read_model_proc(settings.model_proc));
  }
  const ModelMetadata metadata = read_model_metadata(*model, settings.model);
  const bool prepared_by_metadata = model_proc.inputs.empty() && metadata.input.has_value();
  if (prepared_by_metadata) model_proc.inputs.push_back(input_of_metadata(metadata, *model));
  HET_TRY(override_preparation(settings, model_proc));
  HET_TRY(assign_custom_library(settings, model_proc));
  if (settings.copy_outputs) copy_outputs(model_proc);
  HET_ASSIGN(const std::vector<std::string> labels, chosen_labels(settings));
  HET_ASSIGN(std::vector<BoundInput> inputs, bind_inputs(model_proc, *model));
  HET_ASSIGN(BoundInput picture, picture_input(inputs, *model));
  if (inputs.size() != model->inputs().size())
    return error(StatusCode::InvalidArgument,
                 "model '{}' has {} inputs, {} of them are filled; describe the others in "
                 "input_preproc of a model-proc file (format image_info or sequence_index)",
                 settings.model, model->inputs().size(), inputs.size());
  HET_TRY(bind_shapes(settings, inputs, picture, *model));
  const auto choose = [&](std::vector<Port> input_ports, std::vector<Port> output_ports,
                          const Model& graph) {
    return choose_decoders(model_proc, metadata, graph, input_ports,
                           with_declared_sizes(std::move(output_ports), *model), labels);
  };
  Result<DecoderChoice> choice = error(StatusCode::NotFound, "not chosen yet");
  std::optional<PictureAssumption> assumed;
  const std::unique_ptr<Model> shaped = model->clone();
  if (!settings.raw_tensors && infer_shapes(*shaped).ok()) {
    // Before it is compiled, since what reads the results tells how pictures get in.
    choice = choose(input_ports(*shaped), output_ports(*shaped), *shaped);
    const bool unsaid = settings.model_proc.empty() && metadata.source.empty() &&
                        settings.picture_preparation.empty() && model_proc.outputs.empty();
    if (unsaid && choice) {
      assumed =
          assume_pictures(choice->configs.front(), *shaped, *shaped->inputs()[picture.index].value);
      assumed->input.layer_name = shaped->inputs()[picture.index].value->name();
      model_proc.inputs = {assumed->input};
      HET_ASSIGN(inputs, bind_inputs(model_proc, *model));
      HET_ASSIGN(picture, picture_input(inputs, *model));
    }
  }
  if (picture.preproc.is_bytes && is_float(model->inputs()[picture.index].value->desc().type)) {
    HET_TRY(set_input_type(*model, picture.index, ElementType::UInt8));
  }
  HET_TRY(apply_preprocess(model_proc, *model));
  // Pictures of bytes cannot be normalised on their way in: the model does it.
  HET_ASSIGN(const bool is_moved, move_normalisation(*model, picture.index));
  if (is_moved || preparation.fold_preprocess) fold_preprocess(*model);

  std::shared_ptr<VisionModel> vision(new VisionModel());
  for (const ModelOutput& output : model->outputs()) {
    const auto id = model->metadata().find(output.name);
    if (id != model->metadata().end()) vision->tensor_ids_[output.name] = id->second;
  }
  std::shared_ptr<DeviceContext> context;
  if (!settings.context.empty()) {
    auto made = core.create_context(settings.device, settings.context);
    if (made) {
      context = std::move(*made);
    } else {
      log(LogLevel::Info, "model '{}': {} works in a context of its own: {}", settings.model,
          settings.device, made.error().message());
    }
  }
  HET_ASSIGN(vision->compiled_, core.compile_model(*model, settings.device, properties, context));
  const Port& port = vision->compiled_->inputs()[picture.index];
  const PictureAxes axes = picture_axes(picture.preproc.preprocess, port.desc.shape.size());
  vision->preprocess_ = picture.preproc.preprocess;
  vision->picture_input_ = picture.index;
  vision->batch_size_ = port.desc.shape.size() == 4 ? port.desc.shape[0] : 1;
  vision->input_width_ = static_cast<int>(port.desc.shape[axes.width]);
  vision->input_height_ = static_cast<int>(port.desc.shape[axes.height]);
  for (const BoundInput& input : inputs) {
    if (input.index == picture.index) continue;
    HET_ASSIGN(Tensor tensor, fixed_input(vision->compiled_->inputs()[input.index], input.preproc,
                                          vision->input_width_, vision->input_height_));
    vision->fixed_inputs_.emplace_back(input.index, std::move(tensor));
  }
  if (settings.raw_tensors) return vision;

  const std::vector<Port> outputs = with_declared_sizes(vision->compiled_->outputs(), *model);
  // A device may know more of the shapes.
  if (!choice) choice = choose(vision->compiled_->inputs(), outputs, *model);
  if (!choice) return Failure(choice.error());
  std::vector<std::string> converters;
  for (const DecoderConfig& config : choice->configs) {
    HET_ASSIGN(std::unique_ptr<Decoder> decoder,
               create_decoder(config, vision->compiled_->inputs(), outputs));
    vision->decoders_.push_back(std::move(decoder));
    converters.push_back(config.converter);
    vision->labels_.insert(vision->labels_.end(), config.labels.begin(), config.labels.end());
  }
  const std::string prepared = prepared_by_metadata ? " prepared as " + metadata.source + " say"
                               : assumed            ? " prepared " + assumed->reason
                                                    : "";
  log(LogLevel::Info, "model '{}' on {}: picture input '{}' {}{}, results read by {} because {}",
      settings.model, settings.device, port.name, to_string(port.desc), prepared,
      name_list(converters), choice->reason);
  if (assumed && assumed->is_guess)
    log(LogLevel::Warning,
        "how model '{}' wants its pictures is a guess ({}): what is right stands in a model-proc "
        "file; the guess is {}",
        settings.model, assumed->reason, input_preproc_text(picture.preproc));
  return vision;
}

Result<PictureGeometry> VisionModel::shown_part(const Rect& roi) const {
  return picture_geometry(preprocess_, roi, input_width_, input_height_);
}

Status VisionModel::set_picture(InferRequest& request, const Image& image, const Rect& roi,
                                int64_t batch_index) const {
  if (batch_index < 0 || batch_index >= batch_size_)
    return error(StatusCode::InvalidArgument, "batch item {} of model '{}' does not exist in 0..{}",
                 batch_index, compiled_->name(), batch_size_ - 1);
  for (const auto& [index, tensor] : fixed_inputs_) HET_TRY(request.set_input(index, tensor));
  return request.set_image(picture_input_, image, roi, static_cast<size_t>(batch_index));
}

Result<Results> VisionModel::results(const InferRequest& request, int source_width,
                                     int source_height, const Rect& roi, int64_t batch_index,
                                     float threshold) const {
  DecodeContext context;
  context.batch_index = batch_index;
  context.input_width = input_width_;
  context.input_height = input_height_;
  context.source_width = source_width;
  context.source_height = source_height;
  context.roi = clip(roi, source_width, source_height);
  context.threshold = threshold;
  HET_ASSIGN(const PictureGeometry geometry,
             picture_geometry(preprocess_, context.roi, input_width_, input_height_));
  context.transform = geometry.transform;

  Results results;
  for (const std::unique_ptr<Decoder>& decoder : decoders_) {
    HET_ASSIGN(Results part, decoder->decode(request.outputs(), context));
    append(results, std::move(part));
  }
  return results;
}

}  // namespace het
