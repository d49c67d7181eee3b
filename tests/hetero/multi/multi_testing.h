#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/hetero/hetero_testing.h"

/// Requests on MULTI and AUTO over real and wrapped devices.
namespace het::hetero {

using std::chrono::milliseconds;

/// Holds whoever passes until it is opened; open at first.
class Gate {
 public:
  void close() { set(false); }
  void open() { set(true); }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_open_; });
  }

 private:
  void set(bool is_open) {
    std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }

  std::mutex mutex_;  ///< protects is_open_; taken alone
  std::condition_variable changed_;
  bool is_open_ = true;
};

/// A request with an input of its own, and what REF gives for it.
struct CheckedRequest {
  Tensor input;
  Tensor wanted;
  std::unique_ptr<InferRequest> request;
};

class MultiTest : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    fast_->before = [this] { fast_gate_.pass(); };
    other_->before = [this] { other_gate_.pass(); };
  }
  void TearDown() override {
    fast_gate_.open();
    other_gate_.open();
  }

  std::vector<CheckedRequest> make_requests(const Model& model, CompiledModel& compiled,
                                            size_t count) {
    std::vector<CheckedRequest> requests(count);
    const auto ref = compile(model, "REF");
    auto reference = *ref->create_infer_request();
    for (size_t i = 0; i < count; ++i) {
      requests[i].input = random_tensor(ref->inputs()[0].desc.shape, static_cast<unsigned>(40 + i));
      requests[i].wanted = infer(*reference, {requests[i].input})[0];
      requests[i].request = *compiled.create_infer_request();
      EXPECT_TRUE(requests[i].request->set_input(0, requests[i].input).ok());
    }
    return requests;
  }
  static void start(CheckedRequest& request) {
    const Status status = request.request->start_async();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  /// The same bits as REF.
  static bool is_right(const CheckedRequest& request) {
    const Tensor& output = request.request->output(0);
    return output.desc() == request.wanted.desc() &&
           std::memcmp(output.bytes(), request.wanted.bytes(), output.size_bytes()) == 0;
  }
  static void expect_right(CheckedRequest& request) {
    const Status status = request.request->wait();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(is_right(request));
  }

  /// Four threads start their share of the requests, wait and look, a hundred times; `on_end` is
  /// called behind each wait. Returns how many failed or were not right.
  static size_t run_from_threads(
      std::vector<CheckedRequest>& requests, const std::function<void()>& on_end = [] {}) {
    constexpr size_t kThreads = 4;
    std::atomic<size_t> wrong = 0;
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) {
          for (size_t r = t; r < requests.size(); r += kThreads) {
            Tensor output = requests[r].request->output(0);
            std::memset(output.bytes(), 0xff, output.size_bytes());
            if (!requests[r].request->start_async().ok()) ++wrong;
          }
          for (size_t r = t; r < requests.size(); r += kThreads) {
            if (!requests[r].request->wait().ok() || !is_right(requests[r])) ++wrong;
            on_end();
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return wrong;
  }

  /// How often the device ran the request.
  static size_t runs(WrappedBehaviour& device, const CheckedRequest& request) {
    std::lock_guard lock(device.mutex);
    return static_cast<size_t>(
        std::ranges::count(device.executions, request.input.bytes(), &TracedExecution::input));
  }
  static size_t runs(WrappedBehaviour& device) {
    std::lock_guard lock(device.mutex);
    return device.executions.size();
  }

  template <class Condition>
  static bool eventually(const Condition& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(5));
    return condition();
  }

  Gate fast_gate_;
  Gate other_gate_;
};

}  // namespace het::hetero
