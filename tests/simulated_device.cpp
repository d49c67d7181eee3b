#include "tests/simulated_device.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "inference/requests/request_io.h"

namespace het {
namespace {

class SimulatedRequest final : public DeviceRequest {
 public:
  SimulatedRequest(const std::vector<Port>& ports, SimulatedBehaviour behaviour)
      : ports_(ports), behaviour_(std::move(behaviour)) {}
  ~SimulatedRequest() override {
    if (worker_.joinable()) worker_.join();
  }

  void start(RequestIo& io, CompletionSink& sink) override {
    {
      std::lock_guard lock(mutex_);
      cancelled_ = false;
    }
    if (behaviour_.executions != nullptr) ++*behaviour_.executions;
    if (behaviour_.complete_inline) {
      execute(io, sink);
      return;
    }
    std::lock_guard lock(starting_);
    if (worker_.joinable()) worker_.join();
    worker_ = std::thread([this, &io, &sink] {
      // Whoever learns the end may start again at once, from another thread.
      { std::lock_guard wait(starting_); }
      execute(io, sink);
    });
  }

  void cancel() override {
    std::lock_guard lock(mutex_);
    cancelled_ = behaviour_.honours_cancel;
    changed_.notify_all();
  }

 private:
  void execute(RequestIo& io, CompletionSink& sink) {
    bool cancelled = false;
    {
      std::unique_lock lock(mutex_);
      cancelled = changed_.wait_for(lock, behaviour_.duration, [this] { return cancelled_; });
    }
    if (cancelled) {
      sink.complete(error(StatusCode::Cancelled, "the simulated execution was cancelled"));
      return;
    }
    if (behaviour_.last_dst != nullptr) *behaviour_.last_dst = io.output(0).bytes();
    Status status = io.preprocess_pending(ports_);
    if (status.ok()) status = copy_tensor(io.input(0), io.output(0));
    if (status.ok()) status = behaviour_.outcome;
    sink.complete(status);
  }

  const std::vector<Port>& ports_;
  const SimulatedBehaviour behaviour_;
  std::mutex mutex_;  ///< protects cancelled_
  std::condition_variable changed_;
  bool cancelled_ = false;
  std::mutex starting_;  ///< protects worker_; taken alone
  std::thread worker_;
};

class SimulatedModel final : public CompiledModel {
 public:
  SimulatedModel(const Shape& shape, SimulatedBehaviour behaviour)
      : CompiledModel("simulated",
                      {Port{"x", {ElementType::Float32, shape, Layout::Plain}, PreprocessDesc()}},
                      {Port{"y", {ElementType::Float32, shape, Layout::Plain}, std::nullopt}}),
        behaviour_(std::move(behaviour)) {}

  Result<std::string> get_property(std::string_view name) const override {
    return error(StatusCode::InvalidArgument, "the simulated model has no property '{}'", name);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override {
    return std::make_unique<SimulatedRequest>(inputs(), behaviour_);
  }

 private:
  const SimulatedBehaviour behaviour_;
};

}  // namespace

std::shared_ptr<CompiledModel> make_simulated_model(const Shape& shape,
                                                    SimulatedBehaviour behaviour) {
  return std::make_shared<SimulatedModel>(shape, std::move(behaviour));
}

}  // namespace het
