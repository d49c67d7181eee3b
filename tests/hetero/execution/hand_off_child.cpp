// Runs split models on CPU and GPU under the layer that counts bytes (tests/opencl_layer) and
// prints per model and frame what went between host and device. Usage: hand_off_child LAYER
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "devices/register_devices.h"
#include "tests/devices/device_testing.h"

namespace het::hetero {
namespace {

using device_testing::make_attributes;
using device_testing::ModelMaker;
using device_testing::random_tensor;

constexpr int kFrames = 4;

using Count = unsigned long long (*)(const char*);

/// "Sigmoid" and "Mul" run on GPU, everything else on CPU.
std::unique_ptr<Model> placed(ModelMaker& maker) {
  for (const auto& node : maker.model().nodes()) {
    const bool on_gpu = node->op_type() == "Sigmoid" || node->op_type() == "Mul";
    node->set_affinity(on_gpu ? "GPU" : "CPU");
  }
  return maker.model().clone();
}

/// CPU -> GPU -> CPU: 64 KiB there, 128 KiB back.
std::unique_ptr<Model> chain() {
  ModelMaker maker("chain");
  Value* x = maker.op("Relu", {maker.input({1, 16, 32, 32})});
  Value* y = maker.op("Sigmoid", {maker.op("Mul", {x, maker.random({2, 16, 1, 1})})});
  maker.output(maker.op("Tanh", {y}));
  return placed(maker);
}

/// One value of CPU for two parts on GPU that have nothing in common, whose results meet on CPU.
std::unique_ptr<Model> branches() {
  ModelMaker maker("fork");
  Value* x = maker.op("Relu", {maker.input({1, 16, 32, 32})});
  Value* y = maker.op("Mul", {x, maker.random({1, 16, 1, 1})});
  maker.output(maker.op("Add", {maker.op("Sigmoid", {x}), y}));
  return placed(maker);
}

/// GPU -> CPU -> GPU, and past CPU.
std::unique_ptr<Model> skip() {
  ModelMaker maker("skip");
  Value* x = maker.op("Sigmoid", {maker.op("Relu", {maker.input({1, 16, 32, 32})})});
  Value* y = maker.op("Mul", {maker.op("Tanh", {x}), x});
  maker.output(maker.op("Relu", {y}));
  return placed(maker);
}

/// The application's input and output are the GPU's.
std::unique_ptr<Model> ends() {
  ModelMaker maker("ends");
  Value* x = maker.op("Tanh", {maker.op("Sigmoid", {maker.input({1, 16, 32, 32})})});
  maker.output(maker.op("Mul", {x, maker.random({1, 16, 1, 1})}));
  return placed(maker);
}

Status run(const char* name, const Model& model, Count bytes) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const auto compiled, core->compile_model(model, "HETERO:CPU,GPU"));
  HET_ASSIGN(const auto wanted_model, core->compile_model(model, "REF"));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  HET_ASSIGN(const auto wanted, wanted_model->create_infer_request());
  for (int frame = 0; frame < kFrames; ++frame) {
    const Tensor input =
        random_tensor(compiled->inputs()[0].desc.shape, static_cast<unsigned>(frame));
    std::memcpy(request->input(0).bytes(), input.bytes(), input.size_bytes());
    HET_TRY(wanted->set_input(0, input));
    HET_TRY(wanted->infer());
    unsigned long long before[4];
    const char* const kinds[4] = {"written", "read", "copied", "mapped"};
    for (int k = 0; k < 4; ++k) before[k] = bytes(kinds[k]);
    HET_TRY(request->infer());
    std::printf("%s %d", name, frame);
    for (int k = 0; k < 4; ++k) std::printf(" %s %llu", kinds[k], bytes(kinds[k]) - before[k]);
    float worst = 0;
    for (int64_t i = 0; i < request->output(0).element_count(); ++i) {
      worst = std::max(worst, std::abs(request->output(0).data<float>()[i] -
                                       wanted->output(0).data<float>()[i]));
    }
    std::printf(worst < 1e-4f ? " right\n" : " wrong\n");
  }
  return {};
}

}  // namespace
}  // namespace het::hetero

int main(int, char** argv) {
  // The loader opens its layers at the first call.
  const std::shared_ptr<het::Core> core = het::core();
  (void)core->available_devices();
  void* const layer = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
  if (layer == nullptr) {
    // One that cannot be loaded at all is no reason to skip.
    if (dlopen(argv[1], RTLD_NOW) == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    std::printf("no layer\n");
    return 0;
  }
  using namespace het::hetero;
  const auto bytes = reinterpret_cast<Count>(dlsym(layer, "het_layer_bytes"));
  const std::pair<const char*, std::unique_ptr<het::Model>> models[] = {
      {"chain", chain()}, {"fork", branches()}, {"skip", skip()}, {"ends", ends()}};
  for (const auto& [name, model] : models) {
    const het::Status status = run(name, *model, bytes);
    if (status.ok()) continue;
    std::printf("%s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
