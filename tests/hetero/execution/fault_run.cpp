#include "tests/hetero/execution/fault_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "devices/register_devices.h"
#include "inference/requests/infer_request.h"
#include "tests/devices/device_testing.h"

namespace het::hetero {
namespace {

using device_testing::ModelMaker;
using device_testing::random_tensor;

constexpr size_t kFrames = 300;
constexpr size_t kRequests = 4;
constexpr int kWidth = 8;
constexpr int kHeight = 7;
/// Devices round differently; frames differ by 0.1 and more.
constexpr float kBound = 1e-4f;
constexpr std::chrono::seconds kLongest{60};  ///< a frame that takes longer is lost
constexpr std::chrono::seconds kReturn{20};   ///< and so is a device that was mended

/// Branches, values that several devices read, and one that is an output as well.
std::unique_ptr<Model> make_model(bool of_pictures) {
  ModelMaker maker("faults");
  Value* x = maker.op("Relu", {maker.conv(maker.input({1, 3, 6, 6}), 3, 8, 3)});
  Value* left = maker.op("Sigmoid", {maker.conv(x, 8, 8)});
  Value* right = maker.conv(maker.op("Tanh", {x}), 8, 8, 3);
  Value* sum = maker.op("Add", {left, right});
  maker.output(maker.conv(maker.op("Softplus", {sum}), 8, 4));
  maker.output(sum);
  if (of_pictures) {
    PreprocessDesc desc;
    desc.range_high = 1.0f;
    maker.model().set_preprocess(0, desc);
  }
  return maker.model().clone();
}

void refuse(WrappedBehaviour& behaviour, std::vector<std::string> types) {
  behaviour.refuse = [types = std::move(types)](const Model&, const Node& node) -> std::string {
    return std::ranges::count(types, node.op_type()) > 0 ? "no " + node.op_type() + " here" : "";
  };
}

std::vector<Tensor> outputs_of(const InferRequest& request) {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < request.compiled_model().outputs().size(); ++i) {
    outputs.push_back(*request.output(i).clone());
  }
  return outputs;
}

}  // namespace

FaultRuns::FaultRuns() {
  register_devices(core_);
  devices_[0].name = "FAST";
  devices_[1].name = "OTHER";
  refuse(*devices_[0].behaviour, {"Tanh", "Softplus"});
  refuse(*devices_[1].behaviour, {"Softplus"});
  for (const Worker& device : devices_) add_wrapped_device(core_, device.name, device.behaviour);
  for (size_t k = 0; k < kFrames; ++k) {
    const auto seed = static_cast<unsigned>(1000 + k);
    frames_.push_back(random_tensor({1, 3, 6, 6}, seed, 1.0f));
    pictures_.push_back(device_testing::random_bytes<uint8_t>({kHeight * kWidth * 3}, seed));
  }
  for (const bool is_picture : {false, true}) {
    Case& one = cases_[is_picture ? 1 : 0];
    one.model = make_model(is_picture);
    const auto ref = *core_.compile_model(*one.model, "REF", {});
    const auto request = *ref->create_infer_request();
    std::atomic<size_t> alive = 0;
    for (size_t k = 0; k < kFrames; ++k) {
      set_frame(*request, is_picture, k, alive);
      (void)request->infer();
      one.expected.push_back(outputs_of(*request));
    }
  }
}

void FaultRuns::set_frame(InferRequest& request, bool is_picture, size_t frame,
                          std::atomic<size_t>& alive) const {
  if (!is_picture) {
    (void)request.set_input(0, frames_[frame]);
    return;
  }
  Image image = *make_host_image(PixelFormat::RGB, kWidth, kHeight);
  Buffer& to = *image.planes[0].buffer;
  for (int64_t row = 0; row < kHeight; ++row) {
    std::memcpy(to.host() + row * image.planes[0].stride_bytes,
                pictures_[frame].bytes() + row * kWidth * 3, kWidth * 3);
  }
  ++alive;
  image.planes[0].buffer = wrap_host_memory(to.host(), to.size_bytes(),
                                            [&alive, kept = image.planes[0].buffer] { --alive; });
  (void)request.set_image(0, image, image.full());
}

