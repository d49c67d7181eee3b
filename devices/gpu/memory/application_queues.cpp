#include "devices/gpu/memory/application_queues.h"

#include <algorithm>

namespace het::gpu {

Status ApplicationQueues::begin(cl_context context, const RequestIo& io) {
  end();
  for (size_t i = 0; i < io.input_count(); ++i) HET_TRY(add(context, io.input(i), false));
  for (size_t i = 0; i < io.output_count(); ++i) HET_TRY(add(context, io.output(i), true));
  return {};
}

Status ApplicationQueues::add(cl_context context, const Tensor& tensor, bool written) {
  if (tensor.empty() || tensor.memory_kind() != MemoryKind::OpenClBuffer) return {};
  const auto* handle = std::get_if<OpenClHandle>(&tensor.buffer()->handle());
  if (handle == nullptr || handle->queue == nullptr) return {};
  const auto queue = static_cast<cl_command_queue>(handle->queue);
  auto entry = std::ranges::find(entries_, queue, &Entry::queue);
  if (entry == entries_.end()) {
    cl_context owner = nullptr;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof owner, &owner, nullptr) !=
            CL_SUCCESS ||
        owner != context) {
      return error(StatusCode::InvalidArgument,
                   "the tensor's cl_queue belongs to another cl_context than the compiled model: "
                   "compile it with Core::create_context(\"GPU\", {{\"cl_context\", ...}})");
    }
    Entry made;
    made.queue = queue;
    HET_TRY(cl_status(clEnqueueMarkerWithWaitList(queue, 0, nullptr, made.before.out()),
                      "put a marker into the application's cl_queue"));
    // Commands that other queues wait for must be on their way.
    HET_TRY(cl_status(clFlush(queue), "flush the application's cl_queue"));
    entries_.push_back(std::move(made));
    entry = entries_.end() - 1;
  }
  if (!written || entry->after) return {};
  cl_int code = CL_SUCCESS;
  EventHandle after(clCreateUserEvent(context, &code));
  HET_TRY(cl_status(code, "make an event for the application's cl_queue"));
  const cl_event event = after.get();
  code = clEnqueueBarrierWithWaitList(queue, 1, &event, nullptr);
  if (code != CL_SUCCESS) {
    clSetUserEventStatus(event, CL_COMPLETE);
    return cl_status(code, "put a barrier into the application's cl_queue");
  }
  entry->after = std::move(after);
  return {};
}

Status ApplicationQueues::order(cl_command_queue queue) {
  for (const Entry& entry : entries_) {
    const cl_event event = entry.before.get();
    HET_TRY(cl_status(clEnqueueBarrierWithWaitList(queue, 1, &event, nullptr),
                      "wait for the application's cl_queue"));
  }
  return {};
}

void ApplicationQueues::end() {
  for (const Entry& entry : entries_) {
    if (entry.after) clSetUserEventStatus(entry.after.get(), CL_COMPLETE);
  }
  entries_.clear();
}

}  // namespace het::gpu
