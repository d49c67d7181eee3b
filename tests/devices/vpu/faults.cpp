// Faults of a VPU at random moments of pipelines on HETERO: vpu_faults [RUNS [SEED [FIRST]]]
//
// A run is 300 frames with 4 requests in flight on HETERO:VPU,CPU while the device program crashes,
// hangs, drops or corrupts an answer, is slow, throttled, killed or unplugged, and perhaps comes
// back. Every frame has to end well with its own results. Afterwards no process is left, nor a file
// descriptor, and memory has not grown. Ends with 1 when something of that is not so.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "tests/devices/device_testing.h"
#include "tests/devices/vpu/vpu_daemon.h"

namespace het::device_testing {
namespace {

constexpr size_t kFrames = 300;
constexpr size_t kRequests = 4;
constexpr std::chrono::seconds kLongest{60};
/// Frames differ by more; float16 makes less.
constexpr float kBound = 0.03f;

constexpr const char* kKinds[] = {"crash", "hang",     "drop", "corrupt",
                                  "slow",  "throttle", "kill", "unplug"};

/// Two parts for the VPU, which has no Softsign, around one for the CPU.
std::unique_ptr<Model> make_model() {
  ModelMaker maker("faults");
  Value* x = maker.op("Relu", {maker.conv(maker.input({1, 3, 6, 6}), 3, 8, 3)});
  Value* y = maker.op("Softsign", {x});
  maker.output(maker.conv(y, 8, 4));
  return maker.model().clone();
}

class FaultRuns {
 public:
  FaultRuns() : model_(make_model()) {
    const auto ref = *core_->compile_model(*model_, "REF");
    const auto request = *ref->create_infer_request();
    for (size_t k = 0; k < kFrames; ++k) {
      frames_.push_back(random_tensor({1, 3, 6, 6}, static_cast<unsigned>(1000 + k)));
      (void)request->set_input(0, frames_.back());
      (void)request->infer();
      expected_.push_back(*to_float_vector(request->output(0)));
    }
  }

  /// Empty, or what went wrong.
  std::string run(uint64_t seed, size_t number) {
    std::seed_seq seeds{seed, static_cast<uint64_t>(number)};
    std::mt19937_64 random(seeds);
    const auto one_of = [&](size_t count) { return random() % count; };
    const std::string kind = kKinds[number % std::size(kKinds)];
    const size_t at = 1 + one_of(kFrames - 20);
    const bool is_outside = kind == "kill" || kind == "unplug";
    const bool returns = one_of(2) == 0;
    const size_t back_at = at + 1 + one_of(100);
    std::vector<std::string> options;
    if (!is_outside) options = {"--fault", kind + ":" + std::to_string(at)};
    pid_t device = daemons_.start("a", options);
    auto compiled = core_->compile_model(
        *model_, "HETERO:VPU,CPU",
        {{"VPU.VPU_TIMEOUT", "250"}, {"HETERO_RETRY_INTERVAL", returns ? "20" : "0"}});
    if (!compiled) return "compile: " + compiled.error().message();
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (size_t i = 0; i < kRequests; ++i) requests.push_back(*(*compiled)->create_infer_request());
    std::string problem;
    bool has_returned = false;
    for (size_t k = 0; k < kFrames + kRequests && problem.empty(); ++k) {
      InferRequest& request = *requests[k % kRequests];
      if (k >= kRequests) problem = finish(request, k - kRequests);
      if (is_outside && k == at) daemons_.kill(std::exchange(device, -1));
      if (is_outside && k == at && kind == "unplug") std::filesystem::remove(daemons_.socket("a"));
      if (returns && k >= back_at && !has_returned) {
        has_returned = true;
        if (device > 0) daemons_.kill(device);
        device = daemons_.start("a");
      }
      if (k >= kFrames || !problem.empty()) continue;
      (void)request.set_input(0, frames_[k]);
      const Status started = request.start_async();
      if (!started.ok()) problem = fmt::format("start of frame {}: {}", k, started.message());
    }
    const bool works = device > 0 && (is_outside || kind == "drop" || kind == "corrupt" ||
                                      (returns && has_returned));
    if (problem.empty()) problem = wait_for_return(**compiled, *requests[0], returns && works);
    requests.clear();
    compiled = nullptr;
    if (device > 0) daemons_.kill(device);
    return problem;
  }

