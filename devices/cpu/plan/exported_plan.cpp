#include "devices/cpu/plan/exported_plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "inference/base/checksum.h"
#include "inference/model/exported_manifest.h"
#include "inference/readers/mapped_file.h"
#include "inference/readers/onnx_reader.h"
#include "inference/writers/onnx_writer.h"

namespace het::cpu {
namespace {

constexpr std::string_view kManifest = "manifest";
constexpr std::string_view kGraph = "graph";
constexpr std::string_view kPacked = "packed";
constexpr std::string_view kConstant = "constant";
constexpr std::string_view kPlain = "plain";
/// Smaller constants stay in the graph.
constexpr size_t kLeastConstantBytes = 4096;
/// A packed float has at least a quarter of the bytes that it had (float64 in bfloat16), and a
/// block of channels that it shares with nobody more.
constexpr size_t kMostPlainShare = 8;

/// Properties that a file must not decide about: where this process loads and writes.
constexpr std::array<std::string_view, 4> kOwnProperties = {"CACHE_DIR", "CACHE_MAX_MIB",
                                                            "EXTENSIONS", "WEIGHT_SHARING"};

Failure malformed(std::string_view what) {
  return error(StatusCode::ParseError, "the exported model is malformed: {}; export it again",
               what);
}

/// Weights of float products, which may enter the plan in packed form only, by the product's name.
/// What rewrites do with the weights of quantised models depends on their values.
std::vector<std::pair<std::string, Value*>> product_weights(const Model& model) {
  std::vector<std::pair<std::string, Value*>> weights;
  for (const auto& node : model.nodes()) {
    if (node->op_type().find("Quantize") != std::string::npos ||
        node->op_type().find("QLinear") != std::string::npos) {
      return {};
    }
    constexpr std::array<std::string_view, 4> kProducts = {"Conv", "ConvTranspose", "MatMul",
                                                           "Gemm"};
    Value* value = node->input(1);
    const bool is_product =
        node->domain().empty() && std::ranges::find(kProducts, node->op_type()) != kProducts.end();
    if (!is_product || value == nullptr || !value->is_constant() ||
        value->consumers().size() != 1) {
      continue;
    }
    const ElementType type = value->desc().type;
    const bool is_float = type == ElementType::Float32 || type == ElementType::Float16;
    const bool is_output = std::ranges::any_of(
        model.outputs(), [&](const ModelOutput& output) { return output.value == value; });
    if (is_float && !is_output) weights.emplace_back(node->name(), value);
  }
  return weights;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// "float32[64,3,3,3]" as to_string() writes it.
Result<TensorDesc> parse_desc(std::string_view text) {
  const auto bad = [&] { return malformed(fmt::format("'{}' is no shape", text.substr(0, 256))); };
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || !text.ends_with(']')) return bad();
  TensorDesc desc;
  HET_ASSIGN(desc.type, parse_element_type(text.substr(0, bracket)));
  std::string_view dims = text.substr(bracket + 1, text.size() - bracket - 2);
  while (!dims.empty()) {
    const size_t comma = std::min(dims.find(','), dims.size());
    int64_t dim = 0;
    const char* const dim_end = dims.data() + comma;
    const auto [end, code] = std::from_chars(dims.data(), dim_end, dim);
    if (code != std::errc() || end != dim_end || dim < 0) return bad();
    desc.shape.push_back(dim);
    dims.remove_prefix(std::min(comma + 1, dims.size()));
  }
  return desc;
}

/// Read-only zeros without memory behind them.
Result<BufferPtr> zero_pages(size_t bytes) {
  const size_t length = std::max<size_t>(bytes, 1);
  void* address =
      ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return error(StatusCode::OutOfMemory, "no addresses are left for {} bytes", bytes);
  }
  return wrap_host_memory(address, bytes, [address, length] { ::munmap(address, length); });
}

Result<Value*> find_constant(const Model& model, const std::string& name) {
  Value* value = model.find_value(name);
  if (value == nullptr || !value->is_constant()) {
    return malformed(fmt::format("its graph has no constant '{}'", name.substr(0, 256)));
  }
  return value;
}

/// Gives the weights that were left out their shapes back, as zeros.
Status restore_weights(Model& model, const ExportedPlan& plan) {
  size_t packed_bytes = 0;
  for (const PackedConstants::Entry& entry : plan.packed) packed_bytes += entry.content.size();
  size_t largest = 0;
  for (const auto& [name, desc] : plan.weights) {
    HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
    if (bytes / kMostPlainShare > packed_bytes) {
      return malformed(fmt::format("weights of {} bytes for {} packed ones", bytes, packed_bytes));
    }
    largest = std::max(largest, bytes);
  }
  HET_ASSIGN(const BufferPtr zeros, zero_pages(largest));
  for (const auto& [name, desc] : plan.weights) {
    HET_ASSIGN(Value* const value, find_constant(model, name));
    HET_ASSIGN(Tensor content, Tensor::view(desc, zeros));
    model.make_constant(value, std::move(content));
    model.set_desc(value, desc);
  }
  return {};
}

/// The constants with sections of this kind, in the order of their names.
Result<std::map<std::string, Tensor>> constants_of(const ExportedFile& file,
                                                   const std::map<std::string, std::string>& descs,
                                                   std::string_view kind) {
  std::map<std::string, Tensor> contents;
  auto section = file.sections().begin();
  const auto end = file.sections().end();
  const auto is_of_kind = [kind](const ExportedSection& each) { return each.name == kind; };
  for (const auto& [name, text] : descs) {
    section = std::find_if(section, end, is_of_kind);
    if (section == end) {
      return malformed(fmt::format("no section is left for constant '{}'", name.substr(0, 256)));
    }
    HET_ASSIGN(const TensorDesc desc, parse_desc(text));
    HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
    if (bytes != section->content.size() || desc.type == ElementType::Bool) {
      return malformed(fmt::format("constant '{}' is {} and has {} bytes", name.substr(0, 256),
                                   to_string(desc), section->content.size()));
    }
    const size_t offset = static_cast<size_t>(section->content.data() - file.buffer()->host());
    HET_ASSIGN(contents[name], Tensor::view(desc, file.buffer(), offset));
    ++section;
  }
  if (std::any_of(section, end, is_of_kind)) return malformed("its constants have no names");
  return contents;
}

std::map<std::string, std::string> descs_of(const std::map<std::string, Tensor>& contents) {
  std::map<std::string, std::string> descs;
  for (const auto& [name, content] : contents) {
    descs[name] = to_string(TensorDesc{content.type(), content.shape()});
  }
  return descs;
}

bool has_own_section(const Value& value) {
  // A reader makes sure that booleans are 0 or 1, and so the graph's reader has to see them.
  return value.is_constant() && value.desc().type != ElementType::Bool &&
         value.constant().size_bytes() >= kLeastConstantBytes;
}

}  // namespace

