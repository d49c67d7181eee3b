#include "devices/cpu/plan/layer_measuring.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "devices/cpu/threads/stack_phase.h"
#include "inference/base/log.h"
#include "inference/tensors/buffer.h"

namespace het::cpu {
namespace {

/// A candidate has to be this much faster than the fixed rule's to replace it: less may be chance.
constexpr double kClearGain = 0.95;
/// Layers with less work cost more to measure than they can gain.
constexpr double kLeastWork = 2e6;

/// In a model weights come from far memory, since all other layers ran in between: reading this
/// drives them out of the cores' own caches.
class CacheSweeper {
 public:
  CacheSweeper()
      : per_thread_(static_cast<size_t>(second_level_bytes())),
        content_(per_thread_ / sizeof(int) * static_cast<size_t>(team_size()), 1) {}

  void sweep() {
    const auto count = static_cast<int64_t>(content_.size());
    parallel_for(count, count / team_size(), [this](int64_t begin, int64_t end) {
      constexpr int64_t kLine = 64 / sizeof(int);
      for (int64_t i = begin; i < end; i += kLine) content_[static_cast<size_t>(i)] += 1;
    });
  }

 private:
  size_t per_thread_;
  std::vector<int> content_;
};

/// A kernel with memory of its own.
class MeasuredRun {
 public:
  static Result<std::unique_ptr<MeasuredRun>> create(MeasuredKernel made) {
    auto run = std::make_unique<MeasuredRun>();
    run->kernel_ = std::move(made.kernel);
    for (const TensorSpec& input : made.inputs) {
      HET_ASSIGN(run->buffers_.emplace_back(), allocate_host_buffer(size_bytes(input)));
      run->inputs_.push_back(run->buffers_.back()->host());
      std::memset(run->inputs_.back(), 0, size_bytes(input));
    }
    HET_ASSIGN(run->buffers_.emplace_back(), allocate_host_buffer(size_bytes(made.output)));
    run->output_ = run->buffers_.back()->host();
    HET_ASSIGN(run->buffers_.emplace_back(), allocate_host_buffer(run->kernel_->scratch_bytes()));
    run->scratch_ = run->buffers_.back()->host();
    HET_ASSIGN(run->state_, run->kernel_->create_state());
    return run;
  }

  Status execute() {
    KernelArgs args;
    args.inputs = inputs_.data();
    args.outputs = &output_;
    args.scratch = scratch_;
    return at_stack_phase([&] { return kernel_->execute(args, state_.get()); });
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<KernelState> state_;
  std::vector<BufferPtr> buffers_;
  std::vector<std::byte*> inputs_;
  std::byte* output_ = nullptr;
  std::byte* scratch_ = nullptr;
};

/// Nothing when the time is over.
Result<std::optional<MeasuredChoice>> measure(const LayerChoice& layer, CacheSweeper& sweeper,
                                              MeasuringClock::time_point end) {
  std::vector<std::unique_ptr<MeasuredRun>> made;
  std::vector<std::function<Status()>> runs;
  std::vector<std::string> names;
  for (const Candidate& candidate : layer.candidates) {
    if (MeasuringClock::now() > end) return std::optional<MeasuredChoice>();
    Result<MeasuredKernel> kernel = candidate.make();
    if (!kernel || kernel->kernel == nullptr) continue;  // not for this layer
    HET_ASSIGN(made.emplace_back(), MeasuredRun::create(std::move(*kernel)));
    names.push_back(candidate.name);
    runs.emplace_back([run = made.back().get()] { return run->execute(); });
  }
  if (runs.empty()) return std::optional<MeasuredChoice>();
  HET_ASSIGN(const auto times, fastest_us(
                                   runs, [&] { sweeper.sweep(); }, end));
  if (!times) return std::optional<MeasuredChoice>();
  MeasuredChoice choice;
  for (size_t i = 0; i < runs.size(); ++i) choice.times_us[names[i]] = (*times)[i];
  const auto fastest = std::ranges::min_element(*times) - times->begin();
  choice.name = names[static_cast<size_t>(fastest)];
  const auto rule = choice.times_us.find(layer.by_rule);
  if (rule != choice.times_us.end() &&
      (*times)[static_cast<size_t>(fastest)] > kClearGain * rule->second) {
    choice.name = layer.by_rule;
  }
  return std::optional(std::move(choice));
}

bool has_candidate(const LayerChoice& layer, const std::string& name) {
  return std::ranges::any_of(layer.candidates,
                             [&](const Candidate& candidate) { return candidate.name == name; });
}

}  // namespace

std::string choice_key(std::string_view what) {
  return fmt::format("{} threads:{}", what, team_size());
}

Result<Tensor> weights_for_measuring(const Shape& shape) {
  HET_ASSIGN(Tensor weights, Tensor::allocate({ElementType::Float32, shape}));
  std::ranges::fill(weights.values<float>(), 0.25f);
  return weights;
}

LayerChoices choose_layers(const Model& model, const PlanOptions& options, ChoiceStore& store,
                           MeasuringClock::time_point end, const std::function<void()>& begin) {
  LayerChoices chosen;
  std::map<std::string, LayerChoice> open;
  for (const auto& node : model.nodes()) {
    const AskChoice ask = kernel_registry().find_choices(node->domain(), node->op_type());
    if (ask == nullptr || !PlanBuilder::is_static(*node)) continue;
    std::optional<LayerChoice> layer = ask(*node, options);
    if (!layer || chosen.count(layer->key) > 0) continue;
    const auto stored = store.find(choice_key(layer->key));
    if (stored && has_candidate(*layer, stored->name)) {
      chosen.emplace(layer->key, stored->name);
    } else if (layer->work >= kLeastWork) {
      LayerChoice& known = open[layer->key];
      layer->work += known.work;
      known = std::move(*layer);
    }
  }
  std::vector<const LayerChoice*> order;
  for (const auto& [key, layer] : open) order.push_back(&layer);
  std::ranges::sort(order, std::greater<>(), &LayerChoice::work);
  std::optional<CacheSweeper> sweeper;
  for (const LayerChoice* layer : order) {
    if (MeasuringClock::now() > end) break;
    if (!sweeper) {
      begin();
      sweeper.emplace();
    }
    auto choice = measure(*layer, *sweeper, end);
    if (!choice) {
      log(LogLevel::Debug, "layer '{}' could not be measured: {}", layer->key,
          choice.error().message());
      continue;
    }
    if (!*choice) break;
    chosen[layer->key] = (*choice)->name;
    store.add(choice_key(layer->key), std::move(**choice));
  }
  return chosen;
}

}  // namespace het::cpu
