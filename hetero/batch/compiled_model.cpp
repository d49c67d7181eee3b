#include "hetero/batch/compiled_model.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "hetero/batch/request.h"
#include "inference/device_registry.h"
#include "inference/tensors/element_type.h"

namespace het::hetero {
namespace {

/// `cuts`: of outputs; empty for inputs, which are all cut along dimension 0.
Status check_ports(const std::vector<Port>& single, const std::vector<Port>& batched, size_t batch,
                   const std::vector<OutputCut>& cuts) {
  bool fits = single.size() == batched.size() && (cuts.empty() || cuts.size() == single.size());
  for (size_t i = 0; fits && i < single.size(); ++i) {
    if (!cuts.empty() && cuts[i].is_by_rows()) continue;
    TensorDesc wanted = single[i].desc;
    fits = wanted.is_static() && !wanted.shape.empty() && wanted.shape[0] == 1;
    if (fits) wanted.shape[0] = static_cast<int64_t>(batch);
    if (fits && batched[i].desc == wanted && byte_width(wanted.type) > 0) continue;
    return error(StatusCode::NotSupported, "port '{}' {} of the model with batch {} is {}",
                 single[i].name, to_string(single[i].desc), batch, to_string(batched[i].desc));
  }
  if (fits) return {};
  return error(StatusCode::InvalidArgument, "the model with batch {} has {} ports instead of {}",
               batch, batched.size(), single.size());
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> BatchCompiledModel::create(BatchParts parts) {
  HET_TRY(check_ports(parts.single->inputs(), parts.batched->inputs(), parts.batch, {}));
  HET_TRY(
      check_ports(parts.single->outputs(), parts.batched->outputs(), parts.batch, parts.outputs));
  std::shared_ptr<BatchCompiledModel> model(new BatchCompiledModel(std::move(parts)));
  const auto timeout =
      std::chrono::milliseconds(property_integer(model->parts_.properties, "AUTO_BATCH_TIMEOUT"));
  HET_ASSIGN(model->collector_,
             DeadlineCollector::create({.batch = model->parts_.batch,
                                        .timeout = timeout,
                                        .thread_name = "batch",
                                        .receive = [raw = model.get()](auto items, HandOut cause) {
                                          raw->receive(items, cause);
                                        }}));
  return model;
}

BatchCompiledModel::BatchCompiledModel(BatchParts parts)
    : CompiledModel(parts.single->name(), parts.single->inputs(), parts.single->outputs()),
      parts_(std::move(parts)) {
  received_.reserve(parts_.batch);
}

Result<std::string> BatchCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, parts_.device));
  if (def->name == "OPTIMAL_BATCH_SIZE") return std::to_string(parts_.batch);
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(parts_.device);
  if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(parts_.device).arguments;
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    HET_ASSIGN(const std::string text, parts_.batched->get_property(def->name));
    size_t batches = 1;
    std::from_chars(text.data(), text.data() + text.size(), batches);
    return std::to_string(parts_.batch * std::max<size_t>(batches, 1));
  }
  if (def->name == "AUTO_BATCH_TIMEOUT") {
    const auto timeout = std::chrono::floor<std::chrono::milliseconds>(collector_->timeout());
    return std::to_string(timeout.count());
  }
  // The inner device was given its part of it.
  if (def->name == "PERFORMANCE_HINT_NUM_REQUESTS") {
    return property_text(parts_.properties, def->name);
  }
  return parts_.batched->get_property(def->name);
}

Status BatchCompiledModel::set_property(const Properties& properties) {
  HET_ASSIGN(const Properties checked, validate_properties(properties, parts_.device));
  for (const auto& [name, value] : checked) {
    if (name != "AUTO_BATCH_TIMEOUT") return CompiledModel::set_property({{name, value}});
  }
  if (checked.empty()) return {};
  collector_->set_timeout(
      std::chrono::milliseconds(property_integer(checked, "AUTO_BATCH_TIMEOUT")));
  return {};
}

Result<Tensor> BatchCompiledModel::allocate_tensor(const TensorDesc& desc) {
  return parts_.single->allocate_tensor(desc);
}

Result<std::unique_ptr<DeviceRequest>> BatchCompiledModel::create_device_request() {
  HET_ASSIGN(std::unique_ptr<NestedRequest> alone, NestedRequest::create(parts_.single));
  std::lock_guard lock(making_);
  HET_ASSIGN(const std::shared_ptr<BatchPlace> place, take_place());
  HET_TRY(add_runs());
  ++request_count_;
  return std::make_unique<BatchRequest>(*this, place, std::move(alone));
}

void BatchCompiledModel::collect(BatchRequest& request, DeadlineCollector::Time deadline) {
  if (deadline != DeadlineCollector::Time::max()) deadline -= time_alone_.load();
  collector_->add(request, deadline);
}

/// The longest of late, which fades: what is too early costs a batch, what is too late a deadline.
void BatchCompiledModel::note_time_alone(std::chrono::nanoseconds time) {
  const std::chrono::nanoseconds known = time_alone_.load();
  time_alone_ = std::max(time, known - known / 64);
}

void BatchCompiledModel::forget_request() {
  std::lock_guard lock(making_);
  --request_count_;
}

Result<std::shared_ptr<BatchPlace>> BatchCompiledModel::take_place() {
  for (const auto& tensors : tensors_) {
    if (std::shared_ptr<BatchPlace> place = tensors->take_place()) return place;
  }
  HET_ASSIGN(tensors_.emplace_back(),
             BatchTensors::create(*parts_.batched, parts_.batch, parts_.outputs));
  return tensors_.back()->take_place();
}

Status BatchCompiledModel::add_runs() {
  const size_t wanted = (request_count_ + 1) / parts_.batch;
  while (runs_.size() < wanted) {
    HET_ASSIGN(std::unique_ptr<BatchRun> run,
               BatchRun::create(parts_.batched, {inputs(), outputs(), parts_.outputs, parts_.batch},
                                [this](BatchRun& done) {
                                  std::lock_guard lock(free_mutex_);
                                  free_runs_.push_back(&done);
                                }));
    std::lock_guard lock(free_mutex_);
    free_runs_.push_back(run.get());
    runs_.push_back(std::move(run));
    free_runs_.reserve(runs_.size());
  }
  return {};
}

void BatchCompiledModel::receive(std::span<CollectedItem* const> items, HandOut cause) {
  received_.clear();
  for (CollectedItem* item : items) received_.push_back(static_cast<BatchRequest*>(item));
  if (cause != HandOut::Full) {
    for (BatchRequest* request : received_) request->run_alone();
    return;
  }
  BatchRun* run = nullptr;
  {
    // There is one: those in use have `batch` requests each, and a run is free before any of its
    // requests is complete.
    std::lock_guard lock(free_mutex_);
    run = free_runs_.back();
    free_runs_.pop_back();
  }
  run->start(received_);
}

}  // namespace het::hetero
