/// The class Model.

#include "python/bindings/models.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "inference/passes/compress_weights.h"
#include "inference/passes/convert_ports.h"
#include "inference/writers/express_in_onnx.h"
#include "inference/writers/onnx_writer.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/ports.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

/// Model::reshape() keeps a dimension that is not told; in Python -1 opens it, as in OpenVINO.
void reshape_model(PythonModel& self, py::object shapes) {
  std::map<std::string, Shape> wanted;
  if (const std::optional<py::dict> by_key = as_dict(shapes)) {
    for (const auto& [key, shape] : *by_key) {
      const size_t index = port_index(self.graph(), true, key);
      wanted[self.model().inputs()[index].value->name()] = to_shape(shape);
    }
  } else {
    const size_t index = port_index(self.graph(), true, py::none());
    wanted[self.model().inputs()[index].value->name()] = to_shape(shapes);
  }
  Model& model = self.model();
  check(model.reshape(wanted));
  for (const ModelInput& input : model.inputs()) {
    const auto found = wanted.find(input.value->name());
    if (found == wanted.end() || is_static(found->second)) continue;
    TensorDesc desc = input.value->desc();
    desc.shape = found->second;
    model.set_desc(input.value, std::move(desc));
    for (size_t i = 0; i < model.outputs().size(); ++i) model.declare_output(i, {});
  }
  self.graph()->note_change();
}

/// Metadata has paths in its names: ["model_info", "labels"] is "model_info.labels".
std::string metadata_key(py::handle path) {
  if (py::isinstance<py::str>(path)) return path.cast<std::string>();
  std::string key;
  for (const py::handle part : path) {
    key += (key.empty() ? "" : ".") + part.cast<std::string>();
  }
  return key;
}

py::object metadata(const PythonModel& self, py::object path) {
  const std::map<std::string, std::string>& all = self.model().metadata();
  if (path.is_none()) return py::cast(all);
  const std::string key = metadata_key(path);
  const auto found = all.find(key);
  if (found == all.end()) {
    raise(Status(StatusCode::NotFound, fmt::format("the model has no metadata '{}'", key)));
  }
  return py::str(found->second);
}

bool is_open(const PythonModel& self) {
  for (const ModelInput& input : self.model().inputs()) {
    if (!input.value->desc().is_static()) return true;
  }
  return false;
}

ModelPort add_output(PythonModel& self, const std::string& name) {
  std::unique_ptr<Model> changed = self.model().clone();
  std::vector<std::string> names;
  for (const ModelOutput& output : changed->outputs()) names.push_back(output.name);
  names.push_back(name);
  check(select_outputs(*changed, names));
  self.replace(std::move(changed));
  return {self.graph(), false, names.size() - 1};
}

py::list add_outputs(PythonModel& self, py::object names) {
  py::list added;
  if (py::isinstance<py::str>(names)) {
    added.append(add_output(self, names.cast<std::string>()));
    return added;
  }
  for (const py::handle name : names) added.append(add_output(self, name.cast<std::string>()));
  return added;
}

PythonModel copy_of(const PythonModel& self) {
  return PythonModel(self.model().clone());
}

void save(const PythonModel& model, py::object path, bool compress_to_fp16) {
  const auto file = path_text(path);
  if (!file.ends_with(".onnx")) {
    raise(Status(StatusCode::NotSupported,
                 fmt::format("models are written as ONNX only: name a file that ends in .onnx, not "
                             "'{}'",
                             file)));
  }
  const std::unique_ptr<Model> copy = model.model().clone();
  check(without_gil([&]() -> Status {
    if (compress_to_fp16) HET_TRY(compress_weights(*copy));
    HET_TRY(express_in_onnx(*copy));
    OnnxWriteOptions options;
    options.opset = oldest_opset(*copy);
    return write_onnx(*copy, file, options);
  }));
}

}  // namespace

