#include "tests/hetero/wrapped_device.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "inference/devices/stream_executor.h"
#include "inference/requests/nested_request.h"
#include "tests/hetero/wrapped_memory.h"

namespace het::hetero {
namespace {

using Behaviour = std::shared_ptr<WrappedBehaviour>;

Status fault_in(const WrappedBehaviour& behaviour, DeviceCall call) {
  return behaviour.fault ? behaviour.fault(call) : Status();
}

Result<Tensor> allocate_own(const TensorDesc& desc, const Behaviour& behaviour) {
  return allocate_wrapped_memory(
      desc, {[behaviour] { return fault_in(*behaviour, DeviceCall::Map); },
             [behaviour] { (void)fault_in(*behaviour, DeviceCall::Release); }});
}

/// The device's threads.
struct Threads {
  std::shared_ptr<StreamExecutor> watchdog;  ///< ends what the device does not
  std::shared_ptr<StreamExecutor> queue;     // last: its thread uses the other
};

class WrappedRequest final : public DeviceRequest, private StreamJob, private CompletionSink {
 public:
  WrappedRequest(std::string model, size_t number, const std::vector<ProfileRow>& rows,
                 std::unique_ptr<NestedRequest> inner, Behaviour behaviour, Threads threads)
      : model_(std::move(model)),
        number_(number),
        rows_(rows),
        inner_(std::move(inner)),
        behaviour_(std::move(behaviour)),
        threads_(std::move(threads)),
        watchdog_(*this) {}
  ~WrappedRequest() override { (void)fault_in(*behaviour_, DeviceCall::Release); }

  void start(RequestIo& io, CompletionSink& sink) override {
    io_ = &io;
    sink_ = &sink;
    if (behaviour_->refuse_start) {
      if (Status status = behaviour_->refuse_start(); !status.ok()) {
        return sink.complete(std::move(status));
      }
    }
    if (Status status = fault_in(*behaviour_, DeviceCall::Submit); !status.ok()) {
      return sink.complete(std::move(status));
    }
    is_cancelled_ = false;
    const size_t now = ++behaviour_->in_flight;
    for (size_t most = behaviour_->most_in_flight; most < now;) {
      if (behaviour_->most_in_flight.compare_exchange_weak(most, now)) break;
    }
    if (behaviour_->ends_inline) {
      run(0);
    } else {
      threads_.queue->submit(*this);
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
    late_ = fault_in(*behaviour_, DeviceCall::Wait);
    if (!late_.ok()) return threads_.watchdog->submit(watchdog_);
    TracedExecution trace{model_,
                          number_,
                          io_->input_count() > 0 ? io_->input(0).bytes() : nullptr,
                          io_->output_count() > 0 ? io_->output(0).bytes() : nullptr,
                          {},
                          {},
                          std::chrono::steady_clock::now(),
                          {}};
    for (size_t i = 0; i < io_->input_count() && behaviour_->has_contexts; ++i) {
      trace.inputs.push_back(io_->input(i).buffer().get());
    }
    for (size_t i = 0; i < io_->output_count() && behaviour_->has_contexts; ++i) {
      trace.outputs.push_back(io_->output(i).buffer().get());
    }
    Status status = behaviour_->has_own_memory ? move_into_device() : Status();
    if (status.ok()) {
      inner_->start(behaviour_->has_own_memory ? *device_io_ : *io_, *this);
    } else {
      complete(status);
    }
    {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [this] { return has_ended_; });
      has_ended_ = false;
      status = status_;
    }
    if (status.ok() && behaviour_->has_own_memory) status = bring_results();
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
    if (status.ok()) status = fault_in(*behaviour_, DeviceCall::Callback);
    --behaviour_->in_flight;
    sink_->complete(std::move(status));
  }

