#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "python/bindings/compiled_handle.h"
#include "python/bindings/graph.h"

namespace het::python {

namespace py = pybind11;

/// The class ConstOutput: an input or output of a compiled model.
struct CompiledPort {
  std::shared_ptr<CompiledHandle> model;
  bool is_input = false;
  size_t index = 0;

  const Port& port() const {
    const std::vector<Port>& ports = is_input ? model->get().inputs() : model->get().outputs();
    return ports[index];
  }
};

/// The class Output: an input or output of a model.
struct ModelPort {
  std::shared_ptr<Graph> graph;
  bool is_input = false;
  size_t index = 0;
};

void define_ports(py::module_& module);

py::list compiled_ports(const std::shared_ptr<CompiledHandle>& model, bool is_input);
py::list model_ports(const std::shared_ptr<Graph>& graph, bool is_input);

/// The index that a number, a name, a port or nothing (the only one) means; raises NotFound, naming
/// those that exist, or InvalidArgument.
size_t port_index(const std::shared_ptr<CompiledHandle>& model, bool is_input, py::handle key);
size_t port_index(const std::shared_ptr<Graph>& graph, bool is_input, py::handle key);

/// The shape as Python shows it; raises InvalidArgument when a dimension is open.
py::object closed_shape(const std::string& name, const Shape& shape);

}  // namespace het::python
