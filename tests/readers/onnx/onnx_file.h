#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inference/readers/onnx/proto.h"
#include "inference/readers/onnx_reader.h"

/// A small writer of ONNX files for tests. Every function returns the bytes of one message.
namespace het::test {

// TensorProto.DataType
inline constexpr int kFloat = 1;
inline constexpr int kUint8 = 2;
inline constexpr int kInt8 = 3;
inline constexpr int kInt32 = 6;
inline constexpr int kInt64 = 7;
inline constexpr int kString = 8;
inline constexpr int kBool = 9;
inline constexpr int kFloat16 = 10;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A SparseTensorProto of two TensorProtos and the dense shape.
inline std::string sparse_tensor(const std::string& values, const std::string& indices,
                                 const std::vector<int64_t>& dims) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_message(onnx::sparse_field::kValues, values);
  writer.add_message(onnx::sparse_field::kIndices, indices);
  writer.add_packed_int64(onnx::sparse_field::kDims, dims.begin(), dims.end());
  return out;
}

/// Type and shape, without content.
inline std::string tensor_head(const std::string& name, int type,
                               const std::vector<int64_t>& dims) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_packed_int64(onnx::tensor_field::kDims, dims.begin(), dims.end());
  writer.add_int32(onnx::tensor_field::kDataType, type);
  writer.add_string(onnx::tensor_field::kName, name);
  return out;
}

inline std::string raw_tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                              const std::string& raw) {
  std::string out = tensor_head(name, type, dims);
  protozero::pbf_writer(out).add_bytes(onnx::tensor_field::kRawData, raw);
  return out;
}

inline std::string float_tensor(const std::string& name, const std::vector<int64_t>& dims,
                                const std::vector<float>& values) {
  return raw_tensor(name, kFloat, dims, bytes_of(values));
}

inline std::string int64_tensor(const std::string& name, const std::vector<int64_t>& dims,
                                const std::vector<int64_t>& values) {
  return raw_tensor(name, kInt64, dims, bytes_of(values));
}

/// Content in int32_data, where most types have their typed form.
inline std::string int32_data_tensor(const std::string& name, int type,
                                     const std::vector<int64_t>& dims,
                                     const std::vector<int32_t>& values) {
  std::string out = tensor_head(name, type, dims);
  protozero::pbf_writer(out).add_packed_int32(onnx::tensor_field::kInt32Data, values.begin(),
                                              values.end());
  return out;
}

inline std::string external_tensor(
    const std::string& name, int type, const std::vector<int64_t>& dims,
    const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = tensor_head(name, type, dims);
  protozero::pbf_writer writer(out);
  for (const auto& [key, value] : entries) {
    protozero::pbf_writer entry(writer, onnx::tensor_field::kExternalData);
    entry.add_string(onnx::entry_field::kKey, key);
    entry.add_string(onnx::entry_field::kValue, value);
  }
  writer.add_int32(onnx::tensor_field::kDataLocation, onnx::kExternalLocation);
  return out;
}

/// A value's name, type and shape; -1 is a symbolic dimension, no dims at all an unknown rank.
inline std::string value(const std::string& name, int type,
                         const std::optional<std::vector<int64_t>>& dims) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_string(onnx::value_field::kName, name);
  protozero::pbf_writer type_writer(writer, onnx::value_field::kType);
  protozero::pbf_writer tensor(type_writer, onnx::type_field::kTensor);
  tensor.add_int32(onnx::tensor_type_field::kElementType, type);
  if (dims) {
    protozero::pbf_writer shape(tensor, onnx::tensor_type_field::kShape);
    for (const int64_t dim : *dims) {
      protozero::pbf_writer d(shape, onnx::shape_field::kDim);
      if (dim >= 0) d.add_int64(onnx::dim_field::kValue, dim);
      if (dim < 0) d.add_string(2, "n");
    }
  }
  return out;
}

