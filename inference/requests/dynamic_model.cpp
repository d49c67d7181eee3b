#include "inference/requests/dynamic_model.h"

#include <algorithm>
#include <utility>

#include "inference/devices/ports.h"
#include "inference/passes/prepare_model.h"

namespace het {
namespace {

/// The shape that input `index` has in this execution.
Result<Shape> shape_of(const RequestIo& io, size_t index, const Port& port) {
  if (!io.images(index).empty()) {
    Shape shape = port.desc.shape;
    if (shape.size() == 4 && shape[0] == kUnknownDim)
      shape[0] = static_cast<int64_t>(io.images(index).size());
    if (is_static(shape)) return shape;
    return error(StatusCode::InvalidArgument,
                 "a picture cannot be put into input '{}' {}: its size is not known; bind it with "
                 "reshape before compile_model",
                 port.name, to_string(port.desc));
  }
  if (port.desc.is_static()) return port.desc.shape;
  if (io.input(index).empty())
    return error(StatusCode::InvalidArgument,
                 "input '{}' {} has no tensor yet; set one, it decides the unknown dimensions",
                 port.name, to_string(port.desc));
  return io.input(index).shape();
}

Result<std::vector<Shape>> shapes_of(const RequestIo& io, const std::vector<Port>& ports) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < ports.size(); ++i) {
    HET_ASSIGN(shapes.emplace_back(), shape_of(io, i, ports[i]));
  }
  return shapes;
}

/// Outputs with the types and shapes that can be told without the inputs' shapes.
Result<std::vector<Port>> unbound_output_ports(const Model& model) {
  const std::unique_ptr<Model> prepared = model.clone();
  HET_TRY(prepare_model_for_query(*prepared));
  return output_ports(*prepared);
}

Status check_support(const Model& model, const CompileTarget& target) {
  HET_ASSIGN(const std::vector<NodeSupport> rows,
             target.device->query_model(model, target.properties));
  std::string refused;
  for (const NodeSupport& row : rows) {
    if (!row.supported()) refused += "\n  " + row.reason;
  }
  if (refused.empty()) return {};
  return error(StatusCode::NotSupported, "nodes that cannot run:{}", refused);
}

/// Shapes may be many, and each would be a file of all weights.
void keep_weights_private(const Device& device, Properties& properties) {
  constexpr const char* kSharing = "WEIGHT_SHARING";
  for (auto& [name, value] : properties) {
    const auto single = split_member_property(name);
    if (single && single->name == kSharing) value = "NO";
  }
  // Or one that passes it on to its members.
  const bool takes_it = find_property(kSharing, device.name()).has_value() ||
                        find_property("DEVICE_PROPERTIES", device.name()).has_value();
  if (takes_it) properties[kSharing] = "NO";
}

Result<std::shared_ptr<CompiledModel>> compile_probe(const CompileTarget& target) {
  Model probe("probe");
  Value* input = probe.add_input("x", {ElementType::Float32, {1}});
  Node* node = probe.add_node("relu", "Relu", "", {input}, {"y"});
  probe.add_output("y", node->output());
  Properties properties = target.properties;
  keep_weights_private(*target.device, properties);
  return target.device->compile_model(probe, properties, target.context.get());
}

}  // namespace

/// Runs on the plan for the shapes of its inputs; waits on the planner's thread for a new one.
class DynamicRequest final : public DeviceRequest, private StreamJob, private CompletionSink {
 public:
  explicit DynamicRequest(DynamicCompiledModel& model) : model_(model) {}
  ~DynamicRequest() override { model_.events_.collect(); }

  void start(RequestIo& io, CompletionSink& sink) override {
    io_ = &io;
    sink_ = &sink;
    {
      std::lock_guard lock(control_->mutex);
      control_->cancelled = false;
    }
    Result<std::vector<Shape>> shapes = shapes_of(io, model_.inputs());
    if (!shapes) return sink.complete(Status(shapes.error()));
    wanted_ = std::move(*shapes);
    const auto known = std::ranges::find(bound_, wanted_, &Bound::shapes);
    if (known == bound_.end()) return model_.planner_->submit(*this);
    std::rotate(known, known + 1, bound_.end());
    start_bound();
  }

  void cancel() override {
    std::lock_guard lock(control_->mutex);
    control_->cancelled = true;
    if (control_->running != nullptr) control_->running->cancel();
  }

  std::vector<ProfileRow> profiling() const override {
    return bound_.empty() ? std::vector<ProfileRow>{}
                          : bound_.back().request->request().profiling();
  }

 private:
  struct Bound {
    std::vector<Shape> shapes;
    std::unique_ptr<NestedRequest> request;
  };
  /// Outlives this object for as long as a start() is on its way.
  struct Control {
    std::mutex mutex;  ///< protects the rest; held while cancelling, so before the request's own
    bool cancelled = false;
    NestedRequest* running = nullptr;
  };

  /// On the planner's thread.
  void run(size_t) override {
    Status status = bind();
    if (!status.ok()) {
      CompletionSink* const sink = sink_;
      return sink->complete(std::move(status));
    }
    start_bound();
  }

