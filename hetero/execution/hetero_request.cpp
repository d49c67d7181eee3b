#include "hetero/execution/hetero_request.h"

#include <utility>

namespace het::hetero {

Result<std::unique_ptr<HeteroRequest>> HeteroRequest::create(const HeteroCompiledModel& model) {
  std::unique_ptr<HeteroRequest> request(new HeteroRequest(model));
  HET_TRY(request->change_plan());
  return request;
}

HeteroRequest::HeteroRequest(const HeteroCompiledModel& model)
    : model_(model), fail_over_(model.fail_over()) {}

HeteroRequest::~HeteroRequest() = default;

Status HeteroRequest::change_plan() {
  while (true) {
    // The version first: a plan that comes between the two is taken twice, not missed.
    if (fail_over_ != nullptr) version_ = fail_over_->version();
    std::shared_ptr<const PlanMix> plan = model_.plan();
    std::string failed_device;
    auto executions = make_executions(*plan, failed_device);
    if (executions) {
      std::lock_guard lock(mutex_);
      plan_ = std::move(plan);
      executions_.swap(*executions);
      execution_ = executions_[0].get();
      return {};
    }
    const Status& cause = executions.error();
    if (fail_over_ == nullptr || failed_device.empty() || !blames_device(cause)) {
      return Failure(cause);
    }
    HET_TRY(fail_over_->lose(failed_device, version_, cause));
  }
}

Result<std::vector<std::unique_ptr<HeteroExecution>>> HeteroRequest::make_executions(
    const PlanMix& plan, std::string& failed_device) const {
  std::vector<std::unique_ptr<HeteroExecution>> executions;
  for (size_t way = 0; way < plan.ways().size(); ++way) {
    HET_ASSIGN(executions.emplace_back(),
               HeteroExecution::create(plan.ways()[way].plan, plan.gates(way), model_.inputs(),
                                       model_.outputs(), model_.transfers(), failed_device));
  }
  return executions;
}

void HeteroRequest::begin() {
  HeteroExecution* next = nullptr;
  uint64_t frame = 0;
  {
    std::lock_guard lock(mutex_);
    frame = plan_->begin();
    execution_ = executions_[plan_->way_of(frame)].get();
    next = execution_;
  }
  // Nothing of the request may be used after its end.
  next->start(*io_, *this, fail_over_ != nullptr, frame);
}

void HeteroRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  if (fail_over_ == nullptr) {
    begin();
    return;
  }
  fail_over_->look_after_plan();
  if (fail_over_->version() != version_) {
    fail_over_->submit(*this);
    return;
  }
  begin();
}

void HeteroRequest::cancel() {
  cancelled_ = true;
  std::lock_guard lock(mutex_);
  execution_->cancel();
}

void HeteroRequest::complete(Status status) {
  // An error that is no device's, of the host's memory say, would come again.
  if (status.ok() || fail_over_ == nullptr || cancelled_ || !blames_device(status) ||
      execution_->failed_device().empty()) {
    finish(std::move(status));
    return;
  }
  failure_ = std::move(status);
  fail_over_->submit(*this);
}

void HeteroRequest::run(size_t) {
  const Status failure = std::exchange(failure_, {});
  bool resumes = false;
  Status status;
  if (!failure.ok()) status = recover(failure, resumes);
  if (status.ok() && !resumes) status = change_plan();
  if (status.ok() && cancelled_) {
    status = error(StatusCode::Cancelled, "the execution was cancelled");
  }
  if (!status.ok()) return finish(std::move(status));
  if (resumes) return execution_->resume();
  begin();
}

Status HeteroRequest::recover(const Status& failure, bool& resumes) {
  // Whoever reads a picture whose memory is gone fails; no device is to blame.
  if (!execution_->can_read_pictures()) return failure;
  HET_TRY(fail_over_->lose(execution_->failed_device(), version_, failure));
  if (execution_->has_results()) {
    const Status replaced = replace_lost();
    resumes = replaced.ok();
    if (resumes || !execution_->can_restart()) return replaced;
  }
  execution_->return_pictures();
  return {};
}

Status HeteroRequest::replace_lost() {
  HeteroExecution::Requests requests;
  HET_ASSIGN(const FailOver::Substitutes models,
             fail_over_->substitutes(execution_->plan(), version_, execution_->left_over(),
                                     execution_->failed_device()));
  for (const auto& [subgraph, model] : models) {
    HET_ASSIGN(std::unique_ptr<InferRequest> request, model->create_infer_request());
    requests.emplace_back(subgraph, std::move(request));
  }
  // The old ones go after the lock.
  std::lock_guard lock(mutex_);
  return execution_->replace(requests);
}

void HeteroRequest::finish(Status status) {
  if (!status.ok()) execution_->drop_pictures();
  // The outer request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

}  // namespace het::hetero
