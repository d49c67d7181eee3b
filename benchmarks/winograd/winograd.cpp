// 3x3 convolutions of well-known models: oneDNN's direct algorithm beside every Winograd one, on
// one core. bench_winograd [f32|bf16|stride2] [THREADS [CHANNELSxSIZE[xOUT] ...]]; microseconds,
// the best of many runs with weights in the third-level cache; * marks what the static rule takes.
// With bf16 values lie channels last in bfloat16, with stride2 sizes are those of the results.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/products/winograd.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/tensors/buffer.h"

namespace het::cpu {
namespace {

struct Layer {
  int64_t ic, size, oc;  ///< size of the result
};

struct Kind {
  ElementType type = ElementType::Float32;
  int64_t stride = 1;
};

const std::vector<Layer> kLayers = {
    {64, 56, 64},    {128, 28, 128}, {256, 14, 256}, {512, 7, 512},  {64, 224, 64},
    {128, 112, 128}, {256, 56, 256}, {512, 28, 512}, {512, 14, 512}, {64, 56, 192},
    {96, 14, 208},   {160, 14, 320}, {64, 35, 96},   {32, 52, 32},   {16, 28, 32},
};

const std::vector<Layer> kStridedLayers = {
    {16, 160, 32},  {64, 80, 64},   {64, 80, 128},  {128, 40, 128}, {128, 40, 256},
    {128, 20, 256}, {256, 20, 256}, {256, 20, 512}, {32, 56, 64},   {64, 28, 128},
    {128, 28, 128}, {128, 14, 256}, {256, 14, 256}, {256, 7, 512},  {512, 7, 512},
};

Tensor random_tensor(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, 0.1f);
  Tensor tensor = *Tensor::allocate({ElementType::Float32, shape});
  for (float& value : tensor.values<float>()) value = normal(generator);
  return tensor;
}

ConvolutionSpec spec_of(const Layer& layer, Kind kind) {
  const ElementType type = kind.type;
  const int64_t size = layer.size * kind.stride;
  const Format format =
      type == ElementType::BFloat16 ? Format::ChannelsLast : preferred_blocked_format();
  ConvolutionSpec spec;
  spec.src = {type, {1, layer.ic, size, size}, Format::Plain};
  spec.dst = {type, {1, layer.oc, layer.size, layer.size}, Format::Plain};
  spec.src_format = format;
  spec.dst_format = format;
  spec.weights_type = type;
  spec.weights = {layer.oc, layer.ic, 3, 3};
  spec.bias_type = ElementType::Float32;
  spec.strides = {kind.stride, kind.stride};
  spec.dilations = {1, 1};
  spec.pads_begin = {1, 1};
  spec.pads_end = {2 - kind.stride, 2 - kind.stride};
  return spec;
}

Result<std::unique_ptr<Kernel>> make_direct(const ConvolutionSpec& spec, const Tensor& weights,
                                            const Tensor& bias) {
  using Source = PrimitiveOperand::Source;
  HET_ASSIGN(Primitive primitive, make_convolution(spec));
  ConvolutionSpec plain = spec;
  plain.weights_type = ElementType::Float32;
  HET_ASSIGN(auto packed,
             pack_constant(weights, plain_weights_desc(plain), *primitive.desc(DNNL_ARG_WEIGHTS)));
  const auto& bias_desc = *primitive.desc(DNNL_ARG_BIAS);
  HET_ASSIGN(auto added, pack_constant(bias, bias_desc, bias_desc));
  std::vector<PrimitiveOperand> operands = {
      {Source::Input, DNNL_ARG_SRC, 0, {}},
      {Source::Output, DNNL_ARG_DST, 0, {}},
      {Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)},
      {Source::Constant, DNNL_ARG_BIAS, 0, std::move(added)}};
  return make_primitive_kernel(std::move(primitive), std::move(operands));
}

/// In a model other layers ran in between: this drives weights and values out of the cores' own
/// caches.
void sweep_caches() {
  const auto per_thread = static_cast<size_t>(2 * second_level_bytes());
  const int team = team_size();
  static std::vector<char> content(per_thread * static_cast<size_t>(team), 1);
  parallel_for(team, 1, [&](int64_t begin, int64_t end) {
    for (auto k = per_thread * static_cast<size_t>(begin);
         k < per_thread * static_cast<size_t>(end); k += 64) {
      content[k] += 1;
    }
  });
}

