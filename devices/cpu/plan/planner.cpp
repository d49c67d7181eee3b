#include "devices/cpu/plan/planner.h"

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <new>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/fastest_of.h"
#include "devices/cpu/plan/fuse.h"
#include "devices/cpu/plan/layer_measuring.h"
#include "devices/cpu/plan/precision_choice.h"
#include "devices/cpu/threads/subnormals.h"
#include "devices/cpu/threads/team.h"
#include "inference/base/log.h"

namespace het::cpu {
namespace {

Result<Plan> build(Model& model, const PlanOptions& options) {
  return PlanBuilder(model, options).build();
}

/// Fuses, chooses and plans; run once on a stream's thread.
class PlanJob final : public StreamJob {
 public:
  PlanJob(Model& model, const StreamSettings& settings, const Choosing& choosing)
      : model_(model), settings_(settings), choosing_(choosing) {}

  void run(size_t) override {
    // The waiting thread may destroy the job as soon as it has the result: this keeps the promise.
    const std::shared_ptr<std::promise<Result<PlannedModel>>> result = result_;
    result->set_value(plan_now());
  }
  /// oneDNN and the standard library throw; nothing may leave a stream's thread.
  Result<PlannedModel> plan_now() {
    try {
      return plan();
    } catch (const std::bad_alloc&) {
      return error(StatusCode::OutOfMemory, "no memory is left to plan the model");
    } catch (const std::exception& failure) {
      return error(StatusCode::Internal, "cannot plan the model: {}", failure.what());
    }
  }
  Result<PlannedModel> wait() { return result_->get_future().get(); }

 private:
  Result<PlannedModel> plan() {
    options_.precision = settings_.precision;
    options_.fast_algorithms = settings_.fast_algorithms;
    options_.int8 = settings_.int8;
    options_.blocked = preferred_blocked_format();
    options_.preferred_formats = rounds_to_levels(model_);
    options_.non_finite = choosing_.non_finite;
    if (choosing_.choices != nullptr) options_.choices = *choosing_.choices;
    if (options_.choices.count(std::string(kKeepsNonFinite)) > 0) {
      options_.non_finite = NonFinite::Kept;
    }
    HET_TRY(fuse(model_, options_.int8, options_.non_finite == NonFinite::Kept));
    if (choosing_.store == nullptr) return planned(model_, options_);
    end_ = MeasuringClock::now() + std::chrono::duration_cast<MeasuringClock::duration>(
                                       std::chrono::duration<double>(kMeasuringSeconds));
    if (settings_.precision_is_open && may_choose_precision(model_)) {
      Result<std::optional<PlannedModel>> narrow = choose_precision();
      if (narrow && *narrow) {
        options_.precision = ElementType::BFloat16;
        choose_algorithms();
        // What was measured has the fixed rules' algorithms.
        if (options_.choices.empty()) return std::move(**narrow);
        narrow = std::optional<PlannedModel>();
        return planned(model_, options_);
      }
      if (!narrow) {
        log(LogLevel::Debug, "the type of model '{}' could not be measured: {}", model_.name(),
            narrow.error().message());
      }
    }
    choose_algorithms();
    return planned(model_, options_);
  }

  void choose_algorithms() {
    std::unique_ptr<CoreLease> lease;
    options_.choices =
        choose_layers(model_, options_, *choosing_.store, end_, [&] { lease = begin_measuring(); });
  }

  /// The plan that stays. Those that are only measured do not touch packed weights.
  Result<PlannedModel> planned(Model& model, PlanOptions options) {
    PlannedModel result{.precision = options.precision, .choices = options.choices};
    options.packed = choosing_.packed != nullptr ? choosing_.packed : &result.packed;
    HET_ASSIGN(result.plan, build(model, options));
    return result;
  }

  /// The plan in bfloat16 where that was measured to be faster now. Else nothing: the precision is
  /// in the options, with the time that may still be spent.
  Result<std::optional<PlannedModel>> choose_precision() {
    const std::string key = choice_key(model_choice_key(model_));
    if (const auto stored = choosing_.store->find(key)) {
      if (stored->name == kBFloat16) options_.precision = ElementType::BFloat16;
      return std::optional<PlannedModel>();
    }
    const auto start = MeasuringClock::now();
    const std::unique_ptr<Model> wide_model = model_.clone();
    HET_ASSIGN(const Plan wide, build(*wide_model, options_));
    // The other plan takes as long again; where both take too long, nothing is left to measure in.
    const auto took = MeasuringClock::now() - start;
    if (start + 3 * took > end_) return std::optional<PlannedModel>();
    PlanOptions narrow_options = options_;
    narrow_options.precision = ElementType::BFloat16;
    const std::unique_ptr<Model> narrow_model = model_.clone();
    HET_ASSIGN(PlannedModel narrow, planned(*narrow_model, narrow_options));
    const std::unique_ptr<CoreLease> lease = begin_measuring();
    HET_ASSIGN(const auto choice, measure_precision(model_, wide, narrow.plan, end_));
    if (!choice) return std::optional<PlannedModel>();
    choosing_.store->add(key, *choice);
    if (choice->name != kBFloat16) return std::optional<PlannedModel>();
    return std::optional(std::move(narrow));
  }

  /// Cores for as long as the lease lives; the team runs where requests will run.
  std::unique_ptr<CoreLease> begin_measuring() {
    std::unique_ptr<CoreLease> lease;
    if (choosing_.budget != nullptr) {
      // With the one more that there is: beside a team of all cores nobody begins meanwhile.
      lease = std::make_unique<CoreLease>(*choosing_.budget, settings_.threads_per_stream + 1);
    }
    pin_team();
    return lease;
  }

  Model& model_;
  const StreamSettings& settings_;
  Choosing choosing_;
  PlanOptions options_;
  MeasuringClock::time_point end_;
  std::shared_ptr<std::promise<Result<PlannedModel>>> result_ =
      std::make_shared<std::promise<Result<PlannedModel>>>();
};

}  // namespace

Result<std::unique_ptr<StreamExecutor>> start_streams(const StreamSettings& settings) {
  StreamExecutorOptions options;
  options.streams = settings.streams;
  options.thread_name = "CPU";
  const auto teams = std::make_shared<std::vector<Team*>>(settings.streams);
  options.on_thread_start = [settings, teams](size_t stream) {
    if (settings.flush_subnormals) {
      // For the thread's life; the team's threads inherit it.
      thread_local const SubnormalsScope subnormals;
    }
    start_team(settings.places[stream]);
    (*teams)[stream] = own_team();
  };
  if (onednn_runs_on_teams() && !settings.own_threads_only) {
    options.as_guest = [settings, teams](size_t stream, const std::function<void()>& work) {
      Team& team = *(*teams)[stream];
      if (!is_pinned(team)) return false;
      std::optional<SubnormalsScope> subnormals;
      if (settings.flush_subnormals) subnormals.emplace();
      const GuestScope guest(team);
      work();
      return true;
    };
  }
  return StreamExecutor::create(options);
}

Result<PlannedModel> plan_on_stream(StreamExecutor& streams, Model& model,
                                    const StreamSettings& settings, const Choosing& choosing) {
  PlanJob job(model, settings, choosing);
  streams.submit(job);
  return job.wait();
}

Result<PlannedModel> plan_here(Model& model, const StreamSettings& settings,
                               const Choosing& choosing) {
  return PlanJob(model, settings, choosing).plan_now();
}

}  // namespace het::cpu
