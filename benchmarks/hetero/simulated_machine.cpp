#include "benchmarks/hetero/simulated_machine.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "inference/passes/prepare_model.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;
using Shared = std::shared_ptr<Simulation>;

double bytes_of(const Value* value) {
  if (value == nullptr) return 0;
  const auto bytes = dense_size_bytes(value->desc());
  return bytes ? static_cast<double>(*bytes) : 0.0;
}

double elements_of(const Value* value) {
  return value == nullptr || !value->desc().is_static()
             ? 0.0
             : static_cast<double>(element_count(value->desc().shape));
}

bool is_convolution(const Node& node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvTranspose" ||
         node.op_type() == "QLinearConv";
}

const Value* weights_of(const Node& node) {
  return node.input(node.op_type() == "QLinearConv" ? 3 : 1);
}

bool is_depthwise(const Node& node) {
  const int64_t groups = node.attributes().get_int("group", 1);
  return is_convolution(node) && groups > 1 && weights_of(node) != nullptr &&
         weights_of(node)->desc().shape[1] == 1;
}

/// Only another view of the same bytes.
bool is_view(const Node& node) {
  static const char* const kTypes[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  return std::ranges::any_of(kTypes, [&](const char* type) { return node.op_type() == type; });
}

/// One execution of a subgraph: its inputs come over links, it runs, its results go home. Every
/// step is a job of the link or device that it occupies.
class SimulatedRequest final : public DeviceRequest, private StreamJob {
 public:
  SimulatedRequest(const CompiledModel& model, const std::vector<ProfileRow>& rows, double seconds,
                   size_t device, Shared shared)
      : model_(model),
        rows_(rows),
        seconds_(seconds),
        device_(device),
        shared_(std::move(shared)) {}

  void start(RequestIo& io, CompletionSink& sink) override {
    io_ = &io;
    sink_ = &sink;
    steps_.clear();
    next_ = 0;
    for (size_t i = 0; i < io.input_count(); ++i) bring(io.input(i));
    steps_.push_back({&shared_->devices[device_], seconds_, /*computes=*/true});
    for (size_t i = 0; i < io.output_count(); ++i) {
      if (device_ == shared_->machine.home() || io.output(i).empty()) continue;
      if (shared_->results.contains(model_.outputs()[i].name)) {
        add_transfer(device_, shared_->machine.home(), io.output(i).size_bytes());
      }
    }
    submit();
  }
  std::vector<ProfileRow> profiling() const override { return rows_; }

 private:
  struct Step {
    SimulatedQueue* queue;
    double seconds;
    bool computes;
  };

  void submit() {
    ready_ = Clock::now();
    steps_[next_].queue->thread->submit(*this);
  }

  /// What the device lacks comes from where it was computed; what is on its way for another request
  /// is waited for: links hand over in the order of their jobs.
  void bring(const Tensor& tensor) {
    std::lock_guard lock(shared_->mutex);
    const auto place = shared_->places.find(tensor.buffer().get());
    if (place == shared_->places.end() || place->second.buffer.expired()) {  // a frame's input
      if (device_ != shared_->machine.home()) {
        add_transfer(shared_->machine.home(), device_, tensor.size_bytes());
      }
      return;
    }
    if (place->second.origin == device_) return;
    const bool is_new = place->second.sent_to.insert(device_).second;
    add_transfer(place->second.origin, device_, is_new ? tensor.size_bytes() : 0);
  }

  void add_transfer(size_t from, size_t to, size_t bytes) {
    const size_t link = from * shared_->machine.devices.size() + to;
    const double seconds =
        bytes == 0 ? 0 : shared_->machine.transfer_seconds(static_cast<double>(bytes));
    steps_.push_back({&shared_->links[link], seconds, /*computes=*/false});
  }

  void run(size_t) override {
    const Step step = steps_[next_];
    if (step.computes) {
      check_inputs();
      write_outputs();
    }
    const auto length = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(step.seconds * shared_->scale));
    step.queue->free = std::max(step.queue->free, ready_) + length;
    std::this_thread::sleep_until(step.queue->free);
    step.queue->busy_ns += length.count();
    if (++next_ < steps_.size()) {
      submit();
    } else {
      sink_->complete({});
    }
  }

  void check_inputs() {
    if (!shared_->checks_inputs) return;
    for (size_t i = 0; i < io_->input_count(); ++i) {
      const auto value = shared_->values.find(model_.inputs()[i].name);
      if (value == shared_->values.end()) continue;
      const Tensor& given = io_->input(i);
      if (given.size_bytes() != value->second.size_bytes() ||
          std::memcmp(given.bytes(), value->second.bytes(), given.size_bytes()) != 0) {
        ++shared_->wrong_inputs;
      }
    }
  }

  void write_outputs() {
    for (size_t i = 0; i < io_->output_count(); ++i) {
      const Tensor& output = io_->output(i);
      const auto value = shared_->values.find(model_.outputs()[i].name);
      if (shared_->checks_inputs && value != shared_->values.end() &&
          value->second.size_bytes() == output.size_bytes()) {
        std::memcpy(output.bytes(), value->second.bytes(), output.size_bytes());
      }
      std::lock_guard lock(shared_->mutex);
      shared_->places[output.buffer().get()] = {output.buffer(), device_, {}};
    }
  }

  const CompiledModel& model_;
  const std::vector<ProfileRow>& rows_;  ///< of the compiled model
  const double seconds_;
  const size_t device_;
  Shared shared_;
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::vector<Step> steps_;
  size_t next_ = 0;
  Clock::time_point ready_;  ///< when the next step was queued
};

