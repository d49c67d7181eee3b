#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/readers/onnx/proto.h"

/// A model file taken apart, before anything is interpreted. Texts and tensors are views into the
/// file, which must outlive them.
namespace het::onnx {

struct SparseParts;

struct ParsedTensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;  ///< TensorProto.DataType
  bool has_raw = false;
  std::string_view raw;
  std::string_view message;  ///< the whole TensorProto; typed fields are unpacked from it on demand
  bool external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external_entries;
  std::shared_ptr<const SparseParts> sparse;  ///< of a SparseTensorProto, whose dims are the above
};

/// What is not zero in a sparse tensor, and where: [count] places in the dense tensor, or [count,
/// rank].
struct SparseParts {
  ParsedTensor values;
  ParsedTensor indices;
};

struct ParsedGraph;

struct ParsedAttribute {
  std::string_view name;
  AttributeKind kind = AttributeKind::Undefined;
  float number = 0.0f;
  int64_t integer = 0;
  std::string_view text;
  std::unique_ptr<ParsedTensor> tensor;
  std::unique_ptr<ParsedGraph> graph;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string_view> texts;
  std::string_view function_attribute;  ///< ref_attr_name: stands for an attribute of the call
};

using ParsedMetadata = std::vector<std::pair<std::string_view, std::string_view>>;

struct ParsedNode {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<ParsedAttribute> attributes;
  int64_t opset = 0;  ///< of the default domain, from the node's function; 0: the model's
  ParsedMetadata metadata;
};

/// A graph input or output with its declared type.
struct ParsedValue {
  std::string_view name;
  std::string_view unsupported;               ///< "a sequence", "a map" ...: not a dense tensor
  int64_t data_type = 0;                      ///< TensorProto.DataType
  std::optional<std::vector<int64_t>> shape;  ///< -1: symbolic or absent
  std::vector<std::string_view> dim_names;    ///< one per dimension; empty without a name
  ParsedMetadata metadata;                    ///< our own keys only, see metadata_keys.h
};

struct ParsedGraph {
  std::string_view name;
  std::vector<ParsedNode> nodes;
  std::vector<ParsedTensor> initializers;  ///< sparse ones too
  std::vector<ParsedValue> inputs;
  std::vector<ParsedValue> outputs;
};

/// A function that nodes of the file call by (domain, name, overload).
struct ParsedFunction {
  std::string_view domain;
  std::string_view name;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  ///< without default
  std::vector<ParsedAttribute> defaults;
  std::map<std::string_view, int64_t> opsets;
  std::vector<ParsedNode> nodes;
};

struct ParsedModel {
  int64_t ir_version = 0;
  std::map<std::string_view, int64_t> opsets;
  ParsedMetadata metadata;
  std::vector<ParsedFunction> functions;
  bool has_graph = false;
  ParsedGraph graph;
};

}  // namespace het::onnx
