#pragma once

#include <cstdint>
#include <string>

#include "inference/base/visibility.h"

namespace het {

/// Whose tasks they are: a domain of the ITT interface each, so that a profiler can show one alone.
enum class TaskDomain : uint8_t {
  Element,  ///< "hetero.element": what an element does to a frame, named ELEMENT PART
  Request,  ///< "hetero.request": an execution, from its start to its end, named after the model
  Node,     ///< "hetero.node": a node on the CPU, named after it
};

/// A kind of work as profilers of the ITT interface (VTune) list it, made once since they look
/// names up. Does nothing in builds without libittnotify, and next to nothing while no profiler is
/// there. Immutable; cheap to copy.
class HET_API ProfilerTask {
 public:
  ProfilerTask(TaskDomain domain, const std::string& name);

  /// On the calling thread; such tasks are nested.
  void begin() const;
  void end() const;

  /// Beside others, perhaps ended by another thread. `owner` and `count` tell it from others of its
  /// domain.
  void begin(const void* owner, uint64_t count) const;
  void end(const void* owner, uint64_t count) const;

 private:
  [[maybe_unused]] TaskDomain domain_;
  [[maybe_unused]] void* name_ = nullptr;  ///< ITT's
};

}  // namespace het
