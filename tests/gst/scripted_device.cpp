#include "scripted_device.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "devices/register_devices.h"
#include "inference/devices/stream_executor.h"
#include "inference/passes/prepare_model.h"

namespace het::gst_test {

struct ScriptedDevice::Script {
  std::atomic<int> delay_ms = 0;
  std::atomic<int> fail_from = -1;
  std::atomic<int> executions = 0;
  std::atomic<int> compiles = 0;
};

namespace {

constexpr char kName[] = "SCRIPTED";
constexpr size_t kStreams = 3;
using ScriptPtr = std::shared_ptr<ScriptedDevice::Script>;

std::vector<Port> ports_of(const Model& model, bool inputs) {
  std::vector<Port> ports;
  if (inputs) {
    for (const ModelInput& input : model.inputs()) {
      ports.push_back({input.value->name(), input.value->desc(), input.preprocess});
    }
  } else {
    for (const ModelOutput& output : model.outputs()) {
      ports.push_back({output.name, output.value->desc(), std::nullopt});
    }
  }
  return ports;
}

class ScriptedModel final : public CompiledModel {
 public:
  ScriptedModel(const Model& model, ScriptPtr script, std::unique_ptr<StreamExecutor> streams)
      : CompiledModel(model.name(), ports_of(model, true), ports_of(model, false)),
        script_(std::move(script)),
        streams_(std::move(streams)) {}

  Result<std::string> get_property(std::string_view name) const override {
    if (name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(kStreams);
    return error(StatusCode::NotFound, "{} has no property {}", kName, name);
  }
  StreamExecutor& streams() const { return *streams_; }
  ScriptedDevice::Script& script() const { return *script_; }

 private:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

  ScriptPtr script_;
  std::unique_ptr<StreamExecutor> streams_;
};

class ScriptedRequest final : public DeviceRequest, private StreamJob {
 public:
  explicit ScriptedRequest(const ScriptedModel& model) : model_(model) {}

  void start(RequestIo& io, CompletionSink& sink) override {
    io_ = &io;
    sink_ = &sink;
    cancelled_ = false;
    model_.streams().submit(*this);
  }
  void cancel() override {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    wake_.notify_all();
  }

 private:
  void run(size_t) override {
    CompletionSink* const sink = sink_;
    sink->complete(execute());
  }
  Status execute();
  void find_one_object();

  const ScriptedModel& model_;
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::mutex mutex_;  ///< protects cancelled_
  std::condition_variable wake_;
  bool cancelled_ = false;
};

Status ScriptedRequest::execute() {
  ScriptedDevice::Script& script = model_.script();
  const int number = script.executions++;
  HET_TRY(io_->preprocess_pending(model_.inputs()));
  const int delay_ms = script.delay_ms * (number % 3 == 0 ? 2 : 1);
  if (delay_ms > 0) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(delay_ms), [this] { return cancelled_; });
    if (cancelled_) return error(StatusCode::Cancelled, "{}: cancelled", kName);
  }
  const int fail_from = script.fail_from;
  if (fail_from >= 0 && number >= fail_from) {
    return error(StatusCode::DeviceLost, "{}: execution {} fails as the script says", kName,
                 number);
  }
  find_one_object();
  return {};
}

/// In each item of a batch.
void ScriptedRequest::find_one_object() {
  for (size_t i = 0; i < io_->output_count(); ++i) {
    std::memset(io_->output(i).bytes(), 0, io_->output(i).size_bytes());
  }
  Tensor& output = io_->output(0);
  const auto items = static_cast<size_t>(io_->input(0).shape()[0]);
  const auto row_size = static_cast<size_t>(output.shape().back());
  const std::span<float> input = io_->input(0).values<float>();
  const std::span<float> values = output.values<float>();
  const size_t rows = values.size() / row_size / items;
  for (size_t item = 0; item < items; ++item) {
    const size_t size = input.size() / items;
    double sum = 0.0;
    for (size_t k = 0; k < size; k += 97) sum += input[item * size + k];
    const auto hash = static_cast<size_t>(std::fmod(std::abs(sum), 1e6));
    float* const row = values.data() + (item * rows + hash % rows) * row_size;
    if (row_size < 6) {  // a classifier: one class wins
      row[hash % row_size] = 1.0f;
      continue;
    }
    row[2] = row[3] = std::log(3.0f);  // a box of three grid cells
    row[4] = 0.8f;
    row[5 + hash % (row_size - 5)] = 1.0f;
  }
}

Result<std::unique_ptr<DeviceRequest>> ScriptedModel::create_device_request() {
  return std::make_unique<ScriptedRequest>(*this);
}

class Scripted final : public Device {
 public:
  explicit Scripted(ScriptPtr script) : script_(std::move(script)) {}

  std::string_view name() const override { return kName; }
  Result<std::string> get_property(std::string_view name) const override {
    return error(StatusCode::NotFound, "{} has no property {}", kName, name);
  }
  Result<std::vector<NodeSupport>> query_model(const Model&, const Properties&) const override {
    return error(StatusCode::NotSupported, "{} cannot be queried", kName);
  }
  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model, const Properties&,
                                                       DeviceContext*) override {
    ++script_->compiles;
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    HET_ASSIGN(auto streams, StreamExecutor::create({kStreams, "scripted", {}}));
    return std::make_shared<ScriptedModel>(*prepared, script_, std::move(streams));
  }

 private:
  ScriptPtr script_;
};

}  // namespace

ScriptedDevice::ScriptedDevice() : core_(core()), script_(std::make_shared<Script>()) {
  core_->devices().add(
      kName,
      [script = script_](Core&, std::string_view) -> Result<std::shared_ptr<Device>> {
        return std::make_shared<Scripted>(script);
      },
      [] { return std::vector<std::string>{""}; });
}

void ScriptedDevice::set_delay(std::chrono::milliseconds delay) {
  script_->delay_ms = static_cast<int>(delay.count());
}

void ScriptedDevice::fail_from(int execution) {
  script_->fail_from = execution;
}

int ScriptedDevice::executions() const {
  return script_->executions;
}

int ScriptedDevice::compiles() const {
  return script_->compiles;
}

}  // namespace het::gst_test
