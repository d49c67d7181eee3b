#include "hetero/hetero_request.h"

#include <utility>

namespace het::hetero {
namespace {

/// Whether pictures that the host has to map are still there.
bool can_read(const std::vector<std::vector<ImageRegion>>& pictures) {
  for (const std::vector<ImageRegion>& regions : pictures) {
    for (const ImageRegion& region : regions) {
      for (int p = 0; p < region.image.plane_count; ++p) {
        Buffer& buffer = *region.image.planes[static_cast<size_t>(p)].buffer;
        if (buffer.host() != nullptr) continue;
        const auto mapped = buffer.map(MapAccess::Read);
        if (mapped) {
          buffer.unmap();
        } else if (blames_device(mapped.error())) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<HeteroRequest>> HeteroRequest::create(const HeteroCompiledModel& model) {
  std::unique_ptr<HeteroRequest> request(new HeteroRequest(model));
  HET_TRY(request->change_plan());
  return request;
}

HeteroRequest::HeteroRequest(const HeteroCompiledModel& model)
    : model_(model), fail_over_(model.fail_over()), images_(model.inputs().size()) {}

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
  for (const PlanWay& way : plan.ways()) {
    HET_ASSIGN(executions.emplace_back(),
               HeteroExecution::create(way.plan, model_.inputs(), model_.outputs(), failed_device));
  }
  return executions;
}

void HeteroRequest::begin() {
  HeteroExecution* next = nullptr;
  {
    std::lock_guard lock(mutex_);
    execution_ = executions_[plan_->next_way()].get();
    next = execution_;
  }
  // Nothing of the request may be used after its end.
  next->start(*io_, *this);
}

void HeteroRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  if (fail_over_ == nullptr) {
    begin();
    return;
  }
  for (size_t i = 0; i < images_.size(); ++i) images_[i] = io.images(i);
  fail_over_->retry_if_due();
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
  Status status;
  if (!failure.ok()) {
    // Whoever reads a picture whose memory is gone fails; no device is to blame.
    status = can_read(images_) ? fail_over_->lose(execution_->failed_device(), version_, failure)
                               : failure;
  }
  if (status.ok()) status = change_plan();
  if (status.ok() && cancelled_) {
    status = error(StatusCode::Cancelled, "the execution was cancelled");
  }
  if (!status.ok()) {
    finish(std::move(status));
    return;
  }
  for (size_t i = 0; i < images_.size(); ++i) {
    io_->clear_images(i);
    for (size_t b = 0; b < images_[i].size(); ++b) io_->set_image(i, b, images_[i][b]);
  }
  begin();
}

void HeteroRequest::finish(Status status) {
  for (auto& images : images_) images.clear();
  // The outer request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

}  // namespace het::hetero