class SimulatedModel final : public CompiledModel {
 public:
  SimulatedModel(const CompiledModel& ports, std::vector<ProfileRow> rows, double seconds,
                 size_t device, Shared shared)
      : CompiledModel(ports.name(), ports.inputs(), ports.outputs()),
        rows_(std::move(rows)),
        seconds_(seconds),
        device_(device),
        shared_(std::move(shared)) {}

  Result<std::string> get_property(std::string_view name) const override {
    if (name == "EXECUTION_DEVICES") return shared_->machine.devices[device_].name;
    // One runs while the next one's inputs come.
    if (name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::string("2");
    return error(StatusCode::NotFound, "simulated devices have no property {}", name);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override {
    return std::make_unique<SimulatedRequest>(*this, rows_, seconds_, device_, shared_);
  }

 private:
  const std::vector<ProfileRow> rows_;
  const double seconds_;
  const size_t device_;
  Shared shared_;
};

class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(size_t device, std::shared_ptr<Device> ref, Shared shared)
      : device_(device), ref_(std::move(ref)), shared_(std::move(shared)) {}

  std::string_view name() const override { return speed().name; }
  Result<std::string> get_property(std::string_view name) const override {
    return ref_->get_property(name);
  }
  std::vector<MemoryKind> direct_memory_kinds() const override {
    if (device_ == shared_->machine.home()) return {MemoryKind::Host};
    return {MemoryKind::Host, MemoryKind::OpenClBuffer};
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties&) const override {
    std::vector<NodeSupport> rows;
    for (const auto& node : model.nodes()) {
      const bool is_taken = takes(speed(), *node);
      rows.push_back({node->name(), node->qualified_type(), is_taken ? speed().name : "",
                      is_taken ? "" : "not on this simulated device"});
    }
    return rows;
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext*) override {
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    // The ports are REF's, which plans nothing.
    HET_ASSIGN(const auto ports, ref_->compile_model(*prepared, properties, nullptr));
    double seconds = 0;
    std::vector<ProfileRow> rows;
    for (const auto& node : prepared->nodes()) {
      if (!takes(speed(), *node)) {
        return error(StatusCode::NotSupported, "{} does not take '{}'", name(), node->name());
      }
      ProfileRow row{node->name(), ProfileStatus::Executed, node->op_type(), "simulated"};
      if (is_fused(*prepared, *node)) {
        row.status = ProfileStatus::OptimizedOut;
      } else {
        const double time = node_seconds(speed(), *prepared, *node);
        seconds += time;
        row.real_us = static_cast<int64_t>(1e6 * shared_->scale * time);
      }
      rows.push_back(std::move(row));
    }
    return std::make_shared<SimulatedModel>(*ports, std::move(rows), seconds, device_, shared_);
  }

 private:
  const SimulatedSpeed& speed() const { return shared_->machine.devices[device_]; }

  const size_t device_;
  std::shared_ptr<Device> ref_;
  Shared shared_;
};

Status fill_ramp(Tensor& tensor) {
  if (tensor.type() == ElementType::Float32) {
    int64_t i = 0;
    for (float& value : tensor.values<float>()) value = static_cast<float>(i++ % 251) / 250.0f;
  } else {
    std::memset(tensor.bytes(), 0, tensor.size_bytes());
  }
  return {};
}

}  // namespace

bool takes(const SimulatedSpeed& device, const Node& node) {
  if (device.lacks.contains(node.op_type())) return false;
  return !device.lacks.contains("depthwise") || !is_depthwise(node);
}

