/// The class InferRequest as Python sees it.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "python/bindings/arrays.h"
#include "python/bindings/compiled_models.h"
#include "python/bindings/constructed.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/ports.h"
#include "python/bindings/requests.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

using RequestPointer = std::shared_ptr<PythonRequest>;

struct Place {
  bool is_input;
  size_t index;
};

/// The port that a name, port or number of an input means.
Place place_of(const PythonRequest& self, py::handle key) {
  if (py::isinstance<CompiledPort>(key)) {
    const bool is_input = key.cast<const CompiledPort&>().is_input;
    return {is_input, port_index(self.model(), is_input, key)};
  }
  if (py::isinstance<ModelPort>(key)) {
    const bool is_input = key.cast<const ModelPort&>().is_input;
    return {is_input, port_index(self.model(), is_input, key)};
  }
  if (!py::isinstance<py::str>(key)) {
    throw py::type_error("a tensor is meant by its name or port, not by " +
                         py::repr(key).cast<std::string>());
  }
  const auto name = key.cast<std::string>();
  CompiledModel& model = self.model()->get();
  if (const auto index = model.input_index(name)) return {true, *index};
  return {false, take(model.output_index(name))};
}

PythonTensor tensor_at(PythonRequest& self, const Place& place) {
  return PythonTensor(place.is_input ? self.input(place.index) : self.output(place.index));
}

void set_at(PythonRequest& self, const Place& place, py::handle tensor) {
  if (place.is_input) {
    self.set_input(place.index, tensor, true);
  } else {
    self.set_output(place.index, tensor);
  }
}

py::list tensors_of(PythonRequest& self, bool is_input) {
  py::list tensors;
  CompiledModel& model = self.model()->get();
  const size_t count = is_input ? model.inputs().size() : model.outputs().size();
  for (size_t i = 0; i < count; ++i) tensors.append(tensor_at(self, {is_input, i}));
  return tensors;
}

/// Tensors of ports by number, name or port.
void set_all(PythonRequest& self, bool is_input, py::handle tensors) {
  const std::optional<py::dict> by_key = as_dict(tensors);
  if (!by_key) throw py::type_error("several tensors are told by a dict");
  for (const auto& [key, tensor] : *by_key) {
    set_at(self, {is_input, port_index(self.model(), is_input, key)}, tensor);
  }
}

py::object infer(PythonRequest& self, py::object inputs, bool share_inputs, bool share_outputs,
                 bool) {
  self.set_inputs(inputs, share_inputs);
  self.infer();
  return self.results(share_outputs);
}

void start_async(PythonRequest& self, py::object inputs, py::object user_data, bool share_inputs) {
  self.set_inputs(inputs, share_inputs);
  self.user_data = std::move(user_data);
  self.start();
}

py::list profiling(PythonRequest& self) {
  const std::vector<ProfileRow> rows = self.idle_request("read the profile").profiling();
  const py::object make = py::module_::import("hetero.profiling").attr("make_row");
  py::list list;
  for (const ProfileRow& row : rows) {
    list.append(make(row.node_name, std::string(to_string(row.status)), row.layer_type,
                     row.exec_type, row.real_us, row.cpu_us));
  }
  return list;
}

py::list states(PythonRequest& self) {
  self.idle_request("read the state");
  return state_variables(self.model(), self.stream());
}

void define_tensor_access(py::class_<PythonRequest, RequestPointer>& request) {
  request.def(
      "get_tensor",
      [](PythonRequest& self, py::object key) { return tensor_at(self, place_of(self, key)); },
      py::arg("name"), "The tensor of an input or output, by name or port.");
  request.def(
      "set_tensor",
      [](PythonRequest& self, py::object key, py::object tensor) {
        set_at(self, place_of(self, key), tensor);
      },
      py::arg("name"), py::arg("tensor"),
      "Uses memory of the caller's for an input or output, by name or port: a Tensor or an "
      "array. Raises ShapeMismatch when type or shape do not fit.");
  request.def(
      "get_input_tensor",
      [](PythonRequest& self, py::object index) {
        return tensor_at(self, {true, port_index(self.model(), true, index)});
      },
      py::arg("index") = py::none(),
      "The tensor of an input by number, name or port; of the only one. Raises NotFound, "
      "InvalidArgument, Busy.");
  request.def(
      "get_output_tensor",
      [](PythonRequest& self, py::object index) {
        return tensor_at(self, {false, port_index(self.model(), false, index)});
      },
      py::arg("index") = py::none(),
      "The tensor of an output by number, name or port; of the only one. It shows the request's "
      "memory, which the next execution overwrites. Raises NotFound, InvalidArgument, Busy.");
  for (const bool is_input : {true, false}) {
    const char* const name = is_input ? "set_input_tensor" : "set_output_tensor";
    const char* const doc =
        is_input
            ? "Uses memory of the caller's for the only input, or for one by number, name or "
              "port. Raises ShapeMismatch, NotFound, Busy."
            : "Lets the only output, or one by number, name or port, be written into memory of "
              "the caller's. Raises InvalidArgument when it cannot be written or has gaps, "
              "ShapeMismatch, NotFound, Busy.";
    request.def(
        name,
        [is_input](PythonRequest& self, py::object tensor) {
          set_at(self, {is_input, port_index(self.model(), is_input, py::none())}, tensor);
        },
        py::arg("tensor"), doc);
    request.def(
        name,
        [is_input](PythonRequest& self, py::object index, py::object tensor) {
          set_at(self, {is_input, port_index(self.model(), is_input, index)}, tensor);
        },
        py::arg("index"), py::arg("tensor"), doc);
  }
  request.def(
      "set_input_tensors",
      [](PythonRequest& self, py::object tensors) { set_all(self, true, tensors); },
      py::arg("inputs"), "set_input_tensor() for several: a dict by number, name or port.");
  request.def(
      "set_output_tensors",
      [](PythonRequest& self, py::object tensors) { set_all(self, false, tensors); },
      py::arg("outputs"), "set_output_tensor() for several: a dict by number, name or port.");
  request.def(
      "set_tensors",
      [](PythonRequest& self, py::object tensors) {
        const std::optional<py::dict> by_key = as_dict(tensors);
        if (!by_key) throw py::type_error("several tensors are told by a dict");
        for (const auto& [key, tensor] : *by_key) set_at(self, place_of(self, key), tensor);
      },
      py::arg("inputs"), "set_tensor() for several: a dict by name or port.");
  request.def_property_readonly(
      "input_tensors", [](PythonRequest& self) { return tensors_of(self, true); },
      "A Tensor per input, in the order of the model.");
  request.def_property_readonly(
      "output_tensors", [](PythonRequest& self) { return tensors_of(self, false); },
      "A Tensor per output, in the order of the model.");
  request.def_property_readonly(
      "inputs", [](PythonRequest& self) { return tensors_of(self, true); },
      "A Tensor per input, in the order of the model.");
  request.def_property_readonly(
      "outputs", [](PythonRequest& self) { return tensors_of(self, false); },
      "A Tensor per output, in the order of the model.");
}

}  // namespace

