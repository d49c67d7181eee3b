#include "inference/requests/stateful_model.h"

#include <algorithm>
#include <utility>

#include "inference/requests/nested_request.h"

namespace het {
namespace {

std::vector<Port> without_last(const std::vector<Port>& ports, size_t count) {
  return {ports.begin(), ports.end() - static_cast<std::ptrdiff_t>(count)};
}

size_t input_count(const std::vector<StatePorts>& variables) {
  size_t count = 0;
  for (const StatePorts& variable : variables) count += variable.is_set_input ? 2 : 1;
  return count;
}

size_t output_count(const std::vector<StatePorts>& variables) {
  return static_cast<size_t>(std::ranges::count_if(
      variables, [](const StatePorts& variable) { return variable.output.has_value(); }));
}

/// What the value input gets while the variable is not set. Next to a first value of the model's
/// own it only has to broadcast against that; else OpenVINO's rule holds: zeros, and nothing along
/// unknown dimensions.
Result<Tensor> unset_value(const StatePorts& variable) {
  TensorDesc desc = variable.desc;
  for (int64_t& dim : desc.shape) {
    if (dim == kUnknownDim) dim = variable.is_set_input ? 1 : 0;
  }
  HET_ASSIGN(Tensor zeros, Tensor::allocate(desc));
  std::fill_n(zeros.bytes(), zeros.size_bytes(), std::byte{0});
  return zeros;
}

}  // namespace

/// Waits for the turn of its stream, then runs on a request of the inner model.
class StatefulRequest final : public DeviceRequest, private CompletionSink {
 public:
  StatefulRequest(StatefulCompiledModel& model, std::unique_ptr<NestedRequest> nested)
      : model_(model), nested_(std::move(nested)) {}

  void start(RequestIo& io, CompletionSink& sink) override {
    io_ = &io;
    sink_ = &sink;
    model_.enqueue(*this);
  }

  void cancel() override {
    if (!model_.withdraw(*this)) return nested_->cancel();
    end(error(StatusCode::Cancelled, "the request of model '{}' was cancelled before it started",
              model_.name()));
  }

  std::vector<ProfileRow> profiling() const override { return nested_->request().profiling(); }

 private:
  friend class StatefulCompiledModel;

  /// Its turn: `values` is what the stream's variables hold (empty: unset).
  void run(const std::vector<Tensor>& values, const std::vector<Tensor>& spares) {
    Status status = bind(values, spares);
    if (!status.ok()) return complete(std::move(status));
    nested_->start(*io_, *this);
  }

  Status bind(const std::vector<Tensor>& values, const std::vector<Tensor>& spares) {
    InferRequest& request = nested_->request();
    for (size_t i = 0; i < model_.variables_.size(); ++i) {
      const StatePorts& variable = model_.variables_[i];
      const bool is_set = !values[i].empty();
      Tensor value = values[i];
      if (!is_set) {
        HET_ASSIGN(value, unset_value(variable));
      }
      HET_TRY(request.set_input(variable.value_input, std::move(value)));
      if (variable.is_set_input)
        HET_TRY(request.set_input(*variable.is_set_input, Tensor::scalar<bool>(is_set)));
      if (variable.output) HET_TRY(bind_output(*variable.output, spares[i]));
    }
    return {};
  }

  /// A result never goes where the value it is made from lies. Without a fixed shape it is copied
  /// out afterwards.
  Status bind_output(size_t port, Tensor spare) {
    const TensorDesc& desc = model_.inner_->outputs()[port].desc;
    if (!desc.is_static()) return {};
    if (spare.empty()) {
      HET_ASSIGN(spare, model_.inner_->allocate_tensor(desc));
    }
    return nested_->request().set_output(port, std::move(spare));
  }

  void complete(Status status) override {
    Result<std::vector<Tensor>> results = std::vector<Tensor>();
    if (status.ok()) results = collect_results();
    if (!results) status = Status(results.error());
    model_.finish(*this, status.ok() ? &*results : nullptr);
    end(std::move(status));
  }

  /// One per variable; empty where nothing assigns it.
  Result<std::vector<Tensor>> collect_results() const {
    std::vector<Tensor> results(model_.variables_.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const std::optional<size_t>& port = model_.variables_[i].output;
      if (!port) continue;
      results[i] = nested_->request().output(*port);
      if (model_.inner_->outputs()[*port].desc.is_static()) continue;
      HET_ASSIGN(results[i], results[i].clone());
    }
    return results;
  }

  void end(Status status) {
    // The outer request may start again, or end its life, as soon as it is complete.
    CompletionSink* const sink = sink_;
    sink->complete(std::move(status));
  }