/// One run: what happens when, and what is seen.
class FaultRuns::Run {
 public:
  Run(FaultRuns& owner, uint64_t seed, size_t number)
      : owner_(owner),
        is_picture_(number / kDeviceCalls % 2 == 1),
        case_(owner.cases_[is_picture_]) {
    std::seed_seq seeds{seed, static_cast<uint64_t>(number)};
    random_.seed(seeds);
    for (size_t d = 0; d < 2; ++d) {
      devices_[d].saboteur.emplace(owner.devices_[d].behaviour);
      owner.devices_[d].behaviour->has_own_memory = one_of(2) == 0;
      owner.devices_[d].behaviour->ends_inline = one_of(8) == 0;
    }
    first_ = one_of(2);
    plan_fault(devices_[first_], static_cast<DeviceCall>(number % kDeviceCalls), first_);
    if (one_of(3) == 0) {
      // Something else is made and let go of only where a first device fails.
      Planned& second = devices_[1 - first_];
      plan_fault(second, static_cast<DeviceCall>(one_of(kDeviceCalls)), 1 - first_);
      second.at_frame = *devices_[first_].at_frame + one_of(3);
      if (devices_[first_].fault.call == DeviceCall::Compile) devices_[first_].at_frame = 0;
    } else {
      constexpr size_t kIntervals[] = {0, 2, 5};
      retry_ms_ = kIntervals[one_of(3)];
      if (one_of(2) == 0) mend_at_ = *devices_[first_].at_frame + one_of(100);
    }
  }

  ~Run() {
    for (Slot& slot : slots_) slot.request.reset();
    compiled_.reset();
    for (Planned& device : devices_) device.saboteur->mend();
  }

  std::string run() {
    // Nothing is compiled later on unless a device is lost or returns.
    if (devices_[first_].fault.call == DeviceCall::Compile) begin_fault(devices_[first_]);
    auto compiled =
        owner_.core_.compile_model(*case_.model, "HETERO:FAST,OTHER,CPU",
                                   {{"HETERO_RETRY_INTERVAL", std::to_string(retry_ms_)}});
    if (!compiled) return "compile: " + compiled.error().message();
    compiled_ = std::move(*compiled);
    for (size_t slot = 0; slot < kRequests; ++slot) renew(slot);
    for (size_t k = 0; k < kFrames && problem_.empty(); ++k) {
      if (k >= kRequests) finish(k % kRequests);
      happen(k);
      start(k % kRequests, k);
    }
    for (size_t i = 0; i < kRequests && problem_.empty(); ++i) finish((kFrames + i) % kRequests);
    if (problem_.empty()) wait_for_return();
    if (problem_.empty()) check_ends();
    if (problem_.empty()) check_events();
    return problem_;
  }

  size_t hits(DeviceCall call) const {
    return devices_[0].saboteur->hits(call) + devices_[1].saboteur->hits(call);
  }
  size_t returns() const { return devices_[0].back + devices_[1].back; }
  bool had_two() const {
    return devices_[0].saboteur->errors() > 0 && devices_[1].saboteur->errors() > 0;
  }

 private:
  struct Planned {
    std::optional<Saboteur> saboteur;
    Fault fault;
    std::optional<size_t> at_frame;
    bool has_begun = false;
    size_t lost = 0, back = 0;  ///< events
  };

  struct Slot {
    std::unique_ptr<InferRequest> request;
    std::atomic<size_t> alive = 0;  ///< pictures
    std::shared_ptr<std::atomic<size_t>> frame = std::make_shared<std::atomic<size_t>>(0);
  };

  size_t one_of(size_t count) { return random_() % count; }

  void plan_fault(Planned& device, DeviceCall call, size_t place) {
    constexpr StatusCode kCodes[] = {StatusCode::DeviceLost, StatusCode::Internal,
                                     StatusCode::OutOfMemory, StatusCode::TimedOut};
    device.fault = {call, one_of(3), one_of(2) == 0, kCodes[one_of(4)]};
    if (call == DeviceCall::Compile || call == DeviceCall::Request) device.fault.after = 0;
    device.at_frame = one_of(kFrames - 10);
    if (call == DeviceCall::Map) owner_.devices_[place].behaviour->has_own_memory = true;
  }

  void begin_fault(Planned& device) {
    if (std::exchange(device.has_begun, true)) return;
    device.saboteur->plan(device.fault);
  }

  /// What is due before frame k.
  void happen(size_t k) {
    for (Planned& device : devices_) {
      if (!device.at_frame || k < *device.at_frame || device.has_begun) continue;
      begin_fault(device);
      // These calls come when an application changes its requests.
      if (device.fault.call == DeviceCall::Request || device.fault.call == DeviceCall::Release) {
        renew(k % kRequests);
      }
    }
    if (mend_at_ && k >= *mend_at_) mend();
    if (one_of(100) == 0) renew(k % kRequests);
  }

  void mend() {
    mend_at_.reset();
    is_mended_ = true;
    devices_[first_].saboteur->mend();
  }

