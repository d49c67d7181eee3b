#include "inference/readers/onnx/parse.h"

#include <new>
#include <stdexcept>

#include "inference/readers/onnx/limits.h"
#include "inference/readers/onnx/message.h"
#include "inference/readers/onnx/metadata_keys.h"

namespace het::onnx {
namespace {

/// Thrown when a limit of limits.h is exceeded.
class LimitExceeded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Walks the messages and knows where it is, for errors.
class Parser {
 public:
  ParsedModel model(std::string_view bytes);
  ParsedTensor tensor(std::string_view bytes);
  /// "graph.node[12].attribute[0]", where the walk stands or was interrupted.
  std::string place() const;

 private:
  struct Step {
    const char* field;
    size_t index;
  };
  static constexpr size_t kSingle = static_cast<size_t>(-1);

  /// Runs `parse` one step further down. Not unwound by exceptions, so place() tells where.
  template <class Parse>
  void descend(const char* field, size_t index, const Parse& parse) {
    count_object();
    path_.push_back({field, index});
    parse();
    path_.pop_back();
  }
  void count_object();
  std::string_view name(Message& message);
  std::pair<std::string_view, std::string_view> entry(std::string_view bytes);
  void own_entry(std::string_view bytes, ParsedMetadata& metadata);

  void opset_import(std::string_view bytes, std::map<std::string_view, int64_t>& opsets);
  ParsedFunction function(std::string_view bytes);
  void count_node();
  void graph(std::string_view bytes, ParsedGraph& graph, size_t depth);
  ParsedNode node(std::string_view bytes, size_t depth);
  ParsedAttribute attribute(std::string_view bytes, size_t depth);
  void count_number();
  ParsedTensor sparse_tensor(std::string_view bytes);
  ParsedValue value(std::string_view bytes);
  void type(std::string_view bytes, ParsedValue& value);
  void tensor_type(std::string_view bytes, ParsedValue& value);

  std::vector<Step> path_;
  size_t objects_ = 0;
  size_t nodes_ = 0;
  size_t numbers_ = 0;
};

std::string Parser::place() const {
  std::string text;
  for (const Step& step : path_) {
    text += text.empty() ? "" : ".";
    text += step.field;
    if (step.index != kSingle) text += fmt::format("[{}]", step.index);
  }
  return text.empty() ? "the model's own fields" : text;
}

void Parser::count_object() {
  if (++objects_ > kMaxObjects)
    throw LimitExceeded(fmt::format("it has more than {} parts", kMaxObjects));
}

std::string_view Parser::name(Message& message) {
  count_object();
  const std::string_view text = message.bytes();
  if (text.size() > kMaxNameBytes)
    throw LimitExceeded(
        fmt::format("a name has {} bytes, at most {} are accepted", text.size(), kMaxNameBytes));
  return text;
}

std::pair<std::string_view, std::string_view> Parser::entry(std::string_view bytes) {
  std::pair<std::string_view, std::string_view> result;
  Message message(bytes);
  while (message.next()) {
    if (message.field() == entry_field::kKey) {
      result.first = message.bytes();
    } else if (message.field() == entry_field::kValue) {
      result.second = message.bytes();
    } else {
      message.skip();
    }
  }
  return result;
}

void Parser::own_entry(std::string_view bytes, ParsedMetadata& metadata) {
  count_object();
  const auto parsed = entry(bytes);
  if (parsed.first.starts_with(kOwnPrefix)) metadata.push_back(parsed);
}

ParsedModel Parser::model(std::string_view bytes) {
  ParsedModel model;
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case model_field::kIrVersion:
        model.ir_version = message.integer();
        break;
      case model_field::kGraph:
        model.has_graph = true;
        descend("graph", kSingle, [&] { graph(message.bytes(), model.graph, 0); });
        break;
      case model_field::kOpsetImport:
        descend("opset_import", model.opsets.size(),
                [&] { opset_import(message.bytes(), model.opsets); });
        break;
      case model_field::kMetadata:
        descend("metadata_props", model.metadata.size(),
                [&] { model.metadata.push_back(entry(message.bytes())); });
        break;
      case model_field::kFunctions:
        descend("functions", model.functions.size(),
                [&] { model.functions.push_back(function(message.bytes())); });
        break;
      default:
        message.skip();
    }
  }
  return model;
}