  /// Executions work in the device's own memory.
  Status move_into_device() {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < io_->input_count(); ++i) inputs.push_back(seen_by_device(io_->input(i)));
    std::vector<Tensor> outputs(io_->output_count());
    results_.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (io_->output(i).empty()) continue;
      if (results_[i].empty()) {
        HET_ASSIGN(results_[i], allocate_own(io_->output(i).desc(), behaviour_));
      }
      outputs[i] = seen_by_device(results_[i]);
    }
    device_io_.emplace(std::move(inputs), std::move(outputs));
    device_io_->set_stream(io_->stream());
    for (size_t i = 0; i < io_->input_count(); ++i) {
      const std::vector<ImageRegion> images = io_->take_images(i);
      for (size_t b = 0; b < images.size(); ++b) device_io_->set_image(i, b, images[b]);
    }
    return {};
  }

  Status bring_results() {
    for (size_t i = 0; i < io_->output_count(); ++i) {
      if (io_->output(i).empty()) {
        io_->set_output(i, device_io_->output(i));
        continue;
      }
      HET_ASSIGN(const std::byte* const from, results_[i].buffer()->map(MapAccess::Read));
      const Tensor to = seen_by_device(io_->output(i));
      std::memcpy(to.bytes(), from, to.size_bytes());
      results_[i].buffer()->unmap();
    }
    return {};
  }

  class Watchdog final : public StreamJob {
   public:
    explicit Watchdog(WrappedRequest& request) : request_(request) {}
    void run(size_t) override {
      std::this_thread::sleep_for(request_.behaviour_->patience);
      --request_.behaviour_->in_flight;
      request_.sink_->complete(request_.late_);
    }

   private:
    WrappedRequest& request_;
  };

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
  std::optional<RequestIo> device_io_;
  std::vector<Tensor> results_;  ///< in the device's own memory
  std::unique_ptr<NestedRequest> inner_;
  Behaviour behaviour_;
  Threads threads_;
  Status late_;
  Watchdog watchdog_;
};

class WrappedModel final : public CompiledModel {
 public:
  WrappedModel(std::shared_ptr<CompiledModel> inner, std::vector<ProfileRow> rows,
               std::string device, Behaviour behaviour, Threads threads)
      : CompiledModel(inner->name(), inner->inputs(), inner->outputs()),
        inner_(std::move(inner)),
        rows_(std::move(rows)),
        device_(std::move(device)),
        behaviour_(std::move(behaviour)),
        threads_(std::move(threads)) {
    ++behaviour_->live_models;
  }
  ~WrappedModel() override {
    --behaviour_->live_models;
    (void)fault_in(*behaviour_, DeviceCall::Release);
  }

  Result<std::string> get_property(std::string_view name) const override {
    if (name == "EXECUTION_DEVICES") return device_;
    return inner_->get_property(name);
  }
  Status export_model(std::ostream& stream) const override { return inner_->export_model(stream); }
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override {
    return behaviour_->has_own_memory ? allocate_own(desc, behaviour_) : Tensor::allocate(desc);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override {
    if (behaviour_->request_outcome) HET_TRY(behaviour_->request_outcome());
    HET_TRY(fault_in(*behaviour_, DeviceCall::Request));
    HET_ASSIGN(std::unique_ptr<NestedRequest> inner, NestedRequest::create(inner_));
    return std::make_unique<WrappedRequest>(name(), requests_++, rows_, std::move(inner),
                                            behaviour_, threads_);
  }

 private:
  std::shared_ptr<CompiledModel> inner_;
  const std::vector<ProfileRow> rows_;
  const std::string device_;
  Behaviour behaviour_;
  Threads threads_;
  std::atomic<size_t> requests_ = 0;
};

class WrappedContext final : public DeviceContext {
 public:
  WrappedContext(std::string device, Behaviour behaviour)
      : device_(std::move(device)), behaviour_(std::move(behaviour)) {}
  std::string_view device_name() const override { return device_; }
  Result<Tensor> allocate(TensorDesc desc) override { return allocate_own(desc, behaviour_); }

