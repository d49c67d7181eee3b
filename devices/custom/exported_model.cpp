#include "devices/custom/exported_model.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "inference/model/exported_manifest.h"
#include "inference/preprocess/preprocess_text.h"
#include "inference/tensors/custom_type_numbers.h"

namespace het::custom {
namespace {

constexpr std::string_view kManifest = "manifest";
constexpr std::string_view kContent = "content";
/// Texts of a port in a list.
constexpr size_t kPortTexts = 4;

/// Properties that a file must not decide about: what this process reads and writes.
constexpr std::array<std::string_view, 3> kOwnProperties = {"CACHE_DIR", "CACHE_MAX_MIB",
                                                            "EXTENSIONS"};

std::vector<std::string> port_texts(const std::vector<Port>& ports) {
  std::vector<std::string> texts;
  for (const Port& port : ports) {
    texts.push_back(port.name);
    texts.emplace_back(to_string(port.desc.type));
    texts.push_back(to_string(port.desc.shape));
    texts.push_back(port.preprocess ? to_text(*port.preprocess) : std::string());
  }
  return texts;
}

Result<std::vector<Port>> parse_ports(const std::vector<std::string>& texts) {
  if (texts.size() % kPortTexts != 0) {
    return error(StatusCode::ParseError,
                 "the exported model is malformed: {} texts are no list of ports; export it again",
                 texts.size());
  }
  std::vector<Port> ports;
  for (size_t i = 0; i < texts.size(); i += kPortTexts) {
    Port& port = ports.emplace_back();
    port.name = texts[i];
    HET_ASSIGN(port.desc.type, parse_element_type(texts[i + 1]));
    HET_ASSIGN(port.desc.shape, parse_shape(texts[i + 2]));
    if (!texts[i + 3].empty()) {
      HET_ASSIGN(port.preprocess, parse_preprocess(texts[i + 3]));
    }
    const bool is_known = custom_type_number(port.desc.type) != 0 && port.desc.is_static();
    if (is_known && dense_size_bytes(port.desc)) continue;
    return error(StatusCode::ParseError,
                 "the exported model is malformed: port '{}' is {}; export it again", port.name,
                 to_string(port.desc));
  }
  return ports;
}

}  // namespace

Status write_exported_model(std::ostream& stream, std::string_view kind, const CompiledParts& parts,
                            std::span<const std::byte> content) {
  ExportedManifest manifest;
  manifest.texts = {{"model", parts.name}};
  manifest.pairs["properties"] = parts.properties;
  for (const std::string_view name : kOwnProperties) {
    manifest.pairs["properties"].erase(std::string(name));
  }
  manifest.lists = {{"inputs", port_texts(parts.inputs)}, {"outputs", port_texts(parts.outputs)}};
  const std::string manifest_text = manifest.to_json();
  return ExportedFile::write(stream, kind,
                             {{std::string(kManifest), std::as_bytes(std::span(manifest_text))},
                              {std::string(kContent), content}});
}

Result<ExportedModel> read_exported_model(std::istream& stream, std::string_view kind) {
  HET_ASSIGN(const ExportedFile file, ExportedFile::read(stream, kind));
  HET_ASSIGN(const auto manifest_bytes, file.section(kManifest));
  HET_ASSIGN(const ExportedManifest manifest, ExportedManifest::parse(manifest_bytes));
  ExportedModel exported;
  HET_ASSIGN(exported.parts.name, manifest.text("model"));
  HET_ASSIGN(exported.parts.properties, manifest.pairs_of("properties"));
  for (const std::string_view name : kOwnProperties) {
    exported.parts.properties.erase(std::string(name));
  }
  HET_ASSIGN(const std::vector<std::string> inputs, manifest.list("inputs"));
  HET_ASSIGN(exported.parts.inputs, parse_ports(inputs));
  HET_ASSIGN(const std::vector<std::string> outputs, manifest.list("outputs"));
  HET_ASSIGN(exported.parts.outputs, parse_ports(outputs));
  HET_ASSIGN(exported.content, file.section(kContent));
  exported.memory = file.buffer();
  return exported;
}

}  // namespace het::custom