ExportSource::ExportSource(const Model& prepared) : name_(prepared.name()) {
  const std::unique_ptr<Model> graph = prepared.clone();
  graph->set_name("");  // stands elsewhere, and often is that of the file
  for (const auto& [node, value] : product_weights(*graph)) products_[value->name()] = node;
  for (const auto& value : graph->values()) {
    if (!has_own_section(*value)) continue;
    has_own_memory_ |= !is_of_mapped_file(value->constant().bytes());
    constants_[value->name()] = value->constant();
    graph->make_constant(value.get(), *Tensor::allocate({value->desc().type, {0}}));
  }
  graph_ = write_onnx_bytes(*graph);
  if (graph_) graph_->shrink_to_fit();
}

Result<std::string> ExportSource::content_key() const {
  if (!graph_) return Failure(graph_.error());
  std::string key = fmt::format("graph {} {:016x}", graph_->size(), checksum(*graph_));
  for (const auto& [name, content] : constants_) {
    key += fmt::format("\n{:016x} {} {}", checksum({content.bytes(), content.size_bytes()}),
                       to_string(TensorDesc{content.type(), content.shape()}), name);
  }
  return key;
}

void ExportSource::forget_packed(PackedConstants packed) {
  packed_ = packed.take_entries();
  for (const auto& [name, node] : products_) {
    const auto content = constants_.find(name);
    if (content == constants_.end() || packed.original_names().count(node) == 0) continue;
    packed_weights_[name] = {content->second.type(), content->second.shape()};
    constants_.erase(content);
  }
  products_.clear();
}

void ExportSource::take_stored(const ExportedPlan& stored) {
  packed_ = stored.packed;
  constants_ = stored.constants;
  packed_weights_ = stored.weights;
  products_.clear();
  memory_ = stored.memory;
}

std::map<std::string, Tensor> ExportSource::plain_weights(const Model& prepared) const {
  std::map<std::string, Tensor> plain;
  for (const auto& [name, desc] : packed_weights_) {
    const Value* value = prepared.find_value(name);
    if (value != nullptr && has_own_section(*value)) plain[name] = value->constant();
  }
  return plain;
}

uint64_t ExportSource::content_bytes() const {
  uint64_t bytes = graph_ ? graph_->size() : 0;
  for (const auto& [name, content] : constants_) bytes += content.size_bytes();
  for (const PackedConstants::Entry& entry : packed_) bytes += entry.content.size();
  return bytes;
}