bool is_fused(const Model& model, const Node& node) {
  static const char* const kTypes[] = {"Relu",      "Clip",  "LeakyRelu",
                                       "HardSwish", "PRelu", "BatchNormalization"};
  if (std::ranges::none_of(kTypes, [&](const char* type) { return node.op_type() == type; })) {
    return false;
  }
  const Value* const input = node.input(0);
  if (input == nullptr || input->producer() == nullptr || input->consumers().size() != 1) {
    return false;
  }
  const bool leaves = std::ranges::any_of(
      model.outputs(), [&](const ModelOutput& output) { return output.value == input; });
  return !leaves && (is_convolution(*input->producer()) || is_fused(model, *input->producer()));
}

double node_seconds(const SimulatedSpeed& device, const Model& model, const Node& node) {
  if (is_fused(model, node)) return 0;
  if (is_view(node)) return device.start;
  double bytes = 0;
  for (const Value* value : node.inputs()) bytes += bytes_of(value);
  for (const Value* value : node.outputs()) bytes += bytes_of(value);
  double seconds = bytes / device.bytes;
  const double outputs = elements_of(node.output());
  if (is_convolution(node) && weights_of(node) != nullptr) {
    const Shape& weights = weights_of(node)->desc().shape;
    const double window =
        elements_of(weights_of(node)) / static_cast<double>(std::max<int64_t>(1, weights[0]));
    const double points = node.op_type() == "ConvTranspose" ? elements_of(node.input(0)) : outputs;
    const double flops = 2.0 * points * window;
    seconds =
        std::max(seconds, flops / (is_depthwise(node) ? device.depthwise : device.convolution));
  } else if (node.op_type() == "MatMul" || node.op_type() == "Gemm") {
    const Shape& shape = node.input(0)->desc().shape;
    const double depth = shape.empty() ? 1.0 : static_cast<double>(shape.back());
    seconds = std::max(seconds, 2.0 * outputs * depth / device.product);
  }
  return device.start + seconds;
}

Result<Shared> make_simulation(Core& core, const SimulatedMachine& machine, const Model& prepared,
                               double scale) {
  auto shared = std::make_shared<Simulation>();
  shared->machine = machine;
  shared->scale = scale;
  const size_t devices = machine.devices.size();
  // Sleeping threads wake when they asked to, not up to 50 us later.
  const auto on_time = [](size_t) { prctl(PR_SET_TIMERSLACK, 1UL); };
  for (const SimulatedSpeed& device : machine.devices) {
    HET_ASSIGN(shared->devices.emplace_back().thread,
               StreamExecutor::create({1, device.name, on_time}));
  }
  for (size_t link = 0; link < devices * devices; ++link) {
    HET_ASSIGN(shared->links.emplace_back().thread, StreamExecutor::create({1, "link", on_time}));
  }
  // "z": of the two nodes that HETERO measures transfers with
  // (hetero/placement/device_profile.cpp).
  shared->results.insert("z");
  for (const ModelOutput& output : prepared.outputs()) {
    shared->results.insert(output.name);
    shared->results.insert(output.value->name());
  }
  const std::unique_ptr<Model> all = prepared.clone();
  std::set<const Value*> known;
  for (const ModelOutput& output : all->outputs()) known.insert(output.value);
  for (const auto& value : all->values()) {
    if (value->producer() == nullptr || value->is_constant() || known.contains(value.get()))
      continue;
    if (value->desc().is_static()) all->add_output(value->name(), value.get());
  }
  HET_ASSIGN(const auto compiled,
             core.compile_model(*all, "CPU", {{"INFERENCE_PRECISION_HINT", "f32"}}));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  for (size_t i = 0; i < compiled->inputs().size(); ++i) {
    HET_ASSIGN(Tensor input, Tensor::allocate(compiled->inputs()[i].desc));
    HET_TRY(fill_ramp(input));
    shared->values[compiled->inputs()[i].name] = input;
    HET_TRY(request->set_input(i, std::move(input)));
  }
  HET_TRY(request->infer());
  for (size_t i = 0; i < compiled->outputs().size(); ++i) {
    HET_ASSIGN(shared->values[compiled->outputs()[i].name], request->output(i).clone());
  }
  for (size_t i = 0; i < prepared.outputs().size(); ++i) {
    shared->values[prepared.outputs()[i].value->name()] =
        shared->values[compiled->outputs()[i].name];
  }
  return shared;
}

void add_simulated_devices(Core& core, const Shared& shared) {
  for (size_t d = 0; d < shared->machine.devices.size(); ++d) {
    core.devices().add(
        shared->machine.devices[d].name,
        [d, shared](Core& owner, std::string_view) -> Result<std::shared_ptr<Device>> {
          HET_ASSIGN(std::shared_ptr<Device> ref, owner.devices().get(owner, "REF"));
          return std::make_shared<SimulatedDevice>(d, std::move(ref), shared);
        },
        [] { return std::vector<std::string>{""}; });
  }
}

}  // namespace het::hetero
