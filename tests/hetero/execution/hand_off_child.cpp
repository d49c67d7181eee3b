// Runs split models on CPU and GPU under the layer that counts bytes (tests/opencl_layer) and
// prints per model and frame what went between host and device. Usage: hand_off_child LAYER
// [lost|gone]
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

#include "devices/register_devices.h"
#include "tests/hetero/execution/hand_off_models.h"
#include "tests/hetero/wrapped_device.h"

namespace het::hetero {
namespace {

using device_testing::random_tensor;

constexpr unsigned kFrames = 4;
constexpr const char* kKinds[] = {"written", "read", "copied", "mapped"};

using Count = unsigned long long (*)(const char*);
using Requests = std::vector<std::unique_ptr<InferRequest>>;

struct Case {
  const char* name;
  std::unique_ptr<Model> model;
  /// The application's tensors for inputs and outputs, written in place for every frame.
  bool gives_tensors = false;
  /// ROIs of one picture for the batch; else tensors.
  std::vector<Rect> rois = {};
  size_t requests = 1;  ///< in flight at once, of one input
  float tolerance = 1e-4f;
  std::function<void(unsigned frame)> before_frame = {};
};

Image picture(unsigned seed) {
  Image image = *make_host_image(PixelFormat::NV12, 48, 40);
  const Tensor bytes = device_testing::random_bytes<uint8_t>({48 * 60}, seed);
  std::memcpy(image.planes[0].buffer->host(), bytes.bytes(), bytes.size_bytes());
  return image;
}

/// Memory as applications have it, that nobody made for the device.
Tensor from_application(const TensorDesc& desc) {
  return *Tensor::allocate(desc);
}

Status give_tensors(const Case& one, const CompiledModel& compiled, Requests& requests) {
  if (!one.gives_tensors) return {};
  const Tensor input = from_application(compiled.inputs()[0].desc);
  for (const auto& request : requests) {
    if (one.rois.empty()) HET_TRY(request->set_input(0, input));
    for (size_t i = 0; i < compiled.outputs().size(); ++i) {
      HET_TRY(request->set_output(i, from_application(compiled.outputs()[i].desc)));
    }
  }
  return {};
}

/// Requests without tensors of the application have one each.
Status fill(const Case& one, unsigned frame, InferRequest& request) {
  if (one.rois.empty()) {
    const Tensor input = random_tensor(request.input(0).shape(), frame);
    std::memcpy(request.input(0).bytes(), input.bytes(), input.size_bytes());
    return {};
  }
  const Image image = picture(frame);
  for (size_t b = 0; b < one.rois.size(); ++b) {
    HET_TRY(request.set_image(0, image, one.rois[b], b));
  }
  return {};
}

bool is_right(const InferRequest& request, const InferRequest& wanted, float tolerance) {
  for (size_t i = 0; i < request.compiled_model().outputs().size(); ++i) {
    const auto got = request.output(i).values<float>();
    const auto right = wanted.output(i).values<float>();
    for (size_t k = 0; k < right.size(); ++k) {
      // NaN is wrong, too.
      if (!(std::abs(got[k] - right[k]) <= tolerance)) return false;
    }
  }
  return true;
}

Status run(const Case& one, Core& core, const char* device, Count bytes) {
  HET_ASSIGN(const auto compiled, core.compile_model(*one.model, device));
  HET_ASSIGN(const auto wanted_model, core.compile_model(*one.model, "REF"));
  HET_ASSIGN(const auto wanted, wanted_model->create_infer_request());
  Requests requests;
  for (size_t i = 0; i < one.requests; ++i) {
    HET_ASSIGN(requests.emplace_back(), compiled->create_infer_request());
  }
  HET_TRY(give_tensors(one, *compiled, requests));
  for (unsigned frame = 0; frame < kFrames; ++frame) {
    HET_TRY(fill(one, frame, *wanted));
    HET_TRY(wanted->infer());
    for (const auto& request : requests) HET_TRY(fill(one, frame, *request));
    if (one.before_frame) one.before_frame(frame);
    unsigned long long before[4];
    for (int k = 0; k < 4; ++k) before[k] = bytes(kKinds[k]);
    for (const auto& request : requests) HET_TRY(request->start_async());
    for (const auto& request : requests) HET_TRY(request->wait());
    std::printf("%s %u", one.name, frame);
    for (int k = 0; k < 4; ++k) std::printf(" %s %llu", kKinds[k], bytes(kKinds[k]) - before[k]);
    const bool all_right = std::ranges::all_of(
        requests, [&](const auto& request) { return is_right(*request, *wanted, one.tolerance); });
    std::printf(all_right ? " right\n" : " wrong\n");
  }
  return {};
}

std::vector<Case> make_cases() {
  const auto of_pictures = [](int64_t batch) {
    auto model = shared_input({batch, 3, 32, 32});
    PreprocessDesc desc;
    desc.range_high = 1.0f;
    model->set_preprocess(0, desc);
    return model;
  };
  std::vector<Case> cases;
  cases.push_back({"chain", chain()});
  cases.push_back({"fork", branches()});
  cases.push_back({"skip", skip()});
  cases.push_back({"ends", ends()});
  cases.push_back({"ends-given", ends(), true});
  cases.push_back({"input", shared_input(plain_shape())});
  cases.push_back({"input-given", shared_input(plain_shape()), true});
  cases.push_back({"batch", shared_input(plain_shape(3)), true});
  cases.push_back({"flight", shared_input(plain_shape()), true, {}, 3});
  cases.push_back({"output", read_output()});
  cases.push_back({"output-given", read_output(), true});
  cases.push_back({"sent", sent_output()});
  cases.push_back({"sent-given", sent_output(), true});
  cases.push_back({"stays", stays()});
  cases.push_back({"halves", halves(), false, {}, 1, 5e-3f});
  cases.push_back({"picture", of_pictures(1), false, {{0, 0, 48, 40}}});
  cases.push_back({"rois", of_pictures(2), false, {{0, 0, 48, 40}, {4, 8, 20, 16}}});
  return cases;
}

std::shared_ptr<WrappedBehaviour> only(const char* type) {
  auto behaviour = std::make_shared<WrappedBehaviour>();
  behaviour->refuse = [type](const Model&, const Node& node) {
    return node.op_type() == type ? std::string() : fmt::format("only {} runs here", type);
  };
  return behaviour;
}

/// The second frame's "Tanh" fails on FAST, which loses its part to CPU. What runs on OTHER has
/// ended then and does not run again.
Status run_with_loss(const Case& one, size_t on_other, Count bytes) {
  Core core;
  register_devices(core);
  const auto fast = only("Tanh");
  const auto other = only("Relu");
  fast->outcome = [](size_t count) {
    return count == 0 ? Status() : Status(StatusCode::DeviceLost, "it is gone");
  };
  add_wrapped_device(core, "FAST", fast);
  add_wrapped_device(core, "OTHER", other);
  HET_TRY(run(one, core, "HETERO:FAST,OTHER,CPU,GPU", bytes));
  std::lock_guard lock(other->mutex);
  if (other->executions.size() == on_other) return {};
  return error(StatusCode::Internal, "{} executions of '{}' on OTHER instead of {}",
               other->executions.size(), one.name, on_other);
}

/// The GPU is gone from this launch of the second frame on (tests/opencl_layer/failing_layer).
Status run_without_gpu(Case one, const char* launch, Count bytes) {
  Core core;
  register_devices(core);
  one.before_frame = [launch](unsigned frame) {
    if (frame == 1) setenv("HET_LAYER_LOSE_DEVICE", launch, 1);
  };
  const Status status = run(one, core, "HETERO:GPU,CPU", bytes);
  unsetenv("HET_LAYER_LOSE_DEVICE");
  return status;
}

Status run_all(std::string_view how, Count bytes) {
  const std::shared_ptr<Core> core = het::core();
  if (how == "lost") {
    HET_TRY(run_with_loss({"input", shared_input(plain_shape(), "FAST"), true}, 0, bytes));
    HET_TRY(run_with_loss({"output", read_output("FAST"), true}, 0, bytes));
    return run_with_loss({"stays", stays("FAST", "OTHER"), true}, kFrames, bytes);
  }
  if (how == "gone") {
    HET_TRY(run_without_gpu({"input", shared_input(plain_shape()), true}, "2", bytes));
    HET_TRY(run_without_gpu({"output", read_output(), true}, "2", bytes));
    HET_TRY(run_without_gpu({"first", stays(), true}, "2", bytes));
    return run_without_gpu({"last", stays(), true}, "4", bytes);
  }
  for (const Case& one : make_cases()) {
    HET_TRY(run(one, *core, "HETERO:CPU,GPU", bytes).with_context(one.name));
  }
  return {};
}

}  // namespace
}  // namespace het::hetero

int main(int count, char** argv) {
  // The loader opens its layers at the first call.
  (void)het::core()->available_devices();
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
  const auto bytes = reinterpret_cast<het::hetero::Count>(dlsym(layer, "het_layer_bytes"));
  const het::Status status = het::hetero::run_all(count > 2 ? argv[2] : "", bytes);
  if (status.ok()) return 0;
  std::printf("%s\n", status.message().c_str());
  return 1;
}
