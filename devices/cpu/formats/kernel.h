#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// Memory of one step of one request. Pointers follow the step's list of inputs and outputs.
struct KernelArgs {
  std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
  std::byte* scratch = nullptr;
  /// Values sized at run time, by plan tensor; only the reference kernel uses them.
  std::span<Tensor> dynamic;
  /// Set when the request shall end early; loops of the reference ask.
  const std::atomic<bool>* cancelled = nullptr;
};

/// What a kernel keeps per request, e.g. oneDNN memory objects.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

/// One operation of a plan with its weights. Immutable after compilation; execute() runs
/// concurrently for different requests, each on a stream's thread.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// For profiles: "jit:avx512_core", "own", "ref".
  virtual std::string_view implementation() const = 0;
  /// Scratch memory of an execution, aligned to 64 bytes; shared by the steps of a request.
  virtual size_t scratch_bytes() const { return 0; }
  /// False when NaN or an infinity among its inputs spoils more of the result than the definition
  /// says, or is lost. Such a kernel runs on finite numbers only (plan/non_finite.h).
  virtual bool keeps_non_finite() const { return true; }
  /// Null when the kernel needs no state.
  virtual Result<std::unique_ptr<KernelState>> create_state() const {
    return std::unique_ptr<KernelState>();
  }
  virtual Status execute(const KernelArgs& args, KernelState* state) const = 0;
};

}  // namespace het::cpu
