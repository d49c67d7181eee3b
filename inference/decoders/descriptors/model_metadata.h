#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/decoders/model_proc.h"
#include "inference/model/model.h"

namespace het {

/// What programs that exchange tensors know an output by.
struct TensorIdentity {
  std::string id;
  bool column_major = false;  ///< its dims-order
};

/// What a model says about itself, where no model-proc file does.
struct ModelMetadata {
  std::string file_stem;              ///< the name of the file without its extension
  std::string source;                 ///< where it stands, for messages; empty: nowhere
  std::optional<InputPreproc> input;  ///< how pictures get in
  bool plain_pictures = false;        ///< where they say nothing of it, BGR 0..255 is meant
  /// How results are read: labels, thresholds and, where the metadata name it, the converter.
  DecoderConfig output;
  bool ultralytics = false;  ///< the converter follows from `task` and the output shapes
  std::string task;      ///< detect, segment, pose, obb, classify, semantic, depth; empty: detect
  bool queries = false;  ///< RT-DETR's head
  bool end_to_end = false;  ///< no suppression is needed, unless the shapes say otherwise
  int64_t point_values = kUnknownDim;  ///< of an object's points, where the file says
  /// `input` does not say how pictures are brought to the input's size.
  bool is_resize_open = false;
  /// The converter follows from ids of tensors, which the shapes of the outputs may refuse.
  bool is_reader_by_ids = false;
  // A .modelinfo file's, also where another source says the rest.
  std::string group_id;                              ///< of its outputs together
  std::map<std::string, TensorIdentity> tensor_ids;  ///< by the output's name
};

/// Reads what the file has (Model::metadata: OpenVINO Model API's "model_info/..." of an IR, the
/// properties that Ultralytics' exporters write) and what lies beside it: Ultralytics'
/// metadata.yaml, Hugging Face's config.json and preprocessor_config.json. Never fails: a value
/// that makes no sense is left out with a warning, for the user can give a model-proc file.
ModelMetadata read_model_metadata(const Model& model, const std::string& model_path);

/// Changes how pictures get in: only what `values` names, with keys and values as in model_info.
/// Fails with InvalidArgument for keys and values that it does not know.
Status override_preparation(const std::map<std::string, std::string>& values, InputPreproc& input);

/// The parts of it, by source. `values` are keys without "model_info/".
ModelMetadata read_model_api_metadata(const std::map<std::string, std::string>& values);
ModelMetadata read_ultralytics_metadata(const std::map<std::string, std::string>& values);
/// PaddleOCR's readers of lines: `character`, the characters of the classes, one in a line, as
/// RapidOCR and others write it into ONNX files.
ModelMetadata read_paddle_ocr_metadata(const std::map<std::string, std::string>& values);
ModelMetadata read_hugging_face_metadata(const std::string& config_json,
                                         const std::string& preprocessor_json);

/// GStreamer's .modelinfo beside `model` as the file has it: `ranges` of the picture input tell how
/// pixels get in (as RGB), ids of outputs and group who reads them. `origin` names it in messages.
/// Fails with InvalidArgument where the text has another syntax, with NotSupported where its
/// version is another; single keys without sense are left out with a warning.
Result<ModelMetadata> read_modelinfo(const std::string& text, const std::string& origin,
                                     const Model& model);

/// Top-level "key: value" lines of a YAML file, and its one map of names as "names" -> "{0: 'a', 1:
/// 'b'}": all that Ultralytics' metadata.yaml has.
std::map<std::string, std::string> parse_flat_yaml(const std::string& text);

}  // namespace het
