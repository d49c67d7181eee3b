#include "tests/hetero/wrapped_device.h"

#include <atomic>
#include <condition_variable>
#include <thread>
#include <utility>

#include "inference/nested_request.h"
#include "inference/stream_executor.h"

namespace het::hetero {
namespace {

using Behaviour = std::shared_ptr<WrappedBehaviour>;

class WrappedRequest final : public DeviceRequest, private StreamJob, private CompletionSink {
 public:
  WrappedRequest(std::string model, size_t number, const std::vector<ProfileRow>& rows,
                 std::unique_ptr<NestedRequest> inner, Behaviour behaviour,
                 std::shared_ptr<StreamExecutor> queue)
      : model_(std::move(model)),
        number_(number),
        rows_(rows),
        inner_(std::move(inner)),
        behaviour_(std::move(behaviour)),
        queue_(std::move(queue)) {}

  void start(RequestIo& io, CompletionSink& sink) override {
    io_ = &io;
    sink_ = &sink;
    if (behaviour_->refuse_start) {
      if (Status status = behaviour_->refuse_start(); !status.ok()) {
        return sink.complete(std::move(status));
      }
    }
    is_cancelled_ = false;
    const size_t now = ++behaviour_->in_flight;
    for (size_t most = behaviour_->most_in_flight; most < now;) {
      if (behaviour_->most_in_flight.compare_exchange_weak(most, now)) break;
    }
    if (behaviour_->ends_inline) {
      run(0);
    } else {
      queue_->submit(*this);
    }
  }
  void cancel() override {
    is_cancelled_ = true;
    inner_->cancel();
  }
  std::vector<ProfileRow> profiling() const override {
    return behaviour_->speed ? rows_ : inner_->request().profiling();
  }

 private:
  void run(size_t) override {
    if (behaviour_->before) behaviour_->before();
    if (is_cancelled_) {
      --behaviour_->in_flight;
      return sink_->complete(error(StatusCode::Cancelled, "cancelled in the queue"));
    }
    TracedExecution trace{model_,
                          number_,
                          io_->input_count() > 0 ? io_->input(0).bytes() : nullptr,
                          io_->output_count() > 0 ? io_->output(0).bytes() : nullptr,
                          std::chrono::steady_clock::now(),
                          {}};
    inner_->start(*io_, *this);
    Status status;
    {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [this] { return has_ended_; });
      has_ended_ = false;
      status = status_;
    }
    if (behaviour_->speed) {
      std::chrono::microseconds all{0};
      for (const ProfileRow& row : rows_) all += std::chrono::microseconds(row.real_us);
      std::this_thread::sleep_until(trace.start + all);
    }
    std::this_thread::sleep_for(behaviour_->duration);
    trace.end = std::chrono::steady_clock::now();
    size_t count = 0;
    {
      std::lock_guard lock(behaviour_->mutex);
      count = behaviour_->executions.size();
      behaviour_->executions.push_back(std::move(trace));
    }
    if (status.ok() && behaviour_->outcome) status = behaviour_->outcome(count);
    --behaviour_->in_flight;
    sink_->complete(std::move(status));
  }

  void complete(Status status) override {
    std::lock_guard lock(mutex_);
    status_ = std::move(status);
    has_ended_ = true;
    ended_.notify_all();
  }

  const std::string model_;
  const size_t number_;
  const std::vector<ProfileRow>& rows_;  ///< of the compiled model
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::mutex mutex_;  ///< protects status_ and has_ended_; taken alone
  std::condition_variable ended_;
  Status status_;
  bool has_ended_ = false;
  std::atomic<bool> is_cancelled_ = false;
  std::unique_ptr<NestedRequest> inner_;
  Behaviour behaviour_;
  std::shared_ptr<StreamExecutor> queue_;
};

class WrappedModel final : public CompiledModel {
 public:
  WrappedModel(std::shared_ptr<CompiledModel> inner, std::vector<ProfileRow> rows,
               std::string device, Behaviour behaviour, std::shared_ptr<StreamExecutor> queue)
      : CompiledModel(inner->name(), inner->inputs(), inner->outputs()),
        inner_(std::move(inner)),
        rows_(std::move(rows)),
        device_(std::move(device)),
        behaviour_(std::move(behaviour)),
        queue_(std::move(queue)) {
    ++behaviour_->live_models;
  }
  ~WrappedModel() override { --behaviour_->live_models; }

