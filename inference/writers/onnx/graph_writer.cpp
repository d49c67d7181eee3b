#include "inference/writers/onnx/graph_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>

#include "inference/ops/onnx_type.h"
#include "inference/ops/sequences/body.h"
#include "inference/preprocess/preprocess_text.h"
#include "inference/readers/onnx/graph.h"
#include "inference/readers/onnx/limits.h"
#include "inference/readers/onnx/metadata_keys.h"
#include "inference/readers/onnx/proto.h"

namespace het::onnx {
namespace {

std::vector<std::string> capture_names(const Node& node) {
  return node.attributes().get_strings(kCapturesAttribute);
}

void add_metadata(protozero::pbf_writer& writer, uint32_t field, std::string_view key,
                  const std::string& value) {
  protozero::pbf_writer entry(writer, field);
  entry.add_string(entry_field::kKey, key.data(), key.size());
  entry.add_string(entry_field::kValue, value);
}

/// Name, type and shape as far as they are known.
void add_value(protozero::pbf_writer& value, const std::string& name,
               const DeclaredOutput& declared, const std::vector<std::string>& dim_names) {
  value.add_string(value_field::kName, name);
  if (declared.type == 0 && !declared.shape) return;
  protozero::pbf_writer type(value, value_field::kType);
  protozero::pbf_writer tensor(type, type_field::kTensor);
  if (declared.type != 0) {
    tensor.add_int32(tensor_type_field::kElementType, static_cast<int32_t>(declared.type));
  }
  if (!declared.shape) return;
  // Nested writers leave empty messages out, but a scalar's shape and an unknown dimension are
  // empty.
  std::string shape;
  protozero::pbf_writer dims(shape);
  for (size_t axis = 0; axis < declared.shape->size(); ++axis) {
    std::string content;
    protozero::pbf_writer dim(content);
    if ((*declared.shape)[axis] != kUnknownDim) {
      dim.add_int64(dim_field::kValue, (*declared.shape)[axis]);
    } else if (axis < dim_names.size() && !dim_names[axis].empty()) {
      dim.add_string(dim_field::kParam, dim_names[axis]);
    }
    dims.add_message(shape_field::kDim, content);
  }
  tensor.add_message(tensor_type_field::kShape, shape);
}

bool same_content(const Tensor& a, const Tensor& b) {
  if (a.desc() != b.desc() || !a.is_dense() || !b.is_dense()) return false;
  return a.bytes() == b.bytes() || std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

bool is_finite(const PreprocessDesc& desc) {
  const auto all = [](const auto& values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  };
  return all(desc.mean) && all(desc.std) && all(desc.pad_value) && std::isfinite(desc.range_low) &&
         std::isfinite(desc.range_high);
}

/// The reason that the model itself gives; unknown operators need none.
std::string kept_reason(const Node& node) {
  if (node.op() != nullptr) return {};
  const std::string reason = node.unsupported_reason();
  const std::string unknown =
      fmt::format("operator {} is unknown to this build", node.qualified_type());
  return reason == unknown ? std::string() : reason;
}

/// What a node says of the outputs of one of its bodies (the file's words), or the types that are
/// known.
std::vector<DeclaredOutput> declared_outputs(const Node& node, std::string_view attribute,
                                             const Model& body) {
  std::vector<int64_t> types;
  std::vector<int64_t> ranks;
  if (attribute == "body") {
    types = node.attributes().get_ints(kBodyTypesAttribute);
    ranks = node.attributes().get_ints(kBodyRanksAttribute);
  }
  std::vector<DeclaredOutput> declared(body.outputs().size());
  for (size_t i = 0; i < declared.size(); ++i) {
    if (i < types.size()) declared[i].type = types[i];
    if (i < ranks.size() && ranks[i] >= 0 && ranks[i] <= static_cast<int64_t>(kMaxRank)) {
      declared[i].shape = Shape(static_cast<size_t>(ranks[i]), kUnknownDim);
    }
    if (attribute != "body") {
      declared[i].type = onnx_type_code(body.outputs()[i].value->desc().type);
    }
  }
  return declared;
}

bool is_own_attribute(std::string_view name) {
  return name == kCapturesAttribute || name == kBodyTypesAttribute || name == kBodyRanksAttribute;
}

AttributeKind kind_of(const Attribute& attribute) {
  static constexpr AttributeKind kKinds[] = {
      AttributeKind::Int,    AttributeKind::Float,   AttributeKind::String, AttributeKind::Ints,
      AttributeKind::Floats, AttributeKind::Strings, AttributeKind::Tensor, AttributeKind::Graph};
  static_assert(std::variant_size_v<Attribute> == std::size(kKinds));
  return kKinds[attribute.index()];
}

}  // namespace

GraphWriter::GraphWriter(TensorWriter& tensors, std::set<std::string>& domains,
                         const GraphWriter* outer, const Node* holder, size_t depth)
    : tensors_(tensors), domains_(domains), outer_(outer), holder_(holder), depth_(depth) {}

Status GraphWriter::write(protozero::pbf_writer& writer, const Model& model,
                          const std::vector<DeclaredOutput>& declared) {
  if (depth_ > kMaxDepth) {
    return error(StatusCode::InvalidArgument, "graphs are nested deeper than {}", kMaxDepth);
  }
  // ONNX wants producers first; a copy of the graph shares the weights.
  const std::unique_ptr<Model> sorted = model.clone();
  HET_TRY(sorted->sort());
  writer.add_string(graph_field::kName, sorted->name());
  HET_TRY(name_values(*sorted));
  HET_TRY(write_inputs(writer, *sorted));
  HET_TRY(write_constants(writer, *sorted));
  HET_TRY(write_nodes(writer, *sorted));
  write_output_aliases(writer, *sorted);
  write_outputs(writer, declared);
  return {};
}

// 1. Names: a value keeps its own wherever ONNX allows. No other value of this graph or of those
// around may have it, and outputs carry their own names.
Status GraphWriter::name_values(const Model& model) {
  for (const ModelInput& input : model.inputs()) {
    if (const Value* outside = captured(*input.value)) {
      names_[input.value] = outer_->name_of(outside);
      not_written_.insert(input.value);
    } else {
      names_[input.value] = claim(input.value->name());
    }
  }
  for (const auto& value : model.values()) {
    if (!value->is_constant() || !is_outer_constant(*value)) continue;
    names_[value.get()] = value->name();
    not_written_.insert(value.get());
  }
  // Outputs whose value has another name are written as an Identity, which gets the name.
  std::unordered_set<std::string> direct;
  for (const ModelOutput& output : model.outputs()) {
    const bool is_direct = output.name == output.value->name() && direct.insert(output.name).second;
    is_alias_.push_back(!is_direct);
  }
  for (size_t i = 0; i < is_alias_.size(); ++i) {
    const std::string& name = model.outputs()[i].name;
    output_names_.push_back(is_alias_[i] && !direct.contains(name) ? claim(name) : std::string());
  }
  for (const auto& value : model.values()) {
    if (names_.contains(value.get())) continue;
    names_[value.get()] = claim(value->name());
  }
  for (size_t i = 0; i < is_alias_.size(); ++i) {
    if (!is_alias_[i]) output_names_[i] = name_of(model.outputs()[i].value);
    if (output_names_[i].empty()) output_names_[i] = claim(model.outputs()[i].name);
  }
  for (const auto& [value, name] : names_) {
    if (name.size() > kMaxNameBytes) {
      return error(StatusCode::InvalidArgument, "a value of graph '{}' has a name of {} bytes",
                   model.name(), name.size());
    }
  }
  return {};
}

// 2. Inputs with what gets pictures into them.
Status GraphWriter::write_inputs(protozero::pbf_writer& writer, const Model& model) {
  for (const ModelInput& input : model.inputs()) {
    if (not_written_.contains(input.value)) continue;
    protozero::pbf_writer value(writer, graph_field::kInput);
    const TensorDesc& desc = input.value->desc();
    const bool is_known = desc.type != ElementType::Undefined;
    add_value(value, name_of(input.value),
              {onnx_type_code(desc.type), is_known ? std::optional(desc.shape) : std::nullopt},
              input.dim_names);
    if (desc.layout == Layout::NCHW || desc.layout == Layout::NHWC) {
      add_metadata(value, value_field::kMetadata, kLayoutKey, std::string(to_string(desc.layout)));
    }
    if (!input.preprocess) continue;
    if (!is_finite(*input.preprocess)) {
      return error(StatusCode::InvalidArgument,
                   "the preprocessing of input '{}' has numbers that are not finite",
                   input.value->name());
    }
    add_metadata(value, value_field::kMetadata, kPreprocessKey, to_text(*input.preprocess));
  }
  return {};
}

// 3. Constants.
Status GraphWriter::write_constants(protozero::pbf_writer& writer, const Model& model) {
  for (const auto& value : model.values()) {
    if (!value->is_constant() || not_written_.contains(value.get())) continue;
    const std::string& name = name_of(value.get());
    constants_[name] = value.get();
    protozero::pbf_writer tensor(writer, graph_field::kInitializer);
    HET_TRY(tensors_.write(tensor, name, value->constant(), true)
                .with_context(fmt::format("constant '{}'", value->name())));
  }
  return {};
}

// 4. Nodes.
Status GraphWriter::write_nodes(protozero::pbf_writer& writer, const Model& model) {
  for (const auto& node : model.nodes()) {
    protozero::pbf_writer message(writer, graph_field::kNode);
    HET_TRY(write_node(message, *node)
                .with_context(fmt::format("node '{}' ({})", node->name(), node->qualified_type())));
  }
  return {};
}

Status GraphWriter::write_node(protozero::pbf_writer& writer, const Node& node) {
  domains_.insert(node.domain());
  const size_t captures = capture_names(node).size();
  if (captures > node.inputs().size()) {
    return error(StatusCode::InvalidArgument, "it has {} inputs, but {} captured values",
                 node.inputs().size(), captures);
  }
  size_t count = node.inputs().size() - captures;
  while (count > 0 && node.inputs()[count - 1] == nullptr) --count;
  for (size_t i = 0; i < count; ++i) {
    const Value* input = node.inputs()[i];
    writer.add_string(node_field::kInput, input ? name_of(input) : std::string());
  }
  for (const Value* output : node.outputs()) {
    writer.add_string(node_field::kOutput, name_of(output));
  }
  writer.add_string(node_field::kName, node.name());
  writer.add_string(node_field::kOpType, node.op_type());
  for (const auto& [name, attribute] : node.attributes()) {
    if (is_own_attribute(name)) continue;
    protozero::pbf_writer message(writer, node_field::kAttribute);
    HET_TRY(write_attribute(message, node, name, attribute)
                .with_context(fmt::format("attribute '{}'", name)));
  }
  if (!node.domain().empty()) writer.add_string(node_field::kDomain, node.domain());
  const auto metadata = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) add_metadata(writer, node_field::kMetadata, key, value);
  };
  for (const auto& [key, value] : node.rt_info()) {
    if (key != "affinity" && !key.starts_with(kOwnPrefix)) metadata(key, value);
  }
  metadata(kAffinityKey, node.affinity());
  metadata(kUnsupportedKey, kept_reason(node));
  std::vector<std::string> others = node.original_names();
  std::erase(others, node.name());
  metadata(kOriginalNamesKey, join_names(others));
  return {};
}

