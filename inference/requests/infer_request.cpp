#include "inference/requests/infer_request.h"

#include <utility>

namespace het {
namespace {

/// Pictures in one input whose batch size is not bound.
constexpr size_t kMaxUnboundBatch = 1024;

Status check_tensor(const Tensor& tensor, const Port& port) {
  const TensorDesc& wanted = port.desc;
  // An output of a model with unbound dimensions may be known at run time only.
  if (!tensor.empty() && wanted.type == ElementType::Undefined) return {};
  bool fits = !tensor.empty() && tensor.type() == wanted.type &&
              tensor.shape().size() == wanted.shape.size();
  for (size_t i = 0; fits && i < wanted.shape.size(); ++i) {
    fits = wanted.shape[i] == kUnknownDim || wanted.shape[i] == tensor.shape()[i];
  }
  if (!fits) {
    return error(StatusCode::ShapeMismatch, "'{}' takes {}, not {}", port.name, to_string(wanted),
                 tensor.empty() ? "an empty tensor" : to_string(tensor.desc()));
  }
  return {};
}

}  // namespace

// Here, so that a device's interface does not include the requests.
Result<std::unique_ptr<InferRequest>> CompiledModel::create_infer_request() {
  return InferRequest::create(shared_from_this());
}

Result<std::unique_ptr<InferRequest>> InferRequest::create(std::shared_ptr<CompiledModel> model) {
  HET_ASSIGN(std::unique_ptr<DeviceRequest> request, model->create_device_request());
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < model->inputs().size(); ++i) {
    inputs.push_back(request->own_input(i));
    const TensorDesc& desc = model->inputs()[i].desc;
    // Inputs with unbound dimensions are empty until somebody sets them.
    if (inputs.back().empty() && desc.is_static()) {
      HET_ASSIGN(inputs.back(), model->allocate_tensor(desc));
    }
  }
  for (size_t i = 0; i < model->outputs().size(); ++i) {
    outputs.push_back(request->own_output(i));
    const TensorDesc& desc = model->outputs()[i].desc;
    // Outputs that are sized at run time get their tensor from the device.
    if (outputs.back().empty() && desc.is_static()) {
      HET_ASSIGN(outputs.back(), model->allocate_tensor(desc));
    }
  }
  return std::unique_ptr<InferRequest>(new InferRequest(
      std::move(model), std::move(request), RequestIo(std::move(inputs), std::move(outputs))));
}

InferRequest::InferRequest(std::shared_ptr<CompiledModel> model,
                           std::unique_ptr<DeviceRequest> request, RequestIo io)
    : model_(std::move(model)),
      io_(std::move(io)),
      request_(std::move(request)),
      task_(TaskDomain::Request, model_->name()) {}

InferRequest::~InferRequest() {
  cancel();
  (void)wait();
}

Status InferRequest::check_idle(std::string_view action) const {
  std::lock_guard lock(mutex_);
  if (running_) {
    return error(StatusCode::Busy,
                 "cannot {} while the request of model '{}' is running; wait() for it first",
                 action, model_->name());
  }
  return {};
}

Status InferRequest::set_input(size_t index, Tensor tensor) {
  HET_TRY(check_idle("set an input"));
  if (index >= io_.input_count()) {
    return error(StatusCode::NotFound, "model '{}' has {} inputs; there is no input {}",
                 model_->name(), io_.input_count(), index);
  }
  HET_TRY(check_tensor(tensor, model_->inputs()[index]));
  io_.set_input(index, std::move(tensor));
  return {};
}

Status InferRequest::set_output(size_t index, Tensor tensor) {
  HET_TRY(check_idle("set an output"));
  if (index >= io_.output_count()) {
    return error(StatusCode::NotFound, "model '{}' has {} outputs; there is no output {}",
                 model_->name(), io_.output_count(), index);
  }
  HET_TRY(check_tensor(tensor, model_->outputs()[index]));
  io_.set_output(index, std::move(tensor));
  return {};
}

Status InferRequest::set_tensor(std::string_view port, Tensor tensor) {
  if (const auto index = model_->input_index(port)) return set_input(*index, std::move(tensor));
  if (const auto index = model_->output_index(port)) return set_output(*index, std::move(tensor));
  return error(StatusCode::NotFound, "model '{}' has neither an input nor an output '{}'",
               model_->name(), port);
}