/// Microseconds of the fastest of the runs that fit into a while.
double fastest(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kWhile = std::chrono::milliseconds(100);
  run();
  double best = 1e12;
  const auto end = Clock::now() + kWhile;
  for (int i = 0; i < 5 || Clock::now() < end; ++i) {
    sweep_caches();
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

double measure(const Kernel& kernel, Tensor& src, Tensor& dst) {
  const auto scratch = allocate_host_buffer(kernel.scratch_bytes());
  auto state = kernel.create_state();
  if (!scratch || !state) return 0.0;
  std::byte* inputs[] = {src.bytes()};
  std::byte* outputs[] = {dst.bytes()};
  KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  args.scratch = (*scratch)->host();
  return fastest([&] {
    if (!kernel.execute(args, state->get()).ok()) std::abort();
  });
}

Status measure_layer(const Layer& layer, Kind kind) {
  const ElementType type = kind.type;
  const ConvolutionSpec spec = spec_of(layer, kind);
  const Format format = *spec.dst_format;
  const Tensor plain = random_tensor(spec.src.shape, 1);
  const Tensor weights = random_tensor(spec.weights, 2);
  const Tensor bias = random_tensor({layer.oc}, 3);
  HET_ASSIGN(Tensor src, convert_constant(plain, {type, spec.src.shape, format}));
  HET_ASSIGN(Tensor dst,
             Tensor::allocate({type, {physical_count({type, spec.dst.shape, format})}}));
  HET_ASSIGN(const auto direct, make_direct(spec, weights, bias));
  const double base = measure(*direct, src, dst);
  fmt::print("{:>4} x {:>3} -> {:>3} {:>9.0f}", layer.ic, layer.size, layer.oc, base);
  const auto shape = winograd_shape(spec, block_of(preferred_blocked_format()));
  if (!shape) return error(StatusCode::InvalidArgument, "a layer needs whole blocks of channels");
  const auto chosen =
      choose_winograd(*shape, type == ElementType::BFloat16 ? bfloat16_speed() : 1.0);
  for (const int64_t m : {2, 4, 6}) {
    if (kind.stride == 2 && m == 6) continue;
    for (const bool late : {false, true}) {
      WinogradShape variant = *shape;
      variant.m = m;
      variant.late_weights = late;
      HET_ASSIGN(const auto kernel, make_winograd_kernel(variant, weights, bias, {}));
      const double time = measure(*kernel, src, dst);
      const bool taken = chosen && chosen->m == m && chosen->late_weights == late;
      fmt::print(" {:>7.0f} {:4.2f}{}", time, base / time, taken ? '*' : ' ');
    }
  }
  fmt::print("\n");
  std::fflush(stdout);
  return {};
}

int run(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  Kind kind;
  if (first == "f32" || first == "bf16" || first == "stride2") {
    if (first == "bf16") kind.type = ElementType::BFloat16;
    if (first == "stride2") kind.stride = 2;
    --argc;
    ++argv;
  }
  start_team(argc > 1 ? std::max(std::atoi(argv[1]), 1) : 1);
  std::vector<Layer> layers;
  for (int i = 2; i < argc; ++i) {
    Layer layer = {};
    const int fields = std::sscanf(argv[i], "%ldx%ldx%ld", &layer.ic, &layer.size, &layer.oc);
    if (fields < 2) {
      fmt::print(stderr, "'{}' is no layer; write 64x56 or 64x56x192\n", argv[i]);
      return 2;
    }
    if (fields == 2) layer.oc = layer.ic;
    layers.push_back(layer);
  }
  fmt::print("{:>17} {:>9}", "layer", "direct");
  for (const std::string_view name : {"F2", "F2 late", "F4", "F4 late", "F6", "F6 late"}) {
    if (kind.stride == 2 && name.starts_with("F6")) continue;
    fmt::print(" {:>7} gain ", name);
  }
  fmt::print("\n");
  if (layers.empty()) layers = kind.stride == 2 ? kStridedLayers : kLayers;
  for (const Layer& layer : layers) {
    const Status status = measure_layer(layer, kind);
    if (!status.ok()) {
      fmt::print(stderr, "{}\n", status.message());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace het::cpu

int main(int argc, char** argv) {
  return het::cpu::run(argc, argv);
}