Status GraphWriter::write_attribute(protozero::pbf_writer& writer, const Node& node,
                                    const std::string& name, const Attribute& attribute) {
  writer.add_string(attribute_field::kName, name);
  writer.add_enum(attribute_field::kType, static_cast<int32_t>(kind_of(attribute)));
  return std::visit(
      [&](const auto& value) -> Status {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          writer.add_int64(attribute_field::kInt, value);
        } else if constexpr (std::is_same_v<T, float>) {
          writer.add_float(attribute_field::kFloat, value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          writer.add_bytes(attribute_field::kString, value);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          for (const int64_t item : value) writer.add_int64(attribute_field::kInts, item);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          for (const float item : value) writer.add_float(attribute_field::kFloats, item);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          for (const std::string& item : value) writer.add_bytes(attribute_field::kStrings, item);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          protozero::pbf_writer tensor(writer, attribute_field::kTensor);
          HET_TRY(tensors_.write(tensor, "", value, false));
        } else {
          protozero::pbf_writer graph(writer, attribute_field::kGraph);
          GraphWriter body(tensors_, domains_, this, &node, depth_ + 1);
          HET_TRY(body.write(graph, *value, declared_outputs(node, name, *value)));
        }
        return {};
      },
      attribute);
}

// 5. Outputs that have another name than their value.
void GraphWriter::write_output_aliases(protozero::pbf_writer& writer, const Model& model) {
  for (size_t i = 0; i < is_alias_.size(); ++i) {
    if (!is_alias_[i]) continue;
    protozero::pbf_writer node(writer, graph_field::kNode);
    node.add_string(node_field::kInput, name_of(model.outputs()[i].value));
    node.add_string(node_field::kOutput, output_names_[i]);
    node.add_string(node_field::kName, output_names_[i]);
    node.add_string(node_field::kOpType, "Identity");
    add_metadata(node, node_field::kMetadata, kOutputKey, model.outputs()[i].name);
    domains_.insert("");
  }
}

