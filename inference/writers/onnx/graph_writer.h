#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/tensor.h"
#include "inference/writers/onnx/tensor_writer.h"

namespace het::onnx {

/// What the file says of a graph output: TensorProto.DataType (0: nothing) and shape.
struct DeclaredOutput {
  int64_t type = 0;
  std::optional<Shape> shape;
};

/// Writes one Model as GraphProto. Bodies of control flow are written by a writer of their own that
/// asks the outer one for names: in ONNX a body reads outer values by name, so the inputs that
/// `het.captures` lists are not written, and constants that the outer graph has as well neither.
class GraphWriter {
 public:
  /// `domains` collects the operator domains in use.
  GraphWriter(TensorWriter& tensors, std::set<std::string>& domains)
      : GraphWriter(tensors, domains, nullptr, nullptr, 0) {}

  /// Adds the graph's fields to an open GraphProto, with one declaration per output. Fails on a
  /// cycle and on what ONNX cannot express.
  Status write(protozero::pbf_writer& writer, const Model& model,
               const std::vector<DeclaredOutput>& declared);

 private:
  GraphWriter(TensorWriter& tensors, std::set<std::string>& domains, const GraphWriter* outer,
              const Node* holder, size_t depth);

  // The steps of write().
  Status name_values(const Model& model);
  Status write_constants(protozero::pbf_writer& writer, const Model& model);
  Status write_inputs(protozero::pbf_writer& writer, const Model& model);
  Status write_nodes(protozero::pbf_writer& writer, const Model& model);
  void write_output_aliases(protozero::pbf_writer& writer, const Model& model);
  void write_outputs(protozero::pbf_writer& writer, const std::vector<DeclaredOutput>& declared);

  Status write_node(protozero::pbf_writer& writer, const Node& node);
  Status write_attribute(protozero::pbf_writer& writer, const Node& node, const std::string& name,
                         const Attribute& attribute);
  /// The value of the outer graph that an input of this body stands for, or null.
  const Value* captured(const Value& input) const;
  /// True when the graphs around have this very constant under the same name.
  bool is_outer_constant(const Value& value) const;
  bool is_taken(const std::string& name) const;
  std::string claim(const std::string& name);
  const std::string& name_of(const Value* value) const { return names_.at(value); }

  TensorWriter& tensors_;
  std::set<std::string>& domains_;
  const GraphWriter* outer_;
  const Node* holder_;  ///< the node that this graph is a body of
  size_t depth_;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_map<std::string, const Value*> constants_;
  std::unordered_set<std::string> taken_;
  std::unordered_set<const Value*> not_written_;  ///< captures and outer constants
  std::vector<std::string> output_names_;
  std::vector<bool> is_alias_;  ///< per output: an Identity gives it its name
};

}  // namespace het::onnx
