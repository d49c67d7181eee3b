#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Reads an OpenVINO IR model, version 10 or 11 (newer ones are tried), and translates its layers
/// into ONNX operators and those of the domain het. The weights are the .bin beside the .xml; they
/// are referenced in the mapped file. Layers without a translation are kept with
/// Node::unsupported_reason(). rt_info becomes the model's metadata.
/// Fails with NotFound (a file is missing), ParseError (malformed; the layer's id and name are
/// named), NotSupported (IR 9 and older, string inputs) or OutOfMemory (a stated limit is
/// exceeded); the message names the file.
HET_API Result<std::unique_ptr<Model>> read_openvino_ir(const std::string& path);

/// The same for a model in memory; `weights` is copied. `origin` names the model in errors.
HET_API Result<std::unique_ptr<Model>> read_openvino_ir_bytes(std::span<const std::byte> xml,
                                                              std::span<const std::byte> weights,
                                                              const std::string& origin);

/// True when the file starts like XML does, whatever its name.
HET_API bool looks_like_xml(std::span<const std::byte> bytes);

}  // namespace het
