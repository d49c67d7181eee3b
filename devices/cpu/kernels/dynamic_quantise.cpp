
#include <algorithm>
#include <array>
#include <vector>

#include "devices/cpu/loops/byte_loops.h"
#include "devices/cpu/loops/range_loop.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/quantisation/quantization.h"

namespace het::cpu {
namespace {

constexpr int64_t kRangeGrain = 16 * 1024;

/// DynamicQuantizeLinear: bytes, their scale and their zero point.
class DynamicQuantiseKernel final : public Kernel {
 public:
  explicit DynamicQuantiseKernel(int64_t count)
      : count_(count), slots_(std::clamp<int64_t>(count / kRangeGrain, 1, team_size())) {}
  std::string_view implementation() const override { return "own_simd"; }
  size_t scratch_bytes() const override { return static_cast<size_t>(slots_) * sizeof(ValueRange); }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    auto* ranges = reinterpret_cast<ValueRange*>(args.scratch);
    std::fill_n(ranges, slots_, ValueRange());
    in_slots(slots_, count_, [&](int64_t slot, int64_t begin, int64_t end) {
      ranges[slot] = range_row(src + begin, static_cast<size_t>(end - begin));
    });
    ValueRange whole;
    for (int64_t slot = 0; slot < slots_; ++slot) {
      whole.lowest = std::min(whole.lowest, ranges[slot].lowest);
      whole.highest = std::max(whole.highest, ranges[slot].highest);
      whole.is_finite = whole.is_finite && ranges[slot].is_finite;
    }
    const DynamicScale scale = dynamic_scale(std::array{whole.lowest, whole.highest});
    *reinterpret_cast<float*>(args.outputs[1]) = scale.scale;
    *reinterpret_cast<uint8_t*>(args.outputs[2]) = scale.zero_point;
    auto* dst = reinterpret_cast<uint8_t*>(args.outputs[0]);
    const ByteScale bytes{scale.scale, static_cast<float>(scale.zero_point), false};
    parallel_for(count_, kRangeGrain, [&](int64_t begin, int64_t end) {
      if (whole.is_finite) {
        quantise_row(src + begin, bytes, static_cast<size_t>(end - begin), args.outputs[0] + begin);
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        dst[i] = saturate_quantized<uint8_t>(src[i] / scale.scale, scale.zero_point);
      }
    });
    return {};
  }

 private:
  int64_t count_;
  int64_t slots_;
};

/// Where values lie that may be quantised one by one: as they come, but not in blocks, whose
/// padding would not stay zero. Convolutions read bytes with the channels last.
Format format_of_bytes(PlanBuilder& builder, const Node& node) {
  const Format home = builder.home(*node.input(0)).format;
  if (!is_blocked(home)) return home;
  const bool is_convolved = std::ranges::any_of(
      node.output()->consumers(),
      [](const Node* consumer) { return consumer->op_type() == "ConvInteger"; });
  return is_convolved ? Format::ChannelsLast : Format::Plain;
}

Result<bool> plan_dynamic_quantise(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const int64_t count = element_count(src.desc().shape);
  if (src.desc().type != ElementType::Float32 || count == 0 ||
      std::ranges::any_of(node.outputs(), [](const Value* value) { return value == nullptr; })) {
    return false;
  }
  const Format format = format_of_bytes(builder, node);
  HET_ASSIGN(const TensorId in, builder.read(src, format, ElementType::Float32));
  std::vector<TensorId> outputs;
  for (const Value* output : node.outputs()) {
    outputs.push_back(builder.write(*output, {output->desc().type, output->desc().shape,
                                              outputs.empty() ? format : Format::Plain}));
  }
  builder.add_step(node, std::make_unique<DynamicQuantiseKernel>(count), {in}, std::move(outputs));
  return true;
}

}  // namespace

HET_REGISTRATION void register_dynamic_quantise(KernelRegistry& registry) {
  registry.add("", "DynamicQuantizeLinear", plan_dynamic_quantise);
}

}  // namespace het::cpu
