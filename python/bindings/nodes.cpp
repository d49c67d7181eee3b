/// The classes Node and RTMap.

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "python/bindings/element_types.h"
#include "python/bindings/failures.h"
#include "python/bindings/models.h"
#include "python/bindings/property_values.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

/// A node with the graph that it is of.
struct GraphNode {
  std::shared_ptr<Graph> graph;
  Node* node = nullptr;
};

/// Runtime information of a node, which it changes.
struct NodeInformation {
  std::shared_ptr<Graph> graph;
  Node* node = nullptr;
};

std::string text_at(const NodeInformation& self, const std::string& key) {
  const auto found = self.node->rt_info().find(key);
  if (found == self.node->rt_info().end()) throw py::key_error(key);
  return found->second;
}

void set_text(const NodeInformation& self, const std::string& key, py::handle value) {
  const std::string text = property_value(value);
  if (text.empty()) {
    raise(Status(StatusCode::InvalidArgument,
                 "runtime information has no empty texts; del rt_info[key] removes a key"));
  }
  self.node->set_rt_info(key, text);
}

std::vector<std::string> keys(const NodeInformation& self) {
  std::vector<std::string> all;
  for (const auto& [key, value] : self.node->rt_info()) all.push_back(key);
  return all;
}

py::dict contents(const NodeInformation& self) {
  py::dict dict;
  for (const auto& [key, value] : self.node->rt_info()) dict[py::str(key)] = value;
  return dict;
}

void define_information(py::module_& module) {
  py::class_<NodeInformation> map(module, "RTMap",
                                  "Runtime information of a node: texts by key, of the file and of "
                                  "whoever sets them; \"affinity\" is the device wanted for it.");
  map.def("__getitem__", &text_at);
  map.def("__setitem__", &set_text);
  map.def("__delitem__", [](const NodeInformation& self, const std::string& key) {
    text_at(self, key);
    self.node->set_rt_info(key, "");
  });
  map.def("__contains__", [](const NodeInformation& self, const std::string& key) {
    return self.node->rt_info().contains(key);
  });
  map.def("__len__", [](const NodeInformation& self) { return self.node->rt_info().size(); });
  map.def("__iter__", [](const NodeInformation& self) { return py::iter(py::cast(keys(self))); });
  map.def("keys", &keys, "A list of the keys.");
  map.def(
      "values",
      [](const NodeInformation& self) { return py::list(contents(self).attr("values")()); },
      "A list of the texts.");
  map.def(
      "items", [](const NodeInformation& self) { return py::list(contents(self).attr("items")()); },
      "A list of pairs of key and text.");
  map.def(
      "get",
      [](const NodeInformation& self, const std::string& key, py::object otherwise) {
        const auto found = self.node->rt_info().find(key);
        return found == self.node->rt_info().end() ? otherwise : py::str(found->second);
      },
      py::arg("key"), py::arg("default") = py::none(), "The text at a key, or the default.");
  map.def("__eq__", [](const NodeInformation& self, py::object other) {
    return py::isinstance<py::dict>(other) && contents(self).equal(other);
  });
  map.def("__repr__", [](const NodeInformation& self) { return py::repr(contents(self)); });
}

TensorDesc output_of(const GraphNode& self, size_t index) {
  const Value* const output = self.node->output(index);
  if (output == nullptr) {
    raise(Status(StatusCode::NotFound,
                 fmt::format("node '{}' has no output {}", self.node->name(), index)));
  }
  return self.graph->desc_of(*output);
}

py::dict attributes_of(const GraphNode& self) {
  py::dict attributes;
  for (const auto& [name, value] : self.node->attributes()) {
    std::visit(
        [&](const auto& content) {
          using Content = std::decay_t<decltype(content)>;
          if constexpr (std::is_same_v<Content, int64_t> || std::is_same_v<Content, float> ||
                        std::is_same_v<Content, std::string> ||
                        std::is_same_v<Content, std::vector<int64_t>> ||
                        std::is_same_v<Content, std::vector<float>> ||
                        std::is_same_v<Content, std::vector<std::string>>) {
            attributes[py::str(name)] = py::cast(content);
          } else if constexpr (std::is_same_v<Content, Tensor>) {
            attributes[py::str(name)] = array_copy_of(content);
          }
        },
        value);
  }
  return attributes;
}

