#pragma once

#include <iosfwd>
#include <memory>

#include "inference/devices/properties.h"
#include "inference/model/exported_file.h"
#include "inference/model/model.h"

namespace het::gpu {

/// The content of an exported model of this device: the graph as prepare_model() left it, and the
/// properties that it was compiled with. No binaries of programs: a driver runs what it is given,
/// and the file may come from elsewhere. They are built, or found in CACHE_DIR.
struct ExportedModel {
  std::unique_ptr<Model> model;
  Properties properties;
};

/// Fails with what ONNX cannot say of the graph, or with Internal when the stream does.
Status write_exported_model(std::ostream& stream, const Model& prepared,
                            const Properties& properties);

/// Fails with ParseError for a damaged file, with NotSupported for one of another device or
/// version.
Result<ExportedModel> read_exported_model(
    std::istream& stream, ExportedFile::Checksums checksums = ExportedFile::Checksums::Verify);

}  // namespace het::gpu