void Parser::opset_import(std::string_view bytes, std::map<std::string_view, int64_t>& opsets) {
  std::string_view domain;
  int64_t version = 0;
  Message message(bytes);
  while (message.next()) {
    if (message.field() == opset_field::kDomain) {
      domain = name(message);
    } else if (message.field() == opset_field::kVersion) {
      version = message.integer();
    } else {
      message.skip();
    }
  }
  opsets[domain == "ai.onnx" ? "" : domain] = version;
}

ParsedFunction Parser::function(std::string_view bytes) {
  ParsedFunction function;
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case function_field::kName:
        function.name = name(message);
        break;
      case function_field::kDomain:
        function.domain = name(message);
        break;
      case function_field::kOverload:
        function.overload = name(message);
        break;
      case function_field::kInput:
        function.inputs.push_back(name(message));
        break;
      case function_field::kOutput:
        function.outputs.push_back(name(message));
        break;
      case function_field::kAttribute:
        function.attributes.push_back(name(message));
        break;
      case function_field::kAttributeProto:
        descend("attribute_proto", function.defaults.size(),
                [&] { function.defaults.push_back(attribute(message.bytes(), 0)); });
        break;
      case function_field::kOpsetImport:
        descend("opset_import", function.opsets.size(),
                [&] { opset_import(message.bytes(), function.opsets); });
        break;
      case function_field::kNode:
        count_node();
        descend("node", function.nodes.size(),
                [&] { function.nodes.push_back(node(message.bytes(), 0)); });
        break;
      default:
        message.skip();
    }
  }
  return function;
}

void Parser::count_node() {
  if (++nodes_ > kMaxNodes)
    throw LimitExceeded(fmt::format("it has more than {} nodes", kMaxNodes));
}

void Parser::graph(std::string_view bytes, ParsedGraph& graph, size_t depth) {
  if (depth > kMaxDepth)
    throw LimitExceeded(fmt::format("graphs are nested deeper than {}", kMaxDepth));
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case graph_field::kNode:
        count_node();
        descend("node", graph.nodes.size(),
                [&] { graph.nodes.push_back(node(message.bytes(), depth)); });
        break;
      case graph_field::kName:
        graph.name = name(message);
        break;
      case graph_field::kInitializer:
        descend("initializer", graph.initializers.size(),
                [&] { graph.initializers.push_back(tensor(message.bytes())); });
        break;
      case graph_field::kSparseInitializer:
        descend("sparse_initializer", graph.initializers.size(),
                [&] { graph.initializers.push_back(sparse_tensor(message.bytes())); });
        break;
      case graph_field::kInput:
        descend("input", graph.inputs.size(),
                [&] { graph.inputs.push_back(value(message.bytes())); });
        break;
      case graph_field::kOutput:
        descend("output", graph.outputs.size(),
                [&] { graph.outputs.push_back(value(message.bytes())); });
        break;
      default:
        message.skip();
    }
  }
}

ParsedNode Parser::node(std::string_view bytes, size_t depth) {
  ParsedNode node;
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case node_field::kInput:
        node.inputs.push_back(name(message));
        break;
      case node_field::kOutput:
        node.outputs.push_back(name(message));
        break;
      case node_field::kName:
        node.name = name(message);
        break;
      case node_field::kOpType:
        node.op_type = name(message);
        break;
      case node_field::kDomain:
        node.domain = name(message);
        break;
      case node_field::kOverload:
        node.overload = name(message);
        break;
      case node_field::kAttribute:
        descend("attribute", node.attributes.size(),
                [&] { node.attributes.push_back(attribute(message.bytes(), depth)); });
        break;
      case node_field::kMetadata:
        count_object();
        node.metadata.push_back(entry(message.bytes()));
        break;
      default:
        message.skip();
    }
  }
  return node;
}

