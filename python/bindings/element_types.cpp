#include "python/bindings/element_types.h"

#include <bit>
#include <string_view>

#include "python/bindings/failures.h"

namespace het::python {
namespace {

struct OpenVinoName {
  ElementType type;
  const char* name;
};

constexpr OpenVinoName kNames[] = {
    {ElementType::Undefined, "dynamic"},
    {ElementType::Bool, "boolean"},
    {ElementType::Int2, "i2"},
    {ElementType::UInt2, "u2"},
    {ElementType::Int4, "i4"},
    {ElementType::UInt4, "u4"},
    {ElementType::Int8, "i8"},
    {ElementType::UInt8, "u8"},
    {ElementType::Int16, "i16"},
    {ElementType::UInt16, "u16"},
    {ElementType::Int32, "i32"},
    {ElementType::UInt32, "u32"},
    {ElementType::Int64, "i64"},
    {ElementType::UInt64, "u64"},
    {ElementType::Float4E2M1, "f4e2m1"},
    {ElementType::Float8E4M3FN, "f8e4m3"},
    {ElementType::Float8E4M3FNUZ, "f8e4m3fnuz"},
    {ElementType::Float8E5M2, "f8e5m2"},
    {ElementType::Float8E5M2FNUZ, "f8e5m2fnuz"},
    {ElementType::Float8E8M0, "f8e8m0"},
    {ElementType::Float16, "f16"},
    {ElementType::BFloat16, "bf16"},
    {ElementType::Float32, "f32"},
    {ElementType::Float64, "f64"},
};

const char* short_name(ElementType type) {
  for (const OpenVinoName& entry : kNames) {
    if (entry.type == type) return entry.name;
  }
  return "dynamic";
}

std::string long_name(ElementType type) {
  return type == ElementType::Undefined ? "dynamic" : std::string(to_string(type));
}

std::optional<ElementType> named(std::string_view name) {
  for (const OpenVinoName& entry : kNames) {
    if (name == entry.name) return entry.type;
  }
  const Result<ElementType> parsed = parse_element_type(name);
  if (parsed) return *parsed;
  return std::nullopt;
}

bool is_signed(ElementType type) {
  switch (type) {
    case ElementType::Int2:
    case ElementType::Int4:
    case ElementType::Int8:
    case ElementType::Int16:
    case ElementType::Int32:
    case ElementType::Int64:
      return true;
    default:
      return !is_integer(type) && type != ElementType::Bool && type != ElementType::Undefined;
  }
}

py::object numpy_dtype(ElementType type) {
  if (type == ElementType::Undefined)
    raise(Status(StatusCode::InvalidArgument,
                 "the type is not known before run time; numpy has no dtype for it"));
  return py::module_::import("numpy").attr("dtype")(buffer_format(type).format);
}

}  // namespace

BufferFormat buffer_format(ElementType type) {
  switch (type) {
    case ElementType::Bool:
      return {"?", 1, false};
    case ElementType::Int8:
      return {"b", 1, false};
    case ElementType::Int16:
      return {"h", 2, false};
    case ElementType::UInt16:
    case ElementType::BFloat16:
      return {"H", 2, false};
    case ElementType::Int32:
      return {"i", 4, false};
    case ElementType::UInt32:
      return {"I", 4, false};
    case ElementType::Int64:
      return {"q", 8, false};
    case ElementType::UInt64:
      return {"Q", 8, false};
    case ElementType::Float16:
      return {"e", 2, false};
    case ElementType::Float32:
      return {"f", 4, false};
    case ElementType::Float64:
      return {"d", 8, false};
    case ElementType::Int2:
    case ElementType::UInt2:
    case ElementType::Int4:
    case ElementType::UInt4:
    case ElementType::Float4E2M1:
      return {"B", 1, true};
    default:
      return {"B", 1, false};
  }
}

std::optional<ElementType> type_of_format(const char* format, size_t item_bytes) {
  std::string_view text = format == nullptr ? std::string_view("B") : std::string_view(format);
  constexpr bool kLittle = std::endian::native == std::endian::little;
  if (!text.empty()) {
    const char order = text.front();
    if ((order == '<' && !kLittle) || ((order == '>' || order == '!') && kLittle)) {
      return std::nullopt;
    }
    if (order == '<' || order == '>' || order == '!' || order == '=' || order == '@') {
      text.remove_prefix(1);
    }
  }
  if (text.size() != 1) return std::nullopt;
  switch (text.front()) {
    case '?':
      return ElementType::Bool;
    case 'e':
      return ElementType::Float16;
    case 'f':
      return ElementType::Float32;
    case 'd':
      return ElementType::Float64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      switch (item_bytes) {
        case 1:
          return ElementType::Int8;
        case 2:
          return ElementType::Int16;
        case 4:
          return ElementType::Int32;
        case 8:
          return ElementType::Int64;
        default:
          return std::nullopt;
      }
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      switch (item_bytes) {
        case 1:
          return ElementType::UInt8;
        case 2:
          return ElementType::UInt16;
        case 4:
          return ElementType::UInt32;
        case 8:
          return ElementType::UInt64;
        default:
          return std::nullopt;
      }
    default:
      return std::nullopt;
  }
}

ElementType to_element_type(py::handle object) {
  if (py::isinstance<TypeName>(object)) return object.cast<TypeName>().type;
  if (py::isinstance<py::str>(object)) {
    const auto name = object.cast<std::string>();
    if (const auto type = named(name)) return *type;
    throw py::type_error("no element type is named '" + name + "'");
  }
  const py::object dtype = py::module_::import("numpy").attr("dtype")(object);
  if (!dtype.attr("isnative").cast<bool>()) {
    throw py::type_error("dtype " + py::str(dtype).cast<std::string>() +
                         " is in the other byte order; convert it with array.astype(dtype."
                         "newbyteorder('='))");
  }
  std::string name = py::str(dtype.attr("name")).cast<std::string>();
  if (const auto type = named(name)) return *type;
  std::erase(name, '_');  // ml_dtypes' float8_e4m3fn
  if (const auto type = named(name)) return *type;
  throw py::type_error("tensors have no elements of dtype " + py::str(dtype).cast<std::string>());
}

void define_type(py::module_& module) {
  py::class_<TypeName> type(module, "Type",
                            "Type of one element: Type.f32, Type.u8 ... as OpenVINO names them; "
                            "Type.dynamic where it is not known before run time.");
  type.def(py::init([](py::object from) { return TypeName{to_element_type(from)}; }),
           py::arg("dtype"), "From a numpy dtype or a name ('f32', 'float32').");
  type.def(
      "to_dtype", [](TypeName self) { return numpy_dtype(self.type); },
      "The numpy dtype that arrays of such tensors have: bf16 shows as uint16, 8-bit floats "
      "as uint8, types of less than a byte as packed uint8.");
  type.def(
      "get_type_name", [](TypeName self) { return short_name(self.type); },
      "OpenVINO's name: \"f32\".");
  type.def(
      "to_string", [](TypeName self) { return short_name(self.type); },
      "OpenVINO's name: \"f32\".");
  type.def(
      "is_real",
      [](TypeName self) {
        return !is_integer(self.type) && bit_width(self.type) > 1 && self.type != ElementType::Bool;
      },
      "Whether it is a floating-point type.");
  type.def(
      "is_integral",
      [](TypeName self) { return is_integer(self.type) || self.type == ElementType::Bool; },
      "Whether it is an integer type or boolean.");
  type.def(
      "is_integral_number", [](TypeName self) { return is_integer(self.type); },
      "Whether it is an integer type.");
  type.def(
      "is_signed", [](TypeName self) { return is_signed(self.type); },
      "Whether values may be negative.");
  type.def(
      "is_static", [](TypeName self) { return self.type != ElementType::Undefined; },
      "Whether it is known before run time.");
  type.def(
      "is_dynamic", [](TypeName self) { return self.type == ElementType::Undefined; },
      "Whether it is not known before run time.");
  type.def_property_readonly(
      "size", [](TypeName self) { return (bit_width(self.type) + 7) / 8; },
      "Bytes of one element, rounded up.");
  type.def_property_readonly(
      "bitwidth", [](TypeName self) { return bit_width(self.type); }, "Bits of one element.");
  type.def_property_readonly(
      "type_name", [](TypeName self) { return short_name(self.type); },
      "OpenVINO's name: \"f32\".");
  type.def("__eq__", [](TypeName self, py::object other) {
    return py::isinstance<TypeName>(other) && other.cast<TypeName>().type == self.type;
  });
  type.def("__hash__", [](TypeName self) { return static_cast<Py_ssize_t>(self.type) + 1; });
  type.def("__str__", [](TypeName self) { return "<Type: '" + long_name(self.type) + "'>"; });
  type.def("__repr__", [](TypeName self) { return "<Type: '" + long_name(self.type) + "'>"; });
  type.def(py::pickle([](TypeName self) { return py::str(short_name(self.type)); },
                      [](py::str name) { return TypeName{to_element_type(name)}; }));
  for (const OpenVinoName& entry : kNames) type.attr(entry.name) = TypeName{entry.type};
}

}  // namespace het::python
