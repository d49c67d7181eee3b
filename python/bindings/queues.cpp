/// The class AsyncInferQueue.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/classes.h"
#include "python/bindings/compiled_models.h"
#include "python/bindings/constructed.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/requests.h"

namespace het::python {
namespace {

/// What devices' threads tell of a queue, which may have gone by then.
struct QueueState {
  std::mutex mutex;  ///< protects the members below; taken alone, and never before the GIL
  std::condition_variable changed;
  std::deque<size_t> idle;
  std::vector<Status> failures;
};

/// Requests that are started as they become idle. Used with the GIL, which it lets go of while it
/// waits; idle requests are told by devices' threads, without it.
class Queue {
 public:
  Queue(const PythonCompiledModel& model, size_t jobs);
  ~Queue();

  void start_async(py::object inputs, py::object user_data, bool share_inputs);
  void wait_all();
  bool is_ready();
  size_t idle_request();
  void set_callback(py::object callback);
  const std::vector<std::shared_ptr<PythonRequest>>& requests() const { return requests_; }

  int visit_objects(visitproc visit, void* arg) const {
    for (const py::object& wrapper : wrappers_) Py_VISIT(wrapper.ptr());
    return 0;
  }
  void clear_objects() { const std::vector<py::object> gone = std::exchange(wrappers_, {}); }

 private:
  /// Raises what an execution or callback has failed with, the first of them.
  void raise_failures();
  void wait_for_idle(size_t count);

  std::vector<std::shared_ptr<PythonRequest>> requests_;
  std::vector<py::object> wrappers_;  ///< of the requests: through them callbacks are collected
  std::shared_ptr<CompiledHandle> model_;
  const std::shared_ptr<QueueState> state_ = std::make_shared<QueueState>();
};

Queue::Queue(const PythonCompiledModel& model, size_t jobs) : model_(model.handle()) {
  if (jobs == 0) {
    CompiledModel& compiled = model.model();
    const Result<std::string> wanted = compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS");
    jobs = wanted ? static_cast<size_t>(std::max(1, std::atoi(wanted->c_str()))) : 1;
  }
  for (size_t i = 0; i < jobs; ++i) {
    requests_.push_back(PythonRequest::create(model_));
    wrappers_.push_back(py::cast(requests_.back()));
    state_->idle.push_back(i);
    requests_.back()->set_idle_hook([state = state_, i](const Status& status) {
      const std::lock_guard lock(state->mutex);
      state->idle.push_back(i);
      if (!status.ok()) state->failures.push_back(status);
      state->changed.notify_all();
    });
  }
}

Queue::~Queue() {
  // In a callback it cannot wait; executions then end with their requests.
  if (!model_->is_here() || PythonRequest::is_calling_back(*model_)) return;
  without_gil([this] {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->idle.size() == requests_.size(); });
  });
}

void Queue::wait_for_idle(size_t count) {
  wait_interruptibly([&] {
    std::unique_lock lock(state_->mutex);
    return !state_->changed.wait_for(lock, kSignalSlice,
                                     [&] { return state_->idle.size() >= count; });
  });
}

void Queue::raise_failures() {
  for (const auto& request : requests_) request->raise_callback_failure();
  std::vector<Status> failures;
  {
    const std::lock_guard lock(state_->mutex);
    failures.swap(state_->failures);
  }
  if (failures.empty()) return;
  std::string more;
  if (failures.size() > 1)
    more = fmt::format(" (and {} more executions failed)", failures.size() - 1);
  raise(Status(failures.front().code(), failures.front().message() + more));
}

size_t Queue::idle_request() {
  check(model_->check_process());
  if (PythonRequest::is_calling_back(*model_)) {
    if (!is_ready()) {
      raise(Status(StatusCode::Busy,
                   "every request of the queue is running, and a callback that waits for one keeps "
                   "its own from becoming idle; give the queue more jobs"));
    }
  } else {
    wait_for_idle(1);
    raise_failures();
  }
  const std::lock_guard lock(state_->mutex);
  return state_->idle.empty() ? 0 : state_->idle.front();
}

