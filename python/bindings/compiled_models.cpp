/// The class CompiledModel.

#include "python/bindings/compiled_models.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/ports.h"
#include "python/bindings/property_values.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

/// The class VariableState.
struct Variable {
  std::shared_ptr<CompiledHandle> model;
  std::string stream;
  StateVariable content;
};

/// Gives a borrowed request back, whatever happens.
class Loan {
 public:
  explicit Loan(PythonCompiledModel& model) : model_(model), request_(model.borrow()) {}
  ~Loan() { model_.give_back(std::move(request_)); }
  PythonRequest* operator->() const { return request_.get(); }

 private:
  PythonCompiledModel& model_;
  std::shared_ptr<PythonRequest> request_;
};

py::object call(PythonCompiledModel& self, py::object inputs, bool share_inputs, bool share_outputs,
                bool) {
  const Loan request(self);
  request->set_inputs(inputs, share_inputs);
  request->infer();
  return request->results(share_outputs);
}

py::object infer_new_request(PythonCompiledModel& self, py::object inputs) {
  const auto request = PythonRequest::create(self.handle());
  request->set_inputs(inputs, true);
  request->infer();
  return request->results(true);  // nobody overwrites them: the request goes
}

py::object export_model(PythonCompiledModel& self, py::object stream) {
  CompiledModel& model = self.model();
  std::ostringstream content;
  check(without_gil([&] { return model.export_model(content); }));
  const py::bytes bytes(content.str());
  if (stream.is_none()) return bytes;
  stream.attr("write")(bytes);
  return py::none();
}

void set_property(PythonCompiledModel& self, py::object properties) {
  CompiledModel& model = self.model();
  const Properties wanted = to_properties(properties);
  check(without_gil([&] { return model.set_property(wanted); }));
}

py::object get_property(PythonCompiledModel& self, const std::string& name) {
  CompiledModel& model = self.model();
  const std::string value = take(without_gil([&] { return model.get_property(name); }));
  return python_value(name, "*", value);
}

py::list subgraphs(PythonCompiledModel& self) {
  CompiledModel& model = self.model();
  const py::object make = py::module_::import("hetero.placement").attr("Subgraph");
  py::list list;
  for (const SubgraphInfo& row : without_gil([&] { return model.subgraphs(); })) {
    list.append(make(row.name, row.device, row.nodes, row.inputs, row.outputs, row.dependencies));
  }
  return list;
}

void define_variables(py::module_& module) {
  py::class_<Variable> variable(module, "VariableState",
                                "A variable that a stateful model keeps between executions.");
  variable.def_property_readonly(
      "name", [](const Variable& self) { return self.content.id; }, "Its name in the model.");
  variable.def_property_readonly(
      "state", [](const Variable& self) { return PythonTensor(self.content.value); },
      "A copy of what it was after the last execution.");
  variable.def(
      "reset",
      [](Variable& self) {
        check(self.model->check_process());
        check(self.model->get().reset_state(self.stream));
      },
      "Forgets all variables of this request.");
  variable.def("__repr__", [](const Variable& self) {
    return fmt::format("<VariableState: '{}' {}>", self.content.id,
                       to_string(self.content.value.desc()));
  });
}

}  // namespace

CompiledModel& PythonCompiledModel::model() const {
  check(handle_->check_process());
  return handle_->get();
}

std::shared_ptr<PythonRequest> PythonCompiledModel::borrow() {
  if (idle_.empty()) return PythonRequest::create(handle_);
  std::shared_ptr<PythonRequest> request = std::move(idle_.back());
  idle_.pop_back();
  return request;
}

py::list state_variables(const std::shared_ptr<CompiledHandle>& model, const std::string& stream) {
  check(model->check_process());
  py::list list;
  for (StateVariable& one : take(without_gil([&] { return model->get().query_state(stream); }))) {
    list.append(Variable{model, stream, std::move(one)});
  }
  return list;
}

void define_compiled_models(py::module_& module) {
  define_variables(module);
  py::class_<PythonCompiledModel> model(module, "CompiledModel",
                                        "A model prepared for a device. Threads may share it.");
  model.def("__call__", &call, kInPython, py::arg("inputs") = py::none(),
            py::arg("share_inputs") = true, py::arg("share_outputs") = false, py::kw_only(),
            py::arg("decode_strings") = true,
            "Runs a request of the model's own and waits; see InferRequest.infer(). Each thread "
            "that calls at the same time gets a request of its own.");
  model.def(
      "create_infer_request",
      [](PythonCompiledModel& self) { return PythonRequest::create(self.handle()); }, kInPython,
      "A request with tensors of its own. One request per execution that is to run at the same "
      "time.");
  model.def("infer_new_request", &infer_new_request, kInPython, py::arg("inputs") = py::none(),
            "Runs a new request and waits; see InferRequest.infer(). The results are its memory, "
            "not copies.");
  model.def_property_readonly(
      "inputs", [](const PythonCompiledModel& self) { return compiled_ports(self.handle(), true); },
      "A ConstOutput per input, in the order of the model.");
  model.def_property_readonly(
      "outputs",
      [](const PythonCompiledModel& self) { return compiled_ports(self.handle(), false); },
      "A ConstOutput per output, in the order of the model.");
  model.def(
      "input",
      [](const PythonCompiledModel& self, py::object key) {
        return CompiledPort{self.handle(), true, port_index(self.handle(), true, key)};
      },
      py::arg("index") = py::none(),
      "The input with this number or name; the only one. Raises NotFound, InvalidArgument.");
  model.def(
      "output",
      [](const PythonCompiledModel& self, py::object key) {
        return CompiledPort{self.handle(), false, port_index(self.handle(), false, key)};
      },
      py::arg("index") = py::none(),
      "The output with this number or name; the only one. Raises NotFound, InvalidArgument.");
  model.def("get_property", &get_property, py::arg("property"),
            "The value of a property, as bool, int, Type, list, text or a member of an enumeration "
            "in hetero.properties. Raises InvalidArgument.");
  model.def("set_property", &set_property, py::arg("properties"),
            "Changes what may be changed after compiling. Raises NotSupported for the rest.");
  model.def("export_model", &export_model, kInPython, py::arg("stream") = py::none(),
            "The compiled model as bytes for Core.import_model(), or written into a stream. Raises "
            "NotSupported for devices that do not export.");
  model.def_property_readonly("subgraphs", &subgraphs,
                              "How HETERO split the model: a list of hetero.Subgraph, empty when "
                              "it is not split.");
  model.def(
      "release_memory", [](PythonCompiledModel&) {},
      "Does nothing: memory between executions is what the next one needs.");
  model.def("__repr__", [](const PythonCompiledModel& self) {
    return fmt::format("<CompiledModel: '{}'>", self.model().name());
  });
}

}  // namespace het::python
