#pragma once

#include <cstdint>
#include <string_view>

#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder.h"

namespace het {

/// How an output is a map over the picture: which dimensions are rows, columns and channels.
struct MapShape {
  int64_t channels = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  bool channels_last = false;

  int64_t cells() const { return rows * columns; }
};

/// Reads [batch,rows,columns], [batch,C,rows,columns] or [batch,rows,columns,C]. Where the
/// descriptor gives no layout, one channel, as many channels as `labels`, or the clearly smaller of
/// dimensions 1 and 3 decides; else it fails and asks for the layout. Also fails on maps without
/// cells. `shape` must be static.
Result<MapShape> map_shape(const DecoderConfig& config, const TensorDesc& desc);

/// The same where only some of the shape is known yet: fails only when it can never fit.
Status expect_map(const DecoderConfig& config, const Port& port);

/// The model's whole picture in pixels of the source picture.
struct SourceBox {
  Point low;
  Point high;
};
SourceBox picture_box(const DecodeContext& context);

}  // namespace het
