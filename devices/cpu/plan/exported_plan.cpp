#include "devices/cpu/plan/exported_plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "inference/model/exported_manifest.h"
#include "inference/readers/onnx_reader.h"
#include "inference/writers/onnx_writer.h"

namespace het::cpu {
namespace {

constexpr std::string_view kDevice = "CPU";
constexpr std::string_view kManifest = "manifest";
constexpr std::string_view kGraph = "graph";
constexpr std::string_view kPacked = "packed";
constexpr std::string_view kConstant = "constant";
/// Smaller constants stay in the graph.
constexpr size_t kLeastConstantBytes = 4096;
/// A packed float has at least a quarter of the bytes that it had (float64 in bfloat16), and a
/// block of channels that it shares with nobody more.
constexpr size_t kMostPlainShare = 8;

/// Properties that a file must not decide about: where this process loads and writes.
constexpr std::array<std::string_view, 2> kOwnProperties = {"CACHE_DIR", "EXTENSIONS"};

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

Status give_content(Model& model, Value* value, const TensorDesc& desc, BufferPtr memory,
                    size_t offset = 0) {
  HET_ASSIGN(Tensor content, Tensor::view(desc, std::move(memory), offset));
  model.make_constant(value, std::move(content));
  model.set_desc(value, desc);
  return {};
}

/// Gives the weights that were left out their shapes back, as zeros.
Status restore_weights(Model& model, const std::map<std::string, std::string>& replaced,
                       size_t packed_bytes) {
  std::vector<std::pair<Value*, TensorDesc>> weights;
  size_t largest = 0;
  for (const auto& [name, text] : replaced) {
    HET_ASSIGN(Value* const value, find_constant(model, name));
    HET_ASSIGN(TensorDesc desc, parse_desc(text));
    HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
    if (bytes / kMostPlainShare > packed_bytes) {
      return malformed(fmt::format("weights of {} bytes for {} packed ones", bytes, packed_bytes));
    }
    largest = std::max(largest, bytes);
    weights.emplace_back(value, std::move(desc));
  }
  HET_ASSIGN(const BufferPtr zeros, zero_pages(largest));
  for (const auto& [value, desc] : weights) HET_TRY(give_content(model, value, desc, zeros));
  return {};
}

/// The constants with sections of their own, in the order of their names.
Status restore_constants(Model& model, const std::map<std::string, std::string>& constants,
                         const ExportedFile& file) {
  auto section = file.sections().begin();
  const auto end = file.sections().end();
  const auto is_constant = [](const ExportedSection& each) { return each.name == kConstant; };
  for (const auto& [name, text] : constants) {
    section = std::find_if(section, end, is_constant);
    if (section == end) {
      return malformed(fmt::format("no section is left for constant '{}'", name.substr(0, 256)));
    }
    HET_ASSIGN(Value* const value, find_constant(model, name));
    HET_ASSIGN(const TensorDesc desc, parse_desc(text));
    HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
    if (bytes != section->content.size() || desc.type == ElementType::Bool) {
      return malformed(fmt::format("constant '{}' is {} and has {} bytes", name.substr(0, 256),
                                   to_string(desc), section->content.size()));
    }
    const size_t offset = static_cast<size_t>(section->content.data() - file.buffer()->host());
    HET_TRY(give_content(model, value, desc, file.buffer(), offset));
    ++section;
  }
  if (std::any_of(section, end, is_constant)) return malformed("its constants have no names");
  return {};
}

}  // namespace

ExportSource::ExportSource(const Model& prepared) : name_(prepared.name()) {
  const std::unique_ptr<Model> graph = prepared.clone();
  for (const auto& [node, value] : product_weights(*graph)) products_[value->name()] = node;
  for (const auto& value : graph->values()) {
    // A reader makes sure that booleans are 0 or 1, and so the graph's reader has to see them.
    if (!value->is_constant() || value->desc().type == ElementType::Bool ||
        value->constant().size_bytes() < kLeastConstantBytes) {
      continue;
    }
    constants_[value->name()] = value->constant();
    graph->make_constant(value.get(), *Tensor::allocate({value->desc().type, {0}}));
  }
  graph_ = write_onnx_bytes(*graph);
  if (graph_) graph_->shrink_to_fit();
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

Status ExportSource::write(std::ostream& stream, const PlanOrigin& origin,
                           const Properties& properties, const LayerChoices& choices) const {
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
  std::map<std::string, std::string>& constants = manifest.pairs["constants"];
  for (const auto& [name, content] : constants_) {
    constants[name] = to_string(TensorDesc{content.type(), content.shape()});
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
  return ExportedFile::write(stream, kDevice, sections);
}

Result<ExportedPlan> read_exported_plan(std::istream& stream, std::string_view machine,
                                        ExportedFile::Checksums checksums) {
  HET_ASSIGN(const ExportedFile file, ExportedFile::read(stream, kDevice, checksums));
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
  HET_ASSIGN(plan.properties, manifest.pairs_of("properties"));
  for (const std::string_view name : kOwnProperties) plan.properties.erase(std::string(name));
  HET_ASSIGN(const auto choices, manifest.pairs_of("choices"));
  plan.choices.insert(choices.begin(), choices.end());

  HET_ASSIGN(const std::vector<std::string> names, manifest.list("packed"));
  size_t packed_bytes = 0;
  for (const ExportedSection& section : file.sections()) {
    if (section.name != kPacked) continue;
    const size_t index = plan.packed.size();
    if (index >= names.size()) return malformed("its packed weights have no names");
    plan.packed.push_back({names[index], section.content});
    packed_bytes += section.content.size();
  }
  plan.memory = file.buffer();

  HET_ASSIGN(const auto graph, file.section(kGraph));
  HET_ASSIGN(plan.model, read_onnx_bytes(graph, "", "graph of the exported model"));
  HET_ASSIGN(std::string name, manifest.text("model"));
  plan.model->set_name(std::move(name));
  HET_ASSIGN(const auto replaced, manifest.pairs_of("weights"));
  HET_TRY(restore_weights(*plan.model, replaced, packed_bytes));
  HET_ASSIGN(const auto constants, manifest.pairs_of("constants"));
  HET_TRY(restore_constants(*plan.model, constants, file));
  return plan;
}

}  // namespace het::cpu
