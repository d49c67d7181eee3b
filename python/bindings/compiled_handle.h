#pragma once

#include <memory>
#include <utility>

#include "inference/core.h"
#include "inference/devices/device.h"
#include "python/bindings/process_bound.h"

namespace het::python {

/// A compiled model with the core that it needs, for all who use it. A child after fork() only
/// forgets them.
class CompiledHandle {
 public:
  CompiledHandle(std::shared_ptr<Core> core, std::shared_ptr<CompiledModel> model)
      : core_(std::move(core)), model_(std::move(model)) {}

  CompiledModel& get() const { return *model_; }
  Status check_process() const { return model_.check(); }
  bool is_here() const { return model_.is_here(); }

 private:
  ProcessBound<std::shared_ptr<Core>> core_;  // goes last
  ProcessBound<std::shared_ptr<CompiledModel>> model_;
};

}  // namespace het::python