  Result<std::string> get_property(std::string_view name) const override {
    if (name == "EXECUTION_DEVICES") return device_;
    return inner_->get_property(name);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override {
    if (behaviour_->request_outcome) HET_TRY(behaviour_->request_outcome());
    HET_ASSIGN(std::unique_ptr<NestedRequest> inner, NestedRequest::create(inner_));
    return std::make_unique<WrappedRequest>(name(), requests_++, rows_, std::move(inner),
                                            behaviour_, queue_);
  }

 private:
  std::shared_ptr<CompiledModel> inner_;
  const std::vector<ProfileRow> rows_;
  const std::string device_;
  Behaviour behaviour_;
  std::shared_ptr<StreamExecutor> queue_;
  std::atomic<size_t> requests_ = 0;
};

class WrappedDevice final : public Device {
 public:
  WrappedDevice(std::string kind, std::shared_ptr<Device> inner, Behaviour behaviour,
                std::shared_ptr<StreamExecutor> queue)
      : kind_(std::move(kind)),
        inner_(std::move(inner)),
        behaviour_(std::move(behaviour)),
        queue_(std::move(queue)) {}

  std::string_view name() const override { return kind_; }
  Result<std::string> get_property(std::string_view name) const override {
    return inner_->get_property(name);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_ASSIGN(std::vector<NodeSupport> rows, inner_->query_model(model, properties));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].supported()) continue;
      rows[i].device = kind_;
      if (!behaviour_->refuse) continue;
      const std::string reason = behaviour_->refuse(model, *model.nodes()[i]);
      if (reason.empty()) continue;
      rows[i].device.clear();
      rows[i].reason = reason;
    }
    return rows;
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext*) override {
    HET_ASSIGN(const std::vector<NodeSupport> rows, query_model(model, properties));
    for (const NodeSupport& row : rows) {
      if (row.supported()) continue;
      return error(StatusCode::NotSupported, "node '{}': {}", row.node_name, row.reason);
    }
    {
      std::lock_guard lock(behaviour_->mutex);
      behaviour_->compiled_with.push_back(properties);
    }
    if (behaviour_->compiling) HET_TRY(behaviour_->compiling(model));
    HET_ASSIGN(auto inner, inner_->compile_model(model, properties, nullptr));
    std::vector<ProfileRow> times;
    for (const auto& node : model.nodes()) {
      if (!behaviour_->speed) break;
      ProfileRow row{node->name(), ProfileStatus::Executed, node->op_type(), "simulated"};
      row.real_us = behaviour_->speed(*node).count();
      times.push_back(std::move(row));
    }
    return std::make_shared<WrappedModel>(std::move(inner), std::move(times), kind_, behaviour_,
                                          queue_);
  }

 private:
  const std::string kind_;
  std::shared_ptr<Device> inner_;
  Behaviour behaviour_;
  std::shared_ptr<StreamExecutor> queue_;
};

}  // namespace

void add_wrapped_device(Core& core, const std::string& kind, Behaviour behaviour) {
  core.devices().add(
      kind,
      [kind, behaviour](Core& owner, std::string_view) -> Result<std::shared_ptr<Device>> {
        HET_ASSIGN(std::shared_ptr<Device> inner, owner.devices().get(owner, "REF"));
        HET_ASSIGN(std::shared_ptr<StreamExecutor> queue, StreamExecutor::create({1, kind, {}}));
        return std::make_shared<WrappedDevice>(kind, std::move(inner), behaviour, std::move(queue));
      },
      [] { return std::vector<std::string>{""}; });
}

}  // namespace het::hetero
