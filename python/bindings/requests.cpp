#include "python/bindings/requests.h"

#include <pybind11/stl.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "python/bindings/arrays.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/interpreter_end.h"
#include "python/bindings/ports.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// An execution of at most this time is not worth another thread, where Ctrl-C could end it early.
constexpr milliseconds kShort{200};
/// From this many bytes on a copy lets other threads go on.
constexpr size_t kLargeInput = size_t{1} << 18;

/// The request whose callback this thread is in.
thread_local const PythonRequest* calling_back = nullptr;

/// A daemon thread is not told that its execution ended with the interpreter.
void check_execution(const Status& status) {
  if (!status.ok() && python_is_ending() && calling_back == nullptr) stay_out_of_the_end();
  check(status);
}

bool is_main_thread() {
  return ::getpid() == ::gettid();
}

}  // namespace

std::shared_ptr<PythonRequest> PythonRequest::create(std::shared_ptr<CompiledHandle> model) {
  static std::atomic<uint64_t> count{0};
  check(model->check_process());
  std::unique_ptr<InferRequest> request =
      take(without_gil([&] { return model->get().create_infer_request(); }));
  std::shared_ptr<PythonRequest> made(new PythonRequest(std::move(model), std::move(request)),
                                      destroy);
  // State belongs to a request, as in OpenVINO, and goes with it.
  made->own_stream_ = fmt::format("python-{}", ++count);
  made->set_stream(made->own_stream_);
  const std::weak_ptr<PythonRequest> weak = made;
  made->end_number_ = at_interpreter_end([weak] {
    const std::shared_ptr<PythonRequest> self = weak.lock();
    if (!self || !self->model_->is_here()) return;
    without_gil([&] {
      self->request_->cancel();
      (void)self->request_->wait();
    });
  });
  return made;
}

PythonRequest::PythonRequest(std::shared_ptr<CompiledHandle> model,
                             std::unique_ptr<InferRequest> request)
    : model_(std::move(model)), request_(std::move(request)) {
  for (size_t i = 0; i < model_->get().inputs().size(); ++i)
    own_inputs_.push_back(request_->input(i));
  request_->set_callback([this](const Status& status) { on_end(status); });
}

PythonRequest::~PythonRequest() {
  if (!model_->is_here()) {
    request_.release();  // its threads are those of another process
    return;
  }
  forget_at_interpreter_end(end_number_);
  without_gil([this] {
    request_.reset();
    (void)model_->get().reset_state(own_stream_);
  });
}

void PythonRequest::destroy(PythonRequest* request) {
  if (calling_back == nullptr) {
    delete request;
  } else {
    // Its execution may need this very thread to end.
    run_aside([request] { delete request; });
  }
}

bool PythonRequest::is_inside_callback() const {
  return calling_back == this;
}

bool PythonRequest::is_calling_back(const CompiledHandle& model) {
  return calling_back != nullptr && calling_back->model_.get() == &model;
}

void PythonRequest::check_may_wait() const {
  if (is_inside_callback() || (is_calling_back(*model_) && is_running())) raise_waiting();
}

void PythonRequest::raise_waiting() {
  raise(Status(StatusCode::Busy,
               "a callback cannot wait for an execution of its own model: it may keep the thread "
               "that the execution needs; start_async() can be called there"));
}

void PythonRequest::check_usable(const char* action) const {
  check(model_->check_process());
  if (is_running() && !is_inside_callback()) {
    raise(Status(StatusCode::Busy, fmt::format("cannot {} while the request of model '{}' is "
                                               "running; wait() for it first",
                                               action, model_->get().name())));
  }
}

InferRequest& PythonRequest::idle_request(const char* action) {
  check_usable(action);
  return *request_;
}

void PythonRequest::begin(const char* action) {
  check_usable(action);
  if (python_is_ending()) {
    // A daemon thread; an exception would reach it in the middle of the interpreter's end.
    if (calling_back == nullptr) stay_out_of_the_end();
    raise(Status(StatusCode::Cancelled, "the interpreter is ending; nothing is started any more"));
  }
  callback_failure_ = py::none();
  started_ = steady_clock::now();
  in_use_.fetch_add(1, std::memory_order_acq_rel);
}

