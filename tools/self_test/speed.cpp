#include "tools/self_test/speed.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "devices/register_devices.h"
#include "inference/machine/core_count.h"
#include "inference/machine/processor_limits.h"

namespace het::self_test {
namespace {

using SpeedClock = std::chrono::steady_clock;

constexpr double kLimitSeconds = 0.3;
constexpr double kWorkSeconds = 0.7;
/// Many short ones: the best inferences are short, too, where others use the machine.
constexpr double kChainSeconds = 0.01;
constexpr int kChainRepeats = 16;
constexpr size_t kMemoryBytes = size_t{256} << 20;
/// Work for about so long at the device's best: the launch of a kernel does not count beside it.
constexpr double kWantedSeconds = 5e-3;
constexpr int64_t kMostItems = 32;

struct Work {
  const char* name;
  const char* type;
  std::unique_ptr<Model> model;
  double multiply_adds;
};

Tensor ramp(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 31) / 64.0f - 0.2f;
  return Tensor::from<float>(shape, values);
}

/// `items` pictures of 128 channels and 56x56 pixels.
Work convolution_work(const char* name, int64_t side, int64_t items) {
  constexpr int64_t kChannels = 128;
  constexpr int64_t kPixels = 56;
  auto model = std::make_unique<Model>(name);
  Value* const x =
      model->add_input("x", {ElementType::Float32, {items, kChannels, kPixels, kPixels}});
  Value* const w = model->add_constant("w", ramp({kChannels, kChannels, side, side}));
  Attributes attributes;
  attributes.set("pads", std::vector<int64_t>(4, side / 2));
  model->add_output("y", model->add_node("work", "Conv", "", {x, w}, {"y"}, attributes)->output());
  const double each = static_cast<double>(kChannels * kChannels * side * side * kPixels * kPixels);
  return {name, "Conv", std::move(model), each * static_cast<double>(items)};
}

Work product_work(int64_t items) {
  constexpr int64_t kSide = 1024;
  constexpr int64_t kRows = 256;
  auto model = std::make_unique<Model>("matrix product");
  Value* const x = model->add_input("x", {ElementType::Float32, {items * kRows, kSide}});
  Value* const w = model->add_constant("w", ramp({kSide, kSide}));
  model->add_output("y", model->add_node("work", "MatMul", "", {x, w}, {"y"})->output());
  return {"matrix product", "MatMul", std::move(model),
          static_cast<double>(items * kRows * kSide * kSide)};
}

/// The fastest of the executions that fit into a while.
struct WorkTime {
  double inference_us = 0.0;
  double kernel_us = 0.0;  ///< of the rows of the work's type; 0 where the device tells none
};

Result<WorkTime> time_of(Core& core, const Model& model, const std::string& device,
                         const std::string& type) {
  Properties properties;
  const auto prefer = [&](const char* name, const char* value) {
    if (core.get_property(device, name)) properties[name] = value;
  };
  prefer("NUM_STREAMS", "1");
  if (!type.empty()) prefer("PERF_COUNT", "YES");
  const auto types = core.get_property(device, "OPTIMIZATION_CAPABILITIES");
  if (types && types->find("FP32") != std::string::npos) prefer("INFERENCE_PRECISION_HINT", "f32");
  HET_ASSIGN(const auto compiled, core.compile_model(model, device, properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  HET_TRY(request->set_input(0, ramp(compiled->inputs()[0].desc.shape)));
  HET_TRY(request->infer());
  WorkTime best{1e12, 1e12};
  const auto end = SpeedClock::now() + std::chrono::duration<double>(kWorkSeconds);
  for (int i = 0; i < 3 || SpeedClock::now() < end; ++i) {
    const auto start = SpeedClock::now();
    HET_TRY(request->infer());
    const std::chrono::duration<double, std::micro> took = SpeedClock::now() - start;
    best.inference_us = std::min(best.inference_us, took.count());
    double kernel = 0.0;
    for (const ProfileRow& row : request->profiling()) {
      if (row.status == ProfileStatus::Executed && row.layer_type == type) {
        kernel += static_cast<double>(row.real_us);
      }
    }
    if (kernel > 0.0) best.kernel_us = std::min(best.kernel_us, kernel);
  }
  if (best.kernel_us == 1e12) best.kernel_us = 0.0;
  return best;
}

Result<DeviceLimits> limits_of(const std::string& device) {
  if (device != "CPU") return measure_device_limits(device, kLimitSeconds);
  DeviceLimits limits;
  const auto threads = static_cast<unsigned>(usable_cores());
  for (const ProcessorRate& rate : measure_processors(threads, kChainSeconds, kChainRepeats)) {
    limits.multiply_adds.emplace_back(rate.type, rate.all);
  }
  const MemoryRates memory = measure_memory(threads, kMemoryBytes, kLimitSeconds);
  limits.copy_gbytes = memory.copy;
  limits.read_gbytes = memory.read;
  return limits;
}

/// The better of two measurements, limit by limit.
DeviceLimits best_of(DeviceLimits a, const DeviceLimits& b) {
  for (size_t i = 0; i < std::min(a.multiply_adds.size(), b.multiply_adds.size()); ++i) {
    a.multiply_adds[i].second = std::max(a.multiply_adds[i].second, b.multiply_adds[i].second);
  }
  for (double DeviceLimits::*rate :
       {&DeviceLimits::copy_gbytes, &DeviceLimits::read_gbytes, &DeviceLimits::to_device_gbytes,
        &DeviceLimits::from_device_gbytes}) {
    a.*rate = std::max(a.*rate, b.*rate);
  }
  for (double DeviceLimits::*time : {&DeviceLimits::launch_us, &DeviceLimits::launch_and_wait_us}) {
    a.*time = std::min(a.*time, b.*time);
  }
  return a;
}

nlohmann::json limits_json(const DeviceLimits& limits) {
  nlohmann::json json = {{"copy_gbytes", limits.copy_gbytes}, {"read_gbytes", limits.read_gbytes}};
  for (const auto& [type, rate] : limits.multiply_adds) json["multiply_adds"][type] = rate;
  if (limits.launch_us > 0.0) {
    json["to_device_gbytes"] = limits.to_device_gbytes;
    json["from_device_gbytes"] = limits.from_device_gbytes;
    json["launch_us"] = limits.launch_us;
    json["launch_and_wait_us"] = limits.launch_and_wait_us;
  }
  return json;
}

/// As many items as take the wanted time at the best rate (1e9 a second; 0: unknown).
int64_t items_of(double rate, double multiply_adds_of_one) {
  if (rate <= 0.0) return 1;
  const double items = std::round(rate * 1e9 * kWantedSeconds / multiply_adds_of_one);
  return static_cast<int64_t>(std::clamp(items, 1.0, static_cast<double>(kMostItems)));
}

Work work_of(int which, double rate) {
  const auto sized = [&](auto&& make) { return make(items_of(rate, make(1).multiply_adds)); };
  switch (which) {
    case 0:
      return sized([](int64_t items) { return convolution_work("convolution 3x3", 3, items); });
    case 1:
      return sized([](int64_t items) { return convolution_work("convolution 1x1", 1, items); });
    default:
      return sized(product_work);
  }
}

std::unique_ptr<Model> smallest_model() {
  auto model = std::make_unique<Model>("smallest");
  Value* const x = model->add_input("x", {ElementType::Float32, {1, 8}});
  model->add_output("y", model->add_node("work", "Relu", "", {x}, {"y"})->output());
  return model;
}

}  // namespace

void measure_speed(const std::string& device, PartEvents& events) {
  const std::shared_ptr<Core> core = het::core();
  events.begin("measuring its limits");
  double rate = 0.0;
  const Result<DeviceLimits> limits = limits_of(device);
  if (limits) {
    if (!limits->multiply_adds.empty()) rate = limits->multiply_adds[0].second;
    events.result({{"limits", limits_json(*limits)}});
  } else if (limits.error().code() != StatusCode::NotSupported) {
    events.result({{"work", "limits"}, {"problem", limits.error().message()}});
  }
  for (int which = 0; which < 3; ++which) {
    const Work work = work_of(which, rate);
    events.begin(std::string("timing a ") + work.name);
    const Result<WorkTime> time = time_of(*core, *work.model, device, work.type);
    nlohmann::json row = {{"work", work.name}};
    if (time) {
      const double counted = time->kernel_us > 0.0 ? time->kernel_us : time->inference_us;
      const double reached = work.multiply_adds / counted * 1e-3;
      row["inference_us"] = time->inference_us;
      row["kernel_us"] = time->kernel_us;
      row["multiply_adds"] = reached;
    } else {
      row["problem"] = time.error().message();
    }
    events.result(row);
  }
  events.begin("timing the smallest inference");
  const Result<WorkTime> least = time_of(*core, *smallest_model(), device, "");
  if (least) events.result({{"smallest_inference_us", least->inference_us}});
  if (!limits) return;
  // Once more, since a machine that was disturbed the first time shows too little.
  events.begin("measuring its limits again");
  const Result<DeviceLimits> again = limits_of(device);
  events.result({{"limits", limits_json(again ? best_of(*limits, *again) : *limits)}});
}

}  // namespace het::self_test
