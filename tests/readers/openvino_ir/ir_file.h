#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inference/ops/op.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/openvino_ir_reader.h"

/// A small writer of IR files for tests, and a way to run what the reader makes of them.
namespace het::test {

/// An output port: the layer's id and the place among its outputs.
struct IrPort {
  int layer = 0;
  size_t output = 0;
};

struct IrType {
  std::string precision;  ///< "FP32"
  std::vector<int64_t> dims;
  std::string names = {};
};

/// Builds an IR of one graph. Ports of a layer are numbered as the format wants: inputs first.
class IrFile {
 public:
  explicit IrFile(int version = 11) : version_(version) {}

  IrPort parameter(const std::string& name, const std::string& element_type, const Shape& dims,
                   const std::string& names = {}) {
    return layer("Parameter", "opset1",
                 "element_type=\"" + element_type + "\" shape=\"" + list(dims) + "\"", {},
                 {{upper(element_type), dims, names}}, name);
  }

  template <class T>
  IrPort constant(const std::string& element_type, const Shape& dims,
                  const std::vector<T>& values) {
    while (weights_.size() % 8 != 0) weights_ += '\0';
    const std::string bytes(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(T));
    const size_t offset = weights_.size();
    weights_ += bytes;
    return layer("Const", "opset1",
                 "element_type=\"" + element_type + "\" shape=\"" + list(dims) + "\" offset=\"" +
                     std::to_string(offset) + "\" size=\"" + std::to_string(bytes.size()) + "\"",
                 {}, {{upper(element_type), dims}});
  }
  IrPort integers(const std::vector<int64_t>& values) {
    return constant<int64_t>("i64", {static_cast<int64_t>(values.size())}, values);
  }
  IrPort integer(int64_t value) { return constant<int64_t>("i64", {}, {value}); }
  IrPort floats(const Shape& dims, const std::vector<float>& values) {
    return constant<float>("f32", dims, values);
  }

  IrPort layer(const std::string& type, const std::string& opset, const std::string& data,
               const std::vector<IrPort>& inputs, const std::vector<IrType>& outputs,
               std::string name = {}, const std::string& children = {}) {
    const int id = next_id_++;
    if (name.empty()) name = type + "_" + std::to_string(id);
    layers_ += "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"" + type +
               "\" version=\"" + opset + "\">";
    if (!data.empty()) layers_ += "<data " + data + "/>";
    layers_ += children;
    if (!inputs.empty()) {
      layers_ += "<input>";
      for (size_t i = 0; i < inputs.size(); ++i) {
        const IrType& source = outputs_.at({inputs[i].layer, inputs[i].output});
        layers_ += port(i, {source.precision, source.dims});
        edges_ += "<edge from-layer=\"" + std::to_string(inputs[i].layer) + "\" from-port=\"" +
                  std::to_string(first_output_.at(inputs[i].layer) + inputs[i].output) +
                  "\" to-layer=\"" + std::to_string(id) + "\" to-port=\"" + std::to_string(i) +
                  "\"/>";
      }
      layers_ += "</input>";
    }
    first_output_[id] = inputs.size();
    if (!outputs.empty()) {
      layers_ += "<output>";
      for (size_t i = 0; i < outputs.size(); ++i) {
        outputs_[{id, i}] = outputs[i];
        layers_ += port(inputs.size() + i, outputs[i]);
      }
      layers_ += "</output>";
    }
    layers_ += "</layer>";
    return {id, 0};
  }

  void result(IrPort from) { layer("Result", "opset1", "", {from}, {}); }
  /// XML behind the edges.
  void tail(const std::string& xml) { tail_ += xml; }

  /// The graph as the body of a layer of another file, which has no constants of its own.
  std::string body(const std::string& tag) const {
    return "<" + tag + "><layers>" + layers_ + "</layers><edges>" + edges_ + "</edges></" + tag +
           ">";
  }
  std::string xml() const {
    return "<?xml version=\"1.0\"?>\n<net name=\"test\" version=\"" + std::to_string(version_) +
           "\"><layers>" + layers_ + "</layers><edges>" + edges_ + "</edges>" + tail_ + "</net>";
  }
  const std::string& weights() const { return weights_; }

  Result<std::unique_ptr<Model>> read() const { return read_xml(xml(), weights_); }