  Status bind() {
    if (is_cancelled()) {
      return error(StatusCode::Cancelled,
                   "the request of model '{}' was cancelled before it started", model_.name());
    }
    HET_ASSIGN(const std::shared_ptr<CompiledModel> plan, model_.plan_for(wanted_));
    HET_ASSIGN(std::unique_ptr<NestedRequest> request, NestedRequest::create(plan));
    if (bound_.size() == DynamicCompiledModel::kMaxShapesPerRequest) {
      model_.events_.collect();
      bound_.erase(bound_.begin());
    }
    bound_.push_back({wanted_, std::move(request)});
    return {};
  }

  void start_bound() {
    NestedRequest& request = *bound_.back().request;
    const std::shared_ptr<Control> control = control_;
    {
      std::lock_guard lock(control->mutex);
      control->running = &request;
    }
    request.start(*io_, *this);
    // The execution may have ended and this object with it. A cancel() that came before the start
    // found nothing to cancel; while `running` stands, the request lives.
    std::lock_guard lock(control->mutex);
    if (control->cancelled && control->running == &request) request.cancel();
  }

  void complete(Status status) override {
    {
      std::lock_guard lock(control_->mutex);
      control_->running = nullptr;
    }
    CompletionSink* const sink = sink_;
    sink->complete(std::move(status));
  }

  bool is_cancelled() const {
    std::lock_guard lock(control_->mutex);
    return control_->cancelled;
  }

  DynamicCompiledModel& model_;
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::vector<Shape> wanted_;
  std::vector<Bound> bound_;  ///< the one used last comes last
  std::shared_ptr<Control> control_ = std::make_shared<Control>();
};

Result<std::shared_ptr<CompiledModel>> DynamicCompiledModel::create(const Model& model,
                                                                    CompileTarget target) {
  HET_TRY(check_support(model, target));
  HET_ASSIGN(std::vector<Port> outputs, unbound_output_ports(model));
  HET_ASSIGN(std::shared_ptr<CompiledModel> probe, compile_probe(target));
  HET_ASSIGN(std::unique_ptr<StreamExecutor> planner,
             StreamExecutor::create({.streams = 1, .thread_name = "plan", .on_thread_start = {}}));
  return std::shared_ptr<CompiledModel>(new DynamicCompiledModel(
      model.clone(), std::move(outputs), std::move(target), std::move(probe), std::move(planner)));
}

DynamicCompiledModel::DynamicCompiledModel(std::unique_ptr<Model> model, std::vector<Port> outputs,
                                           CompileTarget target,
                                           std::shared_ptr<CompiledModel> probe,
                                           std::unique_ptr<StreamExecutor> planner)
    : CompiledModel(model->name(), input_ports(*model), std::move(outputs)),
      model_(std::move(model)),
      target_(std::move(target)),
      probe_(std::move(probe)),
      planner_(std::move(planner)) {
  events_.watch(probe_);
}

Result<std::string> DynamicCompiledModel::get_property(std::string_view name) const {
  if (name == "NETWORK_NAME") return this->name();
  return probe_->get_property(name);
}

std::vector<SubgraphInfo> DynamicCompiledModel::subgraphs() const {
  std::shared_ptr<CompiledModel> last;
  {
    std::lock_guard lock(mutex_);
    if (!plans_.empty()) last = plans_.back().model;
  }
  return last ? last->subgraphs() : std::vector<SubgraphInfo>();
}

std::vector<DeviceEvent> DynamicCompiledModel::device_events(uint64_t& next) const {
  return events_.since(next);
}

size_t DynamicCompiledModel::plan_count() const {
  std::lock_guard lock(mutex_);
  return plans_.size();
}

Result<std::unique_ptr<DeviceRequest>> DynamicCompiledModel::create_device_request() {
  return std::make_unique<DynamicRequest>(*this);
}

Result<std::shared_ptr<CompiledModel>> DynamicCompiledModel::plan_for(
    const std::vector<Shape>& shapes) {
  {
    std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(plans_, shapes, &Plan::shapes);
    if (known != plans_.end()) {
      std::rotate(known, known + 1, plans_.end());
      return plans_.back().model;
    }
  }
  const std::unique_ptr<Model> bound = model_->clone();
  std::map<std::string, Shape> names;
  for (size_t i = 0; i < shapes.size(); ++i) names[inputs()[i].name] = shapes[i];
  HET_TRY(bound->reshape(names));
  // An execution waits for this: nothing is measured, and results do not depend on the order in
  // which shapes arrive.
  Properties properties = target_.properties;
  properties["DETERMINISTIC"] = "YES";
  keep_weights_private(*target_.device, properties);
  HET_ASSIGN(std::shared_ptr<CompiledModel> plan,
             target_.device->compile_model(*bound, properties, target_.context.get()));
  events_.collect();
  events_.watch(plan);
  std::lock_guard lock(mutex_);
  if (plans_.size() == kMaxPlans) plans_.erase(plans_.begin());
  plans_.push_back({shapes, plan});
  return plan;
}

}  // namespace het
