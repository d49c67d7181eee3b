#include "devices/gpu/gpu_request.h"

#include <algorithm>

#include "inference/devices/stopwatch.h"

namespace het::gpu {
namespace {

/// Adds the time of a command that ended.
void add_time(cl_event event, ProfileRow& row) {
  cl_ulong begin = 0;
  cl_ulong end = 0;
  const auto time = [event](cl_profiling_info what, cl_ulong& value) {
    return clGetEventProfilingInfo(event, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  if (!time(CL_PROFILING_COMMAND_START, begin) || !time(CL_PROFILING_COMMAND_END, end)) return;
  if (row.status != ProfileStatus::Executed) row.start_us = static_cast<int64_t>(begin / 1000);
  row.status = ProfileStatus::Executed;
  row.real_us += static_cast<int64_t>((end - begin) / 1000);
}

/// Whether no element of the tensor stays as it is.
bool fills_all_items(const std::vector<ImageRegion>& pictures, const Tensor& given) {
  const auto has_picture = [](const ImageRegion& region) { return region.image.plane_count > 0; };
  const int64_t items = given.rank() == 4 ? given.shape()[0] : 1;
  return static_cast<int64_t>(pictures.size()) >= items &&
         std::ranges::all_of(pictures, has_picture);
}

}  // namespace

Result<std::unique_ptr<DeviceRequest>> GpuRequest::create(GpuCompiledModel& model) {
  std::unique_ptr<GpuRequest> request(new GpuRequest(model));
  HET_TRY(request->prepare());
  return std::unique_ptr<DeviceRequest>(std::move(request));
}

Status GpuRequest::prepare() {
  HET_ASSIGN(execution_, PlanExecution::create(model_.plan(), *model_.context()));
  inputs_.resize(model_.inputs().size());
  outputs_.resize(model_.outputs().size());
  if (model_.profiled()) events_.resize(model_.plan().steps.size());
  for (const Port& port : model_.inputs()) {
    picture_kernels_.emplace_back();
    if (!model_.converts_pictures_of(port)) continue;
    HET_ASSIGN(picture_kernels_.back(),
               PictureKernel::create(model_.context(), port, model_.cache_folder()));
  }
  return {};
}

void GpuRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  // Here, since commands that the application enqueues from now on come later.
  begun_ = application_queues_.begin(model_.context()->get(), io);
  model_.streams().submit(*this);
}

void GpuRequest::run(size_t stream) {
  const cl_command_queue queue = model_.queue(stream);
  Status status = begun_;
  if (status.ok()) status = enqueue(queue);
  if (status.ok()) {
    // The request may start again, or end its life, before the calls below return.
    StreamExecutor* const waiting_thread = model_.waiting_thread(stream);
    if (waiting_thread != nullptr) {
      clFlush(queue);
      waiting_thread->submit(waiter_);
      return;
    }
    const EventHandle last = std::move(last_);
    const cl_int code = clSetEventCallback(last.get(), CL_COMPLETE, &GpuRequest::on_complete, this);
    // Behind it: Oclgrind runs all commands in here, and calls nobody who comes later.
    clFlush(queue);
    if (code == CL_SUCCESS) return;
    status = cl_status(code, "ask for the end of a request");
  }
  // Nothing may use the request's memory once it is complete.
  clFinish(queue);
  finish(std::move(status));
}

void GpuRequest::Waiter::run(size_t) {
  const EventHandle last = std::move(request_.last_);
  const cl_event event = last.get();
  cl_int status = clWaitForEvents(1, &event);
  if (status != CL_SUCCESS) {
    cl_int of_command = CL_SUCCESS;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof of_command, &of_command,
                   nullptr);
    if (of_command < 0) status = of_command;
  }
  request_.complete(status);
}

Status GpuRequest::check_cancelled() const {
  if (!cancelled_) return {};
  return error(StatusCode::Cancelled, "the request of model '{}' was cancelled", model_.name());
}

Status GpuRequest::enqueue(cl_command_queue queue) {
  const Plan& plan = model_.plan();
  if (model_.profiled()) rows_ = model_.profile_rows();
  const Stopwatch watch;
  std::vector<std::vector<ImageRegion>> pictures(inputs_.size());
  for (size_t port = 0; port < inputs_.size(); ++port) {
    if (picture_kernels_[port] != nullptr) pictures[port] = io_->take_images(port);
  }
  HET_TRY(io_->preprocess_pending(model_.inputs()));
  HET_TRY(check_cancelled());
  HET_TRY(application_queues_.order(queue));
  for (size_t port = 0; port < inputs_.size(); ++port) {
    const std::string context = fmt::format("input '{}'", model_.inputs()[port].name);
    if (pictures[port].empty()) {
      HET_TRY(bind_input(queue, port).with_context(context));
    } else {
      HET_TRY(convert_pictures(queue, port, std::move(pictures[port])).with_context(context));
    }
  }
  if (model_.profiled() && picture_events_.empty()) watch.stop(rows_[0]);
  for (size_t port = 0; port < outputs_.size(); ++port) {
    HET_TRY(
        bind_output(port).with_context(fmt::format("output '{}'", model_.outputs()[port].name)));
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    HET_TRY(check_cancelled());
    cl_event* const event = model_.profiled() ? events_[i].out() : nullptr;
    HET_TRY(execution_->enqueue(queue, i, event)
                .with_context(fmt::format("model '{}', node '{}' ({})", model_.name(),
                                          plan.steps[i].node_name, plan.steps[i].layer_type)));
  }
  for (size_t port = 0; port < outputs_.size(); ++port) {
    HET_TRY(read_output(queue, port)
                .with_context(fmt::format("output '{}'", model_.outputs()[port].name)));
  }
  return cl_status(clEnqueueMarkerWithWaitList(queue, 0, nullptr, last_.out()), "mark the end");
}

Status GpuRequest::bind_input(cl_command_queue queue, size_t port) {
  HET_ASSIGN(const cl_mem memory, inputs_[port].send(*model_.context(), queue, io_->input(port)));
  return execution_->bind_input(port, memory);
}

Status GpuRequest::convert_pictures(cl_command_queue queue, size_t port,
                                    std::vector<ImageRegion> pictures) {
  const Tensor& given = io_->input(port);
  // As the device's memory has it, whatever the strides of the tensor.
  HET_ASSIGN(const Tensor dense, Tensor::view(given.desc(), given.buffer(), given.offset()));
  // Batch items without a picture keep what the tensor has.
  const bool fills_all = fills_all_items(pictures, given);
  PortMemory& input = inputs_[port];
  HET_ASSIGN(const cl_mem memory, fills_all
                                      ? input.make_room_for_input(*model_.context(), queue, given)
                                      : input.send(*model_.context(), queue, given));
  for (size_t i = 0; i < pictures.size(); ++i) {
    if (pictures[i].image.plane_count == 0) continue;
    if (model_.profiled()) picture_events_.emplace_back();
    cl_event* const event = model_.profiled() ? picture_events_.back().out() : nullptr;
    HET_TRY(picture_kernels_[port]->enqueue(queue, std::move(pictures[i]), dense,
                                            static_cast<int64_t>(i), memory, event));
  }
  return execution_->bind_input(port, memory);
}

Status GpuRequest::bind_output(size_t port) {
  HET_ASSIGN(const cl_mem memory, outputs_[port].make_room(*model_.context(), io_->output(port),
                                                           model_.outputs()[port].desc));
  return execution_->bind_output(port, memory);
}

Status GpuRequest::read_output(cl_command_queue queue, size_t port) {
  const cl_mem made = execution_->memory(model_.plan().outputs[port]);
  return outputs_[port].fetch(*model_.context(), queue, made, io_->output(port));
}

Status GpuRequest::finish_outputs() {
  for (size_t port = 0; port < outputs_.size(); ++port) {
    HET_TRY(outputs_[port].finish(io_->output(port)));
  }
  return {};
}

/// Lets go of what belongs to the application.
void GpuRequest::release() {
  for (const auto& kernel : picture_kernels_) {
    if (kernel != nullptr) kernel->release();
  }
  for (size_t port = 0; port < inputs_.size(); ++port) {
    if (inputs_[port].release()) execution_->forget_input(port);
  }
  for (size_t port = 0; port < outputs_.size(); ++port) {
    if (outputs_[port].release()) execution_->forget_output(port);
  }
}

void GpuRequest::read_times() {
  for (const EventHandle& event : picture_events_) add_time(event.get(), rows_[0]);
  picture_events_.clear();
  for (size_t i = 0; i < events_.size(); ++i) {
    add_time(events_[i].get(), rows_[model_.step_rows()[i]]);
  }
}

void CL_CALLBACK GpuRequest::on_complete(cl_event, cl_int status, void* request) {
  static_cast<GpuRequest*>(request)->complete(status);
}

void GpuRequest::complete(cl_int execution_status) {
  Status status;
  if (execution_status < 0) {
    // Some drivers allocate when a command runs.
    const bool lacks_memory = execution_status == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                              execution_status == CL_OUT_OF_HOST_MEMORY;
    status = error(lacks_memory ? StatusCode::OutOfMemory : StatusCode::DeviceLost,
                   "device '{}' failed while it ran model '{}': {}",
                   model_.context()->hardware().name, model_.name(), error_name(execution_status));
  } else {
    if (model_.profiled()) read_times();
    status = finish_outputs();
  }
  finish(std::move(status));
}

void GpuRequest::finish(Status status) {
  release();
  application_queues_.end();
  // The request may be started again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

}  // namespace het::gpu
