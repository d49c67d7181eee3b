/// The class Core.

#include <pybind11/stl.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/register_devices.h"
#include "inference/base/version.h"
#include "inference/core.h"
#include "python/bindings/classes.h"
#include "python/bindings/compiled_models.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/models.h"
#include "python/bindings/process_bound.h"
#include "python/bindings/property_values.h"

namespace het::python {
namespace {

/// What compile_model() without a device takes, as in OpenVINO.
constexpr const char* kDefaultDevice = "AUTO";

class PythonCore {
 public:
  PythonCore() : core_(het::core()) {}
  std::shared_ptr<Core> core() const { return core_.get(); }

 private:
  ProcessBound<std::shared_ptr<Core>> core_;
};

/// A file's content in memory: bytes, a stream, or an ONNX ModelProto.
bool is_content(py::handle model) {
  return PyObject_CheckBuffer(model.ptr()) != 0 || py::hasattr(model, "getvalue") ||
         py::hasattr(model, "SerializeToString");
}

py::object content_of(py::handle model) {
  if (py::hasattr(model, "SerializeToString")) return model.attr("SerializeToString")();
  if (py::hasattr(model, "getvalue")) return model.attr("getvalue")();
  return py::reinterpret_borrow<py::object>(model);
}

PythonModel read_path(const PythonCore& self, const std::string& path,
                      const std::vector<std::string>& overridden) {
  const std::shared_ptr<Core> core = self.core();
  return PythonModel(take(without_gil([&] { return core->read_model(path, overridden); })));
}

/// By a temporary folder, since readers want files; their weights stay mapped after it has gone.
PythonModel read_content(const PythonCore& self, py::handle model, py::handle weights,
                         const std::vector<std::string>& overridden) {
  const py::object folder = py::module_::import("tempfile").attr("TemporaryDirectory")();
  const auto folder_name = py::str(folder.attr("name")).cast<std::string>();
  const py::object open = py::module_::import("builtins").attr("open");
  const auto write = [&](const std::string& name, const py::object& content) {
    const py::object file = open(name, "wb");
    file.attr("write")(content);
    file.attr("close")();
  };
  const bool has_weights = !weights.is_none();
  const std::string path = folder_name + (has_weights ? "/model.xml" : "/model.onnx");
  write(path, content_of(model));
  if (has_weights) write(folder_name + "/model.bin", content_of(weights));
  try {
    PythonModel read = read_path(self, path, overridden);
    folder.attr("cleanup")();
    return read;
  } catch (...) {
    folder.attr("cleanup")();
    throw;
  }
}

PythonModel read_model(const PythonCore& self, py::object model, py::object weights,
                       py::object config, const std::vector<std::string>& overridden) {
  if (model.is_none()) throw py::type_error("a model is a path, bytes, a stream or a ModelProto");
  if (is_content(model)) return read_content(self, model, weights, overridden);
  (void)to_properties(
      config);  // reading has no properties; a malformed one is an error all the same
  if (!weights.is_none() && !is_content(weights)) {
    const std::string given = path_text(weights);
    const std::string path = path_text(model);
    const std::string beside = path.substr(0, path.rfind('.')) + ".bin";
    if (given != beside) {
      raise(Status(StatusCode::NotSupported,
                   fmt::format("weights are read from '{}', beside the model; give both as bytes "
                               "to read them from '{}'",
                               beside, given)));
    }
  }
  return read_path(self, path_text(model), overridden);
}

PythonCompiledModel compiled(const std::shared_ptr<Core>& core,
                             Result<std::shared_ptr<CompiledModel>> result) {
  return PythonCompiledModel(std::make_shared<CompiledHandle>(core, take(std::move(result))));
}

PythonCompiledModel compile_model(const PythonCore& self, py::object model, py::object device_name,
                                  py::object config, py::object weights) {
  const std::string device =
      device_name.is_none() ? kDefaultDevice : py::str(device_name).cast<std::string>();
  const Properties properties = to_properties(config);
  const std::shared_ptr<Core> core = self.core();
  // Others may change the model meanwhile.
  const std::unique_ptr<Model> copy =
      py::isinstance<PythonModel>(model)
          ? model.cast<const PythonModel&>().model().clone()
          : read_model(self, model, weights, py::none(), {}).model().clone();
  return compiled(core,
                  without_gil([&] { return core->compile_model(*copy, device, properties); }));
}

PythonCompiledModel import_model(const PythonCore& self, py::object stream,
                                 const std::string& device, py::object config) {
  const Properties properties = to_properties(config);
  const py::object content =
      py::hasattr(stream, "read") ? py::object(stream.attr("read")()) : stream;
  const auto bytes = py::bytes(py::module_::import("builtins").attr("bytes")(content));
  const std::shared_ptr<Core> core = self.core();
  const auto text = bytes.cast<std::string>();
  return compiled(core, without_gil([&] {
                    std::istringstream exported(text);
                    return core->import_model(exported, device, properties);
                  }));
}

std::vector<NodeSupport> query(const PythonCore& self, const PythonModel& model,
                               const std::string& device, py::handle config) {
  const Properties properties = to_properties(config);
  const std::shared_ptr<Core> core = self.core();
  const std::unique_ptr<Model> copy = model.model().clone();
  return take(without_gil([&] { return core->query_model(*copy, device, properties); }));
}

py::dict query_model(const PythonCore& self, const PythonModel& model, const std::string& device,
                     py::object config) {
  py::dict devices;
  for (const NodeSupport& row : query(self, model, device, config)) {
    if (row.supported()) devices[py::str(row.node_name)] = row.device;
  }
  return devices;
}

py::list explain_model(const PythonCore& self, const PythonModel& model, const std::string& device,
                       py::object config) {
  const py::object make = py::module_::import("hetero.placement").attr("NodeSupport");
  py::list rows;
  for (const NodeSupport& row : query(self, model, device, config)) {
    rows.append(make(row.node_name, row.op_type, row.device, row.reason));
  }
  return rows;
}

/// Properties without a device are those of every device that understands them.
void set_for_all(Core& core, const Properties& properties) {
  std::vector<std::string> devices = core.available_devices();
  for (const char* composite : {"AUTO", "BATCH", "HETERO", "MULTI"}) devices.push_back(composite);
  for (const auto& [name, value] : properties) {
    Status refused;
    bool is_known = false;
    for (const std::string& device : devices) {
      Status status = core.set_property(device, {{name, value}});
      is_known |= status.ok();
      if (!status.ok() && refused.ok()) refused = std::move(status);
    }
    if (!is_known) raise(refused);
  }
}

void set_properties(const PythonCore& self, const py::args& arguments, const py::kwargs& named) {
  const auto argument = [&](size_t place, const char* name) -> py::object {
    if (arguments.size() > place) return arguments[place];
    return named.contains(name) ? py::object(named[name]) : py::none();
  };
  const std::shared_ptr<Core> core = self.core();
  const bool has_device = named.contains("device_name") || arguments.size() + named.size() == 2;
  if (!has_device) {
    const Properties properties = to_properties(argument(0, "properties"));
    set_for_all(*core, properties);
    return;
  }
  const auto device = py::str(argument(0, "device_name")).cast<std::string>();
  const Properties properties = to_properties(argument(1, "properties"));
  check(without_gil([&] { return core->set_property(device, properties); }));
}

py::object property_of(const PythonCore& self, const std::string& device, const std::string& name) {
  const std::shared_ptr<Core> core = self.core();
  const std::string value = take(without_gil([&] { return core->get_property(device, name); }));
  return python_value(name, device, value);
}

py::dict versions(const PythonCore& self, const std::string& device) {
  const std::shared_ptr<Core> core = self.core();
  const std::string name =
      take(without_gil([&] { return core->get_property(device, "FULL_DEVICE_NAME"); }));
  py::dict found;
  found[py::str(device)] =
      py::module_::import("hetero.placement").attr("Version")(name, std::string(version()));
  return found;
}

void add_extension(const PythonCore& self, py::object path) {
  const std::shared_ptr<Core> core = self.core();
  const std::string text = path_text(path);
  check(without_gil([&] { return core->add_extension(text); }));
}

void add_device_library(const PythonCore& self, py::object path) {
  const std::shared_ptr<Core> core = self.core();
  const std::string text = path_text(path);
  check(without_gil([&] { return core->add_device_library(text); }));
}

}  // namespace

void define_cores(py::module_& module) {
  py::class_<PythonCore> core(module, "Core",
                              "Reads models, knows the devices, compiles. All objects of a process "
                              "share one set of devices; threads may share an object.");
  core.def(py::init());
  core.def(
      "read_model", &read_model, kInPython, py::arg("model"), py::arg("weights") = py::none(),
      py::arg("config") = py::none(), py::kw_only(),
      py::arg("overridden") = std::vector<std::string>(),
      "Reads an ONNX or OpenVINO IR model: a path, bytes, an io.BytesIO or an onnx.ModelProto; an "
      "IR's weights are beside it, or given as bytes. overridden: names of ONNX initialisers "
      "that become inputs. Raises NotFound, ParseError, with file and place.");
  core.def("compile_model", &compile_model, kInPython, py::arg("model"),
           py::arg("device_name") = py::none(), py::arg("config") = py::none(), py::kw_only(),
           py::arg("weights") = py::none(),
           "Prepares a Model, or what read_model() takes, for a device: \"CPU\", \"GPU\", "
           "\"HETERO:GPU,CPU\" ...; AUTO when none is told. config: properties as a dict or "
           "tuples. Raises NotFound for a device, InvalidArgument for a property, NotSupported "
           "naming every operator "
           "that the device refuses.");
  core.def("import_model", &import_model, kInPython, py::arg("model_stream"),
           py::arg("device_name"), py::arg("config") = py::none(),
           "What CompiledModel.export_model() wrote, as bytes or a stream that can be read. Raises "
           "ParseError.");
  core.def("query_model", &query_model, kInPython, py::arg("model"), py::arg("device_name"),
           py::arg("config") = py::none(),
           "A dict from the names of supported operators to the devices that run them. Raises "
           "NotFound.");
  core.def(
      "explain_model", &explain_model, kInPython, py::arg("model"), py::arg("device_name"),
      py::arg("config") = py::none(),
      "A hetero.NodeSupport per operator: the device, or the reason why not. Raises NotFound.");
  core.def("set_property", &set_properties,
           "set_property(device_name, properties) or set_property(properties): defaults for models "
           "that are compiled later. Raises NotFound, InvalidArgument.");
  core.def("get_property", &property_of, py::arg("device_name"), py::arg("property"),
           "The value of a device's property, as bool, int, Type, list, text or a member of an "
           "enumeration in hetero.properties. Raises NotFound for a device, InvalidArgument for a "
           "property.");
  core.def_property_readonly(
      "available_devices", [](const PythonCore& self) { return self.core()->available_devices(); },
      "Names of the devices of this machine: \"CPU\", \"GPU\" ...");
  core.def(
      "get_available_devices",
      [](const PythonCore& self) { return self.core()->available_devices(); },
      "Names of the devices of this machine: \"CPU\", \"GPU\" ...");
  core.def("get_versions", &versions, py::arg("device_name"),
           "A dict from the device to its hetero.Version: name of the device, version of the "
           "library. Raises NotFound.");
  core.def("add_extension", &add_extension, py::arg("library_path"),
           "Loads a shared library with operators of one's own (inference/custom_operator.h).");
  core.def("add_device_library", &add_device_library, py::arg("library_path"),
           "Loads devices of one's own (inference/custom_device.h).");
  core.def("__repr__", [](const PythonCore& self) {
    return fmt::format("<Core: {}>", fmt::join(self.core()->available_devices(), ", "));
  });
}

}  // namespace het::python
