#include "python/bindings/dlpack.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "python/bindings/dlpack_abi.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"

namespace het::python {
namespace {

constexpr const char* kCapsuleName = "dltensor";
constexpr const char* kUsedCapsuleName = "used_dltensor";

std::optional<dlpack::DataType> to_dlpack(ElementType type) {
  const auto bits = static_cast<uint8_t>(bit_width(type));
  switch (type) {
    case ElementType::Bool:
      return dlpack::DataType{dlpack::kBool, bits, 1};
    case ElementType::BFloat16:
      return dlpack::DataType{dlpack::kBfloat, bits, 1};
    case ElementType::Float16:
    case ElementType::Float32:
    case ElementType::Float64:
      return dlpack::DataType{dlpack::kFloat, bits, 1};
    case ElementType::Int8:
    case ElementType::Int16:
    case ElementType::Int32:
    case ElementType::Int64:
      return dlpack::DataType{dlpack::kInt, bits, 1};
    case ElementType::UInt8:
    case ElementType::UInt16:
    case ElementType::UInt32:
    case ElementType::UInt64:
      return dlpack::DataType{dlpack::kUInt, bits, 1};
    default:
      return std::nullopt;
  }
}

std::optional<ElementType> from_dlpack_type(const dlpack::DataType& type) {
  constexpr ElementType kKnown[] = {
      ElementType::Bool,    ElementType::BFloat16, ElementType::Float16, ElementType::Float32,
      ElementType::Float64, ElementType::Int8,     ElementType::Int16,   ElementType::Int32,
      ElementType::Int64,   ElementType::UInt8,    ElementType::UInt16,  ElementType::UInt32,
      ElementType::UInt64};
  for (const ElementType known : kKnown) {
    const dlpack::DataType other = *to_dlpack(known);
    if (other.code == type.code && other.bits == type.bits && type.lanes == 1) return known;
  }
  return std::nullopt;
}

/// A tensor that is lent to another library.
struct Lent {
  dlpack::ManagedTensor managed{};
  Tensor tensor;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

void give_back(dlpack::ManagedTensor* managed) {
  delete static_cast<Lent*>(managed->manager_ctx);
}

void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsuleName) == 0) return;  // somebody took it
  auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  managed->deleter(managed);
}

py::object lend(const PythonTensor& self, const py::args&, const py::kwargs& options) {
  if (self.is_read_only()) {
    throw py::buffer_error(
        "the tensor shows memory that is only to be read, which DLPack cannot say");
  }
  if (options.contains("copy") && py::object(options["copy"]).ptr() == Py_True) {
    return lend(PythonTensor(take(self.tensor().clone())), py::args(), py::kwargs());
  }
  const auto type = to_dlpack(self.tensor().type());
  if (!type) {
    throw py::buffer_error(
        fmt::format("DLPack has no elements of type {}", to_string(self.tensor().type())));
  }
  auto lent = std::make_unique<Lent>();
  lent->tensor = self.tensor();
  lent->shape = self.tensor().shape();
  for (const Py_ssize_t stride : self.shown_strides()) {
    lent->strides.push_back(stride / static_cast<Py_ssize_t>(bit_width(lent->tensor.type()) / 8));
  }
  lent->managed.tensor = {lent->tensor.bytes(),
                          {dlpack::kHost, 0},
                          static_cast<int32_t>(lent->shape.size()),
                          *type,
                          lent->shape.data(),
                          lent->strides.data(),
                          0};
  lent->managed.manager_ctx = lent.get();
  lent->managed.deleter = give_back;
  const py::object capsule = py::reinterpret_steal<py::object>(
      PyCapsule_New(&lent->managed, kCapsuleName, destroy_capsule));
  if (!capsule) throw py::error_already_set();
  lent.release();
  return capsule;
}

void check_device(py::handle object) {
  const auto device = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  if (device.first == dlpack::kHost || device.first == dlpack::kCudaHost ||
      device.first == dlpack::kRocmHost) {
    return;
  }
  raise(Status(StatusCode::NotSupported,
               fmt::format("the array lies in memory of a device (DLPack's device type {}), not of "
                           "the host: copy it first, e.g. tensor.cpu()",
                           device.first)));
}

}  // namespace

Tensor from_dlpack(py::handle object) {
  check_device(object);
  const py::object capsule = object.attr("__dlpack__")();
  if (PyCapsule_IsValid(capsule.ptr(), kCapsuleName) == 0) {
    throw py::type_error("__dlpack__() did not return a capsule with a DLPack tensor");
  }
  auto* managed =
      static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsuleName));
  const dlpack::Tensor& given = managed->tensor;
  const auto type = from_dlpack_type(given.dtype);
  if (!type) {
    throw py::type_error(fmt::format("tensors have no elements of DLPack's type {} with {} bits",
                                     given.dtype.code, given.dtype.bits));
  }
  // From here on it is ours to give back.
  PyCapsule_SetName(capsule.ptr(), kUsedCapsuleName);
  const std::shared_ptr<dlpack::ManagedTensor> kept(managed, [](dlpack::ManagedTensor* last) {
    if (last->deleter == nullptr) return;
    const GilHeld held;  // deleters of Python's libraries want it
    if (held) last->deleter(last);
  });
  TensorDesc desc{*type, Shape(given.shape, given.shape + given.ndim)};
  const auto element_bytes = static_cast<int64_t>(byte_width(*type));
  std::vector<int64_t> strides;
  int64_t last_element = 0;
  bool is_empty = false;
  for (int32_t i = 0; i < given.ndim; ++i) is_empty |= given.shape[i] == 0;
  if (given.strides != nullptr && !is_empty) {
    for (int32_t i = 0; i < given.ndim; ++i) {
      if (given.strides[i] < 0) {
        raise(
            Status(StatusCode::NotSupported, "arrays that run backwards have to be copied first"));
      }
      strides.push_back(given.strides[i] * element_bytes);
      last_element += (given.shape[i] - 1) * strides.back();
    }
  } else {
    last_element = is_empty ? 0 : (element_count(desc.shape) - 1) * element_bytes;
  }
  static std::byte none;
  auto* const address = is_empty ? &none : static_cast<std::byte*>(given.data) + given.byte_offset;
  const size_t size = is_empty ? 0 : static_cast<size_t>(last_element + element_bytes);
  return take(Tensor::wrap(
      std::move(desc), address, size, [kept] {}, strides));
}

void define_dlpack(py::class_<PythonTensor>& tensor) {
  tensor.def("__dlpack__", &lend,
             "A capsule that lends the memory to another library; see DLPack's Python protocol.");
  tensor.def("__dlpack_device__", [](const PythonTensor&) {
    return py::make_tuple(static_cast<int>(dlpack::kHost), 0);
  });
}

}  // namespace het::python