void define_models(py::module_& module) {
  py::class_<PythonModel> model(module, "Model", "A model that was read and is not compiled yet.");
  model.def(
      "get_ops", [](const PythonModel& self) { return graph_nodes(self.graph()); },
      "Its operators, in an order in which they can run. Inputs, outputs and constants are "
      "no nodes.");
  model.def(
      "get_ordered_ops", [](const PythonModel& self) { return graph_nodes(self.graph()); },
      "See get_ops().");
  model.def(
      "get_friendly_name", [](const PythonModel& self) { return self.model().name(); },
      "Its name.");
  model.def(
      "set_friendly_name",
      [](PythonModel& self, const std::string& name) { self.model().set_name(name); },
      "Gives it another name.");
  model.def_property(
      "friendly_name", [](const PythonModel& self) { return self.model().name(); },
      [](PythonModel& self, const std::string& name) { self.model().set_name(name); },
      "Its name, which can be changed.");
  model.def(
      "get_name", [](const PythonModel& self) { return self.model().name(); }, "Its name.");
  model.def_property_readonly(
      "name", [](const PythonModel& self) { return self.model().name(); }, "Its name.");
  model.def_property_readonly(
      "inputs", [](const PythonModel& self) { return model_ports(self.graph(), true); },
      "An Output per input, in their order.");
  model.def_property_readonly(
      "outputs", [](const PythonModel& self) { return model_ports(self.graph(), false); },
      "An Output per output, in their order.");
  model.def(
      "input",
      [](const PythonModel& self, py::object key) {
        return ModelPort{self.graph(), true, port_index(self.graph(), true, key)};
      },
      py::arg("index") = py::none(),
      "The input with this number or name; the only one. Raises NotFound, InvalidArgument.");
  model.def(
      "output",
      [](const PythonModel& self, py::object key) {
        return ModelPort{self.graph(), false, port_index(self.graph(), false, key)};
      },
      py::arg("index") = py::none(),
      "The output with this number or name; the only one. Raises NotFound, InvalidArgument.");
  model.def("reshape", &reshape_model, py::arg("shapes"),
            "Gives inputs other shapes: a shape for the only input, or a dict by name, number or "
            "port. Shapes are sequences, Shape, PartialShape or texts (\"[1,3,?,?]\"); -1 leaves a "
            "dimension open until run time. Raises ShapeMismatch when the rank differs.");
  model.def("is_dynamic", &is_open, "Whether a dimension of an input is open.");
  model.def_property_readonly("dynamic", &is_open, "Whether a dimension of an input is open.");
  model.def("get_rt_info", &metadata, py::arg("path") = py::none(),
            "Metadata of the model: all as a dict, or the text at a name (\"model_info.labels\") "
            "or path ([\"model_info\", \"labels\"]). Raises NotFound.");
  model.def_property_readonly(
      "rt_info", [](const PythonModel& self) { return metadata(self, py::none()); },
      "All metadata, as a dict of texts; a copy.");
  model.def(
      "has_rt_info",
      [](const PythonModel& self, py::object path) {
        return self.model().metadata().contains(metadata_key(path));
      },
      py::arg("path"), "Whether there is metadata at a name or path.");
  model.def(
      "set_rt_info",
      [](PythonModel& self, py::object value, py::object path) {
        self.model().metadata()[metadata_key(path)] = py::str(value).cast<std::string>();
      },
      py::arg("obj"), py::arg("path"),
      "Writes a text at a name or path; other values become texts.");
  model.def("add_outputs", &add_outputs, py::arg("outputs"),
            "Makes values outputs too, by their names, those of nodes with one output, or "
            "\"node:port\". Raises NotFound.");
  model.def("clone", &copy_of, "A copy that can be changed by itself; the weights are shared.");
  model.def("__copy__", &copy_of);
  model.def("__deepcopy__", [](const PythonModel& self, py::dict) { return copy_of(self); });
  model.def("__repr__", [](const PythonModel& self) {
    return fmt::format("<Model: '{}', {} operators>", self.model().name(),
                       self.model().nodes().size());
  });
  module.def("save_model", &save, py::arg("model"), py::arg("output_model"),
             py::arg("compress_to_fp16") = true,
             "Writes a model as ONNX, completely or not at all; weights as float16 unless told "
             "otherwise, as OpenVINO does. Raises NotSupported for other kinds of files, Internal "
             "when the file cannot be written.");
}

}  // namespace het::python