/// An attribute of any kind; fill one of the functions' results into node().
class Attr {
 public:
  Attr(const std::string& name, int64_t v) {
    start(name, onnx::AttributeKind::Int).add_int64(onnx::attribute_field::kInt, v);
  }
  Attr(const std::string& name, int v) : Attr(name, static_cast<int64_t>(v)) {}
  Attr(const std::string& name, float v) {
    start(name, onnx::AttributeKind::Float).add_float(onnx::attribute_field::kFloat, v);
  }
  Attr(const std::string& name, const std::string& v) {
    start(name, onnx::AttributeKind::String).add_bytes(onnx::attribute_field::kString, v);
  }
  Attr(const std::string& name, const char* v) : Attr(name, std::string(v)) {}
  Attr(const std::string& name, const std::vector<int64_t>& v) {
    protozero::pbf_writer writer = start(name, onnx::AttributeKind::Ints);
    for (const int64_t i : v) writer.add_int64(onnx::attribute_field::kInts, i);
  }
  Attr(const std::string& name, const std::vector<float>& v) {
    start(name, onnx::AttributeKind::Floats)
        .add_packed_float(onnx::attribute_field::kFloats, v.begin(), v.end());
  }
  static Attr tensor(const std::string& name, const std::string& tensor_bytes) {
    Attr attr;
    attr.start(name, onnx::AttributeKind::Tensor)
        .add_message(onnx::attribute_field::kTensor, tensor_bytes);
    return attr;
  }
  static Attr sparse_tensor(const std::string& name, const std::string& tensor_bytes) {
    Attr attr;
    attr.start(name, onnx::AttributeKind::SparseTensor)
        .add_message(onnx::attribute_field::kSparseTensor, tensor_bytes);
    return attr;
  }
  static Attr graph(const std::string& name, const std::string& graph_bytes) {
    Attr attr;
    attr.start(name, onnx::AttributeKind::Graph)
        .add_message(onnx::attribute_field::kGraph, graph_bytes);
    return attr;
  }
  /// Kinds that the reader knows by number only; inside functions, the call's attribute.
  static Attr of_kind(const std::string& name, onnx::AttributeKind kind,
                      const std::string& refers_to = "") {
    Attr attr;
    protozero::pbf_writer writer = attr.start(name, kind);
    if (!refers_to.empty()) writer.add_string(onnx::attribute_field::kRefAttrName, refers_to);
    return attr;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Attr() = default;
  protozero::pbf_writer start(const std::string& name, onnx::AttributeKind kind) {
    protozero::pbf_writer writer(bytes_);
    writer.add_string(onnx::attribute_field::kName, name);
    writer.add_int32(onnx::attribute_field::kType, static_cast<int32_t>(kind));
    return writer;
  }
  std::string bytes_;
};

/// Collects a GraphProto.
class Graph {
 public:
  Graph() { writer_.add_string(onnx::graph_field::kName, "g"); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Graph& input(const std::string& name, const std::optional<std::vector<int64_t>>& dims,
               int type = kFloat) {
    writer_.add_message(onnx::graph_field::kInput, value(name, type, dims));
    return *this;
  }
  Graph& output(const std::string& name,
                const std::optional<std::vector<int64_t>>& dims = std::nullopt, int type = kFloat) {
    writer_.add_message(onnx::graph_field::kOutput, value(name, type, dims));
    return *this;
  }
  Graph& initializer(const std::string& tensor) {
    writer_.add_message(onnx::graph_field::kInitializer, tensor);
    return *this;
  }
  Graph& sparse_initializer(const std::string& tensor) {
    writer_.add_message(onnx::graph_field::kSparseInitializer, tensor);
    return *this;
  }
  /// The node's name is its first output's unless `name` is given.
  Graph& node(const std::string& op_type, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs, const std::vector<Attr>& attributes = {},
              const std::string& domain = "", const std::string& name = "") {
    protozero::pbf_writer node(writer_, onnx::graph_field::kNode);
    for (const std::string& i : inputs) node.add_string(onnx::node_field::kInput, i);
    for (const std::string& o : outputs) node.add_string(onnx::node_field::kOutput, o);
    if (!name.empty()) node.add_string(onnx::node_field::kName, name);
    node.add_string(onnx::node_field::kOpType, op_type);
    for (const Attr& a : attributes) node.add_message(onnx::node_field::kAttribute, a.bytes());
    if (!domain.empty()) node.add_string(onnx::node_field::kDomain, domain);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  protozero::pbf_writer& writer() { return writer_; }

 private:
  std::string bytes_;
  protozero::pbf_writer writer_{bytes_};
};

/// A ModelProto around a graph.
inline std::string model_file(const std::string& graph, int64_t opset = 17) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_int64(onnx::model_field::kIrVersion, 8);
  {
    protozero::pbf_writer import(writer, onnx::model_field::kOpsetImport);
    import.add_int64(onnx::opset_field::kVersion, opset);
  }
  writer.add_message(onnx::model_field::kGraph, graph);
  return out;
}

inline Result<std::unique_ptr<Model>> read(const std::string& file) {
  return read_onnx_bytes(std::as_bytes(std::span(file.data(), file.size())), "", "test.onnx");
}

inline Result<std::unique_ptr<Model>> read(const Graph& graph, int64_t opset = 17) {
  return read(model_file(graph.bytes(), opset));
}

}  // namespace het::test
