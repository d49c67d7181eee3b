#include "hetero/multi/auto_compiled_model.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "hetero/members/optimal_requests.h"
#include "hetero/multi/compiled_model.h"
#include "inference/base/log.h"
#include "inference/device_registry.h"

namespace het::hetero {

class AutoCompiledModel::StandInJob final : public StreamJob {
 public:
  explicit StandInJob(AutoCompiledModel& owner) : owner_(owner) {}
  void run(size_t) override { owner_.stand_in(); }

 private:
  AutoCompiledModel& owner_;
};

Result<std::shared_ptr<CompiledModel>> AutoCompiledModel::create(AutoParts parts) {
  const AutoCandidate first = parts.current;
  std::shared_ptr<AutoCompiledModel> model(new AutoCompiledModel(std::move(parts)));
  AutoCompiledModel* const owner = model.get();
  FallBack fall_back = fall_back_of(model->properties_);
  fall_back.on_loss = [owner](const std::string& device, const Status& cause) {
    owner->lose(device, cause);
  };
  fall_back.on_return = [owner](const std::string& device) { owner->take_back(device); };
  HET_ASSIGN(model->dispatcher_, MultiDispatcher::create(std::move(fall_back)));
  HET_TRY(model->dispatcher_->add(first.name, model->model_,
                                  first.limit.value_or(optimal_requests(*model->model_))));
  HET_TRY(model->dispatcher_->set_order({{first.name, std::nullopt}}));
  if (model->source_ == nullptr) return model;
  HET_ASSIGN(model->compiler_, StreamExecutor::create({1, "auto", {}}));
  model->dispatcher_->set_has_substitute(true);
  if (!model->better_.empty()) model->compiler_->submit(*model);
  return model;
}

AutoCompiledModel::AutoCompiledModel(AutoParts parts)
    : CompiledModel(parts.model->name(), parts.model->inputs(), parts.model->outputs()),
      device_(std::move(parts.device)),
      properties_(std::move(parts.properties)),
      better_(std::move(parts.better)),
      others_(std::move(parts.others)),
      events_(std::move(parts.events)),
      current_(std::move(parts.current.name)),
      model_(std::move(parts.model)),
      is_settled_(better_.empty()),
      source_(std::move(parts.source)),
      stand_in_job_(std::make_unique<StandInJob>(*this)) {}

AutoCompiledModel::~AutoCompiledModel() {
  is_stopping_ = true;
}

void AutoCompiledModel::run(size_t) {
  for (const AutoCandidate& candidate : better_) {
    if (is_stopping_) return;
    const Status status = take_over(candidate);
    if (status.ok()) return;
    events_->add({candidate.name, status.message()});
  }
  std::lock_guard lock(mutex_);
  is_settled_ = true;
}

Status AutoCompiledModel::take_over(const AutoCandidate& candidate) {
  HET_ASSIGN(std::shared_ptr<CompiledModel> compiled,
             candidate.device->compile_model(*source_, candidate.properties, nullptr));
  HET_TRY(check_same_ports(*current_model(), *compiled));
  HET_TRY(dispatcher_->add(candidate.name, compiled,
                           candidate.limit.value_or(optimal_requests(*compiled))));
  HET_TRY(dispatcher_->set_order({{candidate.name, std::nullopt}}));
  std::string before;
  {
    std::lock_guard lock(mutex_);
    before = std::exchange(current_, candidate.name);
    if (lost_ == before) lost_.clear();
    model_.swap(compiled);
    is_settled_ = true;
  }
  compiled.reset();
  log(LogLevel::Info, "model '{}' runs on {} now", name(), candidate.name);
  dispatcher_->remove(before);
  return {};
}

void AutoCompiledModel::lose(const std::string& device, const Status& cause) {
  events_->add({device, cause.message()});
  {
    std::lock_guard lock(mutex_);
    // One that stood in itself, or that was left: the others go on.
    if (device != current_ || !lost_.empty()) return;
    lost_ = device;
  }
  if (compiler_ != nullptr) compiler_->submit(*stand_in_job_);
}

void AutoCompiledModel::take_back(const std::string& device) {
  events_->add({device, ""});
  {
    std::lock_guard lock(mutex_);
    if (device != lost_) return;
    lost_.clear();
    stand_in_.clear();
  }
  dispatcher_->set_has_substitute(compiler_ != nullptr);
  // It has been there before, so this does not fail.
  (void)dispatcher_->set_order({{device, std::nullopt}});
}

Result<std::shared_ptr<CompiledModel>> AutoCompiledModel::compiled_for(
    const AutoCandidate& candidate) {
  std::shared_ptr<CompiledModel>& known = stand_ins_[candidate.name];
  if (known != nullptr) return known;
  HET_ASSIGN(std::shared_ptr<CompiledModel> compiled,
             candidate.device->compile_model(*source_, candidate.properties, nullptr));
  HET_TRY(check_same_ports(*current_model(), *compiled));
  HET_TRY(dispatcher_->add(candidate.name, compiled,
                           candidate.limit.value_or(optimal_requests(*compiled))));
  known = std::move(compiled);
  return known;
}

void AutoCompiledModel::stand_in() {
  std::string lost;
  {
    std::lock_guard lock(mutex_);
    lost = lost_;
  }
  if (lost.empty()) return;
  for (const AutoCandidate& candidate : others_) {
    if (candidate.name == lost || is_stopping_) continue;
    const auto compiled = compiled_for(candidate);
    if (!compiled) {
      events_->add({candidate.name, compiled.error().message()});
      continue;
    }
    log(LogLevel::Info, "model '{}' runs on {} while {} is lost", name(), candidate.name, lost);
    // The lost one stays in the list, so that it is tried again.
    (void)dispatcher_->set_order({{lost, std::nullopt}, {candidate.name, std::nullopt}});
    std::unique_lock lock(mutex_);
    if (lost_ == lost) {
      stand_in_ = candidate.name;
      return;
    }
    lock.unlock();
    // It came back in the meantime.
    (void)dispatcher_->set_order({{lost, std::nullopt}});
    return;
  }
  dispatcher_->give_up();
}

std::shared_ptr<CompiledModel> AutoCompiledModel::current_model() const {
  std::lock_guard lock(mutex_);
  return model_;
}

size_t AutoCompiledModel::wanted_requests() const {
  size_t count = dispatcher_->limit();
  {
    std::lock_guard lock(mutex_);
    if (is_settled_) return count;
  }
  // Applications make their requests once: enough for the device that comes.
  const AutoCandidate& next = better_[0];
  if (next.limit) return std::max(count, *next.limit);
  size_t wanted = 0;
  if (const auto text = next.device->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")) {
    std::from_chars(text->data(), text->data() + text->size(), wanted);
  }
  return std::max(count, wanted);
}

Result<std::string> AutoCompiledModel::get_property(std::string_view name) const {
  if (const auto member = split_member_property(name)) return member_property(*member);
  HET_ASSIGN(const PropertyDef* def, find_property(name, device_));
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(device_);
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(device_).arguments;
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(wanted_requests());
  if (def->name == "EXECUTION_DEVICES") {
    std::lock_guard lock(mutex_);
    if (!stand_in_.empty()) return stand_in_;
    return is_settled_ ? current_ : fmt::format("({})", current_);
  }
  const auto given = properties_.find(std::string(def->name));
  if (given != properties_.end()) return given->second;
  if (auto value = current_model()->get_property(def->name)) return value;
  return property_text(properties_, def->name);
}

Result<std::string> AutoCompiledModel::member_property(const MemberProperty& property) const {
  std::shared_ptr<CompiledModel> model;
  {
    std::lock_guard lock(mutex_);
    if (current_ == property.device || parse_device_name(current_).kind == property.device) {
      model = model_;
    }
  }
  if (model != nullptr) return model->get_property(property.name);
  return error(StatusCode::NotFound, "model '{}' does not run on '{}'", this->name(),
               property.device);
}

Result<Tensor> AutoCompiledModel::allocate_tensor(const TensorDesc& desc) {
  return current_model()->allocate_tensor(desc);
}

Result<std::unique_ptr<DeviceRequest>> AutoCompiledModel::create_device_request() {
  return std::make_unique<MultiRequest>(*dispatcher_);
}

}  // namespace het::hetero
