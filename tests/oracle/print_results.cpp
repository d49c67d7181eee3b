// What the CPU device makes of random cases of every operator and of small convolutions, products
// and pools of its own loops: print_results [CASES]. A line an output, so that builds can be
// compared; the first says for which instruction sets the loops were compiled.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "devices/cpu/loops/simd_target.h"
#include "devices/register_devices.h"
#include "inference/core.h"
#include "inference/requests/infer_request.h"
#include "tests/oracle/random_case.h"

namespace het::oracle {
namespace {

constexpr uint64_t kSeed = 1;

void print(const std::string& name, size_t output, const Tensor& tensor) {
  std::string line = fmt::format("{} {} {}", name, output, to_string(tensor.desc()));
  if (tensor.type() == ElementType::Float32 && tensor.is_dense()) {
    for (const float value : tensor.values<float>()) line += fmt::format(" {:.9g}", value);
  } else if (tensor.is_dense()) {
    for (size_t i = 0; i < tensor.size_bytes(); ++i) {
      line += fmt::format(" {}", static_cast<int>(tensor.bytes()[i]));
    }
  }
  std::puts(line.c_str());
}

/// Refusals are printed as well: builds refuse the same.
void run(Core& core, const std::string& name, const BuiltModel& built,
         const std::string& precision = "f32") {
  const auto compiled = core.compile_model(
      built.model, "CPU", {{"DETERMINISTIC", "YES"}, {"INFERENCE_PRECISION_HINT", precision}});
  if (!compiled) {
    fmt::print("{} refused: {}\n", name, compiled.error().message());
    return;
  }
  const auto request = (*compiled)->create_infer_request();
  if (!request) return;
  for (size_t i = 0; i < built.inputs.size(); ++i) {
    if (!(*request)->set_input(i, built.inputs[i]).ok()) return;
  }
  if (const Status status = (*request)->infer(); !status.ok()) {
    fmt::print("{} failed: {}\n", name, status.message());
    return;
  }
  for (size_t i = 0; i < (*compiled)->outputs().size(); ++i) {
    print(name, i, (*request)->output(i));
  }
}

Tensor noise(const Shape& shape, uint32_t& state) {
  Tensor tensor = *Tensor::allocate({ElementType::Float32, shape});
  for (float& value : tensor.values<float>()) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
  }
  return tensor;
}

struct Window {
  int64_t channels, results, side, kernel, stride, group;
};

/// Shapes that take the loops for whole groups of channels: Winograd, depthwise and 1x1.
constexpr Window kWindows[] = {
    {32, 32, 14, 3, 1, 1},  {32, 32, 15, 3, 1, 32}, {32, 32, 15, 3, 2, 32}, {32, 32, 15, 5, 1, 32},
    {48, 48, 16, 5, 2, 48}, {32, 32, 6, 3, 1, 32},  {24, 24, 9, 7, 1, 24},  {32, 64, 9, 1, 1, 1},
};

void run_windows(Core& core) {
  uint32_t state = 1;
  for (const Window& window : kWindows) {
    for (const char* precision : {"f32", "bf16"}) {
      BuiltModel built{Model("window"), {}};
      const Shape shape{2, window.channels, window.side, window.side};
      Value* x = built.model.add_input("x", {ElementType::Float32, shape});
      Value* w = built.model.add_constant(
          "w", noise({window.results, window.channels / window.group, window.kernel, window.kernel},
                     state));
      Value* b = built.model.add_constant("b", noise({window.results}, state));
      Attributes attributes;
      attributes.set("group", window.group);
      attributes.set("strides", std::vector<int64_t>(2, window.stride));
      attributes.set("pads", std::vector<int64_t>(4, window.kernel / 2));
      Value* y = built.model.add_node("conv", "Conv", "", {x, w, b}, {"y"}, std::move(attributes))
                     ->output();
      Value* z = built.model.add_node("relu", "Relu", "", {y}, {"z"})->output();
      built.model.add_output("z", z);
      built.inputs.push_back(noise(shape, state));
      const std::string name = fmt::format("window {}x{}/{} group {} {}", window.kernel,
                                           window.kernel, window.stride, window.group, precision);
      run(core, name, built, precision);
    }
  }
}

}  // namespace

int print_results(int cases) {
  fmt::print("loops {}\n", cpu::simd_target());
  const std::shared_ptr<Core> core = het::core();
  for (const Generator* generator : all_generators()) {
    for (int i = 0; i < cases; ++i) {
      const RandomCase random_case(*generator, Choices(kSeed + static_cast<uint64_t>(i)));
      run(*core, fmt::format("{} {}", generator->type, i), random_case.plain());
    }
  }
  run_windows(*core);
  return 0;
}

}  // namespace het::oracle

int main(int argc, char** argv) {
  return het::oracle::print_results(argc > 1 ? std::atoi(argv[1]) : 4);
}
