#include "devices/cpu/cpu_request.h"

#include <cstring>
#include <optional>

#include "devices/cpu/threads/parallel.h"
#include "devices/cpu/threads/stack_phase.h"
#include "devices/cpu/threads/team.h"
#include "inference/base/probes.h"
#include "inference/devices/stopwatch.h"

namespace het::cpu {
namespace {

/// The stream's team for loops that the core has.
class TeamLoop final : public ParallelLoop {
 public:
  void run(int64_t count, int64_t grain, void (*body)(void* data, int64_t begin, int64_t end),
           void* data) const override {
    parallel_for(count, grain, [&](int64_t begin, int64_t end) { body(data, begin, end); });
  }
};
constexpr TeamLoop kTeamLoop;

bool is_dense_host(const Tensor& tensor) {
  return !tensor.empty() && tensor.bytes() != nullptr && tensor.is_dense();
}

}  // namespace

CpuRequest::CpuRequest(CpuCompiledModel& model)
    : model_(model),
      inputs_(model.inputs().size()),
      outputs_(model.outputs().size()),
      staged_inputs_(model.inputs().size()),
      staged_outputs_(model.outputs().size()) {}

void CpuRequest::begin(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_.store(false, std::memory_order_relaxed);
}

void CpuRequest::start(RequestIo& io, CompletionSink& sink) {
  begin(io, sink);
  model_.streams().submit(*this);
}

void CpuRequest::start_here(RequestIo& io, CompletionSink& sink) {
  begin(io, sink);
  // A thread with a team is a stream's.
  if (has_team() || !model_.streams().run_here(*this)) model_.streams().submit(*this);
}

void CpuRequest::run(size_t stream) {
  Status status;
  {
    const CoreLease lease = model_.lease_cores();
    status = execute(stream);
  }
  // The request may be started again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

Status CpuRequest::execute(size_t stream) {
  pin_team();
  const AtWorkScope at_work;
  const RunnablePlan* plan = &model_.plan();
  if (model_.profiled()) rows_ = plan->profile_rows();
  // Reading the thread's clock is a third of what a tiny model costs.
  std::optional<Stopwatch> watch;
  if (model_.profiled()) watch.emplace();
  HET_TRY(io_->preprocess_pending(model_.inputs(), &kTeamLoop));
  if (watch) watch->stop(rows_[0]);
  HET_TRY(bind_ports());
  PlanExecution* execution = &plan->execution(stream);
  HET_ASSIGN(Outcome outcome, run_plan(*plan, *execution));
  if (outcome == Outcome::NotFinite) {
    HET_ASSIGN(plan, model_.exact_plan());
    execution = &plan->execution(stream);
    if (model_.profiled()) {
      const ProfileRow preprocess = std::move(rows_[0]);
      rows_ = plan->profile_rows();
      rows_[0] = preprocess;
    }
    HET_ASSIGN(outcome, run_plan(*plan, *execution));
  }
  return deliver_outputs(plan->plan(), *execution);
}

Status CpuRequest::bind_ports() {
  for (size_t port = 0; port < inputs_.size(); ++port) {
    const Tensor& given = io_->input(port);
    if (is_dense_host(given)) {
      inputs_[port] = given.bytes();
      continue;
    }
    Tensor& staged = staged_inputs_[port];
    if (staged.empty()) {
      HET_ASSIGN(staged, Tensor::allocate(given.desc()));
    }
    HET_TRY(copy_tensor(given, staged));
    inputs_[port] = staged.bytes();
  }
  for (size_t port = 0; port < outputs_.size(); ++port) {
    const TensorDesc& desc = model_.outputs()[port].desc;
    if (!desc.is_static()) continue;
    const Tensor& given = io_->output(port);
    if (is_dense_host(given)) {
      outputs_[port] = given.bytes();
      continue;
    }
    Tensor& staged = staged_outputs_[port];
    if (staged.empty()) {
      HET_ASSIGN(staged, Tensor::allocate(desc));
    }
    outputs_[port] = staged.bytes();
  }
  return {};
}

Result<CpuRequest::Outcome> CpuRequest::run_plan(const RunnablePlan& plan,
                                                 PlanExecution& execution) {
  execution.bind(inputs_, outputs_);
  return at_stack_phase([&] { return run_steps(plan, execution); });
}

[[gnu::noinline]] Result<CpuRequest::Outcome> CpuRequest::run_steps(const RunnablePlan& plan,
                                                                    PlanExecution& execution) {
  const std::vector<Step>& steps = plan.plan().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (cancelled_.load(std::memory_order_relaxed)) {
      return error(StatusCode::Cancelled,
                   "the request of model '{}' was cancelled before node '{}'", model_.name(),
                   steps[i].node_name);
    }
    if (!execution.may_run_step(i)) return Outcome::NotFinite;
    Status status;
    {
      const NodeProbe probe(plan.step_names()[i]);
      if (model_.profiled()) {
        const Stopwatch watch;
        status = execution.run_step(i, &cancelled_);
        watch.stop(rows_[plan.step_rows()[i]]);
      } else {
        status = execution.run_step(i, &cancelled_);
      }
    }
    if (!status.ok()) {
      return Failure(status.with_context(fmt::format("model '{}', node '{}' ({})", model_.name(),
                                                     steps[i].node_name, steps[i].layer_type)));
    }
  }
  return Outcome::Done;
}

Status CpuRequest::deliver_outputs(const Plan& plan, const PlanExecution& execution) {
  for (size_t port = 0; port < plan.outputs.size(); ++port) {
    const TensorId id = plan.outputs[port];
    const PlanTensor& tensor = plan.tensors[static_cast<size_t>(id)];
    if (tensor.storage == Storage::Dynamic) {
      // A copy, since the result may be another output as well.
      HET_ASSIGN(Tensor copy, execution.dynamic(id).clone());
      io_->set_output(port, std::move(copy));
      continue;
    }
    const std::byte* made = execution.address(id);
    if (made != outputs_[port]) std::memcpy(outputs_[port], made, size_bytes(tensor.spec));
    if (!is_dense_host(io_->output(port))) {
      HET_TRY(copy_tensor(staged_outputs_[port], io_->output(port)));
    }
  }
  return {};
}

}  // namespace het::cpu
