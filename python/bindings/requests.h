#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inference/requests/infer_request.h"
#include "python/bindings/compiled_handle.h"

namespace het::python {

namespace py = pybind11;

/// The class InferRequest. Used with the GIL, which it lets go of while it waits or computes; what
/// would touch a running execution raises Busy. Let go of while it runs, it ends the execution and
/// does not call back.
class PythonRequest : public std::enable_shared_from_this<PythonRequest> {
 public:
  static std::shared_ptr<PythonRequest> create(std::shared_ptr<CompiledHandle> model);
  ~PythonRequest();
  PythonRequest(const PythonRequest&) = delete;
  PythonRequest& operator=(const PythonRequest&) = delete;

  const std::shared_ptr<CompiledHandle>& model() const { return model_; }
  /// For what goes on beside tensors, such as pictures; the request must be idle.
  InferRequest& idle_request(const char* action);

  /// Inputs by position (a list or tuple), by key (a dict), or the only one; None changes nothing.
  void set_inputs(py::handle inputs, bool share);
  void set_input(size_t index, py::handle array, bool share);
  void set_output(size_t index, py::handle array);

  void infer();
  void start();
  void wait();
  /// False when it still runs after this time.
  bool wait_for(int64_t milliseconds);
  void cancel();
  bool is_running() const { return in_use_.load(std::memory_order_acquire) > 0; }
  /// Of the last execution that ended, in milliseconds.
  double latency_ms() const;

  const Tensor& input(size_t index);
  const Tensor& output(size_t index);
  /// A mapping from outputs to numpy arrays, which show the request's tensors or copies.
  py::object results(bool share);

  /// Called as callback(data) at the end of every execution, on a device's thread.
  void set_callback(py::object callback, py::object data);
  /// For a queue: callback(request, user_data) at the end of every execution without a failure.
  void set_queue_callback(py::object callback);
  /// Called when the request is idle again, on a device's thread, perhaps with the GIL.
  /// For a request that has not been started yet.
  void set_idle_hook(std::function<void(const Status&)> hook) { idle_hook_ = std::move(hook); }
  /// Raises what a callback has raised since it was last asked.
  void raise_callback_failure();
  /// Whether the calling thread is in a callback of this request.
  bool is_inside_callback() const;
  /// Whether it is in one of any request of this model: it must not wait for another one then.
  static bool is_calling_back(const CompiledHandle& model);

  py::object user_data = py::none();
  const std::string& stream() const { return stream_; }
  void set_stream(std::string stream);

  int visit_objects(visitproc visit, void* arg) const;
  void clear_objects();

 private:
  /// Aside where the calling thread must not wait for the execution.
  static void destroy(PythonRequest* request);
  PythonRequest(std::shared_ptr<CompiledHandle> model, std::unique_ptr<InferRequest> request);
  /// Marks the request as running, so that nobody touches it; raises Busy.
  void begin(const char* action);
  void check_usable(const char* action) const;
  void check_may_wait() const;
  [[noreturn]] static void raise_waiting();
  void on_end(const Status& status);
  void call_back(const std::shared_ptr<PythonRequest>& self, const Status& status);
  void become_idle(const Status& status);
  /// Waits for the end, interruptibly.
  void wait_for_end();

  const std::shared_ptr<CompiledHandle> model_;
  std::unique_ptr<InferRequest> request_;
  std::vector<Tensor> own_inputs_;  ///< what arrays are copied into
  std::string stream_;
  std::string own_stream_;  ///< what no other request has
  py::object callback_ = py::none();
  py::object callback_data_ = py::none();
  py::object callback_failure_ = py::none();
  py::object output_ports_ = py::none();
  std::atomic<bool> has_callback_{false};
  bool is_queue_job_ = false;
  std::atomic<int> in_use_{0};  ///< executions whose callbacks have not returned, and copies
  std::function<void(const Status&)> idle_hook_;
  std::chrono::steady_clock::time_point started_;
  std::atomic<int64_t> latency_ns_{-1};
  unsigned end_number_ = 0;
};

void define_requests(py::module_& module);

}  // namespace het::python