void PythonRequest::set_inputs(py::handle inputs, bool share) {
  if (inputs.is_none()) return;
  if (const std::optional<py::dict> by_key = as_dict(inputs)) {
    for (const auto& [key, array] : *by_key) {
      set_input(port_index(model_, true, key), array, share);
    }
  } else if (py::isinstance<py::list>(inputs) || py::isinstance<py::tuple>(inputs)) {
    size_t index = 0;
    for (const py::handle array : inputs) {
      set_input(port_index(model_, true, py::int_(index)), array, share);
      ++index;
    }
  } else {
    set_input(port_index(model_, true, py::none()), inputs, share);
  }
}

void PythonRequest::set_input(size_t index, py::handle array, bool share) {
  check_usable("set an input");
  const Port& port = model_->get().inputs()[index];
  const ArrayView view = view_array_as(array, port.desc.type, "input", port.name);
  if (share) {
    check(request_->set_input(index, view.tensor));
    return;
  }
  Tensor& own = own_inputs_[index];
  const bool fits = !own.empty() && own.bytes() != nullptr && own.shape() == view.tensor.shape() &&
                    own.type() == view.tensor.type();
  if (!fits) {
    // Refused, if it has to be, before the memory is made.
    check(request_->set_input(index, view.tensor));
    own = take(Tensor::allocate({view.tensor.type(), view.tensor.shape()}));
  }
  if (view.tensor.size_bytes() < kLargeInput) {
    check(copy_tensor(view.tensor, own));
  } else {
    in_use_.fetch_add(1, std::memory_order_acq_rel);  // nobody else touches it meanwhile
    const Status copied = without_gil([&] { return copy_tensor(view.tensor, own); });
    in_use_.fetch_sub(1, std::memory_order_acq_rel);
    check(copied);
  }
  check(request_->set_input(index, own));
}

void PythonRequest::set_output(size_t index, py::handle array) {
  check_usable("set an output");
  const ArrayView view = view_array(array);
  const ArrayView again = view_array(array);
  if (view.is_read_only || view.tensor.bytes() != again.tensor.bytes()) {
    raise(Status(StatusCode::InvalidArgument,
                 fmt::format("output '{}' is written into memory that can be written and whose "
                             "elements lie row by row without gaps",
                             model_->get().outputs()[index].name)));
  }
  check(request_->set_output(index, view.tensor));
}

void PythonRequest::infer() {
  if (is_calling_back(*model_)) raise_waiting();
  const int64_t last = latency_ns_.load(std::memory_order_relaxed);
  const bool is_short = last >= 0 && last <= std::chrono::nanoseconds(kShort).count();
  if (!is_short && is_main_thread()) {
    start();
    try {
      wait_for_end();
    } catch (...) {
      without_gil([this] {
        request_->cancel();
        (void)request_->wait();
      });
      throw;
    }
    check_execution(without_gil([this] { return request_->wait(); }));
  } else {
    begin("run");
    check_execution(without_gil([this] { return request_->infer(); }));
  }
  raise_callback_failure();
}

void PythonRequest::start() {
  begin("start");
  const Status status = without_gil([this] { return request_->start_async(); });
  if (status.ok()) return;
  in_use_.fetch_sub(1, std::memory_order_acq_rel);
  raise(status);
}

void PythonRequest::wait_for_end() {
  wait_interruptibly([this] {
    (void)request_->wait_for(kSignalSlice);
    return is_running();
  });
}

void PythonRequest::wait() {
  check(model_->check_process());
  check_may_wait();
  wait_for_end();
  check_execution(without_gil([this] { return request_->wait(); }));
  raise_callback_failure();
}

bool PythonRequest::wait_for(int64_t timeout) {
  check(model_->check_process());
  check_may_wait();
  const steady_clock::time_point end =
      steady_clock::now() + milliseconds(std::clamp<int64_t>(timeout, 0, int64_t{1} << 40));
  wait_interruptibly([&] {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    (void)request_->wait_for(std::clamp(left, milliseconds(0), kSignalSlice));
    return is_running() && left > milliseconds(0);
  });
  if (is_running()) return false;
  check_execution(without_gil([this] { return request_->wait(); }));
  raise_callback_failure();
  return true;
}

