#include <algorithm>
#include <cstring>
#include <numeric>

#include "devices/cpu/moves/channel_gather.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

constexpr int64_t kConcatGrainBytes = 32 * 1024;

/// Copies `outer` runs of the inputs, one of each behind the other. With one run, inputs that lie
/// in place already cost nothing.
class RunConcat final : public Kernel {
 public:
  RunConcat(int64_t outer, std::vector<int64_t> run_bytes)
      : outer_(outer), run_bytes_(std::move(run_bytes)) {
    for (const int64_t bytes : run_bytes_) row_bytes_ += bytes;
  }

  std::string_view implementation() const override { return "own_copy"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    if (outer_ > 1) {
      copy_rows(args);
      return {};
    }
    int64_t offset = 0;
    for (size_t i = 0; i < run_bytes_.size(); ++i) {
      const int64_t bytes = run_bytes_[i];
      const std::byte* src = args.inputs[i];
      std::byte* dst = args.outputs[0] + offset;
      offset += bytes;
      if (src == dst) continue;
      parallel_for(bytes, kConcatGrainBytes, [&](int64_t begin, int64_t end) {
        std::memcpy(dst + begin, src + begin, static_cast<size_t>(end - begin));
      });
    }
    return {};
  }

 private:
  void copy_rows(const KernelArgs& args) const {
    parallel_for(outer_, std::max<int64_t>(kConcatGrainBytes / std::max<int64_t>(row_bytes_, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   std::byte* dst = args.outputs[0] + begin * row_bytes_;
                   for (int64_t o = begin; o < end; ++o) {
                     for (size_t i = 0; i < run_bytes_.size(); ++i) {
                       const int64_t bytes = run_bytes_[i];
                       std::memcpy(dst, args.inputs[i] + o * bytes, static_cast<size_t>(bytes));
                       dst += bytes;
                     }
                   }
                 });
  }

  int64_t outer_;
  std::vector<int64_t> run_bytes_;
  int64_t row_bytes_ = 0;
};

/// The format in which most of the inputs' elements are.
Format majority_format(PlanBuilder& builder, const Node& node) {
  std::vector<std::pair<Format, int64_t>> votes;
  for (const Value* input : node.inputs()) {
    const TensorSpec& spec = builder.home(*input);
    if (spec.shape.size() < 3) return Format::Plain;
    const auto vote = std::find_if(votes.begin(), votes.end(),
                                   [&](const auto& v) { return v.first == spec.format; });
    const int64_t count = element_count(spec.shape);
    if (vote == votes.end()) {
      votes.emplace_back(spec.format, count);
    } else {
      vote->second += count;
    }
  }
  const auto best = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best->first;
}

Result<bool> plan_concat(PlanBuilder& builder, const Node& node) {
  const Value& dst = *node.output();
  const ElementType type = builder.kept_type(dst);
  if (byte_width(type) == 0) return false;
  const auto rank = static_cast<int64_t>(dst.desc().shape.size());
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0), rank));
  Format format = majority_format(builder, node);
  std::vector<int64_t> channels;
  bool aligned = true;
  for (const Value* input : node.inputs()) {
    if (input == nullptr || input->desc().type != dst.desc().type) return false;
    if (axis != 1 || rank < 2) continue;
    channels.push_back(input->desc().shape[1]);
    if (input != node.inputs().back()) aligned &= channels.back() % block_of(format) == 0;
  }
  if (is_blocked(format) && !aligned && type != ElementType::Float32) {
    // oneDNN's bfloat16 kernels have the channels last.
    format = type == ElementType::BFloat16 ? Format::ChannelsLast : Format::Plain;
  }
  const TensorSpec out_spec{type, dst.desc().shape, format};
  std::vector<TensorId> inputs;
  for (const Value* input : node.inputs()) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*input, format, type));
  }
  const TensorId out = builder.write(dst, out_spec);
  if (is_blocked(format) && axis == 1 && !aligned) {
    // Every block of the output is put together from pieces.
    const ChannelSources sources{channels, out_spec};
    std::vector<int64_t> all(static_cast<size_t>(sources.count()));
    std::iota(all.begin(), all.end(), int64_t{0});
    builder.add_step(node, make_channel_gather(sources, all), std::move(inputs), {out});
    return true;
  }
  // Physical position of the axis.
  size_t position = static_cast<size_t>(axis);
  if (format == Format::ChannelsLast && axis >= 1) {
    position = axis == 1 ? static_cast<size_t>(rank - 1) : static_cast<size_t>(axis - 1);
  }
  const std::vector<int64_t> dims = physical_dims(out_spec);
  int64_t outer = 1;
  for (size_t d = 0; d < position; ++d) outer *= dims[d];
  std::vector<int64_t> runs;
  for (const TensorId id : inputs) {
    const auto bytes = static_cast<int64_t>(size_bytes(builder.tensor(id).spec));
    runs.push_back(outer == 0 ? 0 : bytes / outer);
  }
  Step& step = builder.add_step(node, std::make_unique<RunConcat>(outer, std::move(runs)),
                                std::move(inputs), {out});
  if (outer == 1) step.in_place = InPlace::Concat;
  return true;
}

}  // namespace

HET_REGISTRATION void register_concat(KernelRegistry& registry) {
  registry.add("", "Concat", plan_concat);
}

}  // namespace het::cpu
