#include "devices/gpu/exported_model.h"

#include <array>

#include "inference/model/exported_manifest.h"
#include "inference/readers/onnx_reader.h"
#include "inference/writers/onnx_writer.h"

namespace het::gpu {
namespace {

constexpr std::string_view kDevice = "GPU";
constexpr std::string_view kManifest = "manifest";
constexpr std::string_view kGraph = "graph";

/// Properties that a file must not decide about: what this process reads, writes and runs on.
constexpr std::array<std::string_view, 5> kOwnProperties = {
    "CACHE_DIR", "CACHE_MAX_MIB", "CONFIG_FILE", "EXTENSIONS", "GPU_ALLOW_CPU"};

}  // namespace

Status write_exported_model(std::ostream& stream, const Model& prepared,
                            const Properties& properties) {
  HET_ASSIGN(const std::string graph, write_onnx_bytes(prepared));
  ExportedManifest manifest;
  manifest.texts = {{"model", prepared.name()}};
  manifest.pairs["properties"] = properties;
  for (const std::string_view name : kOwnProperties) {
    manifest.pairs["properties"].erase(std::string(name));
  }
  const std::string manifest_text = manifest.to_json();
  return ExportedFile::write(stream, kDevice,
                             {{std::string(kManifest), std::as_bytes(std::span(manifest_text))},
                              {std::string(kGraph), std::as_bytes(std::span(graph))}});
}

Result<ExportedModel> read_exported_model(std::istream& stream, ExportedFile::Checksums checksums) {
  HET_ASSIGN(const ExportedFile file, ExportedFile::read(stream, kDevice, checksums));
  HET_ASSIGN(const auto manifest_bytes, file.section(kManifest));
  HET_ASSIGN(const ExportedManifest manifest, ExportedManifest::parse(manifest_bytes));
  ExportedModel exported;
  HET_ASSIGN(exported.properties, manifest.pairs_of("properties"));
  for (const std::string_view name : kOwnProperties) exported.properties.erase(std::string(name));
  HET_ASSIGN(const auto graph, file.section(kGraph));
  HET_ASSIGN(exported.model, read_onnx_bytes(graph, "", "graph of the exported model"));
  HET_ASSIGN(std::string name, manifest.text("model"));
  exported.model->set_name(std::move(name));
  return exported;
}

}  // namespace het::gpu