  void renew(size_t index) {
    Slot& slot = slots_[index];
    slot.request.reset();
    auto request = compiled_->create_infer_request();
    if (!request) {
      problem_ = "request: " + request.error().message();
      return;
    }
    slot.request = std::move(*request);
    slot.request->set_callback(
        [this, frame = slot.frame](const Status&) { ++ends_[*frame % ends_.size()]; });
  }

  void start(size_t index, size_t frame) {
    if (!problem_.empty()) return;
    Slot& slot = slots_[index];
    *slot.frame = frame;
    ++starts_[frame];
    owner_.set_frame(*slot.request, is_picture_, frame, slot.alive);
    const Status status = slot.request->start_async();
    if (!status.ok()) problem_ = fmt::format("start of frame {}: {}", frame, status.message());
  }

  void finish(size_t index) {
    Slot& slot = slots_[index];
    const size_t frame = *slot.frame;
    const Status status = slot.request->wait_for(kLongest);
    if (!status.ok()) {
      problem_ = fmt::format("frame {}: {}", frame, status.message());
      return;
    }
    if (slot.alive > 0) problem_ = fmt::format("frame {}: its picture is kept", frame);
    const std::vector<Tensor> got = outputs_of(*slot.request);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto values = got[i].values<float>();
      const auto wanted = case_.expected[frame][i].values<float>();
      for (size_t j = 0; j < values.size(); ++j) {
        if (std::abs(values[j] - wanted[j]) <= kBound) continue;
        problem_ = fmt::format("frame {}: output {} has {} where it should have {}", frame, i,
                               values[j], wanted[j]);
        return;
      }
    }
  }

  /// A device that works again is used again, as long as frames come.
  void wait_for_return() {
    read_events();
    const bool works = is_mended_ || !devices_[first_].fault.is_lasting;
    if (retry_ms_ == 0 || !works) return;
    const auto limit = std::chrono::steady_clock::now() + kReturn;
    while (devices_[first_].back < devices_[first_].lost && problem_.empty()) {
      if (std::chrono::steady_clock::now() > limit) {
        problem_ = "the device was not taken back";
        return;
      }
      start(0, one_of(kFrames));
      finish(0);
      read_events();
    }
  }

  void check_ends() {
    // wait() is over before callbacks of others are, but not before its own.
    for (size_t k = 0; k < kFrames; ++k) {
      if (starts_[k] == 0 || ends_[k] != starts_[k]) {
        problem_ = fmt::format("frame {} began {} times and ended {} times", k, starts_[k],
                               ends_[k].load());
      }
    }
  }

  void read_events() {
    for (const DeviceEvent& event : compiled_->device_events(next_event_)) {
      Planned& device = devices_[event.device == owner_.devices_[0].name ? 0 : 1];
      ++(event.cause.empty() ? device.back : device.lost);
      if (event.cause.find("fault at") == std::string::npos &&
          event.cause.find("gone at") == std::string::npos && !event.cause.empty()) {
        problem_ = "a cause that is none: " + event.cause;
      }
    }
  }

  void check_events() {
    read_events();
    const bool both = devices_[0].has_begun && devices_[1].has_begun;
    for (size_t d = 0; d < 2; ++d) {
      const Planned& device = devices_[d];
      const size_t errors = device.saboteur->errors();
      // Of two faults in one execution the second is nobody's to see, unless it lasts.
      const size_t least = errors > 0 && (!both || device.fault.is_lasting) ? 1 : 0;
      const size_t most = errors > 0 ? 1 : 0;
      if (device.lost >= least && device.lost <= most && device.back <= device.lost) continue;
      problem_ = fmt::format("{} failed {} times, was told lost {} times and back {} times",
                             owner_.devices_[d].name, errors, device.lost, device.back);
    }
  }

  FaultRuns& owner_;
  const bool is_picture_;
  const Case& case_;
  std::mt19937_64 random_;
  std::array<Planned, 2> devices_;
  size_t first_ = 0;
  size_t retry_ms_ = 0;
  std::optional<size_t> mend_at_;
  bool is_mended_ = false;
  uint64_t next_event_ = 0;
  std::string problem_;
  std::array<size_t, kFrames> starts_{};
  std::array<std::atomic<size_t>, kFrames> ends_{};
  std::shared_ptr<CompiledModel> compiled_;
  std::array<Slot, kRequests> slots_;  // last: their callbacks use everything else
};

std::string FaultRuns::run(uint64_t seed, size_t number) {
  Run one(*this, seed, number);
  const std::string problem = one.run();
  for (size_t c = 0; c < kDeviceCalls; ++c) hits_[c] += one.hits(static_cast<DeviceCall>(c));
  returns_ += one.returns();
  second_faults_ += one.had_two() ? 1 : 0;
  return problem;
}

}  // namespace het::hetero