ParsedAttribute Parser::attribute(std::string_view bytes, size_t depth) {
  ParsedAttribute attribute;
  // Files of the first IR versions have no type: the field that is set tells it.
  AttributeKind found = AttributeKind::Undefined;
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case attribute_field::kName:
        attribute.name = name(message);
        break;
      case attribute_field::kType:
        attribute.kind = static_cast<AttributeKind>(message.integer());
        break;
      case attribute_field::kFloat:
        attribute.number = message.number();
        found = AttributeKind::Float;
        break;
      case attribute_field::kInt:
        attribute.integer = message.integer();
        found = AttributeKind::Int;
        break;
      case attribute_field::kString:
        attribute.text = message.bytes();
        found = AttributeKind::String;
        break;
      case attribute_field::kTensor:
        descend("t", kSingle, [&] {
          attribute.tensor = std::make_unique<ParsedTensor>(tensor(message.bytes()));
        });
        found = AttributeKind::Tensor;
        break;
      case attribute_field::kGraph:
        if (!attribute.graph) attribute.graph = std::make_unique<ParsedGraph>();
        descend("g", kSingle, [&] { graph(message.bytes(), *attribute.graph, depth + 1); });
        found = AttributeKind::Graph;
        break;
      case attribute_field::kFloats:
        message.floats([&](float value) {
          attribute.numbers.push_back(value);
          count_number();
        });
        found = AttributeKind::Floats;
        break;
      case attribute_field::kInts:
        message.integers([&](int64_t value) {
          attribute.integers.push_back(value);
          count_number();
        });
        found = AttributeKind::Ints;
        break;
      case attribute_field::kStrings:
        count_object();
        attribute.texts.push_back(message.bytes());
        found = AttributeKind::Strings;
        break;
      case attribute_field::kRefAttrName:
        attribute.function_attribute = name(message);
        break;
      case attribute_field::kTensors:
        found = AttributeKind::Tensors;
        message.skip();
        break;
      case attribute_field::kGraphs:
        found = AttributeKind::Graphs;
        message.skip();
        break;
      case attribute_field::kSparseTensor:
        descend("sparse_tensor", kSingle, [&] {
          attribute.tensor = std::make_unique<ParsedTensor>(sparse_tensor(message.bytes()));
        });
        found = AttributeKind::SparseTensor;
        break;
      case attribute_field::kSparseTensors:
        found = AttributeKind::SparseTensors;
        message.skip();
        break;
      case attribute_field::kTypeProto:
        found = AttributeKind::TypeProto;
        message.skip();
        break;
      case attribute_field::kTypeProtos:
        found = AttributeKind::TypeProtos;
        message.skip();
        break;
      default:
        message.skip();
    }
  }
  if (attribute.kind == AttributeKind::Undefined) attribute.kind = found;
  // Constant's sparse_value is its value, written otherwise.
  if (attribute.kind == AttributeKind::SparseTensor && attribute.tensor != nullptr &&
      attribute.name == "sparse_value") {
    attribute.name = "value";
    attribute.kind = AttributeKind::Tensor;
  }
  return attribute;
}

void Parser::count_number() {
  if (++numbers_ > kMaxAttributeNumbers)
    throw LimitExceeded(
        fmt::format("its attributes have more than {} numbers", kMaxAttributeNumbers));
}

ParsedTensor Parser::tensor(std::string_view bytes) {
  ParsedTensor tensor;
  tensor.message = bytes;
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case tensor_field::kDims:
        message.integers([&](int64_t dim) {
          if (tensor.dims.size() == kMaxRank)
            throw LimitExceeded(fmt::format("a tensor has more than {} dimensions", kMaxRank));
          tensor.dims.push_back(dim);
        });
        break;
      case tensor_field::kDataType:
        tensor.data_type = message.integer();
        break;
      case tensor_field::kName:
        tensor.name = name(message);
        break;
      case tensor_field::kRawData:
        tensor.has_raw = true;
        tensor.raw = message.bytes();
        break;
      case tensor_field::kDataLocation:
        tensor.external = message.integer() == kExternalLocation;
        break;
      case tensor_field::kExternalData:
        descend("external_data", tensor.external_entries.size(),
                [&] { tensor.external_entries.push_back(entry(message.bytes())); });
        break;
      default:
        message.skip();
    }
  }
  return tensor;
}