  size_t lost() const { return lost_; }
  size_t returned() const { return returned_; }

 private:
  /// A device that works is used again, as long as frames come.
  std::string wait_for_return(CompiledModel& compiled, InferRequest& request, bool returns) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    uint64_t next = 0;
    size_t lost = 0;
    size_t back = 0;
    while (true) {
      for (const DeviceEvent& event : compiled.device_events(next)) {
        ++(event.cause.empty() ? back : lost);
      }
      if (!returns || back == lost) break;
      if (std::chrono::steady_clock::now() > limit) return "the device was not taken back";
      (void)request.set_input(0, frames_[0]);
      const Status status = request.infer();
      if (!status.ok()) return "a frame behind the last: " + status.message();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    lost_ += lost;
    returned_ += back;
    return {};
  }

  std::string finish(InferRequest& request, size_t frame) const {
    const Status status = request.wait_for(kLongest);
    if (!status.ok()) return fmt::format("frame {}: {}", frame, status.message());
    const std::vector<float> got = *to_float_vector(request.output(0));
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::abs(got[i] - expected_[frame][i]) <= kBound) continue;
      return fmt::format("frame {}: {} where it should have {}", frame, got[i],
                         expected_[frame][i]);
    }
    return {};
  }

  std::shared_ptr<Core> core_ = core();
  VpuDaemons daemons_;
  std::unique_ptr<Model> model_;
  std::vector<Tensor> frames_;
  std::vector<std::vector<float>> expected_;
  size_t lost_ = 0;
  size_t returned_ = 0;
};

size_t open_files() {
  std::error_code ignored;
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    (void)entry;
    ++count;
  }
  return count;
}

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

int run(size_t runs, uint64_t seed, size_t first) {
  set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Error);  // warnings come by thousands
  FaultRuns faults;
  size_t failed = 0;
  size_t files = 0;
  size_t memory = 0;
  const size_t warm_up = std::min<size_t>(runs / 5 + 1, 100);
  for (size_t i = first; i < first + runs; ++i) {
    if (i == first + warm_up) {
      files = open_files();
      memory = resident_bytes();
    }
    const std::string problem = faults.run(seed, i);
    if (problem.empty()) continue;
    ++failed;
    fmt::print("FAILED  run {} (again: 1 {} {}): {}\n", i, seed, i, problem);
    std::fflush(stdout);
  }
  const size_t files_left = open_files() > files && files > 0 ? open_files() - files : 0;
  const double growth =
      memory > 0 ? static_cast<double>(resident_bytes()) / static_cast<double>(memory) - 1.0 : 0.0;
  fmt::print(
      "{} devices lost, {} taken back; {} file descriptors left; memory {:+.1f} % after run {}\n",
      faults.lost(), faults.returned(), files_left, 100.0 * growth, warm_up);
  fmt::print("{} passed, {} failed, 0 skipped\n", runs - failed, failed);
#ifdef __SANITIZE_ADDRESS__
  constexpr double kMostGrowth = 1.0;  // it keeps what is freed for a while
#else
  constexpr double kMostGrowth = 0.1;
#endif
  return failed == 0 && files_left == 0 && growth < kMostGrowth ? 0 : 1;
}

}  // namespace
}  // namespace het::device_testing

int main(int argc, char** argv) {
  const auto number = [&](int index, uint64_t fallback) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : fallback;
  };
  return het::device_testing::run(number(1, 1000), number(2, 1), number(3, 0));
}
