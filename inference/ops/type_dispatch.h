#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/base/status.h"
#include "inference/tensors/element_type.h"

namespace het {

/// Runtime element type -> template parameter. Each function calls `f.template operator()<T>()`
/// with the C++ type T of `type` and returns what it returns (a Status or a Result):
///
///     dispatch_float(x.type(), [&]<class T>() -> Status { return add<T>(x.values<T>()); });
///
/// A type outside the set is a NotSupported error. Every type is one more instantiation of the
/// body: choose the smallest set, and keep what does not depend on T outside.

namespace type_dispatch_internal {

inline Failure unsupported(ElementType type, std::string_view wanted) {
  return error(StatusCode::NotSupported, "type {} is not supported here, only {}", to_string(type),
               wanted);
}

}  // namespace type_dispatch_internal

/// float, double, Float16, BFloat16.
template <class F>
auto dispatch_float(ElementType type, F&& f) -> decltype(f.template operator()<float>()) {
  switch (type) {
    case ElementType::Float32:
      return f.template operator()<float>();
    case ElementType::Float64:
      return f.template operator()<double>();
    case ElementType::Float16:
      return f.template operator()<Float16>();
    case ElementType::BFloat16:
      return f.template operator()<BFloat16>();
    default:
      return type_dispatch_internal::unsupported(type, "float types");
  }
}

/// The signed and unsigned integers of 8 to 64 bits.
template <class F>
auto dispatch_integer(ElementType type, F&& f) -> decltype(f.template operator()<int32_t>()) {
  switch (type) {
    case ElementType::Int8:
      return f.template operator()<int8_t>();
    case ElementType::UInt8:
      return f.template operator()<uint8_t>();
    case ElementType::Int16:
      return f.template operator()<int16_t>();
    case ElementType::UInt16:
      return f.template operator()<uint16_t>();
    case ElementType::Int32:
      return f.template operator()<int32_t>();
    case ElementType::UInt32:
      return f.template operator()<uint32_t>();
    case ElementType::Int64:
      return f.template operator()<int64_t>();
    case ElementType::UInt64:
      return f.template operator()<uint64_t>();
    default:
      return type_dispatch_internal::unsupported(type, "integers of 8 to 64 bits");
  }
}

/// int32_t and int64_t: indices, axes and shapes.
template <class F>
auto dispatch_index(ElementType type, F&& f) -> decltype(f.template operator()<int32_t>()) {
  switch (type) {
    case ElementType::Int32:
      return f.template operator()<int32_t>();
    case ElementType::Int64:
      return f.template operator()<int64_t>();
    default:
      return type_dispatch_internal::unsupported(type, "int32 and int64");
  }
}

/// dispatch_float() and dispatch_integer() together.
template <class F>
auto dispatch_numeric(ElementType type, F&& f) -> decltype(f.template operator()<float>()) {
  return is_float(type) ? dispatch_float(type, f) : dispatch_integer(type, f);
}

/// dispatch_numeric() and bool.
template <class F>
auto dispatch_numeric_or_bool(ElementType type, F&& f) -> decltype(f.template operator()<float>()) {
  return type == ElementType::Bool ? f.template operator()<bool>() : dispatch_numeric(type, f);
}

/// For code that only moves elements: T is the unsigned integer of the element's width, so that all
/// whole-byte types share four instantiations. Read and write through Tensor::bytes() cast to T*.
template <class F>
auto dispatch_width(ElementType type, F&& f) -> decltype(f.template operator()<uint8_t>()) {
  switch (bit_width(type)) {
    case 8:
      return f.template operator()<uint8_t>();
    case 16:
      return f.template operator()<uint16_t>();
    case 32:
      return f.template operator()<uint32_t>();
    case 64:
      return f.template operator()<uint64_t>();
    default:
      return type_dispatch_internal::unsupported(type, "types of whole bytes");
  }
}

}  // namespace het