ParsedTensor Parser::sparse_tensor(std::string_view bytes) {
  ParsedTensor result;
  auto parts = std::make_shared<SparseParts>();
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case sparse_field::kValues:
        descend("values", kSingle, [&] { parts->values = tensor(message.bytes()); });
        break;
      case sparse_field::kIndices:
        descend("indices", kSingle, [&] { parts->indices = tensor(message.bytes()); });
        break;
      case sparse_field::kDims:
        message.integers([&](int64_t value) {
          result.dims.push_back(value);
          count_number();
        });
        break;
      default:
        message.skip();
    }
  }
  result.name = parts->values.name;
  result.data_type = parts->values.data_type;
  result.sparse = std::move(parts);
  return result;
}

ParsedValue Parser::value(std::string_view bytes) {
  ParsedValue value;
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case value_field::kName:
        value.name = name(message);
        break;
      case value_field::kType:
        descend("type", kSingle, [&] { type(message.bytes(), value); });
        break;
      case value_field::kMetadata:
        own_entry(message.bytes(), value.metadata);
        break;
      default:
        message.skip();
    }
  }
  return value;
}

void Parser::type(std::string_view bytes, ParsedValue& value) {
  Message message(bytes);
  while (message.next()) {
    switch (message.field()) {
      case type_field::kTensor:
        tensor_type(message.bytes(), value);
        break;
      case type_field::kSequence:
        value.unsupported = "a sequence";
        message.skip();
        break;
      case type_field::kMap:
        value.unsupported = "a map";
        message.skip();
        break;
      case type_field::kOpaque:
        value.unsupported = "an opaque value";
        message.skip();
        break;
      case type_field::kSparse:
        value.unsupported = "a sparse tensor";
        message.skip();
        break;
      case type_field::kOptional:
        value.unsupported = "an optional value";
        message.skip();
        break;
      default:
        message.skip();
    }
  }
}

void Parser::tensor_type(std::string_view bytes, ParsedValue& value) {
  Message message(bytes);
  while (message.next()) {
    if (message.field() == tensor_type_field::kElementType) {
      value.data_type = message.integer();
      continue;
    }
    if (message.field() != tensor_type_field::kShape) {
      message.skip();
      continue;
    }
    std::vector<int64_t> dims;
    std::vector<std::string_view> names;
    Message shape(message.bytes());
    while (shape.next()) {
      if (shape.field() != shape_field::kDim) {
        shape.skip();
        continue;
      }
      if (dims.size() == kMaxRank)
        throw LimitExceeded(fmt::format("a value has more than {} dimensions", kMaxRank));
      dims.push_back(-1);
      names.emplace_back();
      Message dim(shape.bytes());
      while (dim.next()) {
        if (dim.field() == dim_field::kValue) {
          const int64_t size = dim.integer();
          dims.back() = size < 0 ? -1 : size;
        } else if (dim.field() == dim_field::kParam) {
          names.back() = name(dim);
        } else {
          dim.skip();
        }
      }
    }
    value.shape = std::move(dims);
    value.dim_names = std::move(names);
  }
}

/// Runs `parse` and turns what it throws into a Status.
template <class T, class Parse>
Result<T> guard(const Parser& parser, std::string_view bytes, const std::string& origin,
                const Parse& parse) {
  try {
    return parse();
  } catch (const LimitExceeded& failure) {
    return error(StatusCode::OutOfMemory, "cannot read '{}': {} (in {})", origin, failure.what(),
                 parser.place());
  } catch (const protozero::end_of_buffer_exception&) {
    return error(StatusCode::ParseError,
                 "'{}' is truncated, damaged or not ONNX: {} needs more bytes than the {} of the "
                 "file; fetch the file again",
                 origin, parser.place(), bytes.size());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    return error(StatusCode::ParseError, "'{}' is damaged or not ONNX: {} (protobuf, in {})",
                 origin, failure.what(), parser.place());
  }
}

}  // namespace

Result<ParsedModel> parse_model(std::string_view bytes, const std::string& origin) {
  Parser parser;
  auto model = guard<ParsedModel>(parser, bytes, origin, [&] { return parser.model(bytes); });
  if (model && !model->has_graph) {
    return error(StatusCode::ParseError,
                 "'{}' ({} bytes) is not an ONNX model: a ModelProto with a graph was expected",
                 origin, bytes.size());
  }
  return model;
}

Result<ParsedTensor> parse_tensor(std::string_view bytes, const std::string& origin) {
  Parser parser;
  return guard<ParsedTensor>(parser, bytes, origin, [&] { return parser.tensor(bytes); });
}

}  // namespace het::onnx
