#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/maps/map_output.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kPictureName = "picture";
constexpr int64_t kMaxSide = 16384;

/// A picture that the model makes (super resolution, style transfer): 1 or 3 channels in `range`
/// (0..1) become 0..255, rounded and clamped, NaN 0; three channels are BGR unless color_space says
/// RGB.
class PictureDecoder final : public Decoder {
 public:
  PictureDecoder(DecoderConfig config, size_t output, std::string attribute)
      : config_(std::move(config)), output_(output), attribute_(std::move(attribute)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_ASSIGN(const OutputValues values, map_values(config_, tensor, context.batch_index));
    HET_ASSIGN(const MapShape map, map_shape(config_, tensor.desc()));
    HET_TRY(expect_picture(map, tensor.desc()));
    PictureResult found;
    found.attribute = attribute_;
    const PixelFormat color = config_.rgb ? PixelFormat::RGB : PixelFormat::BGR;
    HET_ASSIGN(found.image,
               make_host_image(map.channels == 1 ? PixelFormat::GRAY8 : color,
                               static_cast<int>(map.columns), static_cast<int>(map.rows)));
    write_pixels(values.values(), map, found.image);
    Results results;
    results.pictures.push_back(std::move(found));
    return results;
  }

  static Status expect_picture(const MapShape& map, const TensorDesc& desc) {
    const bool fits =
        (map.channels == 1 || map.channels == 3) && map.rows <= kMaxSide && map.columns <= kMaxSide;
    if (fits) return {};
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads 1 or 3 channels of at most {} rows and columns, not {}",
                 kPictureName, kMaxSide, to_string(desc));
  }

 private:
  void write_pixels(std::span<const float> values, const MapShape& map, Image& image) const {
    const float scale = 255.0f / (config_.range_high - config_.range_low);
    const auto channels = static_cast<size_t>(map.channels);
    const size_t channel_step = map.channels_last ? 1 : static_cast<size_t>(map.cells());
    const size_t cell_step = map.channels_last ? channels : 1;
    const auto columns = static_cast<size_t>(map.columns);
    for (int row = 0; row < image.height; ++row) {
      std::byte* pixel = image.planes[0].buffer->host() + image.planes[0].offset +
                         row * image.planes[0].stride_bytes;
      for (size_t x = 0; x < columns; ++x) {
        const size_t cell = static_cast<size_t>(row) * columns + x;
        for (size_t c = 0; c < channels; ++c) {
          const float value =
              (values[cell * cell_step + c * channel_step] - config_.range_low) * scale;
          // Written so that NaN becomes 0.
          const float level = value > 0.0f ? std::min(value, 255.0f) : 0.0f;
          *pixel++ = static_cast<std::byte>(std::lround(level));
        }
      }
    }
  }

  DecoderConfig config_;
  size_t output_;
  std::string attribute_;
};

Result<std::unique_ptr<Decoder>> create_picture(const DecoderConfig& config,
                                                const std::vector<Port>& inputs,
                                                const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  HET_TRY(expect_map(config, inputs, outputs[output]));
  if (outputs[output].desc.is_static()) {
    HET_ASSIGN(const MapShape map, map_shape(config, outputs[output].desc));
    HET_TRY(PictureDecoder::expect_picture(map, outputs[output].desc));
  }
  const std::vector<std::string> names = attribute_names(config, outputs, {output});
  return std::make_unique<PictureDecoder>(config, output, names.front());
}

}  // namespace

HET_REGISTRATION void register_picture_decoder(DecoderRegistry& registry) {
  registry.add({kPictureName, {"layout", "range", "color_space"}, create_picture});
}

}  // namespace het
