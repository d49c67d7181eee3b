#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hetero/execution/content_numbers.h"
#include "hetero/execution/hetero_plan.h"
#include "hetero/execution/remote_tensors.h"
#include "hetero/members/device_gate.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {

/// Runs a plan: a request per subgraph. Each starts on the thread that ended the last subgraph it
/// waited for, so nobody blocks. A tensor that goes from one subgraph to others is the producer's
/// output and the readers' input at once. Subgraphs of a device that others share pass its gate,
/// where the oldest frame goes first. Tensors of the application that a device cannot use where
/// they are have copies on the host; a thread of their own waits for those. After a failure it can
/// go on behind what has ended well, with other requests for what has not.
class HeteroExecution {
 public:
  /// `inputs` and `outputs` are the model's; they and `transfers` outlive the execution. Where a
  /// device fails, `failed_device` says which.
  /// `gates`: per subgraph, null for none.
  static Result<std::unique_ptr<HeteroExecution>> create(
      std::shared_ptr<const HeteroPlan> plan, std::vector<std::shared_ptr<DeviceGate>> gates,
      const std::vector<Port>& inputs, const std::vector<Port>& outputs, TransferThread& transfers,
      std::string& failed_device);
  ~HeteroExecution();
  HeteroExecution(const HeteroExecution&) = delete;
  HeteroExecution& operator=(const HeteroExecution&) = delete;

  const HeteroPlan& plan() const { return *plan_; }

  /// As DeviceRequest, here and below. Where `keeps_pictures`, they are kept until the host has
  /// what comes out of every subgraph that reads them. `frame`: rising numbers, for the gates.
  void start(RequestIo& io, CompletionSink& sink, bool keeps_pictures, uint64_t frame);
  void cancel();
  std::vector<ProfileRow> profiling() const;
  Tensor own_input(size_t index) const;
  Tensor own_output(size_t index) const;
  /// The device whose subgraph failed first in the last execution; empty when none did, and for
  /// what replace() gave.
  const std::string& failed_device() const { return failed_device_; }

  // After an execution that failed, here and below.

  /// Whether something has ended whose results the host sees.
  bool has_results() const;
  /// False where a picture has been let go of: only resume() is left.
  bool can_restart() const;
  /// False where the host has to map one and cannot.
  bool can_read_pictures() const;
  /// Hands those that were kept back to the request.
  void return_pictures();
  void drop_pictures();
  /// Subgraphs that have to run, but for those that replace() has dealt with.
  std::vector<size_t> left_over() const;
  using Requests = std::vector<std::pair<size_t, std::unique_ptr<InferRequest>>>;
  /// Takes other requests for these subgraphs, with the tensors of the old ones, which come back.
  /// The caller excludes cancel(), which counts from here on.
  Status replace(Requests& requests);
  /// Runs what has not ended.
  void resume();

 private:
  struct Part final : GateVisitor {
    Part(HeteroExecution& execution, size_t subgraph) : owner(execution), index(subgraph) {}
    void pass() override { owner.run(index); }

    HeteroExecution& owner;
    const size_t index;
    std::unique_ptr<InferRequest> request;
    PlanTimes::Run timing;
    std::vector<bool> has_shared_input;  ///< per input: its tensor may be that of other parts
    std::atomic<size_t> waits_for = 0;
    bool is_first = false;     ///< waits for nothing
    bool ran = false;          ///< in the last execution
    bool is_done = false;      ///< and has results that the host sees
    bool is_replaced = false;  ///< its request is not of the plan
  };
  /// Of an input, for as long as somebody may have to read it again.
  struct Pictures {
    std::vector<ImageRegion> regions;
    std::atomic<size_t> readers = 0;
    bool were_given = false;
  };

  /// A step that waits for memory.
  struct Transfer final : StreamJob {
    Transfer(HeteroExecution& execution, void (HeteroExecution::*what)())
        : owner(execution), step(what) {}
    void run(size_t) override { (owner.*step)(); }

    HeteroExecution& owner;
    void (HeteroExecution::*const step)();
  };

  HeteroExecution(std::shared_ptr<const HeteroPlan> plan,
                  std::vector<std::shared_ptr<DeviceGate>> gates, const std::vector<Port>& inputs,
                  const std::vector<Port>& outputs, TransferThread& transfers);
  Status share_tensors();
  void bind_and_launch();
  Status bind(RequestIo& io);
  /// Begins the subgraphs that wait for none.
  void launch_first();
  Status bind_input(RequestIo& io, size_t index);
  Status read_from(const SubgraphPort& reader, const Tensor& tensor, bool is_shared);
  /// To host_inputs_.
  Status copy_input(const Tensor& given, size_t index);
  /// Whether a part reads there what the application has set as a tensor of the model.
  bool is_given(size_t part, size_t input) const;
  Status bind_output(RequestIo& io, size_t index);
  /// Whether the part's device uses it where it is.
  bool takes(size_t part, const Tensor& tensor) const;
  /// Whether inputs have to be copied to the host first.
  bool must_map_inputs(const RequestIo& io) const;
  /// Whether results have to be copied to or from memory that has to be mapped.
  bool must_map_outputs() const;
  void launch_next();
  void launch(size_t part);
  /// Once it has passed its gate.
  void run(size_t part);
  void leave_gate(size_t part);
  void end_timing(size_t part, bool is_good);
  /// The gate that a part passes on its way to its device; null: none.
  DeviceGate* gate_of(size_t part) const;
  /// On a device's thread.
  void part_ended(size_t part, const Status& status);
  void fail(size_t part, const Status& status);
  Status hand_over(size_t part);
  /// Notes results that the host sees, and lets go of pictures that nobody reads any more.
  void keep_results(size_t part);
  Status pass_on(size_t index);
  void finish();
  void deliver_and_end();
  void end(Status status);
  Status deliver();
  Result<Tensor> source_tensor(const TensorSource& source) const;

  const std::shared_ptr<const HeteroPlan> plan_;
  const std::vector<std::shared_ptr<DeviceGate>> gates_;  ///< per subgraph
  const Split& split_;
  const std::vector<Port>& inputs_;
  const std::vector<Port>& outputs_;
  TransferThread& transfers_;
  Transfer first_step_{*this, &HeteroExecution::bind_and_launch};
  Transfer last_step_{*this, &HeteroExecution::deliver_and_end};
  std::vector<Tensor> host_inputs_;   ///< copies of the application's tensors, where needed
  std::vector<Tensor> host_outputs_;  ///< in the place of the application's tensors
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  uint64_t frame_ = 0;
  std::vector<Pictures> pictures_;  ///< per input
  ContentNumbers numbers_;
  std::atomic<size_t> running_ = 0;  ///< parts that were started and have not ended
  std::atomic<size_t> ended_ = 0;
  std::atomic<bool> stopped_ = false;  ///< no more parts start
  std::mutex mutex_;                   ///< protects the two below; taken alone
  Status first_error_;
  std::string failed_device_;
  std::vector<std::unique_ptr<Part>> parts_;  // last: their ends wait for running callbacks
};

}  // namespace het::hetero