std::vector<std::string> names(const std::vector<Value*>& values) {
  std::vector<std::string> all;
  for (const Value* value : values) all.push_back(value == nullptr ? "" : value->name());
  return all;
}

}  // namespace

void define_nodes(py::module_& module) {
  define_information(module);
  py::class_<GraphNode> node(module, "Node", "One operator of a Model.");
  node.def(
      "get_friendly_name", [](const GraphNode& self) { return self.node->name(); },
      "Its name in the model.");
  node.def_property_readonly(
      "friendly_name", [](const GraphNode& self) { return self.node->name(); },
      "Its name in the model.");
  node.def(
      "get_name", [](const GraphNode& self) { return self.node->name(); },
      "Its name in the model.");
  node.def_property_readonly(
      "name", [](const GraphNode& self) { return self.node->name(); }, "Its name in the model.");
  node.def(
      "get_type_name", [](const GraphNode& self) { return self.node->op_type(); },
      "The operator's name in ONNX, or in the domain \"het\" for those that ONNX lacks.");
  node.def_property_readonly(
      "domain", [](const GraphNode& self) { return self.node->domain(); },
      "\"\" for ONNX's operators, \"het\" for those that ONNX lacks.");
  node.def(
      "get_rt_info",
      [](const GraphNode& self) {
        return NodeInformation{self.graph, self.node};
      },
      "Its runtime information, which can be changed: a mapping that writes to the node.");
  node.def_property_readonly(
      "rt_info",
      [](const GraphNode& self) {
        return NodeInformation{self.graph, self.node};
      },
      "See get_rt_info().");
  node.def(
      "set_rt_info",
      [](const GraphNode& self, py::object value, const std::string& key) {
        set_text({self.graph, self.node}, key, value);
      },
      py::arg("obj"), py::arg("key"),
      "Writes a text at a key; other values become texts. Raises InvalidArgument for an empty "
      "one.");
  node.def("get_attributes", &attributes_of,
           "The attributes as a dict; graphs of If, Loop and Scan are left out.");
  node.def(
      "get_input_size", [](const GraphNode& self) { return self.node->inputs().size(); },
      "Number of values that it reads.");
  node.def(
      "get_output_size", [](const GraphNode& self) { return self.node->outputs().size(); },
      "Number of values that it computes.");
  node.def(
      "get_output_shape",
      [](const GraphNode& self, size_t index) {
        const TensorDesc desc = output_of(self, index);
        if (!is_static(desc.shape)) {
          raise(Status(StatusCode::InvalidArgument,
                       "the shape is not known; see get_output_partial_shape()"));
        }
        return python_shape(desc.shape);
      },
      py::arg("index") = 0,
      "Shape of an output, by number. Raises NotFound, InvalidArgument when a dimension is open.");
  node.def(
      "get_output_partial_shape",
      [](const GraphNode& self, size_t index) {
        return python_partial_shape(output_of(self, index).shape);
      },
      py::arg("index") = 0, "PartialShape of an output, by number. Raises NotFound.");
  node.def(
      "get_output_element_type",
      [](const GraphNode& self, size_t index) { return TypeName{output_of(self, index).type}; },
      py::arg("index") = 0, "Type of an output's elements, by number. Raises NotFound.");
  node.def_property_readonly(
      "input_names", [](const GraphNode& self) { return names(self.node->inputs()); },
      "Names of the values read; \"\" for an omitted one.");
  node.def_property_readonly(
      "output_names", [](const GraphNode& self) { return names(self.node->outputs()); },
      "Names of the values computed; \"\" for an omitted one.");
  node.def("__eq__", [](const GraphNode& self, py::object other) {
    return py::isinstance<GraphNode>(other) && other.cast<const GraphNode&>().node == self.node;
  });
  node.def("__hash__", [](const GraphNode& self) {
    return static_cast<Py_ssize_t>(std::hash<const void*>()(self.node));
  });
  node.def("__repr__", [](const GraphNode& self) {
    return fmt::format("<Node: {} '{}'>", self.node->qualified_type(), self.node->name());
  });
}

py::list graph_nodes(const std::shared_ptr<Graph>& graph) {
  py::list nodes;
  for (const auto& node : graph->model().nodes()) nodes.append(GraphNode{graph, node.get()});
  return nodes;
}

}  // namespace het::python
