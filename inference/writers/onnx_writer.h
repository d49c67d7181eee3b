#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

struct OnnxWriteOptions {
  /// Writes the content of constants into FILE.data beside the model. Happens on its own where the
  /// model would exceed `inline_limit_bytes`. Only when writing to a path.
  bool external_data = false;
  /// Constants smaller than this stay in the model file.
  size_t external_minimum_bytes = 1024;
  /// What a single file may hold: a protobuf message ends at 2 GiB.
  size_t inline_limit_bytes = (size_t{2} << 30) - (size_t{16} << 20);
  /// Of ONNX's own domain, 0 for the newest. Nodes are written as the newest has them: an older one
  /// has to mean the same by them (oldest_opset()).
  int64_t opset = 0;
};

/// Writes a model as ONNX file: the newest opset that the graph speaks or the one asked for, the
/// domains that it uses, weights as raw data. What ONNX cannot say is kept as metadata under keys
/// with the prefix "het." (writers/README.md lists them), so that read_onnx() gives an equal model
/// (model_difference()). Nodes that no device of this build runs are written as the model has them,
/// with the reason; what the reader could not take from their file (a string tensor) is missing.
/// The files appear complete or not at all; a model may be written over the file it was read from.
/// Fails with InvalidArgument (a cycle, an attribute or name that ONNX cannot express) or Internal
/// (the file cannot be written); the message names node and file. Thread-safe.
HET_API Status write_onnx(const Model& model, const std::string& path,
                          const OnnxWriteOptions& options = {});

/// The same into a stream or a string, everything inline. Fails with NotSupported beyond 2 GiB.
HET_API Status write_onnx(const Model& model, std::ostream& stream);
HET_API Result<std::string> write_onnx_bytes(const Model& model);

}  // namespace het
