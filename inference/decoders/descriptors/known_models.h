#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/model_proc.h"

namespace het {

/// A published model whose outputs have names of their own.
struct KnownReading {
  std::string source;  ///< who published it, for messages
  /// Outputs by name; one that begins with a star stands for any. One dimension: the number of
  /// values per picture, whatever their shape; else the shape, with unknown dimensions for any
  /// size.
  std::map<std::string, Shape> outputs;
  Shape picture;  ///< width and height of the picture input; empty: any
  std::vector<DecoderConfig> configs;
  std::optional<InputPreproc> pictures;  ///< how they get in; nothing: BGR 0..255, stretched
};

/// What known_models.json has: readings by names of outputs, and labels by the name of a file.
struct KnownModels {
  std::vector<KnownReading> readings;
  std::map<std::string, std::vector<std::string>> labels;
};

HET_API Result<KnownModels> parse_known_models(std::string_view json_text);

/// The one that is built in.
HET_API const KnownModels& known_models();

}  // namespace het
