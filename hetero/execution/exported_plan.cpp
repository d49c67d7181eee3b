#include "hetero/execution/exported_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "hetero/split/subgraph_links.h"
#include "inference/preprocess/preprocess_text.h"

namespace het::hetero {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDevice = "HETERO";
constexpr std::string_view kSplit = "split";
constexpr std::string_view kSubgraph = "subgraph";
constexpr std::string_view kConstant = "constant";
/// Far beyond what an operator takes.
constexpr size_t kMostDims = 64;
constexpr size_t kMostExportedRequests = 65536;
constexpr double kMostShare = 1e9;

/// Properties that a file must not decide about, also for single devices: what the process that
/// imports it reads, writes and runs on.
constexpr std::array<std::string_view, 8> kOfTheProcess = {
    "CACHE_DIR",      "CACHE_MAX_MIB", "CONFIG_FILE",     "EXTENSIONS",
    "WEIGHT_SHARING", "GPU_ALLOW_CPU", "HETERO_AFFINITY", "WEIGHTS_PATH"};

Failure malformed(std::string_view what) {
  return error(StatusCode::ParseError, "the exported model is malformed: {}; export it again",
               what);
}

bool is_of_the_process(const std::string& name) {
  const auto single = split_member_property(name);
  return std::ranges::find(kOfTheProcess, single ? single->name : name) != kOfTheProcess.end();
}

Json json_of(const Port& port) {
  Json json{{"name", port.name}, {"type", to_string(port.desc.type)}, {"shape", port.desc.shape}};
  if (port.preprocess) json["picture"] = to_text(*port.preprocess);
  return json;
}

Json json_of(const std::vector<Port>& ports) {
  Json json = Json::array();
  for (const Port& port : ports) json.push_back(json_of(port));
  return json;
}

/// A constant is the number of its section.
Json json_of(const TensorSource& source, size_t constant) {
  switch (source.kind) {
    case TensorSource::Kind::ModelInput:
      return Json::object({{"input", source.index}});
    case TensorSource::Kind::Constant:
      return Json::object({{"constant", constant}});
    case TensorSource::Kind::SubgraphOutput:
      break;
  }
  return Json::object({{"subgraph", source.subgraph}, {"output", source.index}});
}

// Readers of single members; what is not there or of another kind is an error.

Result<const Json*> member(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (!json.is_object() || found == json.end()) {
    return malformed(fmt::format("'{}' is missing", name));
  }
  return &*found;
}

Result<std::string> text(const Json& json, const char* name) {
  HET_ASSIGN(const Json* const value, member(json, name));
  if (!value->is_string()) return malformed(fmt::format("'{}' is no text", name));
  return value->get<std::string>();
}

Result<const Json*> list(const Json& json, const char* name) {
  HET_ASSIGN(const Json* const value, member(json, name));
  if (!value->is_array()) return malformed(fmt::format("'{}' is no list", name));
  return value;
}

Result<std::vector<std::string>> texts(const Json& json, const char* name) {
  std::vector<std::string> texts;
  HET_ASSIGN(const Json* const items, list(json, name));
  for (const Json& item : *items) {
    if (!item.is_string()) return malformed(fmt::format("'{}' has an item that is no text", name));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<size_t> index_below(const Json& json, const char* name, size_t count) {
  HET_ASSIGN(const Json* const value, member(json, name));
  if (!value->is_number_unsigned() || value->get<uint64_t>() >= count) {
    return malformed(fmt::format("'{}' is not a number below {}", name, count));
  }
  return static_cast<size_t>(value->get<uint64_t>());
}

Result<Port> read_port(const Json& json) {
  Port port;
  HET_ASSIGN(port.name, text(json, "name"));
  HET_ASSIGN(const std::string type, text(json, "type"));
  if (type != to_string(ElementType::Undefined)) {
    HET_ASSIGN(port.desc.type, parse_element_type(type));
  }
  HET_ASSIGN(const Json* const shape, list(json, "shape"));
  if (shape->size() > kMostDims) return malformed("a shape has too many dimensions");
  for (const Json& dim : *shape) {
    if (!dim.is_number_integer() || dim.get<int64_t>() < kUnknownDim) {
      return malformed("a dimension of a shape is no size");
    }
    port.desc.shape.push_back(dim.get<int64_t>());
  }
  if (json.contains("picture")) {
    HET_ASSIGN(const std::string picture, text(json, "picture"));
    HET_ASSIGN(port.preprocess, parse_preprocess(picture));
  }
  return port;
}

Result<std::vector<Port>> read_ports(const Json& json, const char* name) {
  HET_ASSIGN(const Json* const rows, list(json, name));
  std::vector<Port> ports;
  for (const Json& row : *rows) {
    HET_ASSIGN(Port port, read_port(row));
    ports.push_back(std::move(port));
  }
  return ports;
}

bool same_tensor(const TensorDesc& a, const TensorDesc& b) {
  return a.type == b.type && a.shape == b.shape;
}

class PlanReader {
 public:
  explicit PlanReader(const ExportedFile& file) : file_(file) {
    plan_.memory = file.buffer();
    for (const ExportedSection& section : file.sections()) {
      if (section.name == kSubgraph) contents_.push_back(section.content);
      if (section.name == kConstant) constants_.push_back(section.content);
    }
  }

  Result<ExportedPlan> run() {
    HET_ASSIGN(const auto bytes, file_.section(kSplit));
    const auto* const begin = reinterpret_cast<const char*>(bytes.data());
    const Json json = Json::parse(begin, begin + bytes.size(), nullptr, false);
    HET_ASSIGN(plan_.model, text(json, "model"));
    HET_ASSIGN(plan_.devices, text(json, "devices"));
    HET_ASSIGN(plan_.explanation, text(json, "explanation"));
    HET_TRY(read_properties(json));
    if (json.contains("source")) HET_TRY(read_source_file(json["source"]));
    HET_ASSIGN(plan_.inputs, read_ports(json, "inputs"));
    HET_ASSIGN(plan_.outputs, read_ports(json, "outputs"));
    HET_ASSIGN(plan_.requests, index_below(json, "requests", kMostExportedRequests + 1));
    HET_ASSIGN(const Json* const ways, list(json, "ways"));
    if (ways->empty()) return malformed("it has no plan");
    for (const Json& way : *ways) HET_TRY(read_way(way));
    if (next_content_ != contents_.size()) return malformed("a file of a subgraph is too much");
    return std::move(plan_);
  }

 private:
  Status read_properties(const Json& json) {
    HET_ASSIGN(const Json* const properties, member(json, "properties"));
    if (!properties->is_object()) return malformed("its properties are no pairs");
    for (const auto& [name, value] : properties->items()) {
      if (!value.is_string()) return malformed("a property is no text");
      if (!is_of_the_process(name)) plan_.properties[name] = value.get<std::string>();
    }
    return {};
  }

  Status read_source_file(const Json& json) {
    ExportedSource source;
    HET_ASSIGN(source.path, text(json, "path"));
    HET_ASSIGN(const Json* const fingerprint, member(json, "fingerprint"));
    if (!fingerprint->is_number_unsigned()) return malformed("'fingerprint' is no number");
    source.fingerprint = fingerprint->get<uint64_t>();
    plan_.source = std::move(source);
    return {};
  }

  Status read_way(const Json& json) {
    ExportedWay& way = plan_.ways.emplace_back();
    HET_ASSIGN(const Json* const share, member(json, "share"));
    if (!share->is_number()) return malformed("'share' is no number");
    way.share = share->get<double>();
    if (!(way.share > 0 && way.share <= kMostShare)) return malformed("'share' is out of range");
    HET_TRY(read_subgraphs(way, json));
    HET_TRY(read_turns(way, json));
    HET_TRY(read_outputs(way, json));
    connect(way);
    return {};
  }

  /// Each turn is one subgraph's, or there are none.
  static Status read_turns(ExportedWay& way, const Json& json) {
    HET_ASSIGN(const Json* const turns, list(json, "turns"));
    const size_t count = way.subgraphs.size();
    if (!turns->empty() && turns->size() != count) return malformed("'turns' has another length");
    std::vector<bool> taken(count);
    for (const Json& turn : *turns) {
      if (!turn.is_number_unsigned() || turn.get<uint64_t>() >= count) {
        return malformed("'turns' has a number that is none");
      }
      const auto number = static_cast<size_t>(turn.get<uint64_t>());
      if (taken[number]) return malformed("'turns' has a number twice");
      taken[number] = true;
      way.turns.push_back(number);
    }
    return {};
  }

  Status read_subgraphs(ExportedWay& way, const Json& json) {
    HET_ASSIGN(const Json* const rows, list(json, "subgraphs"));
    for (const Json& row : *rows) {
      Subgraph subgraph;
      HET_ASSIGN(subgraph.name, text(row, "name"));
      HET_ASSIGN(subgraph.device, text(row, "device"));
      ExportedSubgraph exported;
      HET_ASSIGN(exported.nodes, texts(row, "nodes"));
      HET_ASSIGN(exported.inputs, read_ports(row, "inputs"));
      HET_ASSIGN(exported.outputs, read_ports(row, "outputs"));
      if (next_content_ == contents_.size()) return malformed("a subgraph has no file");
      exported.content = contents_[next_content_++];
      HET_ASSIGN(const Json* const sources, list(row, "sources"));
      if (sources->size() != exported.inputs.size()) {
        return malformed(fmt::format("{} has {} inputs and sources for {}", subgraph.name,
                                     exported.inputs.size(), sources->size()));
      }
      for (size_t i = 0; i < sources->size(); ++i) {
        HET_ASSIGN(const TensorSource source, read_source(way, (*sources)[i]));
        HET_TRY(check_source(way, source, exported.inputs[i].desc));
        subgraph.inputs.push_back(source);
      }
      way.subgraphs.push_back(std::move(exported));
      way.split.subgraphs.push_back(std::move(subgraph));
    }
    return {};
  }

  Status read_outputs(ExportedWay& way, const Json& json) {
    HET_ASSIGN(const Json* const sources, list(json, "sources"));
    if (sources->size() != plan_.outputs.size()) return malformed("outputs have no sources");
    size_t used = 0;
    for (size_t i = 0; i < sources->size(); ++i) {
      const TensorDesc& desc = plan_.outputs[i].desc;
      TensorSource source;
      if ((*sources)[i].is_object() && (*sources)[i].contains("constant")) {
        HET_ASSIGN(const size_t number, index_below((*sources)[i], "constant", constants_.size()));
        used = std::max(used, number + 1);
        source.kind = TensorSource::Kind::Constant;
        HET_ASSIGN(source.constant, constant(desc, constants_[number]));
      } else {
        HET_ASSIGN(source, read_source(way, (*sources)[i]));
        HET_TRY(check_source(way, source, desc));
      }
      way.split.outputs.push_back(std::move(source));
    }
    if (used != constants_.size()) return malformed("a constant is no output");
    return {};
  }

  /// Subgraphs are there once their row was read, so nobody reads from a later one.
  Result<TensorSource> read_source(const ExportedWay& way, const Json& json) const {
    TensorSource source;
    if (json.is_object() && json.contains("input")) {
      HET_ASSIGN(source.index, index_below(json, "input", plan_.inputs.size()));
      return source;
    }
    source.kind = TensorSource::Kind::SubgraphOutput;
    HET_ASSIGN(source.subgraph, index_below(json, "subgraph", way.subgraphs.size()));
    HET_ASSIGN(source.index,
               index_below(json, "output", way.subgraphs[source.subgraph].outputs.size()));
    return source;
  }

  Status check_source(const ExportedWay& way, const TensorSource& source,
                      const TensorDesc& reader) const {
    const Port& port = source.kind == TensorSource::Kind::ModelInput
                           ? plan_.inputs[source.index]
                           : way.subgraphs[source.subgraph].outputs[source.index];
    if (same_tensor(port.desc, reader)) return {};
    return malformed(fmt::format("'{}' is {} and read as {}", port.name, to_string(port.desc),
                                 to_string(reader)));
  }

  static Result<Tensor> constant(const TensorDesc& desc, std::span<const std::byte> content) {
    HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
    const bool is_bool = desc.type == ElementType::Bool;
    if (bytes != content.size() ||
        (is_bool && std::ranges::any_of(content, [](std::byte b) { return b > std::byte{1}; }))) {
      return malformed(fmt::format("{} bytes are no {}", content.size(), to_string(desc)));
    }
    HET_ASSIGN(Tensor tensor, Tensor::allocate(desc));
    std::ranges::copy(content, tensor.bytes());
    return tensor;
  }

  void connect(ExportedWay& way) const {
    connect_subgraphs(way.split, plan_.inputs.size());
    for (CutValue& cut : way.split.cuts) {
      const Port& output = way.subgraphs[cut.producer.subgraph].outputs[cut.producer.index];
      cut.name = output.name;
      cut.desc = output.desc;
    }
  }

  const ExportedFile& file_;
  std::vector<std::span<const std::byte>> contents_;
  size_t next_content_ = 0;  ///< of contents_
  std::vector<std::span<const std::byte>> constants_;
  ExportedPlan plan_;
};

}  // namespace

Status write_exported_plan(std::ostream& stream, const ExportedPlan& plan) {
  Json json{{"model", plan.model},
            {"devices", plan.devices},
            {"explanation", plan.explanation},
            {"properties", plan.properties},
            {"inputs", json_of(plan.inputs)},
            {"outputs", json_of(plan.outputs)},
            {"requests", plan.requests},
            {"ways", Json::array()}};
  if (plan.source) {
    json["source"] = {{"path", plan.source->path}, {"fingerprint", plan.source->fingerprint}};
  }
  std::vector<ExportedSection> sections(1);
  std::vector<Tensor> constants;
  for (const ExportedWay& way : plan.ways) {
    Json subgraphs = Json::array();
    for (size_t i = 0; i < way.subgraphs.size(); ++i) {
      const Subgraph& subgraph = way.split.subgraphs[i];
      Json sources = Json::array();
      for (const TensorSource& source : subgraph.inputs) sources.push_back(json_of(source, 0));
      subgraphs.push_back({{"name", subgraph.name},
                           {"device", subgraph.device},
                           {"nodes", way.subgraphs[i].nodes},
                           {"inputs", json_of(way.subgraphs[i].inputs)},
                           {"outputs", json_of(way.subgraphs[i].outputs)},
                           {"sources", std::move(sources)}});
      sections.push_back({std::string(kSubgraph), way.subgraphs[i].content});
    }
    // The same in all ways.
    const bool is_first = &way == plan.ways.data();
    size_t constant = 0;
    Json sources = Json::array();
    for (const TensorSource& source : way.split.outputs) {
      sources.push_back(json_of(source, constant));
      if (source.kind != TensorSource::Kind::Constant) continue;
      ++constant;
      if (!is_first) continue;
      HET_ASSIGN(Tensor dense, source.constant.clone());
      constants.push_back(std::move(dense));
    }
    json["ways"].push_back({{"share", way.share},
                            {"turns", way.turns},
                            {"subgraphs", std::move(subgraphs)},
                            {"sources", std::move(sources)}});
  }
  for (const Tensor& content : constants) {
    sections.push_back({std::string(kConstant), {content.bytes(), content.size_bytes()}});
  }
  for (const auto& [name, value] : plan.properties) {
    if (is_of_the_process(name)) json["properties"].erase(name);
  }
  const std::string split = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  sections[0] = {std::string(kSplit), std::as_bytes(std::span(split))};
  return ExportedFile::write(stream, kDevice, sections);
}

Result<ExportedPlan> read_exported_plan(std::istream& stream, ExportedFile::Checksums checksums) {
  HET_ASSIGN(const ExportedFile file, ExportedFile::read(stream, kDevice, checksums));
  return PlanReader(file).run();
}

bool same_port(const Port& a, const Port& b) {
  return a.name == b.name && same_tensor(a.desc, b.desc) && a.preprocess == b.preprocess;
}

}  // namespace het::hetero
