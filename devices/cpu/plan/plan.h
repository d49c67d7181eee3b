#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"
#include "inference/devices/profiling.h"

namespace het::cpu {

/// Where the bytes of a plan tensor are.
enum class Storage : uint8_t {
  Arena,     ///< the request's own memory, at an offset that the memory plan gives
  Input,     ///< the request's input tensor of a port
  Output,    ///< the request's output tensor of a port
  Constant,  ///< shared by all requests
  Dynamic,   ///< allocated at run time, since its shape depends on the data
};

/// Index of a PlanTensor.
using TensorId = int;
inline constexpr TensorId kNoTensor = -1;

/// One activation in one format. A tensor with a parent is a part of the parent's memory.
struct PlanTensor {
  TensorSpec spec;  ///< unset for Dynamic
  Storage storage = Storage::Arena;
  TensorId parent = kNoTensor;
  size_t offset = 0;  ///< in the parent or, for roots in the arena, in the arena
  size_t port = 0;    ///< Input and Output
  Tensor constant;    ///< Constant
};

/// How the output of a step may use memory of its inputs.
enum class InPlace : uint8_t {
  Never,
  Input,   ///< output 0 may overwrite input `in_place_input`, which has the same spec
  Concat,  ///< inputs may be written directly into output 0, one behind the other
};

/// An input by its index, and the values in its memory.
struct FiniteInput {
  size_t input = 0;
  ElementType type = ElementType::Undefined;
  int64_t count = 0;
};

/// One kernel with its operands.
struct Step : StepName {
  std::unique_ptr<Kernel> kernel;
  std::vector<TensorId> inputs;  ///< kNoTensor for an omitted one
  std::vector<TensorId> outputs;
  InPlace in_place = InPlace::Never;
  size_t in_place_input = 0;
  bool alone = false;  ///< on the calling thread: the work is not worth a team
  /// Inputs that may hold NaN or infinities, with which the kernel must not read them.
  std::vector<FiniteInput> to_be_finite;
};

/// How a model runs on the CPU: steps in order over tensors in one arena. Immutable once built.
struct Plan {
  std::vector<PlanTensor> tensors;
  std::vector<Step> steps;
  std::vector<TensorId> outputs;           ///< per model output
  std::vector<std::string> removed_names;  ///< nodes of the file that cost nothing
  size_t arena_bytes = 0;
  size_t unshared_bytes = 0;  ///< what the arena would take without packing
  size_t scratch_bytes = 0;
  /// Some kernel would spoil NaN or infinities that the model's own constants hold.
  bool spoils_constants = false;
  BufferPtr packed;  ///< weights of an imported model, which its kernels refer to

  /// The tensor whose memory `id` is a part of, and where in it.
  struct Location {
    TensorId root;
    size_t offset;
  };
  Location locate(TensorId id) const;
};

}  // namespace het::cpu