void Queue::start_async(py::object inputs, py::object user_data, bool share_inputs) {
  size_t index = 0;
  for (;;) {
    idle_request();
    // Another thread of Python may have taken it meanwhile.
    const std::lock_guard lock(state_->mutex);
    if (state_->idle.empty()) continue;
    index = state_->idle.front();
    state_->idle.pop_front();
    break;
  }
  PythonRequest& request = *requests_[index];
  try {
    request.set_inputs(inputs, share_inputs);
    request.user_data = std::move(user_data);
    request.start();
  } catch (...) {
    const std::lock_guard lock(state_->mutex);
    state_->idle.push_front(index);
    state_->changed.notify_all();
    throw;
  }
}

void Queue::wait_all() {
  check(model_->check_process());
  if (PythonRequest::is_calling_back(*model_)) {
    raise(Status(StatusCode::Busy, "a callback cannot wait for the execution that it belongs to"));
  }
  wait_for_idle(requests_.size());
  raise_failures();
}

bool Queue::is_ready() {
  const std::lock_guard lock(state_->mutex);
  return !state_->idle.empty();
}

void Queue::set_callback(py::object callback) {
  for (const auto& request : requests_) request->set_queue_callback(callback);
}

py::list as_list(const Queue& self) {
  py::list list;
  for (const auto& request : self.requests()) list.append(request);
  return list;
}

}  // namespace

void define_queues(py::module_& module) {
  py::class_<Queue> queue(
      module, "AsyncInferQueue", py::custom_type_setup(take_part_in_collection<Queue>),
      "Requests of a compiled model that are started as they become idle, so that as many as the "
      "device wants are in flight.");
  queue.def(py::init<const PythonCompiledModel&, size_t>(), kInPython, py::arg("model"),
            py::arg("jobs") = 0,
            "jobs: number of requests; 0: OPTIMAL_NUMBER_OF_INFER_REQUESTS of the model.");
  queue.def("start_async", &Queue::start_async, kInPython, py::arg("inputs") = py::none(),
            py::arg("userdata") = py::none(), py::arg("share_inputs") = false,
            "Waits for an idle request and starts it; see InferRequest.infer() for the inputs. "
            "Raises what an earlier execution or callback has failed with.");
  queue.def("set_callback", &Queue::set_callback, kInPython, py::arg("callback"),
            "callback(request, userdata) is called at the end of every execution, on a thread of "
            "the device; not for one that has failed, which start_async() or wait_all() raises. "
            "None takes it back. Raises Busy while a request is running.");
  queue.def("wait_all", &Queue::wait_all, kInPython,
            "Waits until every request is idle; Ctrl-C ends the wait. Raises what an execution or "
            "callback has failed with.");
  queue.def("is_ready", &Queue::is_ready, "Whether a request is idle.");
  queue.def("get_idle_request_id", &Queue::idle_request, kInPython,
            "Waits for an idle request and returns its number; the next start_async() uses it.");
  queue.def_property_readonly(
      "userdata",
      [](const Queue& self) {
        py::list list;
        for (const auto& request : self.requests()) list.append(request->user_data);
        return list;
      },
      "What was given to start_async(), by number of the request.");
  queue.def("__len__", [](const Queue& self) { return self.requests().size(); });
  queue.def("__iter__", [](const Queue& self) { return py::iter(as_list(self)); });
  queue.def(
      "__getitem__",
      [](const Queue& self, size_t index) {
        if (index >= self.requests().size()) throw py::index_error("no such request");
        return self.requests()[index];
      },
      py::arg("i"));
  queue.def("__repr__", [](const Queue& self) {
    return fmt::format("<AsyncInferQueue: {} requests>", self.requests().size());
  });
}

}  // namespace het::python
