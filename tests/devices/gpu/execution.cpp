#include <atomic>
#include <thread>

#include "tests/devices/gpu/gpu_child_models.h"
#include "tests/devices/gpu/gpu_testing.h"

/// Requests in flight, their tensors and what properties change.
namespace het::gpu_testing {
namespace {

class GpuExecution : public GpuTest {
 protected:
  std::shared_ptr<CompiledModel> compiled(const Properties& properties = {}) {
    Result<Properties> checked = validate_properties(properties, "GPU");
    EXPECT_TRUE(checked) << checked.error().message();
    return checked ? compile(*chains(3), *checked) : nullptr;
  }
  static std::unique_ptr<InferRequest> request(CompiledModel& model) {
    return *model.create_infer_request();
  }
  static void expect_ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }
};

TEST_F(GpuExecution, OldNamesAndNumbersOfProperties) {
  const auto read = [&](const Properties& given, std::string_view name) {
    const auto model = compiled(given);
    return model ? model->get_property(name).value_or("?") : "?";
  };
  EXPECT_EQ(read({{"CLDNN_PLUGIN_THROTTLE", "0"}}, "GPU_QUEUE_THROTTLE"), "DEFAULT");
  EXPECT_EQ(read({{"CLDNN_PLUGIN_THROTTLE", "1"}}, "GPU_QUEUE_THROTTLE"), "LOW");
  EXPECT_EQ(read({{"GPU_QUEUE_THROTTLE", "3"}}, "GPU_QUEUE_THROTTLE"), "HIGH");
  EXPECT_EQ(read({{"CLDNN_PLUGIN_PRIORITY", "2"}}, "GPU_QUEUE_PRIORITY"), "MEDIUM");
  EXPECT_EQ(read({{"MODEL_PRIORITY", "LOW"}}, "MODEL_PRIORITY"), "LOW");
  EXPECT_EQ(read({{"GPU_THROUGHPUT_STREAMS", "3"}}, "NUM_STREAMS"), "3");
  EXPECT_EQ(read({{"GPU_COMPLETION", "WAIT"}}, "GPU_COMPLETION"), "WAIT");
  const gpu::Hardware hardware = *gpu::find_gpu(0, true);
  const bool waits = hardware.platform_name.starts_with("NVIDIA") ||
                     (hardware.is_cpu && hardware.platform_name.starts_with("Intel"));
  EXPECT_EQ(read({}, "GPU_COMPLETION"), waits ? "WAIT" : "CALLBACK");
  for (const char* value : {"4", "-1", "", "YES"}) {
    EXPECT_FALSE(validate_properties({{"CLDNN_PLUGIN_THROTTLE", value}}, "GPU")) << value;
  }
  EXPECT_FALSE(validate_properties({{"GPU_COMPLETION", "POLL"}}, "GPU"));
}

TEST_F(GpuExecution, RequestsInFlightEndOnce) {
  for (const char* completion : {"CALLBACK", "WAIT"}) {
    SCOPED_TRACE(completion);
    const auto model = compiled({{"GPU_COMPLETION", completion}, {"NUM_STREAMS", "2"}});
    constexpr int kRequests = 6;
    constexpr int kRuns = 20;
    std::vector<std::unique_ptr<InferRequest>> requests;
    std::atomic<int> ended{0};
    for (int i = 0; i < kRequests; ++i) {
      requests.push_back(request(*model));
      requests.back()->set_callback([&](const Status& status) {
        if (status.ok()) ++ended;
      });
    }
    for (int run = 0; run < kRuns; ++run) {
      for (int i = 0; i < kRequests; ++i) {
        fill_input(*requests[i], static_cast<float>(run * kRequests + i));
        expect_ok(requests[i]->start_async());
      }
      for (int i = kRequests - 1; i >= 0; --i) {
        expect_ok(requests[i]->wait());
        expect_ok(check_outputs(*requests[i], static_cast<float>(run * kRequests + i)));
      }
    }
    EXPECT_EQ(ended, kRequests * kRuns);
  }
}

TEST_F(GpuExecution, CallbacksStartTheRequestAgain) {
  for (const char* completion : {"CALLBACK", "WAIT"}) {
    SCOPED_TRACE(completion);
    const auto model = compiled({{"GPU_COMPLETION", completion}});
    const auto one = request(*model);
    fill_input(*one);
    std::atomic<int> runs{0};
    std::atomic<bool> done{false};
    one->set_callback([&](const Status& status) {
      if (!status.ok() || ++runs == 50) {
        done = true;
      } else if (!one->start_async().ok()) {
        done = true;
      }
    });
    expect_ok(one->start_async());
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    expect_ok(one->wait());
    EXPECT_EQ(runs, 50);
    expect_ok(check_outputs(*one));
  }
}

TEST_F(GpuExecution, ThreadsHaveRequestsOfTheirOwn) {
  const auto model = compiled({{"NUM_STREAMS", "2"}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      const auto one = request(*model);
      for (int run = 0; run < 10; ++run) {
        expect_ok(run_and_check(*one, static_cast<float>(t * 10 + run)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GpuExecution, CancelledRequestsEndAndRunAgain) {
  for (const char* completion : {"CALLBACK", "WAIT"}) {
    const auto model = compiled({{"GPU_COMPLETION", completion}, {"NUM_STREAMS", "1"}});
    const auto one = request(*model);
    for (int run = 0; run < 30; ++run) {
      fill_input(*one);
      expect_ok(one->start_async());
      one->cancel();
      const Status status = one->wait();
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
    }
    expect_ok(run_and_check(*one));
  }
}

TEST_F(GpuExecution, TensorsMayBeStridedAndUnaligned) {
  const auto model = compiled();
  const auto one = request(*model);
  const TensorDesc desc{ElementType::Float32, {1, kChainElements}};
  std::vector<float> input(2 * kChainElements + 8);
  std::vector<std::byte> output(4 * kChainElements + 64);
  std::vector<float> wide(3 * kChainElements);
  // Every second element; four bytes behind a line; every third element.
  expect_ok(one->set_input(
      0, *Tensor::wrap(desc, input.data() + 1, 8 * kChainElements, {}, {8 * kChainElements, 8})));
  auto* const address =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(output.data()) + 63) / 64 * 64 + 4);
  expect_ok(one->set_output(0, *Tensor::wrap(desc, address, 4 * kChainElements)));
  expect_ok(one->set_output(
      1, *Tensor::wrap(desc, wide.data(), 12 * kChainElements, {}, {12 * kChainElements, 12})));
  for (int run = 0; run < 3; ++run) {
    for (int64_t k = 0; k < kChainElements; ++k) {
      input[1 + 2 * k] = chain_input(k, static_cast<float>(run));
    }
    expect_ok(one->infer());
    const auto* first = reinterpret_cast<const float*>(address);
    for (int64_t k = 0; k < kChainElements; ++k) {
      const float x = chain_input(k, static_cast<float>(run));
      ASSERT_NEAR(first[k], x < 0 ? x * 0.5f : x, 1e-5f) << k;
      ASSERT_NEAR(wide[3 * k], x < 0 ? x * 0.25f : x, 1e-5f) << k;
      ASSERT_EQ(wide[3 * k + 1], 0.0f);
    }
  }
}

TEST_F(GpuExecution, RequestsShareAnInput) {
  const auto model = compiled();
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(request(*model));
    expect_ok(requests[i]->set_input(0, requests[0]->input(0)));
  }
  fill_input(*requests[0]);
  for (const auto& one : requests) expect_ok(one->start_async());
  for (const auto& one : requests) {
    expect_ok(one->wait());
    expect_ok(check_outputs(*one));
  }
}

}  // namespace
}  // namespace het::gpu_testing
