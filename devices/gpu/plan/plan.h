#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "devices/gpu/memory/context.h"
#include "devices/gpu/opencl/tensor_spec.h"
#include "devices/gpu/programs/program_cache.h"
#include "inference/devices/profiling.h"

namespace het::gpu {

/// Where the bytes of a plan tensor are.
enum class Storage : uint8_t {
  Arena,     ///< the request's own memory, at an offset that the memory plan gives
  Input,     ///< the request's input of a port
  Output,    ///< the request's output of a port
  Constant,  ///< shared by all requests
};

/// Index of a PlanTensor.
using TensorId = int;
inline constexpr TensorId kNoTensor = -1;

/// One activation in one format. A tensor with a parent is the same bytes under another shape.
struct PlanTensor {
  TensorSpec spec;
  Storage storage = Storage::Arena;
  TensorId parent = kNoTensor;
  size_t offset = 0;  ///< of roots in the arena
  size_t port = 0;    ///< Input and Output
  Memory constant;    ///< Constant
};

/// An argument of a kernel. Read and Write say too what a step does with a tensor.
struct Read {
  TensorId id = kNoTensor;  ///< kNoTensor: a null pointer
};
struct Write {
  TensorId id = kNoTensor;
};
/// Local memory of a work-group.
struct LocalBytes {
  size_t bytes = 0;
};
using KernelArg = std::variant<Read, Write, LocalBytes, cl_int, cl_float>;

/// Work-items along up to three dimensions.
using Range = std::array<size_t, 3>;

/// One launch of a kernel as an operator plans it.
struct Launch {
  ProgramText text;
  std::string kernel;
  std::vector<KernelArg> args;
  Range global = {1, 1, 1};  ///< rounded up to multiples of `local`: kernels check their bounds
  Range local = {1, 1, 1};
};

/// A launch whose program was built.
struct Step : StepName {
  std::string implementation;  ///< for profiles: the kernel
  ProgramPtr program;          ///< set once all steps are known
  std::string kernel;          ///< as the program calls it
  Launch launch;
};

/// How a model runs on a GPU: kernels in order over tensors in one arena. Immutable once built.
struct Plan {
  std::vector<PlanTensor> tensors;
  std::vector<Step> steps;
  std::vector<TensorId> outputs;  ///< per model output
  size_t arena_bytes = 0;
  size_t unshared_bytes = 0;  ///< what the arena would take without packing
  size_t constant_bytes = 0;

  const PlanTensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  /// The tensor whose memory `id` is.
  TensorId root(TensorId id) const {
    while (tensor(id).parent != kNoTensor) id = tensor(id).parent;
    return id;
  }
};

/// The tensors that a step reads and writes.
std::vector<TensorId> read_by(const Step& step);
std::vector<TensorId> written_by(const Step& step);

/// What the steps' programs must have compiled.
std::vector<KernelUse> kernel_uses(const Plan& plan);

/// Places every tensor of the arena, with offsets that are multiples of `alignment`.
void plan_memory(Plan& plan, size_t alignment);

}  // namespace het::gpu
