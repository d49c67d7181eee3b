#include "inference/readers/openvino_ir/parse.h"

#include <algorithm>
#include <unordered_set>

#include "inference/base/log.h"
#include "inference/readers/openvino_ir/limits.h"
#include "inference/readers/openvino_ir/numbers.h"

namespace het::ir {
namespace {

constexpr int64_t kOldestVersion = 10;
constexpr int64_t kNewestVersion = 11;

std::string_view text_of(const pugi::xml_node& element, const char* attribute) {
  return element.attribute(attribute).as_string();
}

Result<int64_t> id_of(const pugi::xml_node& element, const char* attribute) {
  const pugi::xml_attribute found = element.attribute(attribute);
  if (!found) {
    return error(StatusCode::ParseError, "the element <{}> has no '{}'", element.name(), attribute);
  }
  const auto value = parse_integer(found.as_string());
  if (!value || *value < 0) {
    return error(StatusCode::ParseError, "the {} '{}' of <{}> is not a number from 0 on", attribute,
                 std::string_view(found.as_string()).substr(0, 80), element.name());
  }
  return *value;
}

/// The value of <rt_info><attribute name=NAME .../></rt_info> under an element.
std::string_view rt_attribute(const pugi::xml_node& element, std::string_view name,
                              const char* key) {
  for (const pugi::xml_node& attribute : element.child("rt_info").children("attribute")) {
    if (text_of(attribute, "name") == name) return text_of(attribute, key);
  }
  return {};
}

/// What <rt_info><attribute name=KEY value=.../></rt_info> says of a layer; `affinity` is that of
/// older files.
std::shared_ptr<const RtInfo> parse_rt_info(const pugi::xml_node& element,
                                            std::string_view affinity) {
  RtInfo info;
  for (const pugi::xml_node& attribute : element.child("rt_info").children("attribute")) {
    const std::string_view key = text_of(attribute, "name");
    const std::string_view value = text_of(attribute, "value");
    if (!key.empty() && !value.empty()) info.emplace(key, value);
  }
  if (!affinity.empty()) info.emplace("affinity", affinity);
  return info.empty() ? nullptr : std::make_shared<const RtInfo>(std::move(info));
}

Result<ParsedPort> parse_port(const pugi::xml_node& element) {
  ParsedPort port;
  HET_ASSIGN(port.id, id_of(element, "id"));
  port.precision = text_of(element, "precision");
  port.names = text_of(element, "names");
  port.layout = rt_attribute(element, "layout", "layout");
  for (const pugi::xml_node& dim : element.children("dim")) {
    if (port.dims.size() >= kMaxRank) {
      return error(StatusCode::ParseError, "port {} has more than {} dimensions", port.id,
                   kMaxRank);
    }
    HET_ASSIGN(const Shape size, parse_dims(dim.text().as_string()));
    if (size.size() != 1) {
      return error(StatusCode::ParseError, "port {} has a dimension that is not one number",
                   port.id);
    }
    port.dims.push_back(size[0]);
  }
  return port;
}

Status parse_ports(const pugi::xml_node& list, std::vector<ParsedPort>& ports,
                   std::unordered_set<int64_t>& seen) {
  for (const pugi::xml_node& element : list.children("port")) {
    HET_ASSIGN(ParsedPort port, parse_port(element));
    if (!seen.insert(port.id).second) {
      return error(StatusCode::ParseError, "it has twice the port {}", port.id);
    }
    ports.push_back(std::move(port));
  }
  return {};
}

Result<ParsedLayer> parse_layer(const pugi::xml_node& element) {
  ParsedLayer layer;
  HET_ASSIGN(layer.id, id_of(element, "id"));
  layer.name = text_of(element, "name");
  layer.type = text_of(element, "type");
  layer.opset = text_of(element, "version");
  layer.element = element;
  layer.data = element.child("data");
  layer.rt_info = parse_rt_info(element, text_of(layer.data, "affinity"));
  const auto fail = [&](const Status& status) {
    return Failure(status.with_context(
        fmt::format("layer {} '{}' ({})", layer.id, layer.name.substr(0, 200), layer.type)));
  };
  if (layer.type.empty()) return fail(Status(StatusCode::ParseError, "it has no type"));
  if (layer.name.size() > kMaxNameBytes) {
    return fail(Status(StatusCode::ParseError, fmt::format("its name has {} bytes, the limit is {}",
                                                           layer.name.size(), kMaxNameBytes)));
  }
  std::unordered_set<int64_t> seen;
  if (Status status = parse_ports(element.child("input"), layer.inputs, seen); !status.ok()) {
    return fail(status);
  }
  // Outputs of a layer are numbered on from its inputs, so one set serves both.
  if (Status status = parse_ports(element.child("output"), layer.outputs, seen); !status.ok()) {
    return fail(status);
  }
  const auto by_id = [](const ParsedPort& a, const ParsedPort& b) { return a.id < b.id; };
  std::stable_sort(layer.inputs.begin(), layer.inputs.end(), by_id);
  std::stable_sort(layer.outputs.begin(), layer.outputs.end(), by_id);
  return layer;
}

Status charge(const ParsedLayer& layer, ParseBudget& budget) {
  if (++budget.layers > kMaxLayers) {
    return error(StatusCode::OutOfMemory, "the model has more than {} layers", kMaxLayers);
  }
  budget.name_bytes += layer.name.size();
  for (const ParsedPort& port : layer.outputs) budget.name_bytes += port.names.size();
  if (budget.name_bytes > kMaxNameBytesTotal) {
    return error(StatusCode::OutOfMemory, "the names of layers and tensors take more than {} bytes",
                 kMaxNameBytesTotal);
  }
  return {};
}

void collect_rt_info(const pugi::xml_node& element, const std::string& prefix, size_t depth,
                     std::map<std::string, std::string>& entries) {
  for (const pugi::xml_node& child : element.children()) {
    if (entries.size() >= kMaxMetadataEntries || depth > kMaxXmlDepth) return;
    const std::string key = prefix + child.name();
    const std::string_view value = text_of(child, "value");
    if (child.attribute("value") && value.size() <= kMaxMetadataBytes && key.size() <= 1024) {
      entries.emplace(key, value);
    }
    collect_rt_info(child, key + "/", depth + 1, entries);
  }
}

}  // namespace

Result<int64_t> parse_version(const pugi::xml_node& net) {
  if (!net) {
    return error(StatusCode::ParseError,
                 "it has no <net> element: it is XML, but not an OpenVINO IR model");
  }
  HET_ASSIGN(const int64_t version, id_of(net, "version"));
  if (version < kOldestVersion) {
    return error(
        StatusCode::NotSupported,
        "it is IR version {}, an old form that newer tools do not read either; versions {} and {} "
        "are read. "
        "Convert the original model anew with a newer tool (OpenVINO 2022 or later: ovc or "
        "mo), or use its ONNX file",
        version, kOldestVersion, kNewestVersion);
  }
  if (version > kNewestVersion) {
    log(LogLevel::Warning, "the model is IR version {}, this build knows {} to {}; trying", version,
        kOldestVersion, kNewestVersion);
  }
  return version;
}

Result<ParsedNet> parse_net(const pugi::xml_node& element, ParseBudget& budget) {
  ParsedNet net;
  net.name = text_of(element, "name");
  for (const pugi::xml_node& layer : element.child("layers").children("layer")) {
    HET_ASSIGN(ParsedLayer parsed, parse_layer(layer));
    HET_TRY(charge(parsed, budget));
    net.layers.push_back(std::move(parsed));
  }
  if (net.layers.empty()) return error(StatusCode::ParseError, "it has no layers");
  for (const pugi::xml_node& edge : element.child("edges").children("edge")) {
    ParsedEdge parsed;
    HET_ASSIGN(parsed.from_layer, id_of(edge, "from-layer"));
    HET_ASSIGN(parsed.from_port, id_of(edge, "from-port"));
    HET_ASSIGN(parsed.to_layer, id_of(edge, "to-layer"));
    HET_ASSIGN(parsed.to_port, id_of(edge, "to-port"));
    net.edges.push_back(parsed);
  }
  return net;
}

std::map<std::string, std::string> parse_rt_info(const pugi::xml_node& net) {
  std::map<std::string, std::string> entries;
  collect_rt_info(net.child("rt_info"), "", 0, entries);
  // Where Model Optimizer stood in files of 2022 and before.
  const pugi::xml_attribute converter =
      net.child("meta_data").child("MO_version").attribute("value");
  if (converter) entries.emplace("MO_version", converter.as_string());
  return entries;
}

}  // namespace het::ir