void define_requests(py::module_& module) {
  py::class_<PythonRequest, RequestPointer> request(
      module, "InferRequest", py::custom_type_setup(take_part_in_collection<PythonRequest>),
      "One execution of a compiled model at a time, with tensors of its own. What would touch a "
      "running execution raises Busy.");
  request.def("infer", &infer, kInPython, py::arg("inputs") = py::none(),
              py::arg("share_inputs") = false, py::arg("share_outputs") = false, py::kw_only(),
              py::arg("decode_strings") = true,
              "Runs and waits; Ctrl-C ends it. inputs: a dict by name, number or port, a list by "
              "position, or the only one; arrays of the inputs' shapes and types (other number "
              "types are converted as numpy's rule 'same_kind' allows). They are copied unless "
              "share_inputs is True; then they are used where they lie. Returns a mapping from "
              "outputs to numpy arrays: copies, or with share_outputs=True the request's own "
              "memory, which the next execution overwrites. Raises ShapeMismatch, NotFound, Busy "
              "and what the device reports.");
  request.def("start_async", &start_async, kInPython, py::arg("inputs") = py::none(),
              py::arg("userdata") = py::none(), py::arg("share_inputs") = false,
              "Begins an execution and returns; see infer() for the inputs. Raises Busy. userdata: "
              "what the request's userdata is then.");
  request.def("wait", &PythonRequest::wait, kInPython,
              "Waits for the end of the execution and its callback. Raises what the execution or "
              "the callback failed with. Ctrl-C ends the wait, not the execution.");
  request.def("wait_for", &PythonRequest::wait_for, kInPython, py::arg("timeout"),
              "The same for at most so many milliseconds; False when it still runs.");
  request.def("cancel", &PythonRequest::cancel,
              "The running execution ends as soon as it can; wait() then raises Cancelled.");
  request.def("set_callback", &PythonRequest::set_callback, py::arg("callback"),
              py::arg("userdata") = py::none(),
              "callback(userdata) is called at the end of every execution, on a thread of the "
              "device. None takes it back.");
  request.def_property_readonly(
      "results", [](PythonRequest& self) { return self.results(true); },
      "A mapping from outputs to numpy arrays that show the request's "
      "memory, which the next execution overwrites.");
  request.def_property_readonly("latency", &PythonRequest::latency_ms,
                                "Milliseconds that the last execution took.");
  request.def_property_readonly(
      "userdata", [](const PythonRequest& self) { return self.user_data; },
      "What was given to start_async().");
  request.def_property_readonly(
      "model_inputs", [](const PythonRequest& self) { return compiled_ports(self.model(), true); },
      "A ConstOutput per input of the model.");
  request.def_property_readonly(
      "model_outputs",
      [](const PythonRequest& self) { return compiled_ports(self.model(), false); },
      "A ConstOutput per output of the model.");
  request.def(
      "get_compiled_model",
      [](const PythonRequest& self) { return py::cast(PythonCompiledModel(self.model())); },
      "The model that it runs.");
  request.def("get_profiling_info", &profiling, kInPython,
              "A hetero.ProfilingInfo per node: what it cost in the last execution, with "
              "PERF_COUNT=YES. Raises Busy.");
  request.def_property_readonly("profiling_info", &profiling, "See get_profiling_info().");
  request.def("query_state", &states,
              "The variables that a stateful model keeps for this request, as VariableState.");
  request.def(
      "reset_state",
      [](PythonRequest& self) {
        self.idle_request("forget the state");
        check(self.model()->get().reset_state(self.stream()));
      },
      "Forgets the variables of a stateful model. Raises Busy.");
  request.def_property(
      "stream", [](const PythonRequest& self) { return self.stream(); }, &PythonRequest::set_stream,
      "Requests of one stream share the state of a stateful model, and run in the "
      "order of their starts; at first each has its own.");
  request.def("__repr__", [](const PythonRequest& self) {
    return fmt::format("<InferRequest of '{}'{}>", self.model()->get().name(),
                       self.is_running() ? ", running" : "");
  });
  define_tensor_access(request);
}

}  // namespace het::python
