#include "inference/decoders/maps/map_output.h"

#include "inference/decoders/output_ports.h"

namespace het {
namespace {

/// A dimension that is so much smaller than the other can only be channels.
constexpr int64_t kClearlySmaller = 4;

/// A map of two dimensions has none, and three are [batch,rows,columns] unless the layout says so.
bool map_has_batch(const DecoderConfig& config, size_t rank) {
  return rank != 2 && config.layout != "CHW" && config.layout != "HWC" && config.layout != "HW";
}

Result<bool> are_channels_last(const DecoderConfig& config, const TensorDesc& desc) {
  const int64_t second = desc.shape[1];
  const int64_t last = desc.shape[3];
  if (!config.layout.empty()) return config.layout.back() == 'C';
  if (last == 1 && second != 1) return true;
  if (second == 1) return false;
  const auto labels = static_cast<int64_t>(config.labels.size());
  if (labels > 0 && (second == labels) != (last == labels)) return last == labels;
  if (second * kClearlySmaller <= last) return false;
  if (last * kClearlySmaller <= second) return true;
  return error(StatusCode::InvalidArgument,
               "converter '{}' cannot tell which dimension of an output {} is the channels; say "
               "\"layout\": \"NCHW\" or \"NHWC\" in the model-proc file",
               config.converter, to_string(desc));
}

}  // namespace

Result<MapShape> map_shape(const DecoderConfig& config, const TensorDesc& desc) {
  const Shape& shape = desc.shape;
  MapShape map;
  if (shape.size() == 2 && (config.layout == "HW" || shape[0] > 1)) {
    map.rows = shape[0];
    map.columns = shape[1];
  } else if (shape.size() == 3) {
    const size_t rows = config.layout == "HWC" ? 0 : 1;
    map.rows = shape[rows];
    map.columns = shape[rows + 1];
    map.channels_last = config.layout == "HWC";
    if (config.layout == "HWC" || config.layout == "CHW") map.channels = shape[2 - 2 * rows];
  } else if (shape.size() == 4 && map_has_batch(config, shape.size())) {
    HET_ASSIGN(map.channels_last, are_channels_last(config, desc));
    map.channels = map.channels_last ? shape[3] : shape[1];
    map.rows = map.channels_last ? shape[1] : shape[2];
    map.columns = map.channels_last ? shape[2] : shape[3];
  }
  constexpr int64_t kMaxSide = 65536;
  if (map.channels >= 1 && map.rows >= 1 && map.columns >= 1 && map.channels <= kMaxSide &&
      map.rows <= kMaxSide && map.columns <= kMaxSide)
    return map;
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads a map [batch,rows,columns] or one with channels (4 "
               "dimensions), or what layout says; the output is {}",
               config.converter, to_string(desc));
}

Result<OutputValues> map_values(const DecoderConfig& config, const Tensor& tensor,
                                int64_t batch_index) {
  if (map_has_batch(config, tensor.shape().size()))
    return OutputValues::batch_item(tensor, batch_index);
  if (batch_index == 0) return OutputValues::whole(tensor);
  return error(StatusCode::ShapeMismatch, "converter '{}' finds no picture {} in {}",
               config.converter, batch_index, to_string(tensor.desc()));
}

Status expect_map(const DecoderConfig& config, const std::vector<Port>& inputs, const Port& port) {
  if (is_sized_at_run_time(port)) return {};
  if (map_has_batch(config, port.desc.shape.size()))
    HET_TRY(expect_batch(config.converter, inputs, port));
  if (port.desc.is_static()) {
    HET_TRY(map_shape(config, port.desc));
    return {};
  }
  const size_t rank = port.desc.shape.size();
  if (rank >= 2 && rank <= 4) return {};
  return error(StatusCode::ShapeMismatch, "converter '{}' reads a map over the picture, '{}' is {}",
               config.converter, port.name, to_string(port.desc));
}

SourceBox picture_box(const DecodeContext& context) {
  return {to_source(0.0f, 0.0f, context.transform),
          to_source(static_cast<float>(context.input_width),
                    static_cast<float>(context.input_height), context.transform)};
}

Result<PlaceValueDecoder::PlaceValues> PlaceValueDecoder::read_map(std::span<const Tensor> outputs,
                                                                   const DecodeContext& context,
                                                                   std::string_view converter,
                                                                   std::string_view what) const {
  const Tensor& tensor = outputs[output_];
  HET_ASSIGN(OutputValues values, map_values(config_, tensor, context.batch_index));
  HET_ASSIGN(const MapShape map, map_shape(config_, tensor.desc()));
  if (map.channels != 1) {
    return error(StatusCode::ShapeMismatch, "converter '{}' reads one {} per place, not {}",
                 converter, what, to_string(tensor.desc()));
  }
  return PlaceValues{std::move(values), map};
}

}  // namespace het
