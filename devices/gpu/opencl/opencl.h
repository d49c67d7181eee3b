#pragma once

// The OpenCL API for this folder: 1.2 is enough everywhere, newer calls are asked for at run time.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "inference/base/status.h"

namespace het::gpu {

/// Owns one reference to an OpenCL object. Movable.
template <class T, cl_int (*Release)(T)>
class Handle {
 public:
  Handle() = default;
  /// Takes over a reference; null for none.
  explicit Handle(T object) : object_(object) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_ != nullptr) Release(std::exchange(object_, nullptr));
  }
  /// For calls that write a handle.
  T* out() {
    reset();
    return &object_;
  }

 private:
  T object_ = nullptr;
};

using ContextHandle = Handle<cl_context, clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, clReleaseCommandQueue>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using EventHandle = Handle<cl_event, clReleaseEvent>;
using BufferHandle = Handle<cl_mem, clReleaseMemObject>;

/// A piece of device memory, shared by whoever needs it.
using Memory = std::shared_ptr<const BufferHandle>;

/// "CL_OUT_OF_RESOURCES"; "OpenCL error -1234" for a code nobody knows.
std::string error_name(cl_int code);

/// Ok for CL_SUCCESS; else OutOfMemory, DeviceLost or Internal: "cannot <what>: CL_...".
Status cl_status(cl_int code, std::string_view what);

}  // namespace het::gpu