Status ExportSource::write(std::ostream& stream, const PlanOrigin& origin,
                           const Properties& properties, const LayerChoices& choices,
                           const StoredExtras& extras) const {
  if (!graph_) return Failure(graph_.error());
  ExportedManifest manifest;
  manifest.texts = {{"machine", origin.machine},
                    {"settings", origin.settings},
                    {"precision", origin.precision},
                    {"model", name_}};
  manifest.pairs["choices"].insert(choices.begin(), choices.end());
  manifest.pairs["properties"] = properties;
  for (const std::string_view name : kOwnProperties) {
    manifest.pairs["properties"].erase(std::string(name));
  }
  std::map<std::string, std::string>& weights = manifest.pairs["weights"];
  for (const auto& [name, desc] : packed_weights_) weights[name] = to_string(desc);
  manifest.pairs["constants"] = descs_of(constants_);
  if (!extras.key.empty()) {
    manifest.texts["key"] = extras.key;
    manifest.pairs["plain"] = descs_of(extras.plain);
  }
  std::vector<std::string>& names = manifest.lists["packed"];
  for (const PackedConstants::Entry& entry : packed_) names.push_back(entry.node);
  const std::string manifest_text = manifest.to_json();
  std::vector<ExportedSection> sections = {{std::string(kManifest), bytes_of(manifest_text)},
                                           {std::string(kGraph), bytes_of(*graph_)}};
  for (const auto& [name, content] : constants_) {
    sections.push_back({std::string(kConstant), {content.bytes(), content.size_bytes()}});
  }
  for (const PackedConstants::Entry& entry : packed_) {
    sections.push_back({std::string(kPacked), entry.content});
  }
  for (const auto& [name, content] : extras.plain) {
    sections.push_back({std::string(kPlain), {content.bytes(), content.size_bytes()}});
  }
  return ExportedFile::write(stream, kExportDevice, sections);
}

Result<ExportedPlan> read_exported_plan(const ExportedFile& file, std::string_view machine) {
  HET_ASSIGN(const auto manifest_bytes, file.section(kManifest));
  HET_ASSIGN(const ExportedManifest manifest, ExportedManifest::parse(manifest_bytes));
  ExportedPlan plan;
  HET_ASSIGN(plan.origin.machine, manifest.text("machine"));
  if (plan.origin.machine != machine) {
    return error(StatusCode::NotSupported,
                 "the model was exported on another machine ({}), its packed weights are of no use "
                 "here ({}); compile the model and export it again",
                 plan.origin.machine.substr(0, 512), machine);
  }
  HET_ASSIGN(plan.origin.settings, manifest.text("settings"));
  HET_ASSIGN(plan.origin.precision, manifest.text("precision"));
  HET_ASSIGN(plan.name, manifest.text("model"));
  HET_ASSIGN(plan.properties, manifest.pairs_of("properties"));
  for (const std::string_view name : kOwnProperties) plan.properties.erase(std::string(name));
  HET_ASSIGN(const auto choices, manifest.pairs_of("choices"));
  plan.choices.insert(choices.begin(), choices.end());

  HET_ASSIGN(const std::vector<std::string> names, manifest.list("packed"));
  for (const ExportedSection& section : file.sections()) {
    if (section.name != kPacked) continue;
    const size_t index = plan.packed.size();
    if (index >= names.size()) return malformed("its packed weights have no names");
    plan.packed.push_back({names[index], section.content});
  }
  plan.memory = file.buffer();
  HET_ASSIGN(const auto weights, manifest.pairs_of("weights"));
  for (const auto& [name, text] : weights) {
    HET_ASSIGN(plan.weights[name], parse_desc(text));
  }
  HET_ASSIGN(const auto constants, manifest.pairs_of("constants"));
  HET_ASSIGN(plan.constants, constants_of(file, constants, kConstant));
  if (manifest.texts.count("key") == 0) return plan;
  HET_ASSIGN(plan.key, manifest.text("key"));
  HET_ASSIGN(const auto plain, manifest.pairs_of("plain"));
  HET_ASSIGN(plan.plain, constants_of(file, plain, kPlain));
  return plan;
}

Result<std::unique_ptr<Model>> read_exported_graph(const ExportedFile& file,
                                                   const ExportedPlan& plan) {
  HET_ASSIGN(const auto graph, file.section(kGraph));
  HET_ASSIGN(std::unique_ptr<Model> model,
             read_onnx_bytes(graph, "", "graph of the exported model"));
  model->set_name(plan.name);
  HET_TRY(restore_weights(*model, plan));
  HET_TRY(share_constants(*model, plan.constants));
  return model;
}

Status share_constants(Model& model, const std::map<std::string, Tensor>& contents) {
  for (const auto& [name, content] : contents) {
    HET_ASSIGN(Value* const value, find_constant(model, name));
    const bool is_known =
        value->desc().type == content.type() && value->desc().shape == content.shape();
    model.make_constant(value, content);
    if (!is_known) model.set_desc(value, {content.type(), content.shape()});
  }
  return {};
}

}  // namespace het::cpu
