#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hetero/multi/service_times.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/nested_request.h"

namespace het::hetero {

class MultiDispatcher;
class MultiRequest;
class MultiWorker;

/// A device of a MultiDispatcher: the model compiled for it, and its workers.
struct WorkerGroup {
  std::string device;
  std::shared_ptr<CompiledModel> model;
  /// What idle workers hold, one per port, instead of tensors of applications.
  std::vector<Tensor> idle_inputs;
  std::vector<Tensor> idle_outputs;
  // The rest is protected by the dispatcher's mutex.
  MultiWorker* free = nullptr;
  size_t running = 0;
  size_t limit = 0;  ///< of `running`
  ServiceTimes times;
  bool is_lost = false;                               ///< failed, and has not worked since
  std::chrono::steady_clock::time_point failed_at;    ///< last
  bool is_probed = false;                             ///< somebody tries whether it works again
  std::chrono::steady_clock::time_point retry_at;     ///< of a lost one
  std::chrono::milliseconds pause{0};                 ///< until then
  std::vector<std::unique_ptr<MultiWorker>> workers;  // last: their ends wait for callbacks
};

/// Makes a group with `limit` workers.
Result<std::unique_ptr<WorkerGroup>> make_worker_group(MultiDispatcher& dispatcher,
                                                       std::string device,
                                                       std::shared_ptr<CompiledModel> model,
                                                       size_t limit);

/// A request of a device's model that runs one MultiRequest after the other.
class MultiWorker final : private CompletionSink, private StreamJob {
 public:
  MultiWorker(MultiDispatcher& dispatcher, WorkerGroup& group,
              std::unique_ptr<NestedRequest> request)
      : dispatcher_(dispatcher), group_(group), request_(std::move(request)) {}

  /// Begins the execution; complete() ends it, and may have been called when this returns. Nothing
  /// of the worker may be used after it unless something else keeps it.
  void start(MultiRequest& request);
  /// The same on a thread that may not end it: true when it has ended, which is then for the
  /// caller to handle. So starts that fail at once do not nest.
  bool start_within(MultiRequest& request);
  /// Lets go of the application's tensors.
  void take_idle_tensors();
  std::vector<ProfileRow> profiling() const { return request_->request().profiling(); }

 private:
  friend class MultiDispatcher;
  void complete(Status status) override;
  void run(size_t stream) override;

  MultiDispatcher& dispatcher_;
  WorkerGroup& group_;
  Status status_;  ///< of the execution that ended
  // The rest, but the request, is protected by the dispatcher's mutex.
  MultiRequest* current_ = nullptr;
  MultiWorker* next_free_ = nullptr;
  std::chrono::steady_clock::time_point began_;
  size_t others_ = 0;                       ///< that ran in the group when it began
  size_t cancelling_ = 0;                   ///< calls of cancel() that use the worker
  bool end_waits_ = false;                  ///< for these
  std::unique_ptr<NestedRequest> request_;  // last: its end waits for a running complete()
};

}  // namespace het::hetero
