#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/decoders/decoder.h"
#include "inference/preprocess/preprocess.h"

namespace het {

/// One entry of input_preproc.
struct InputPreproc {
  std::string layer_name;        ///< empty: the only input of its kind
  std::string format = "image";  ///< image, image_info, sequence_index, constant
  PreprocessDesc preprocess;     ///< image only
  bool is_bytes = false;         ///< precision U8: float pictures of the model become UInt8
  bool layout_given = false;     ///< false: taken from the input's shape
  bool color_given = false;      ///< false: grey for one channel, else BGR
  Shape shape;                   ///< what unknown dimensions of the input become; may be empty
  /// image only: widths that an input whose width is open is compiled for, ascending; each picture
  /// takes the narrowest that holds it at the input's height.
  std::vector<int> widths;
  /// image_info only: the first two values are the size of the model's picture input in this
  /// order, the rest is `scale`.
  bool width_first = false;
  float scale = 1.0f;
  std::vector<float> values;  ///< constant only: one for all, or a part that is repeated
  /// image only: the input has a fourth channel, which always holds this.
  std::optional<float> fourth_channel;
};

/// A model descriptor in DL Streamer's model-proc schema (json_schema_version 2.x).
struct ModelProc {
  std::vector<InputPreproc> inputs;
  std::vector<DecoderConfig> outputs;
};

/// Reads a model-proc file; the error names the file, the key and what is allowed there.
HET_API Result<ModelProc> read_model_proc(const std::string& path);
/// The same from text; `origin` names it in errors.
HET_API Result<ModelProc> parse_model_proc(std::string_view json_text, std::string_view origin);
/// One label per line; limits: 100,000 labels, 1 MiB. Empty lines at the end are dropped.
HET_API Result<std::vector<std::string>> read_labels(const std::string& path);

/// Sets PreprocessDescs on the model's inputs: model-proc's, or for the picture inputs that it does
/// not mention one that follows from the input's shape (NCHW or NHWC, BGR 0..255, stretched).
HET_API Status apply_preprocess(const ModelProc& model_proc, Model& model);

}  // namespace het
