#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Reads an ONNX model of any opset and lifts it to the newest form of every operator. Raw weights
/// are referenced in the mapped file where they are aligned, copied otherwise; external data is
/// taken from the model's own folder only.
/// Nodes without a known operator are kept with Node::unsupported_reason(). Bodies of control flow
/// become graph attributes; see readers/README.md for how they reach outer values. An input without
/// a shape in the file has shape [] until Model::reshape().
/// Fails with NotFound, ParseError (malformed or truncated, with the place), NotSupported
/// (sequence, optional or string inputs) or OutOfMemory (a stated limit is exceeded); the message
/// names the file.
/// Initialisers that the file lists among its inputs are constants, except those of `overridden`:
/// these are inputs like the others, without a default. NotFound when the file lists no such one.
HET_API Result<std::unique_ptr<Model>> read_onnx(const std::string& path,
                                                 const std::vector<std::string>& overridden = {});

/// The same for a model in memory, which is copied where tensors need it. External data is looked
/// up in `folder` (empty: refused); `origin` names the model in errors.
HET_API Result<std::unique_ptr<Model>> read_onnx_bytes(
    std::span<const std::byte> bytes, const std::string& folder, const std::string& origin,
    const std::vector<std::string>& overridden = {});

/// The files that hold a model's external data, by the folder of `path`, sorted. Nothing of them is
/// read; those that are missing, or that read_onnx() refuses, are left out. Fails as read_onnx()
/// does where the model's own file is missing or malformed.
HET_API Result<std::vector<std::string>> onnx_external_files(const std::string& path);

/// Reads one tensor in ONNX's own file format (a TensorProto, as the backend tests' .pb files are).
/// Fails with NotSupported for strings, ParseError for what is no tensor; the message names the
/// file.
HET_API Result<Tensor> read_onnx_tensor(const std::string& path);

}  // namespace het
