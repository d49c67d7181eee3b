#include "python/bindings/ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "python/bindings/element_types.h"
#include "python/bindings/failures.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

std::string name_of(const ModelPort& self) {
  const Model& model = self.graph->model();
  return self.is_input ? model.inputs()[self.index].value->name()
                       : model.outputs()[self.index].name;
}

TensorDesc desc_of(const ModelPort& self) {
  const Model& model = self.graph->model();
  return self.graph->desc_of(self.is_input ? *model.inputs()[self.index].value
                                           : *model.outputs()[self.index].value);
}

std::string name_of(const CompiledPort& self) {
  return self.port().name;
}

TensorDesc desc_of(const CompiledPort& self) {
  return self.port().desc;
}

const void* owner_of(const ModelPort& self) {
  return self.graph.get();
}

const void* owner_of(const CompiledPort& self) {
  return self.model.get();
}

py::set names_of(const std::string& name) {
  py::set names;
  names.add(py::str(name));
  return names;
}

template <class PortType>
void define_port(py::module_& module, const char* name, const char* doc) {
  py::class_<PortType> type(module, name, doc);
  type.def_property_readonly(
      "any_name", [](const PortType& self) { return name_of(self); }, "Its name.");
  type.def(
      "get_any_name", [](const PortType& self) { return name_of(self); }, "Its name.");
  type.def_property_readonly(
      "names", [](const PortType& self) { return names_of(name_of(self)); },
      "A set with the one name that the port has here.");
  type.def(
      "get_names", [](const PortType& self) { return names_of(name_of(self)); },
      "A set with the one name that the port has here.");
  type.def_property_readonly(
      "index", [](const PortType& self) { return self.index; },
      "Its number among the inputs or the outputs, from 0.");
  type.def(
      "get_index", [](const PortType& self) { return self.index; },
      "Its number among the inputs or the outputs, from 0.");
  type.def_property_readonly(
      "shape",
      [](const PortType& self) { return closed_shape(name_of(self), desc_of(self).shape); },
      "Raises InvalidArgument when a dimension is open; see partial_shape.");
  type.def(
      "get_shape",
      [](const PortType& self) { return closed_shape(name_of(self), desc_of(self).shape); },
      "Raises InvalidArgument when a dimension is open; see get_partial_shape().");
  type.def_property_readonly(
      "partial_shape",
      [](const PortType& self) { return python_partial_shape(desc_of(self).shape); },
      "A PartialShape, in which dimensions may be open.");
  type.def(
      "get_partial_shape",
      [](const PortType& self) { return python_partial_shape(desc_of(self).shape); },
      "A PartialShape, in which dimensions may be open.");
  type.def_property_readonly(
      "element_type", [](const PortType& self) { return TypeName{desc_of(self).type}; },
      "Type of its elements; Type.dynamic when it is not known before run time.");
  type.def(
      "get_element_type", [](const PortType& self) { return TypeName{desc_of(self).type}; },
      "Type of its elements; Type.dynamic when it is not known before run time.");
  type.def("__eq__", [](const PortType& self, py::object other) {
    if (!py::isinstance<PortType>(other)) return false;
    const auto& port = other.cast<const PortType&>();
    return owner_of(port) == owner_of(self) && port.is_input == self.is_input &&
           port.index == self.index;
  });
  type.def("__hash__", [](const PortType& self) {
    return py::hash(
        py::make_tuple(reinterpret_cast<uintptr_t>(owner_of(self)), self.is_input, self.index));
  });
  type.def("__repr__", [name](const PortType& self) {
    return fmt::format("<{}: '{}' {}>", name, name_of(self), to_string(desc_of(self)));
  });
}

