#include "devices/custom/custom_request.h"

#include <exception>
#include <utility>

#include "devices/custom/library_call.h"
#include "inference/base/log.h"

namespace het::custom {
namespace {

/// The request whose cancel_request() runs on this thread: whoever cancels may hold locks that
/// completion takes.
thread_local const CustomRequest* cancelling = nullptr;

bool is_direct(const Tensor& tensor) {
  return tensor.bytes() != nullptr && tensor.is_dense() &&
         reinterpret_cast<uintptr_t>(tensor.bytes()) % HET_DEVICE_ALIGNMENT == 0;
}

}  // namespace

Result<std::unique_ptr<CustomRequest>> CustomRequest::create(CustomCompiledModel& model) {
  std::unique_ptr<CustomRequest> request(new CustomRequest(model));
  LibraryCall call(model.device().name(), "create_request()");
  HET_TRY(call.run([&](const HetDeviceSink* sink) {
    return request->table().create_request(model.handle(), sink, &request->handle_);
  }));
  request->has_handle_ = true;
  return request;
}

CustomRequest::CustomRequest(CustomCompiledModel& model) : model_(model) {
  const size_t places = model.inputs().size() + model.outputs().size();
  tensors_.resize(places);
  copies_.resize(places);
  is_copied_.resize(places);
  for (HetDeviceTensor& each : tensors_) {
    each.struct_size = sizeof(HetDeviceTensor);
    tensor_pointers_.push_back(&each);
  }
  execution_.struct_size = sizeof(HetDeviceExecution);
  execution_.input_count = static_cast<uint32_t>(model.inputs().size());
  execution_.inputs = tensor_pointers_.data();
  execution_.output_count = static_cast<uint32_t>(model.outputs().size());
  execution_.outputs = tensor_pointers_.data() + model.inputs().size();
  execution_.context = this;
  execution_.complete = complete;
}

CustomRequest::~CustomRequest() {
  if (has_handle_) table().destroy_request(handle_);
}

const Tensor& CustomRequest::tensor(size_t place) const {
  const size_t inputs = model_.inputs().size();
  return place < inputs ? io_->input(place) : std::as_const(*io_).output(place - inputs);
}

void CustomRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  bool is_ready = true;
  for (size_t i = 0; i < tensors_.size() && is_ready; ++i) {
    is_ready = is_direct(tensor(i)) && (i >= model_.inputs().size() || io.images(i).empty());
    is_copied_[i] = false;
  }
  if (!is_ready) {
    job_ = Job::Prepare;
    return model_.host_stream().submit(*this);
  }
  io.note_begin();
  launch();
}

void CustomRequest::run(size_t) {
  if (job_ == Job::Deliver) return finish(std::move(status_));
  Status status = prepare();
  if (!status.ok()) return finish(std::move(status));
  launch();
}

Status CustomRequest::prepare() {
  HET_TRY(io_->preprocess_pending(model_.inputs()));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    is_copied_[i] = !is_direct(tensor(i));
    if (!is_copied_[i]) continue;
    if (copies_[i].empty()) {
      HET_ASSIGN(copies_[i], model_.allocate_tensor(tensor(i).desc()));
    }
    if (i < model_.inputs().size()) HET_TRY(copy_tensor(tensor(i), copies_[i]));
  }
  if (!cancelled_) return {};
  return error(StatusCode::Cancelled, "the request of model '{}' was cancelled", model_.name());
}

void CustomRequest::launch() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& used = is_copied_[i] ? copies_[i] : tensor(i);
    tensors_[i].data = used.bytes();
    tensors_[i].size_bytes = used.size_bytes();
    tensors_[i].memory = memory_of(used, model_.device());
    tensors_[i].offset_bytes = used.offset();
  }
  uint64_t number = ++execution_.number;
  running_ = number;
  // Who cancelled before this line saw nothing running; who does so from here on asks the library.
  if (cancelled_ && running_.compare_exchange_strong(number, 0))
    return finish(
        error(StatusCode::Cancelled, "the request of model '{}' was cancelled", model_.name()));
  // Once it is complete, the request may be started anew, or gone: nothing of it is used below
  // unless the library threw, which it must do before.
  std::string reason;
  try {
    table().start_request(handle_, &execution_);
    return;
  } catch (const std::exception& failure) {
    reason = failure.what();
  } catch (...) {
    reason = "of a type of its own";
  }
  if (!running_.compare_exchange_strong(number, 0)) return;
  finish(error(StatusCode::Internal, "{}: start_request() threw an exception: {}",
               model_.device().name(), reason));
}

void CustomRequest::cancel() {
  cancelled_ = true;
  if (running_ == 0 || table().cancel_request == nullptr) return;
  cancelling = this;
  try {
    table().cancel_request(handle_);
  } catch (...) {
    log(LogLevel::Warning, "{}: cancel_request() threw an exception", model_.device().name());
  }
  cancelling = nullptr;
}

void CustomRequest::complete(void* context, uint64_t number, int32_t code, const char* message) {
  auto& request = *static_cast<CustomRequest*>(context);
  uint64_t expected = number;
  if (number == 0 || !request.running_.compare_exchange_strong(expected, 0)) {
    log(LogLevel::Warning, "{}: complete() was called for execution {}, which does not run",
        request.model_.device().name(), number);
    return;
  }
  Status status = request.outcome(code, message);
  if (cancelling != &request) return request.finish(std::move(status));
  request.status_ = std::move(status);
  request.job_ = Job::Deliver;
  request.model_.host_stream().submit(request);
}

Status CustomRequest::outcome(int32_t code, const char* message) const {
  if (code == HET_CODE_OK) return {};
  return error(status_code(code), "{}, model '{}': the execution ended with code {}: {}",
               model_.device().name(), model_.name(), code,
               message != nullptr && *message != '\0' ? message : "the library gives no reason");
}

Status CustomRequest::deliver() {
  const size_t inputs = model_.inputs().size();
  for (size_t i = inputs; i < tensors_.size(); ++i) {
    if (is_copied_[i]) HET_TRY(copy_tensor(copies_[i], io_->output(i - inputs)));
  }
  return {};
}

void CustomRequest::finish(Status status) {
  if (status.ok()) status = deliver();
  // The request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

std::vector<ProfileRow> CustomRequest::profiling() const {
  if (!model_.is_profiled() || table().profile_request == nullptr) return {};
  LibraryCall call(model_.device().name(), "profile_request()");
  const Status status =
      call.run([&](const HetDeviceSink* sink) { return table().profile_request(handle_, sink); });
  if (status.ok()) return std::move(call.rows);
  log(LogLevel::Warning, "{}", status.message());
  return {};
}

}  // namespace het::custom
