#include "inference/readers/openvino_ir_reader.h"

#include <filesystem>
#include <new>
#include <pugixml.hpp>
#include <string_view>

#include "inference/readers/mapped_file.h"
#include "inference/readers/openvino_ir/graph.h"
#include "inference/readers/openvino_ir/parse.h"
#include "inference/readers/openvino_ir/xml_guard.h"

namespace het {
namespace {

constexpr unsigned int kParseOptions = pugi::parse_minimal | pugi::parse_escapes |
                                       pugi::parse_cdata | pugi::parse_wconv_attribute |
                                       pugi::parse_eol;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::unique_ptr<Model>> build_model(std::span<const std::byte> xml, ir::Weights weights) {
  HET_TRY(ir::check_xml(as_text(xml)));
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), kParseOptions, pugi::encoding_utf8);
  if (!parsed) {
    const auto code = parsed.status == pugi::status_out_of_memory ? StatusCode::OutOfMemory
                                                                  : StatusCode::ParseError;
    return error(code, "the XML is malformed at byte {}: {}", parsed.offset, parsed.description());
  }
  const pugi::xml_node net = document.child("net");
  ir::FileContext file{0, std::move(weights), {}, 0};
  HET_ASSIGN(file.version, ir::parse_version(net));
  HET_ASSIGN(const ir::ParsedNet graph, ir::parse_net(net, file.budget));
  HET_ASSIGN(std::unique_ptr<Model> model, ir::GraphBuilder(file, graph, nullptr, 0).build());
  for (auto& [key, value] : ir::parse_rt_info(net)) {
    model->metadata().emplace(key, std::move(value));
  }
  return model;
}

Result<std::unique_ptr<Model>> read_named(std::span<const std::byte> xml, ir::Weights weights,
                                          const std::string& origin) {
  Result<std::unique_ptr<Model>> model;
  try {
    model = build_model(xml, std::move(weights));
  } catch (const std::bad_alloc&) {
    model = error(StatusCode::OutOfMemory, "it does not fit into memory");
  }
  if (!model) return Failure(model.error().with_context(fmt::format("IR model '{}'", origin)));
  return model;
}

}  // namespace

Result<std::unique_ptr<Model>> read_openvino_ir(const std::string& path) {
  HET_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::filesystem::path weights(path);
  weights.replace_extension(".bin");
  return read_named(file->bytes(), ir::Weights(weights.string()), path);
}

Result<std::unique_ptr<Model>> read_openvino_ir_bytes(std::span<const std::byte> xml,
                                                      std::span<const std::byte> weights,
                                                      const std::string& origin) {
  return read_named(xml, ir::Weights(weights, origin), origin);
}

bool looks_like_xml(std::span<const std::byte> bytes) {
  std::string_view text = as_text(bytes.subspan(0, std::min<size_t>(bytes.size(), 4096)));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

}  // namespace het
