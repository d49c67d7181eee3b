#pragma once

#include <cstdint>

/// What a "dltensor" capsule holds: DLPack's stable ABI (dmlc.github.io/dlpack), version 0.
namespace het::python::dlpack {

enum DeviceType : int32_t { kHost = 1, kCudaHost = 3, kRocmHost = 11 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  ///< in elements; null: row by row without gaps
  uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);
};

}  // namespace het::python::dlpack