// 6. Outputs.
void GraphWriter::write_outputs(protozero::pbf_writer& writer,
                                const std::vector<DeclaredOutput>& declared) {
  for (size_t i = 0; i < output_names_.size(); ++i) {
    protozero::pbf_writer value(writer, graph_field::kOutput);
    add_value(value, output_names_[i], i < declared.size() ? declared[i] : DeclaredOutput{}, {});
  }
}

const Value* GraphWriter::captured(const Value& input) const {
  if (holder_ == nullptr) return nullptr;
  const std::vector<std::string> names = capture_names(*holder_);
  const auto found = std::find(names.begin(), names.end(), input.name());
  if (found == names.end()) return nullptr;
  const size_t from_end = static_cast<size_t>(names.end() - found);
  return holder_->inputs()[holder_->inputs().size() - from_end];
}

bool GraphWriter::is_outer_constant(const Value& value) const {
  for (const GraphWriter* graph = outer_; graph != nullptr; graph = graph->outer_) {
    const auto found = graph->constants_.find(value.name());
    if (found != graph->constants_.end()) {
      return same_content(value.constant(), found->second->constant());
    }
    if (graph->taken_.contains(value.name())) return false;
  }
  return false;
}

bool GraphWriter::is_taken(const std::string& name) const {
  for (const GraphWriter* graph = this; graph != nullptr; graph = graph->outer_) {
    if (graph->taken_.contains(name)) return true;
  }
  return false;
}

std::string GraphWriter::claim(const std::string& name) {
  const std::string wish = name.empty() ? "value" : name;
  std::string claimed = wish;
  for (size_t i = 2; is_taken(claimed); ++i) claimed = fmt::format("{}_{}", wish, i);
  taken_.insert(claimed);
  return claimed;
}

}  // namespace het::onnx