  static Result<std::unique_ptr<Model>> read_xml(const std::string& xml,
                                                 const std::string& weights = {}) {
    return read_openvino_ir_bytes(std::as_bytes(std::span(xml)), std::as_bytes(std::span(weights)),
                                  "test.xml");
  }

 private:
  static std::string list(const Shape& values) {
    std::string text;
    for (const int64_t value : values) {
      text += (text.empty() ? "" : ",") + (value < 0 ? "?" : std::to_string(value));
    }
    return text;
  }
  static std::string upper(const std::string& type) {
    std::string name;
    for (const char c : type) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return name == "F32" ? "FP32" : name == "F16" ? "FP16" : name;
  }
  static std::string port(size_t id, const IrType& type) {
    std::string xml =
        "<port id=\"" + std::to_string(id) + "\" precision=\"" + type.precision + "\"";
    if (!type.names.empty()) xml += " names=\"" + type.names + "\"";
    xml += ">";
    for (const int64_t dim : type.dims) xml += "<dim>" + std::to_string(dim) + "</dim>";
    return xml + "</port>";
  }

  int version_;
  int next_id_ = 0;
  std::string layers_;
  std::string edges_;
  std::string tail_;
  std::string weights_;
  std::map<std::pair<int, size_t>, IrType> outputs_;
  std::map<int, size_t> first_output_;
};

/// Prepares the model and evaluates it node by node on the host. Empty after a reported failure.
inline std::vector<Tensor> evaluate_model(Model& model, const std::vector<Tensor>& inputs) {
  const Status status = prepare_model(model);
  if (!status.ok()) {
    ADD_FAILURE() << status.message();
    return {};
  }
  std::map<const Value*, Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) tensors[model.inputs()[i].value] = inputs[i];
  const auto tensor_of = [&](const Value* value) {
    return value->is_constant() ? value->constant() : tensors.at(value);
  };
  for (const auto& node : model.nodes()) {
    std::vector<Tensor> held;
    for (const Value* input : node->inputs()) held.push_back(input ? tensor_of(input) : Tensor());
    std::vector<const Tensor*> pointers;
    for (size_t i = 0; i < held.size(); ++i) {
      pointers.push_back(node->inputs()[i] ? &held[i] : nullptr);
    }
    auto outputs = evaluate_node(*node, pointers);
    if (!outputs) {
      ADD_FAILURE() << node->name() << ": " << outputs.error().message();
      return {};
    }
    for (size_t i = 0; i < outputs->size(); ++i) tensors[node->output(i)] = (*outputs)[i];
  }
  std::vector<Tensor> results;
  for (const ModelOutput& output : model.outputs()) results.push_back(tensor_of(output.value));
  return results;
}

inline std::vector<Tensor> evaluate_file(const IrFile& file, const std::vector<Tensor>& inputs) {
  const auto model = file.read();
  if (!model) {
    ADD_FAILURE() << model.error().message();
    return {};
  }
  return evaluate_model(**model, inputs);
}

/// What one layer makes of float input 0 and constants, as floats with the shape in front of them
/// through `shape`.
struct OneLayer {
  std::string type;
  std::string opset = "opset1";
  std::string data = {};
};
inline std::vector<float> evaluate_layer(const OneLayer& layer, const Tensor& x,
                                         const std::function<std::vector<IrPort>(IrFile&)>& others,
                                         const Shape& output, Shape* shape = nullptr,
                                         const std::string& precision = "FP32") {
  IrFile file;
  std::vector<IrPort> inputs{file.parameter("x",
                                            x.type() == ElementType::Int64   ? "i64"
                                            : x.type() == ElementType::Int32 ? "i32"
                                            : x.type() == ElementType::Bool  ? "boolean"
                                                                             : "f32",
                                            x.shape())};
  if (others) {
    for (const IrPort& port : others(file)) inputs.push_back(port);
  }
  file.result(file.layer(layer.type, layer.opset, layer.data, inputs, {{precision, output}}));
  const std::vector<Tensor> results = evaluate_file(file, {x});
  if (results.empty()) return {};
  if (shape) *shape = results[0].shape();
  EXPECT_EQ(to_string(results[0].shape()), to_string(output));
  return *to_float_vector(results[0]);
}

}  // namespace het::test
