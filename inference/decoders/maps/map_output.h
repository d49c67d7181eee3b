#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"

namespace het {

/// How an output is a map over the picture: which dimensions are rows, columns and channels.
struct MapShape {
  int64_t channels = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  bool channels_last = false;

  int64_t cells() const { return rows * columns; }
};

/// Reads [batch,rows,columns], [batch,C,rows,columns] or [batch,rows,columns,C]; without a batch
/// [rows,columns], and with the layout CHW or HWC [C,rows,columns] or [rows,columns,C]. Where the
/// descriptor gives no layout, one channel, as many channels as `labels`, or the clearly smaller of
/// dimensions 1 and 3 decides; else it fails and asks for the layout. Also fails on maps without
/// cells. `shape` must be static.
Result<MapShape> map_shape(const DecoderConfig& config, const TensorDesc& desc);

/// The values of one picture: the whole tensor where the layout has no batch.
Result<OutputValues> map_values(const DecoderConfig& config, const Tensor& tensor,
                                int64_t batch_index);

/// The same where only some of the shape is known yet: fails only when it can never fit.
Status expect_map(const DecoderConfig& config, const std::vector<Port>& inputs, const Port& port);

/// Decoders of one output that is a map with one value a place. Thread-safe, as every decoder.
class PlaceValueDecoder : public Decoder {
 public:
  /// `output`: its index; `attribute` and `layer` name the results.
  PlaceValueDecoder(DecoderConfig config, size_t output, std::string attribute, std::string layer)
      : config_(std::move(config)),
        output_(output),
        attribute_(std::move(attribute)),
        layer_(std::move(layer)) {}

 protected:
  struct PlaceValues {
    OutputValues values;
    MapShape map;
  };
  /// Of one batch item. Fails where there are several values a place; `converter` and `what` (one
  /// depth, say) are for its message.
  Result<PlaceValues> read_map(std::span<const Tensor> outputs, const DecodeContext& context,
                               std::string_view converter, std::string_view what) const;

  DecoderConfig config_;
  size_t output_;
  std::string attribute_;
  std::string layer_;
};

/// The model's whole picture in pixels of the source picture.
struct SourceBox {
  Point low;
  Point high;
};
SourceBox picture_box(const DecodeContext& context);

}  // namespace het
