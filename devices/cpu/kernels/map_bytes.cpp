#include <algorithm>
#include <array>

#include "devices/cpu/loops/byte_map_loop.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

constexpr int64_t kMapGrain = 64 * 1024;

class MapBytesKernel final : public Kernel {
 public:
  MapBytesKernel(const std::array<uint8_t, 256>& map, int64_t count) : map_(map), count_(count) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const uint8_t*>(args.inputs[0]);
    auto* dst = reinterpret_cast<uint8_t*>(args.outputs[0]);
    parallel_for(count_, kMapGrain, [&](int64_t begin, int64_t end) {
      map_byte_row(src + begin, map_.data(), static_cast<size_t>(end - begin), dst + begin);
    });
    return {};
  }

 private:
  std::array<uint8_t, 256> map_;
  int64_t count_;
};

/// het.MapBytes (passes/fusions/int8/map_bytes.cpp): bytes, and the byte that each becomes.
Result<bool> plan_map_bytes(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const TensorDesc& dst = node.output()->desc();
  std::array<uint8_t, 256> map;
  std::copy_n(node.input(1)->constant().data<uint8_t>(), map.size(), map.begin());
  // The padding of blocks would not stay zero.
  const Format home = builder.home(src).format;
  const Format format = is_blocked(home) ? Format::Plain : home;
  HET_ASSIGN(const TensorId in, builder.read(src, format, src.desc().type));
  const TensorId out = builder.write(*node.output(), {dst.type, dst.shape, format});
  Step& step = builder.add_step(
      node, std::make_unique<MapBytesKernel>(map, element_count(dst.shape)), {in}, {out});
  if (src.desc().type == dst.type) step.in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_map_bytes(KernelRegistry& registry) {
  registry.add("het", "MapBytes", plan_map_bytes);
}

}  // namespace het::cpu