 private:
  const std::string device_;
  Behaviour behaviour_;
};

class WrappedDevice final : public Device {
 public:
  WrappedDevice(std::string kind, std::shared_ptr<Device> inner, Behaviour behaviour,
                Threads threads)
      : kind_(std::move(kind)),
        inner_(std::move(inner)),
        behaviour_(std::move(behaviour)),
        threads_(std::move(threads)) {}

  std::string_view name() const override { return kind_; }
  Result<std::string> get_property(std::string_view name) const override {
    if (name == "DEVICE_TOTAL_MEM_SIZE" && behaviour_->memory_bytes > 0) {
      return std::to_string(behaviour_->memory_bytes);
    }
    if (name == "DEVICE_TYPE") {
      if (!behaviour_->type.empty()) return behaviour_->type;
      return error(StatusCode::InvalidArgument, "{} has no property DEVICE_TYPE", kind_);
    }
    return inner_->get_property(name);
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    if (!behaviour_->has_contexts) return Device::direct_memory_kinds();
    return {MemoryKind::Host, MemoryKind::OpenClBuffer};
  }

  Result<std::shared_ptr<DeviceContext>> create_context(const ContextParams& params) override {
    if (!behaviour_->has_contexts) return Device::create_context(params);
    if (params.empty()) return std::make_shared<WrappedContext>(kind_, behaviour_);
    return error(StatusCode::InvalidArgument, "{} has no context parameter '{}'", kind_,
                 params.begin()->first);
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
                                                       DeviceContext* context) override {
    HET_ASSIGN(const std::vector<NodeSupport> rows, query_model(model, properties));
    for (const NodeSupport& row : rows) {
      if (row.supported()) continue;
      return error(StatusCode::NotSupported, "node '{}': {}", row.node_name, row.reason);
    }
    {
      std::lock_guard lock(behaviour_->mutex);
      behaviour_->compiled_with.push_back(properties);
      behaviour_->compiled_in.push_back(context);
    }
    if (behaviour_->compiling) HET_TRY(behaviour_->compiling(model));
    HET_TRY(fault_in(*behaviour_, DeviceCall::Compile));
    HET_ASSIGN(auto inner, inner_->compile_model(model, properties, nullptr));
    std::vector<ProfileRow> times;
    for (const auto& node : model.nodes()) {
      if (!behaviour_->speed) break;
      ProfileRow row{node->name(), ProfileStatus::Executed, node->op_type(), "simulated"};
      row.real_us = behaviour_->speed(*node).count();
      times.push_back(std::move(row));
    }
    return std::make_shared<WrappedModel>(std::move(inner), std::move(times), kind_, behaviour_,
                                          threads_);
  }

  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                      const Properties& properties) override {
    HET_ASSIGN(auto inner, inner_->import_model(stream, properties));
    return std::make_shared<WrappedModel>(std::move(inner), std::vector<ProfileRow>(), kind_,
                                          behaviour_, threads_);
  }

 private:
  const std::string kind_;
  std::shared_ptr<Device> inner_;
  Behaviour behaviour_;
  Threads threads_;
};

}  // namespace

void add_wrapped_device(Core& core, const std::string& kind, Behaviour behaviour) {
  core.devices().add(
      kind,
      [kind, behaviour](Core& owner, std::string_view) -> Result<std::shared_ptr<Device>> {
        HET_ASSIGN(std::shared_ptr<Device> inner, owner.devices().get(owner, behaviour->inner));
        Threads threads;
        HET_ASSIGN(threads.queue, StreamExecutor::create({1, kind, {}}));
        HET_ASSIGN(threads.watchdog, StreamExecutor::create({1, "watchdog", {}}));
        return std::make_shared<WrappedDevice>(kind, std::move(inner), behaviour,
                                               std::move(threads));
      },
      [] { return std::vector<std::string>{""}; });
}

}  // namespace het::hetero
