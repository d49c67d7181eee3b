#pragma once

#include <vector>

#include "devices/gpu/opencl/opencl.h"
#include "inference/base/status.h"
#include "inference/requests/request_io.h"

namespace het::gpu {

/// Orders an execution with the application's queues that its tensors name (OpenClHandle::queue):
/// behind all that such a queue has at start, and before what it gets afterwards when it orders an
/// output. One execution after the other; begin() on the application's thread, the rest on the
/// device's.
class ApplicationQueues {
 public:
  ApplicationQueues() = default;
  ~ApplicationQueues() { end(); }

  Status begin(cl_context context, const RequestIo& io);
  /// Makes a queue of ours wait for what the application had enqueued.
  Status order(cl_command_queue queue);
  /// The outputs are there, or will not be: the application's commands go on.
  void end();

 private:
  Status add(cl_context context, const Tensor& tensor, bool written);

  struct Entry {
    cl_command_queue queue = nullptr;
    EventHandle before;
    EventHandle after;  ///< of our making; null for inputs
  };
  std::vector<Entry> entries_;
};

}  // namespace het::gpu
