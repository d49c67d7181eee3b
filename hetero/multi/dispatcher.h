#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/multi/list.h"
#include "hetero/multi/request.h"
#include "hetero/multi/worker.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/devices/stream_executor.h"

namespace het::hetero {

/// What becomes of requests whose device fails, where it is the device's fault (blames_device()).
struct FallBack {
  bool is_on = false;  ///< they run again on another device; else they fail
  /// A lost device is tried again so long after it failed, then in growing intervals; never when
  /// that is zero.
  std::chrono::milliseconds retry{0};
  /// A device has failed, told once until it works again. Called on a thread that ends executions.
  std::function<void(const std::string& device, const Status& cause)> on_loss;
  /// It works again.
  std::function<void(const std::string& device)> on_return;
};

/// As ENABLE_RUNTIME_FALLBACK and HETERO_RETRY_INTERVAL say.
FallBack fall_back_of(const Properties& properties);

/// Runs requests on models of the same ports, one per device, each with requests of its own: the
/// workers. A request goes to a free worker at once: of the device that is expected to take least,
/// and where that is not known, of the first in the order. Where none is free, requests wait in
/// the order of their starts, and a worker that ends takes the oldest. Tensors are shared with the
/// workers, which let go of them when an execution ends. Thread-safe. No request may be running
/// when it is destroyed.
class MultiDispatcher {
 public:
  /// Fails with OutOfMemory when the system gives no thread for requests that are cancelled.
  static Result<std::unique_ptr<MultiDispatcher>> create(FallBack fall_back);
  ~MultiDispatcher();
  MultiDispatcher(const MultiDispatcher&) = delete;
  MultiDispatcher& operator=(const MultiDispatcher&) = delete;

  /// Makes `limit` workers for a device, which get no work before set_order() names it.
  Status add(std::string device, const std::shared_ptr<CompiledModel>& model, size_t limit);
  /// From now on work goes to these devices only; the others finish what they run. Entries without
  /// a limit have that of add(). Fails with InvalidArgument, and changes nothing, for a device that
  /// was not added, a larger limit and for no device.
  Status set_order(const std::vector<ListedDevice>& order);
  /// Waits until the device, which is not in the order, runs nothing, and lets go of its model.
  /// Never called on a thread that ends executions.
  void remove(std::string_view device);
  /// The sum of the limits of the devices in the order.
  size_t limit() const;
  /// Whether the owner makes another device ready when all in the order are lost: after on_loss()
  /// it calls set_order() or give_up(), and requests wait until then.
  void set_has_substitute(bool has_one);
  /// There is none after all: what waits runs on lost devices, and fails with them.
  void give_up();
  bool falls_back() const { return fall_back_.is_on; }

  /// What a MultiRequest asks for.
  void submit(MultiRequest& request);
  void cancel(MultiRequest& request);

 private:
  friend class MultiWorker;
  using Clock = std::chrono::steady_clock;

  class Probe;
  explicit MultiDispatcher(FallBack fall_back);
  /// Under mutex_: some device of the order is not lost.
  bool has_usable() const;
  /// Under mutex_: it has failed; true the first time.
  bool lose(WorkerGroup& group, Clock::time_point now);
  /// Under mutex_: the request goes before those that wait.
  void requeue(MultiRequest& request);
  /// Under mutex_: lost devices are tried when it is time.
  void probe_lost(Clock::time_point now);
  void end_probe(WorkerGroup& group, bool works);
  /// Under mutex_.
  WorkerGroup* find(std::string_view device) const;
  /// Under mutex_: of the devices that are not lost, or of those that are; null where none is free.
  WorkerGroup* fastest_free() const;
  WorkerGroup* longest_lost() const;
  /// Under mutex_: a worker that may begin now, or null.
  MultiWorker* take_worker();
  /// Under mutex_.
  void assign(MultiWorker& worker, MultiRequest& request, Clock::time_point now);
  /// Under mutex_: the oldest that waits on a free worker; null where one of them lacks.
  MultiWorker* assign_waiting(Clock::time_point now);
  void remove_waiting(MultiRequest& request);
  /// Begins what assign_waiting() gave the worker; true when it has ended already, which the
  /// caller handles.
  bool start_waiting(MultiWorker& worker, MultiRequest& request);
  /// Starts those that wait for as long as there are workers.
  void start_all_waiting();
  /// An execution has ended: tells its request and goes on with the oldest that waits.
  void end(MultiWorker& worker);
  /// False while cancel() uses the worker: it then sees to the end.
  bool detach(MultiWorker& worker);
  void complete(MultiRequest& request, Status status) const;
  /// Returns a worker whose next execution has ended already, or null.
  MultiWorker* finish(MultiWorker& worker);

  const FallBack fall_back_;
  /// Protects the members below but executor_, what MultiRequest, MultiWorker and WorkerGroup say;
  /// held for a few steps, taken alone.
  mutable std::mutex mutex_;
  std::condition_variable drained_;  ///< a group that is not in the order runs nothing
  std::vector<WorkerGroup*> order_;
  MultiRequest* first_waiting_ = nullptr;
  MultiRequest* last_waiting_ = nullptr;
  bool has_substitute_ = false;
  bool waits_for_substitute_ = false;
  std::vector<std::unique_ptr<WorkerGroup>> groups_;
  std::vector<std::unique_ptr<Probe>> probes_;  // before prober_, whose jobs they are
  std::unique_ptr<StreamExecutor> prober_;      ///< tries lost devices, which may take long
  /// Ends what was cancelled: cancel() may be called under a lock that the end takes.
  std::unique_ptr<StreamExecutor> executor_;  // last: its jobs use everything else
};

}  // namespace het::hetero
