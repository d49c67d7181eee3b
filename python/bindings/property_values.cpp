#include "python/bindings/property_values.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "python/bindings/element_types.h"
#include "python/bindings/failures.h"

namespace het::python {
namespace {

std::vector<std::string> words(const std::string& text, std::string_view separators) {
  std::vector<std::string> found;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

py::object integer(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || parsed != end) return py::str(text);
  return py::int_(number);
}

/// The enumerator of hetero.properties with this value, or the text.
py::object enumerator(const char* module, const char* type, const std::string& text) {
  const py::object known = py::module_::import(module).attr(type);
  return known.attr("_value2member_map_").attr("get")(text, text);
}

/// Null where nothing is known of it. A compiled model has those of its device, which may be any.
const PropertyDef* definition_of(std::string_view name, std::string_view device) {
  if (const Result<const PropertyDef*> found = find_property(name, device)) return *found;
  const auto table = property_table();
  const auto row = std::ranges::find(table, name, &PropertyDef::name);
  return row == table.end() ? nullptr : &*row;
}

std::string joined(py::handle sequence) {
  std::string text;
  for (const py::handle item : sequence) text += (text.empty() ? "" : ",") + property_value(item);
  return text;
}

std::string braced(const py::dict& dict) {
  std::string text = "{";
  for (const auto& [key, value] : dict) {
    text += (text.size() == 1 ? "" : ",") + property_value(key) + ":" + property_value(value);
  }
  return text + "}";
}

void add(Properties& properties, py::handle name, py::handle value) {
  if (!py::isinstance<py::str>(name)) {
    throw py::type_error("names of properties are texts or members of hetero.properties, not " +
                         py::repr(name).cast<std::string>());
  }
  properties[name.cast<std::string>()] = property_value(value);
}

void add_pair(Properties& properties, py::handle pair) {
  if (!py::isinstance<py::tuple>(pair) || py::len(pair) != 2) {
    throw py::type_error("properties are a dict or tuples (name, value), not " +
                         py::repr(pair).cast<std::string>());
  }
  const auto both = py::reinterpret_borrow<py::tuple>(pair);
  add(properties, both[0], both[1]);
}

}  // namespace

std::string property_value(py::handle object) {
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return object.cast<bool>() ? "YES" : "NO";
  if (py::isinstance<TypeName>(object)) {
    return py::str(object.attr("to_string")()).cast<std::string>();
  }
  const py::object enum_type = py::module_::import("enum").attr("Enum");
  if (py::isinstance(object, enum_type)) return property_value(object.attr("value"));
  if (py::isinstance<py::dict>(object)) return braced(py::reinterpret_borrow<py::dict>(object));
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object) ||
      py::isinstance<py::set>(object)) {
    return joined(object);
  }
  return py::str(object).cast<std::string>();
}

Properties to_properties(py::handle object) {
  Properties properties;
  if (object.is_none()) return properties;
  if (const std::optional<py::dict> by_name = as_dict(object)) {
    for (const auto& [key, value] : *by_name) {
      add(properties, key, value);
    }
  } else if (py::isinstance<py::list>(object)) {
    for (const py::handle pair : object) add_pair(properties, pair);
  } else {
    add_pair(properties, object);
  }
  return properties;
}

py::object python_value(std::string_view name, std::string_view device, const std::string& value) {
  const PropertyDef* const def = definition_of(name, device);
  const std::string_view known = def != nullptr ? def->name : name;
  if (known == "SUPPORTED_PROPERTIES" || known == "OPTIMIZATION_CAPABILITIES" ||
      known == "AVAILABLE_DEVICES" || known == "EXECUTION_DEVICES") {
    return py::cast(words(value, ", "));
  }
  if (known.starts_with("RANGE_FOR_")) {
    py::list numbers;
    for (const std::string& word : words(value, ", ")) numbers.append(integer(word));
    return py::tuple(numbers);
  }
  if (known == "INFERENCE_PRECISION_HINT" && !value.empty()) {
    return py::cast(TypeName{to_element_type(py::str(value))});
  }
  if (known == "PERFORMANCE_HINT")
    return enumerator("hetero.properties.hint", "PerformanceMode", value);
  if (known == "EXECUTION_MODE_HINT")
    return enumerator("hetero.properties.hint", "ExecutionMode", value);
  if (known == "MODEL_PRIORITY") return enumerator("hetero.properties.hint", "Priority", value);
  if (known == "SCHEDULING_CORE_TYPE")
    return enumerator("hetero.properties.hint", "SchedulingCoreType", value);
  if (def == nullptr) return py::str(value);
  if (def->type == PropertyType::Boolean && (value == "YES" || value == "NO")) {
    return py::bool_(value == "YES");
  }
  const bool is_number = def->type == PropertyType::Integer ||
                         known == "OPTIMAL_NUMBER_OF_INFER_REQUESTS" ||
                         known == "OPTIMAL_BATCH_SIZE" || known == "HETERO_NUMBER_OF_SUBMODELS";
  return is_number ? integer(value) : py::str(value);
}

}  // namespace het::python