  StatefulCompiledModel& model_;
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::string stream_;  ///< of the current execution
  uint64_t epoch_ = 0;  ///< of its start
  std::unique_ptr<NestedRequest> nested_;
};

StatefulCompiledModel::StatefulCompiledModel(std::shared_ptr<CompiledModel> inner,
                                             std::vector<StatePorts> variables)
    : CompiledModel(inner->name(), without_last(inner->inputs(), input_count(variables)),
                    without_last(inner->outputs(), output_count(variables))),
      inner_(std::move(inner)),
      variables_(std::move(variables)) {}

Result<std::string> StatefulCompiledModel::get_property(std::string_view name) const {
  return inner_->get_property(name);
}

Status StatefulCompiledModel::set_property(const Properties& properties) {
  return inner_->set_property(properties);
}

Result<Tensor> StatefulCompiledModel::allocate_tensor(const TensorDesc& desc) {
  return inner_->allocate_tensor(desc);
}

std::vector<SubgraphInfo> StatefulCompiledModel::subgraphs() const {
  return inner_->subgraphs();
}

std::vector<DeviceEvent> StatefulCompiledModel::device_events(uint64_t& next) const {
  return inner_->device_events(next);
}

Result<std::unique_ptr<DeviceRequest>> StatefulCompiledModel::create_device_request() {
  HET_ASSIGN(std::unique_ptr<NestedRequest> nested, NestedRequest::create(inner_));
  return std::make_unique<StatefulRequest>(*this, std::move(nested));
}

Result<std::vector<StateVariable>> StatefulCompiledModel::query_state(
    std::string_view stream) const {
  std::vector<StateVariable> state;
  std::lock_guard lock(mutex_);
  const auto known = streams_.find(stream);
  if (known == streams_.end() || known->second.epoch != known->second.values_epoch) return state;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Tensor& value = known->second.values[i];
    if (value.empty()) continue;
    HET_ASSIGN(Tensor copy, value.clone());
    state.push_back({variables_[i].id, std::move(copy)});
  }
  return state;
}

Status StatefulCompiledModel::reset_state(std::string_view stream) {
  std::lock_guard lock(mutex_);
  const auto known = streams_.find(stream);
  if (known == streams_.end()) return {};
  if (known->second.running == nullptr) {
    streams_.erase(known);
  } else {
    ++known->second.epoch;
  }
  return {};
}

void StatefulCompiledModel::enqueue(StatefulRequest& request) {
  std::vector<Tensor> values;
  std::vector<Tensor> spares;
  bool too_many = false;
  {
    std::lock_guard lock(mutex_);
    request.stream_ = request.io_->stream();
    too_many = streams_.size() >= kMaxStreams && !streams_.contains(request.stream_);
    if (!too_many) {
      Stream& stream = streams_[request.stream_];
      request.epoch_ = stream.epoch;
      if (stream.running != nullptr) {
        stream.waiting.push_back(&request);
        return;
      }
      begin(stream, request, values, spares);
    }
  }
  if (!too_many) return request.run(values, spares);
  request.end(error(StatusCode::OutOfMemory,
                    "model '{}' keeps the state of {} streams already; reset_state() ends one",
                    name(), kMaxStreams));
}

void StatefulCompiledModel::begin(Stream& stream, StatefulRequest& request,
                                  std::vector<Tensor>& values, std::vector<Tensor>& spares) {
  stream.running = &request;
  if (stream.values.empty() || stream.values_epoch != request.epoch_) {
    stream.values.assign(variables_.size(), Tensor());
    stream.values_epoch = request.epoch_;
  }
  stream.spares.resize(variables_.size());
  values = stream.values;
  spares = stream.spares;
}

void StatefulCompiledModel::finish(StatefulRequest& request, const std::vector<Tensor>* results) {
  std::vector<Tensor> values;
  std::vector<Tensor> spares;
  StatefulRequest* next = nullptr;
  {
    std::lock_guard lock(mutex_);
    Stream& stream = streams_.find(request.stream_)->second;
    for (size_t i = 0; results != nullptr && i < results->size(); ++i) {
      if (!variables_[i].output) continue;
      Tensor old = std::exchange(stream.values[i], (*results)[i]);
      // Its memory takes the next result: nobody else has it.
      if (inner_->outputs()[*variables_[i].output].desc.is_static())
        stream.spares[i] = std::move(old);
    }
    stream.running = nullptr;
    if (!stream.waiting.empty()) {
      next = stream.waiting.front();
      stream.waiting.pop_front();
      begin(stream, *next, values, spares);
    }
  }
  if (next != nullptr) next->run(values, spares);
}

bool StatefulCompiledModel::withdraw(StatefulRequest& request) {
  std::lock_guard lock(mutex_);
  const auto stream = streams_.find(request.stream_);
  return stream != streams_.end() && std::erase(stream->second.waiting, &request) > 0;
}

}  // namespace het