size_t index_among(py::handle key, const std::vector<std::string>& names, bool is_input) {
  const char* const what = is_input ? "input" : "output";
  if (key.is_none()) {
    if (names.size() == 1) return 0;
    raise(Status(StatusCode::InvalidArgument,
                 fmt::format("the model has {} {}s: say which one, by number or name ({})",
                             names.size(), what, fmt::join(names, ", "))));
  }
  if (py::isinstance<py::str>(key)) {
    const auto name = key.cast<std::string>();
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return i;
    }
    raise(Status(StatusCode::NotFound, fmt::format("the model has no {} '{}'; it has {}", what,
                                                   name, fmt::join(names, ", "))));
  }
  if (PyIndex_Check(key.ptr()) == 0) {
    throw py::type_error(fmt::format("an {} is meant by number, name or port, not by {}", what,
                                     py::repr(key).cast<std::string>()));
  }
  const Py_ssize_t index = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (index < 0 || static_cast<size_t>(index) >= names.size()) {
    raise(Status(StatusCode::NotFound, fmt::format("the model has {} {}s; there is no {} {}",
                                                   names.size(), what, what, index)));
  }
  return static_cast<size_t>(index);
}

[[noreturn]] void raise_foreign(bool is_input) {
  raise(Status(StatusCode::InvalidArgument,
               fmt::format("the port is no {} of this model", is_input ? "input" : "output")));
}

}  // namespace

py::list compiled_ports(const std::shared_ptr<CompiledHandle>& model, bool is_input) {
  py::list ports;
  const size_t count = is_input ? model->get().inputs().size() : model->get().outputs().size();
  for (size_t i = 0; i < count; ++i) ports.append(CompiledPort{model, is_input, i});
  return ports;
}

py::list model_ports(const std::shared_ptr<Graph>& graph, bool is_input) {
  py::list ports;
  const size_t count = is_input ? graph->model().inputs().size() : graph->model().outputs().size();
  for (size_t i = 0; i < count; ++i) ports.append(ModelPort{graph, is_input, i});
  return ports;
}

size_t port_index(const std::shared_ptr<CompiledHandle>& model, bool is_input, py::handle key) {
  if (py::isinstance<CompiledPort>(key)) {
    const auto& port = key.cast<const CompiledPort&>();
    if (port.model != model || port.is_input != is_input) raise_foreign(is_input);
    return port.index;
  }
  if (py::isinstance<ModelPort>(key)) {
    return port_index(model, is_input, py::str(name_of(key.cast<const ModelPort&>())));
  }
  const std::vector<Port>& ports = is_input ? model->get().inputs() : model->get().outputs();
  if (key.is_none() && ports.size() == 1) return 0;
  if (PyLong_CheckExact(key.ptr())) {
    const Py_ssize_t index = PyLong_AsSsize_t(key.ptr());
    if (index >= 0 && static_cast<size_t>(index) < ports.size()) return static_cast<size_t>(index);
    PyErr_Clear();
  }
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return index_among(key, names, is_input);
}

size_t port_index(const std::shared_ptr<Graph>& graph, bool is_input, py::handle key) {
  if (py::isinstance<ModelPort>(key)) {
    const auto& port = key.cast<const ModelPort&>();
    if (port.is_input != is_input) raise_foreign(is_input);
    return port_index(graph, is_input, py::str(name_of(port)));
  }
  std::vector<std::string> names;
  const size_t count = is_input ? graph->model().inputs().size() : graph->model().outputs().size();
  for (size_t i = 0; i < count; ++i) names.push_back(name_of(ModelPort{graph, is_input, i}));
  return index_among(key, names, is_input);
}

py::object closed_shape(const std::string& name, const Shape& shape) {
  if (!is_static(shape)) {
    raise(Status(StatusCode::InvalidArgument,
                 fmt::format("'{}' has dimensions that are not known before it is reshaped or "
                             "run; partial_shape tells them",
                             name)));
  }
  return python_shape(shape);
}

void define_ports(py::module_& module) {
  define_port<ModelPort>(module, "Output", "An input or output of a Model.");
  define_port<CompiledPort>(module, "ConstOutput",
                            "An input or output of a CompiledModel; a key of its results.");
}

}  // namespace het::python
