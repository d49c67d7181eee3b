#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "hetinference/call.h"

namespace het::c_interface {

/// Size of a struct in the first version of the interface: a caller's may not be smaller. A struct
/// that grows gets a specialisation with the size it had.
template <class T>
inline constexpr uint32_t kFirstSize = sizeof(T);
template <>
inline constexpr uint32_t kFirstSize<HetPicture> = offsetof(HetPicture, memory);

template <class T>
Status check_size(const T* value, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  HET_TRY(not_null(value, name));
  uint32_t size = 0;
  std::memcpy(&size, value, sizeof size);
  if (size >= kFirstSize<T>) return {};
  return error(StatusCode::InvalidArgument,
               "struct_size of {} is {}, which is less than {}; set it to sizeof of the struct",
               name, size, kFirstSize<T>);
}

/// The caller's struct as this version has it: members that it lacks are zero, bytes that this
/// version does not know must be.
template <class T>
Result<T> read_struct(const T* value, const char* name) {
  HET_TRY(check_size(value, name));
  const size_t size = value->struct_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(value);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return error(StatusCode::NotSupported,
                   "struct_size of {} is {}, this library knows {} bytes, and byte {} behind them "
                   "is not zero",
                   name, size, sizeof(T), i);
    }
  }
  T copy{};
  std::memcpy(&copy, value, std::min(size, sizeof(T)));
  return copy;
}

/// Fills the caller's struct as far as it goes; what this version does not know becomes zero.
template <class T>
void write_struct(T value, T* out) {
  const size_t size = out->struct_size;
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, std::min(size, sizeof(T)));
  if (size > sizeof(T)) {
    std::memset(reinterpret_cast<unsigned char*>(out) + sizeof(T), 0, size - sizeof(T));
  }
}

}  // namespace het::c_interface
