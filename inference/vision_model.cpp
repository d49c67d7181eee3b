#include "inference/vision_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "inference/base/log.h"
#include "inference/decoders/descriptors/model_proc_text.h"
#include "inference/decoders/exchange/tensor_places.h"
#include "inference/decoders/name_list.h"
#include "inference/devices/ports.h"
#include "inference/model_reading.h"

namespace het {
namespace {

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
/// is all ones. A constant (ours) is its values, repeated.
Result<Tensor> fixed_input(const Port& port, const InputPreproc& preproc, int width, int height) {
  if (preproc.format == "sequence_index") return make_fixed_input(port, {1.0f});
  if (preproc.format == "constant") {
    const int64_t count = element_count(port.desc.shape);
    const auto given = static_cast<int64_t>(preproc.values.size());
    if (given == 0 || count % given != 0)
      return error(StatusCode::ShapeMismatch,
                   "input '{}' {} has {} values, the {} of the model-proc file do not fill it",
                   port.name, to_string(port.desc), count, given);
    return make_fixed_input(port, preproc.values);
  }
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

/// Entries that leave tensors stay; others become copies of the outputs that they are about.
std::vector<DecoderConfig> output_copies(const ModelProc& model_proc) {
  std::vector<DecoderConfig> configs = model_proc.outputs;
  if (configs.empty()) configs.emplace_back();
  for (DecoderConfig& config : configs) {
    if (!leaves_tensors(config.converter)) config.converter = "raw_data_copy";
  }
  return configs;
}

}  // namespace

Result<std::shared_ptr<VisionModel>> VisionModel::load(Core& core,
                                                       const VisionModelSettings& settings) {
  HET_ASSIGN(ModelReading reading, read_vision_model(core, settings));
  const std::vector<int> widths = reading.widths;
  HET_ASSIGN(const std::shared_ptr<VisionModel> vision,
             load_one(core, std::move(reading), settings));
  for (const int width : widths) {
    if (width == widths.back()) break;
    VisionModelSettings narrower = settings;
    narrower.picture_width = width;
    HET_ASSIGN(ModelReading narrow, read_vision_model(core, narrower));
    narrow.assumed.reset();  // told once
    HET_ASSIGN(vision->narrower_.emplace_back(), load_one(core, std::move(narrow), narrower));
    vision->events_.watch(vision->narrower_.back()->compiled_);
  }
  vision->events_.watch(vision->compiled_);
  return vision;
}

std::vector<DeviceEvent> VisionModel::device_events(uint64_t& next) const {
  return narrower_.empty() ? compiled_->device_events(next) : events_.since(next);
}

const VisionModel& VisionModel::for_region(const Rect& roi) const {
  for (const std::shared_ptr<VisionModel>& model : narrower_) {
    const int64_t scaled = int64_t{roi.width} * model->input_height_;
    if (scaled <= int64_t{model->input_width_} * roi.height) return *model;
  }
  return *this;
}

Result<std::shared_ptr<VisionModel>> VisionModel::load_one(Core& core, ModelReading reading,
                                                           const VisionModelSettings& settings) {
  const Model& model = *reading.model;
  const BoundInput& picture = reading.picture;
  std::shared_ptr<VisionModel> vision(new VisionModel());
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
  HET_ASSIGN(vision->compiled_,
             core.compile_model(model, settings.device, reading.properties, context));
  const Port& port = vision->compiled_->inputs()[picture.index];
  const PictureAxes axes = picture_axes(picture.preproc.preprocess, port.desc.shape.size());
  vision->preprocess_ = picture.preproc.preprocess;
  vision->picture_input_ = picture.index;
  vision->batch_size_ = port.desc.shape.size() == 4 ? port.desc.shape[0] : 1;
  vision->input_width_ = static_cast<int>(port.desc.shape[axes.width]);
  vision->input_height_ = static_cast<int>(port.desc.shape[axes.height]);
  if (!settings.preprocess_library.empty()) {
    HET_ASSIGN(vision->custom_preprocess_,
               CustomPreprocess::load(settings.preprocess_library, port.name, port.desc,
                                      vision->preprocess_));
  }
  for (const BoundInput& input : reading.inputs) {
    if (input.index == picture.index) continue;
    HET_ASSIGN(Tensor tensor, fixed_input(vision->compiled_->inputs()[input.index], input.preproc,
                                          vision->input_width_, vision->input_height_));
    vision->fixed_inputs_.emplace_back(input.index, std::move(tensor));
  }
  if (settings.raw_tensors) return vision;

  const std::vector<Port> outputs = with_declared_sizes(vision->compiled_->outputs(), model);
  // A device may know more of the shapes.
  Result<DecoderChoice> choice = std::move(reading.choice);
  if (!choice) choice = reading.choose(model, vision->compiled_->inputs(), outputs);
  if (settings.copy_outputs) {
    vision->tensor_group_ =
        het::tensor_group(model, reading.metadata, choice, vision->compiled_->inputs(), outputs);
    choice =
        DecoderChoice{output_copies(reading.model_proc), "they are wanted as tensors", false, {}};
  }
  if (!choice) return Failure(choice.error());
  std::vector<std::string> converters;
  for (const DecoderConfig& config : choice->configs) {
    HET_ASSIGN(std::unique_ptr<Decoder> decoder,
               create_decoder(config, vision->compiled_->inputs(), outputs));
    vision->decoders_.push_back(std::move(decoder));
    converters.push_back(config.converter);
    vision->labels_.insert(vision->labels_.end(), config.labels.begin(), config.labels.end());
  }
  log(LogLevel::Info, "model '{}' on {}: picture input '{}' {}{}, results read by {} because {}",
      settings.model, settings.device, port.name, to_string(port.desc),
      reading.prepared.empty() ? "" : " prepared " + reading.prepared, name_list(converters),
      choice->reason);
  if (reading.assumed && reading.assumed->is_guess)
    log(LogLevel::Warning,
        "how model '{}' wants its pictures is a guess ({}): write what is right into a model-proc "
        "file; the guess is \"input_preproc\": [{}]",
        settings.model, reading.assumed->reason, to_text(picture.preproc));
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
  if (!custom_preprocess_)
    return request.set_image(picture_input_, image, roi, static_cast<size_t>(batch_index));
  HET_TRY(validate(image));
  Tensor input = request.input(picture_input_);
  if (input.empty() || input.bytes() == nullptr || !input.is_dense()) {
    HET_ASSIGN(input, Tensor::allocate(compiled_->inputs()[picture_input_].desc));
  }
  // First, because it fails while the request is running.
  HET_TRY(request.set_input(picture_input_, input));
  return custom_preprocess_->convert(image, roi, input, batch_index);
}

Result<DecodeContext> VisionModel::context_of(int source_width, int source_height,
                                              const Rect& roi) const {
  DecodeContext context;
  context.input_width = input_width_;
  context.input_height = input_height_;
  context.source_width = source_width;
  context.source_height = source_height;
  context.roi = clip(roi, source_width, source_height);
  HET_ASSIGN(const PictureGeometry geometry,
             picture_geometry(preprocess_, context.roi, input_width_, input_height_));
  context.transform = geometry.transform;
  if (custom_preprocess_) {
    HET_ASSIGN(context.transform, custom_preprocess_->place(context.roi, geometry.transform));
  }
  return context;
}

Result<std::vector<ExchangedTensor>> VisionModel::exchanged_tensors(
    const std::vector<TensorResult>& tensors, int source_width, int source_height,
    const Rect& roi) const {
  HET_ASSIGN(const DecodeContext context, context_of(source_width, source_height, roi));
  std::vector<ExchangedTensor> exchanged;
  for (const TensorResult& tensor : tensors) {
    const auto known = std::ranges::find(tensor_group_.tensors, tensor.layer, &GroupTensor::output);
    if (known == tensor_group_.tensors.end()) continue;
    HET_ASSIGN(Tensor values, exchanged_values(*known, tensor.values, context));
    exchanged.push_back({known->id, known->column_major, std::move(values)});
  }
  return exchanged;
}

Result<Results> VisionModel::results(const InferRequest& request, int source_width,
                                     int source_height, const Rect& roi, int64_t batch_index,
                                     float threshold) const {
  HET_ASSIGN(DecodeContext context, context_of(source_width, source_height, roi));
  context.batch_index = batch_index;
  context.threshold = threshold;
  Results results;
  for (const std::unique_ptr<Decoder>& decoder : decoders_) {
    HET_ASSIGN(Results part, decoder->decode(request.outputs(), context));
    append(results, std::move(part));
  }
  watch_.look(compiled_->name(), results, request.outputs(), source_width, source_height);
  return results;
}

}  // namespace het
