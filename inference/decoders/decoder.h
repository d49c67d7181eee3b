#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/decoders/results.h"
#include "inference/devices/device.h"
#include "inference/preprocess/preprocess.h"
#include "inference/tensors/tensor.h"

namespace het {

/// How a decoder shall read: one entry of model-proc's output_postproc, already checked.
struct DecoderConfig {
  std::string converter;
  std::vector<std::string> layer_names;  ///< empty: all outputs
  std::vector<std::string> labels;
  std::string attribute_name;
  std::string method = "max";          ///< max, softmax, index, compound, multi
  std::optional<float> threshold;      ///< minimum confidence; the decoder has a default
  std::optional<float> iou_threshold;  ///< of NMS; the decoder has a default
  std::optional<int> classes;
  std::vector<int> strides;  ///< grid strides where they do not follow from the shapes
  std::vector<std::vector<float>> min_sizes;  ///< sides of the prior boxes of each stride
  std::vector<float> variances;               ///< of prior boxes: of places, of sizes
  std::vector<std::string> point_names;
  std::string box_format;               ///< xywh, xyxy or cxcywh; empty: the decoder's own
  std::optional<int> background_class;  ///< label id that is no object
  bool class_softmax = false;           ///< class scores are logits that need a softmax
  bool sigmoid_activation = false;      ///< box values and scores are logits that need a sigmoid
  std::vector<float> anchors;           ///< width and height of each anchor, YOLO's
  std::vector<int> masks;             ///< anchors of each output, those of the coarsest grid first
  std::optional<int> boxes_per_cell;  ///< anchors of one grid
  int cells_x = 0;                    ///< columns of the coarsest grid; 0: from the shapes
  int cells_y = 0;                    ///< its rows
  std::optional<float> minimum_side;  ///< of boxes around places of a heat map
  std::optional<float> binarize_threshold;  ///< from where on such a place is hot

  // Of the converters that find no objects.
  std::string format;            ///< what the values are, for who reads them; DL Streamer's names
  std::string layout;            ///< NCHW or NHWC; empty: from the shape
  float text_scale = 1.0f;       ///< values are multiplied by it before they become text
  int text_precision = 2;        ///< digits after the point
  int min_length = 0;            ///< shorter texts are no results; in characters
  int blank_class = 0;           ///< class of "no character" in CTC scores
  std::optional<int> end_class;  ///< class that ends a text
  std::vector<std::string> point_connections;  ///< names of points, two for each line
  std::optional<float> pixel_threshold;        ///< minimum of a place in a map
  std::optional<float> image_threshold;        ///< score from which on a picture is abnormal
  std::optional<float> normalization_scale;    ///< width of the scores around image_threshold
  std::optional<float> unclip_ratio;           ///< how far regions of text grow; 0: not at all
  float range_low = 0.0f;  ///< values of a picture: this is black, range_high is white
  float range_high = 1.0f;
  bool rgb = false;            ///< channels of a picture are RGB instead of BGR
  std::vector<int> slice;      ///< first and count of the values of a picture; empty: all
  int values_per_point = 2;    ///< x and y; with 3 a depth; with 5 visibility and presence, too
  std::string unit;            ///< of points: relative, centred or pixels; empty: relative
  std::string presence_layer;  ///< output that tells whether there is what is looked for
  /// Shared library of a user's own decoder; never from a descriptor.
  std::string custom_library;
};

/// The picture that a batch item shows.
struct DecodeContext {
  int64_t batch_index = 0;
  int input_width = 0;  ///< of the model's picture input
  int input_height = 0;
  int source_width = 0;  ///< of the ROI's source picture
  int source_height = 0;
  Rect roi;
  PictureTransform transform;  ///< model input pixels -> source pixels
  float threshold = 0.0f;      ///< minimum confidence wanted by the user; 0 = the decoder's own
};

/// Reads results from output tensors. Immutable after creation; thread-safe.
class HET_API Decoder {
 public:
  virtual ~Decoder() = default;
  /// `outputs` are the model's outputs in the order of its ports; host memory.
  virtual Result<Results> decode(std::span<const Tensor> outputs,
                                 const DecodeContext& context) const = 0;
};

/// Makes the decoder that `config` names for a model with these ports. Fails when the converter is
/// unknown (listing those that exist), a layer is missing or a shape does not fit.
HET_API Result<std::unique_ptr<Decoder>> create_decoder(const DecoderConfig& config,
                                                        const std::vector<Port>& inputs,
                                                        const std::vector<Port>& outputs);

/// True for converters that hand outputs on as tensors instead of reading them.
HET_API bool leaves_tensors(std::string_view converter);

/// Names of all converters, sorted.
HET_API std::vector<std::string> converter_names();

}  // namespace het
