#include "inference/decoders/maps/map_output.h"

#include "inference/decoders/output_ports.h"

namespace het {
namespace {

/// A dimension that is so much smaller than the other can only be channels.
constexpr int64_t kClearlySmaller = 4;

Result<bool> are_channels_last(const DecoderConfig& config, const TensorDesc& desc) {
  const int64_t second = desc.shape[1];
  const int64_t last = desc.shape[3];
  if (!config.layout.empty()) return config.layout == "NHWC";
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
  if (shape.size() == 3) {
    map.rows = shape[1];
    map.columns = shape[2];
  } else if (shape.size() == 4) {
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
               "dimensions), the output is {}",
               config.converter, to_string(desc));
}

Status expect_map(const DecoderConfig& config, const Port& port) {
  if (is_sized_at_run_time(port)) return {};
  if (port.desc.is_static()) {
    HET_TRY(map_shape(config, port.desc));
    return {};
  }
  const size_t rank = port.desc.shape.size();
  if (rank == 3 || rank == 4) return {};
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
  HET_ASSIGN(OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
  HET_ASSIGN(const MapShape map, map_shape(config_, tensor.desc()));
  if (map.channels != 1) {
    return error(StatusCode::ShapeMismatch, "converter '{}' reads one {} per place, not {}",
                 converter, what, to_string(tensor.desc()));
  }
  return PlaceValues{std::move(values), map};
}

}  // namespace het