Status InferRequest::set_image(size_t index, Image image, const Rect& roi, size_t batch_index) {
  HET_TRY(check_idle("set a picture"));
  if (index >= io_.input_count()) {
    return error(StatusCode::NotFound, "model '{}' has {} inputs; there is no input {}",
                 model_->name(), io_.input_count(), index);
  }
  const Port& port = model_->inputs()[index];
  if (!port.preprocess) {
    return error(StatusCode::InvalidArgument,
                 "input '{}' of model '{}' was compiled without a description of its "
                 "preprocessing; call Model::set_preprocess before compile_model",
                 port.name, model_->name());
  }
  const int64_t batch = port.desc.shape.size() == 4 ? port.desc.shape[0] : 1;
  const auto limit = batch == kUnknownDim ? kMaxUnboundBatch : static_cast<size_t>(batch);
  if (batch_index >= limit) {
    return error(StatusCode::InvalidArgument, "batch item {} of input '{}' does not exist in {}",
                 batch_index, port.name, to_string(port.desc));
  }
  HET_TRY(validate(image));
  const Rect part = clip(roi, image.width, image.height);
  if (part.width == 0 || part.height == 0) {
    return error(StatusCode::InvalidArgument,
                 "the region {}x{} at ({},{}) has no pixel in a picture of {}x{}", roi.width,
                 roi.height, roi.x, roi.y, image.width, image.height);
  }
  io_.set_image(index, batch_index, {std::move(image), part});
  return {};
}

Result<Tensor> InferRequest::tensor(std::string_view port) const {
  if (const auto index = model_->input_index(port)) return io_.input(*index);
  if (const auto index = model_->output_index(port)) return io_.output(*index);
  return error(StatusCode::NotFound, "model '{}' has neither an input nor an output '{}'",
               model_->name(), port);
}

Status InferRequest::infer() {
  HET_TRY(begin_execution());
  request_->start_here(io_, *this);
  return wait();
}

Status InferRequest::start_async() {
  HET_TRY(begin_execution());
  request_->start(io_, *this);
  return {};
}

Status InferRequest::begin_execution() {
  {
    std::lock_guard lock(mutex_);
    if (running_) {
      return error(StatusCode::Busy,
                   "the request of model '{}' is running already; wait() for it first",
                   model_->name());
    }
    running_ = true;
    ++executions_;
    task_.begin(this, ++starts_);
  }
  io_.note_start();
  return {};
}

/// Of an execution on one device. Models that give their work to others have not begun anything
/// themselves; their parts report.
void InferRequest::report_spans() {
  const ExecutionTimes& times = io_.times();
  if (times.begun == SpanTime()) return;
  const SpanTime end = std::chrono::steady_clock::now();
  if (device_.empty()) {
    const auto device = model_->get_property("EXECUTION_DEVICES");
    device_ = device ? *device : "?";
  }
  const uint64_t frame = io_.frame();
  const std::string_view model = model_->name();
  report_frame_span({FramePart::Queue, device_, frame, times.started, times.begun, model});
  if (times.had_pictures) {
    report_frame_span({FramePart::Preprocess, device_, frame, times.begun, times.converted, model});
  }
  report_frame_span({FramePart::Infer, device_, frame, times.converted, end, model});
}

void InferRequest::complete(Status status) {
  report_spans();
  {
    std::lock_guard lock(mutex_);
    task_.end(this, starts_);
    running_ = false;
    last_status_ = status;
  }
  if (callback_) callback_(status);
  std::lock_guard lock(mutex_);
  --executions_;
  // Under the lock: the waiter may destroy the request as soon as it sees no execution left.
  ended_.notify_all();
}

Status InferRequest::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return executions_ == 0; });
  return last_status_;
}

Status InferRequest::wait_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, timeout, [this] { return executions_ == 0; })) {
    return error(StatusCode::TimedOut, "the request of model '{}' did not end within {} ms",
                 model_->name(), timeout.count());
  }
  return last_status_;
}

void InferRequest::cancel() {
  {
    std::lock_guard lock(mutex_);
    if (!running_) return;
  }
  request_->cancel();
}

void InferRequest::set_callback(Callback callback) {
  callback_ = std::move(callback);
}

std::vector<ProfileRow> InferRequest::profiling() const {
  return request_->profiling();
}

}  // namespace het