void PythonRequest::cancel() {
  check(model_->check_process());
  without_gil([this] { request_->cancel(); });
}

double PythonRequest::latency_ms() const {
  return static_cast<double>(std::max<int64_t>(latency_ns_.load(std::memory_order_relaxed), 0)) /
         1e6;
}

void PythonRequest::on_end(const Status& status) {
  latency_ns_.store(std::chrono::nanoseconds(steady_clock::now() - started_).count(),
                    std::memory_order_relaxed);
  const PythonRequest* const outer = std::exchange(calling_back, this);
  std::optional<GilHeld> held;
  if (has_callback_.load(std::memory_order_acquire)) held.emplace();
  if (held && *held) {
    // None while the last user lets go: then nobody wants to be called.
    std::shared_ptr<PythonRequest> self = weak_from_this().lock();
    if (self) call_back(self, status);
    become_idle(status);
    self.reset();  // perhaps the last one
  } else {
    become_idle(status);
  }
  held.reset();
  calling_back = outer;
}

void PythonRequest::call_back(const std::shared_ptr<PythonRequest>& self, const Status& status) {
  const py::object callback = callback_;
  if (callback.is_none() || (is_queue_job_ && !status.ok())) return;
  try {
    if (is_queue_job_) {
      callback(self, py::object(user_data));
    } else {
      callback(py::object(callback_data_));
    }
  } catch (py::error_already_set& failure) {
    callback_failure_ = failure.value();
  }
}

void PythonRequest::become_idle(const Status& status) {
  in_use_.fetch_sub(1, std::memory_order_acq_rel);
  if (idle_hook_) idle_hook_(status);
}

void PythonRequest::raise_callback_failure() {
  if (callback_failure_.is_none()) return;
  const py::object failure = std::exchange(callback_failure_, py::none());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(failure.ptr())), failure.ptr());
  throw py::error_already_set();
}

void PythonRequest::set_callback(py::object callback, py::object data) {
  check_usable("set a callback");
  if (!callback.is_none() && PyCallable_Check(callback.ptr()) == 0) {
    throw py::type_error("a callback has to be callable");
  }
  is_queue_job_ = false;
  callback_ = std::move(callback);
  callback_data_ = std::move(data);
  has_callback_.store(!callback_.is_none(), std::memory_order_release);
}

void PythonRequest::set_queue_callback(py::object callback) {
  set_callback(std::move(callback), py::none());
  is_queue_job_ = true;
}

void PythonRequest::set_stream(std::string stream) {
  check_usable("change the stream");
  request_->set_stream(stream);
  stream_ = std::move(stream);
}

const Tensor& PythonRequest::input(size_t index) {
  check_usable("read an input");
  return request_->input(index);
}

const Tensor& PythonRequest::output(size_t index) {
  check_usable("read an output");
  return request_->output(index);
}

py::object PythonRequest::results(bool share) {
  const InPython inside;
  check_usable("read results");
  static const py::handle type = imported("hetero.results", "InferResult");
  if (output_ports_.is_none()) output_ports_ = py::tuple(compiled_ports(model_, false));
  const size_t count = model_->get().outputs().size();
  py::list arrays(count);
  for (size_t i = 0; i < count; ++i) {
    const Tensor& tensor = request_->output(i);
    if (tensor.empty()) {
      raise(Status(StatusCode::InvalidArgument,
                   fmt::format("output '{}' has no content yet: the request has not run",
                               model_->get().outputs()[i].name)));
    }
    arrays[i] = share ? array_of(tensor) : array_copy_of(tensor);
  }
  return type(output_ports_, arrays);
}

int PythonRequest::visit_objects(visitproc visit, void* arg) const {
  Py_VISIT(callback_.ptr());
  Py_VISIT(callback_data_.ptr());
  Py_VISIT(callback_failure_.ptr());
  Py_VISIT(user_data.ptr());
  return 0;
}

void PythonRequest::clear_objects() {
  has_callback_.store(false, std::memory_order_release);
  // What goes may run Python's code, which must find the members in order.
  const py::object gone[] = {
      std::exchange(callback_, py::none()), std::exchange(callback_data_, py::none()),
      std::exchange(callback_failure_, py::none()), std::exchange(user_data, py::none())};
}

}  // namespace het::python
