#include "hetero/multi/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/hetero/multi/multi_testing.h"

namespace het::hetero {
namespace {

using testing::HasSubstr;

class MultiDeviceTest : public MultiTest {};

TEST_F(MultiDeviceTest, ResultsAreThoseOfRef) {
  const auto model = diamond();
  for (const char* device : {"MULTI:REF", "MULTI:FAST,OTHER", "MULTI:OTHER(2);FAST(1);REF"}) {
    const auto compiled = compile(*model, device);
    ASSERT_NE(compiled, nullptr);
    expect_results_of_ref(*model, *compiled);
  }
}

TEST_F(MultiDeviceTest, RealDevicesShareTheWork) {
  const auto model = diamond();
  std::string list = "CPU(2),REF(1)";
  for (const std::string& device : core_.available_devices()) {
    if (parse_device_name(device).kind == "GPU") list = device + "(2)," + list;
  }
  const auto compiled = compile(*model, "MULTI:" + list);
  ASSERT_NE(compiled, nullptr);
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 12);
  for (int round = 0; round < 5; ++round) {
    for (CheckedRequest& request : requests) start(request);
    for (CheckedRequest& request : requests) {
      ASSERT_TRUE(request.request->wait().ok());
      const std::span<float> got = request.request->output(0).values<float>();
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], request.wanted.values<float>()[i], 2e-5f) << i;
      }
    }
  }
}

TEST_F(MultiDeviceTest, ADeviceThatCannotRunTheModelIsLeftOut) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  const auto compiled = compile(*model, "MULTI:FAST,OTHER");
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER");
  expect_results_of_ref(*model, *compiled);
  EXPECT_EQ(runs(*fast_), 0u);
  uint64_t next = 0;
  const std::vector<DeviceEvent> events = compiled->device_events(next);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].device, "FAST");
  EXPECT_THAT(events[0].cause, HasSubstr("no Tanh here"));
  auto rows = core_.query_model(*model, "MULTI:FAST,OTHER");
  ASSERT_TRUE(rows);
  for (const NodeSupport& row : *rows) EXPECT_EQ(row.device, "OTHER");

  refuse_types(*other_, {"Relu", "Tanh"});
  const std::string message = compile_error(*model, "MULTI:FAST,OTHER");
  EXPECT_THAT(message, HasSubstr("none of the devices runs the model"));
  EXPECT_THAT(message, HasSubstr("FAST: node 'Tanh2': no Tanh here"));
  EXPECT_THAT(message, HasSubstr("OTHER: node 'Relu0': no Relu here"));
  rows = core_.query_model(*model, "MULTI:FAST,OTHER");
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[2].reason, "not FAST: no Tanh here; not OTHER: no Tanh here");
  EXPECT_FALSE((*rows)[0].supported());
  EXPECT_TRUE((*rows)[1].supported());
}

TEST_F(MultiDeviceTest, RequestsGoToTheFirstFreeDeviceAndWaitInOrder) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(1),OTHER(2)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 7);
  fast_gate_.close();
  other_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  EXPECT_EQ(fast_->in_flight, 1u);
  EXPECT_EQ(other_->in_flight, 2u);
  // OTHER stands still, so FAST does the rest, the oldest first.
  fast_gate_.open();
  for (const size_t i : {0, 3, 4, 5, 6}) expect_right(requests[i]);
  std::vector<const std::byte*> order;
  for (const TracedExecution& run : fast_->executions) order.push_back(run.input);
  EXPECT_THAT(order, testing::ElementsAre(requests[0].input.bytes(), requests[3].input.bytes(),
                                          requests[4].input.bytes(), requests[5].input.bytes(),
                                          requests[6].input.bytes()));
  other_gate_.open();
  for (const size_t i : {1, 2}) expect_right(requests[i]);
  EXPECT_EQ(runs(*other_, requests[1]), 1u);
  EXPECT_EQ(runs(*other_, requests[2]), 1u);
}

TEST_F(MultiDeviceTest, TheDeviceThatTakesLeastComesFirstOnceMeasured) {
  const auto model = diamond();
  fast_->duration = milliseconds(100);
  const auto compiled = compile(*model, "MULTI:FAST(1),OTHER(1)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 2);
  // Nothing is known of OTHER.
  for (int i = 0; i < 3; ++i) {
    start(requests[0]);
    expect_right(requests[0]);
  }
  EXPECT_EQ(runs(*fast_), 3u);
  EXPECT_EQ(runs(*other_), 0u);
  for (CheckedRequest& request : requests) start(request);
  for (CheckedRequest& request : requests) expect_right(request);
  EXPECT_EQ(runs(*other_), 1u);
  for (int i = 0; i < 3; ++i) {
    start(requests[0]);
    expect_right(requests[0]);
  }
  EXPECT_EQ(runs(*fast_), 4u);
  EXPECT_EQ(runs(*other_), 4u);
  // It has become slow: the median follows.
  fast_->duration = milliseconds(0);
  other_->duration = milliseconds(200);
  for (int i = 0; i < 4; ++i) {
    start(requests[0]);
    expect_right(requests[0]);
  }
  EXPECT_GT(runs(*fast_), 4u);
}

TEST_F(MultiDeviceTest, LimitsAreKept) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(3),OTHER(2),REF", {{"REF.NUM_STREAMS", "4"}});
  EXPECT_EQ(property(*compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "9");
  EXPECT_EQ(property(*compiled, "REF.OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "4");
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER REF");
  EXPECT_EQ(property(*compiled, "MULTI_DEVICE_PRIORITIES"), "FAST(3),OTHER(2),REF");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 30);
  for (int round = 0; round < 10; ++round) {
    for (CheckedRequest& request : requests) start(request);
    for (CheckedRequest& request : requests) expect_right(request);
  }
  EXPECT_EQ(fast_->most_in_flight, 3u);
  EXPECT_EQ(other_->most_in_flight, 2u);
}

TEST_F(MultiDeviceTest, PrioritiesChangeAtRunTime) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(2),OTHER(2)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 6);
  fast_gate_.close();
  other_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  // FAST ends its two and gets no more.
  ASSERT_TRUE(compiled->set_property({{"MULTI_DEVICE_PRIORITIES", "OTHER"}}).ok());
  EXPECT_EQ(property(*compiled, "MULTI_DEVICE_PRIORITIES"), "OTHER");
  EXPECT_EQ(property(*compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "2");
  fast_gate_.open();
  for (const size_t i : {0, 1}) expect_right(requests[i]);
  EXPECT_FALSE(requests[4].request->wait_for(milliseconds(20)).ok());
  EXPECT_EQ(runs(*fast_), 2u);
  // It is back, and takes what waits although nothing has ended.
  ASSERT_TRUE(compiled->set_property({{"MULTI_DEVICE_PRIORITIES", "FAST(1),OTHER"}}).ok());
  for (const size_t i : {4, 5}) expect_right(requests[i]);
  EXPECT_EQ(runs(*fast_), 4u);
  other_gate_.open();
  for (const size_t i : {2, 3}) expect_right(requests[i]);
  // Limits fell for FAST.
  fast_->most_in_flight = 0;
  for (CheckedRequest& request : requests) start(request);
  for (CheckedRequest& request : requests) expect_right(request);
  EXPECT_EQ(fast_->most_in_flight, 1u);

  const auto refusal = [&](const std::string& list) {
    return compiled->set_property({{"MULTI_DEVICE_PRIORITIES", list}}).message();
  };
  EXPECT_THAT(refusal("FAST,REF"), HasSubstr("not compiled for 'REF': its devices are FAST,OTHER"));
  EXPECT_THAT(refusal("FAST(3)"),
              HasSubstr("FAST was compiled for 2 requests at a time, not for 3"));
  EXPECT_THAT(refusal("FAST,FAST"), HasSubstr("names FAST twice"));
  EXPECT_THAT(refusal(""), HasSubstr("an empty name"));
  EXPECT_EQ(property(*compiled, "MULTI_DEVICE_PRIORITIES"), "FAST(1),OTHER");
  EXPECT_EQ(compiled->set_property({{"PERF_COUNT", "YES"}}).code(), StatusCode::NotSupported);
}

TEST_F(MultiDeviceTest, TensorsAreNotCopiedAndNotKept) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(1)");
  auto request = *compiled->create_infer_request();
  const std::byte* const own = request->output(0).bytes();
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(fast_->executions.back().input, request->input(0).bytes());
  EXPECT_EQ(fast_->executions.back().output, own);
  EXPECT_EQ(request->output(0).bytes(), own);

  // Memory of the application is written in place.
  const Tensor input = random_tensor(request->input(0).shape(), 5);
  const Tensor output = *Tensor::allocate(request->output(0).desc());
  ASSERT_TRUE(request->set_input(0, input).ok());
  ASSERT_TRUE(request->set_output(0, output).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(fast_->executions.back().input, input.bytes());
  EXPECT_EQ(fast_->executions.back().output, output.bytes());
  EXPECT_EQ(request->output(0).bytes(), output.bytes());
}

TEST_F(MultiDeviceTest, WorkersLetGoOfTensors) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:CPU(1)");
  auto request = *compiled->create_infer_request();
  std::vector<float> memory(256, 0.5f);
  std::atomic<int> released = 0;
  for (const size_t offset : {0, 128}) {
    Tensor tensor = *Tensor::wrap(compiled->inputs()[0].desc, memory.data() + offset,
                                  128 * sizeof(float), [&] { ++released; });
    ASSERT_TRUE(
        (offset == 0 ? request->set_input(0, tensor) : request->set_output(0, tensor)).ok());
  }
  ASSERT_TRUE(request->infer().ok());
  EXPECT_NE(memory[130], 0.5f);
  EXPECT_EQ(released, 0);
  // The worker lives on.
  request.reset();
  EXPECT_EQ(released, 2);
}

TEST_F(MultiDeviceTest, OutputsSizedAtRunTimeBelongToTheirRequest) {
  ModelMaker maker("sized");
  maker.output(maker.op("NonZero", {maker.op("Relu", {maker.input({2, 3})})}));
  const auto compiled = compile(maker.model(), "MULTI:REF(1)");
  ASSERT_NE(compiled, nullptr);
  auto first = *compiled->create_infer_request();
  auto second = *compiled->create_infer_request();
  ASSERT_TRUE(first->set_input(0, Tensor::from<float>({2, 3}, {0, 0, 1, 0, 1, 0})).ok());
  ASSERT_TRUE(second->set_input(0, Tensor::from<float>({2, 3}, {1, 1, 0, 0, 0, 0})).ok());
  ASSERT_TRUE(first->infer().ok());
  ASSERT_TRUE(second->infer().ok());
  EXPECT_THAT(first->output(0).values<int64_t>(), testing::ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(second->output(0).values<int64_t>(), testing::ElementsAre(0, 0, 0, 1));
}

TEST_F(MultiDeviceTest, WhatWaitsIsCancelledAtOnce) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(1)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 4);
  fast_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  for (const size_t i : {3, 1}) {
    requests[i].request->cancel();
    EXPECT_EQ(requests[i].request->wait().code(), StatusCode::Cancelled);
    // It waits behind the others now.
    start(requests[i]);
  }
  requests[2].request->cancel();
  EXPECT_EQ(requests[2].request->wait().code(), StatusCode::Cancelled);
  fast_gate_.open();
  for (const size_t i : {0, 1, 3}) expect_right(requests[i]);
  std::vector<const std::byte*> order;
  for (const TracedExecution& run : fast_->executions) order.push_back(run.input);
  EXPECT_THAT(order, testing::ElementsAre(requests[0].input.bytes(), requests[3].input.bytes(),
                                          requests[1].input.bytes()));
}

TEST_F(MultiDeviceTest, WhatRunsIsAskedToEnd) {
  ModelMaker maker("chain");
  maker.output(maker.op("Tanh", {maker.op("Relu", {maker.input({1, 8})})}));
  const auto compiled = compile(maker.model(), "MULTI:FAST(1)");
  std::vector<CheckedRequest> requests = make_requests(maker.model(), *compiled, 3);
  fast_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  requests[0].request->cancel();
  fast_gate_.open();
  EXPECT_EQ(requests[0].request->wait().code(), StatusCode::Cancelled);
  for (const size_t i : {1, 2}) expect_right(requests[i]);
}

TEST_F(MultiDeviceTest, ACancelIsNotLostWhileAWorkerStarts) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(1)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 2);
  fast_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  // The worker has taken the waiting request, and the device forgets what came before its start.
  std::atomic<bool> has_cancelled = false;
  fast_->refuse_start = [&] {
    fast_gate_.close();
    requests[1].request->cancel();
    has_cancelled = true;
    return Status();
  };
  fast_gate_.open();
  expect_right(requests[0]);
  EXPECT_TRUE(has_cancelled);
  // Its end came after the other's start.
  fast_gate_.open();
  EXPECT_EQ(requests[1].request->wait().code(), StatusCode::Cancelled);
  // That was of one execution only.
  fast_->refuse_start = nullptr;
  fast_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  fast_gate_.open();
  for (CheckedRequest& request : requests) expect_right(request);
}

TEST_F(MultiDeviceTest, RequestsMayBeCancelledAtAnyTime) {
  const auto model = diamond();
  fast_->duration = other_->duration = milliseconds(1);
  const auto compiled = compile(*model, "MULTI:FAST(1),OTHER(2)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 12);
  std::atomic<size_t> ended = 0;
  for (CheckedRequest& request : requests) {
    request.request->set_callback([&](const Status&) { ++ended; });
  }
  size_t cancelled = 0;
  for (int round = 0; round < 40; ++round) {
    for (CheckedRequest& request : requests) start(request);
    std::this_thread::sleep_for(std::chrono::microseconds(round * 100));
    for (size_t i = 0; i < requests.size(); i += 2) requests[i].request->cancel();
    for (size_t i = 0; i < requests.size(); ++i) {
      const Status status = requests[i].request->wait();
      if (status.ok()) {
        EXPECT_TRUE(is_right(requests[i]));
      } else {
        EXPECT_EQ(status.code(), StatusCode::Cancelled) << status.message();
        // Nobody else's execution is cancelled.
        EXPECT_EQ(i % 2, 0u);
        ++cancelled;
      }
    }
  }
  EXPECT_EQ(ended, 480u);
  EXPECT_GT(cancelled, 40u);
}

TEST_F(MultiDeviceTest, CancelsAndEndsMeet) {
  // Executions end while cancel() uses the worker.
  ModelMaker maker("short");
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model(), "MULTI:REF(1)");
  std::vector<CheckedRequest> requests = make_requests(maker.model(), *compiled, 3);
  std::atomic<bool> stop = false;
  std::thread canceller([&] {
    while (!stop) requests[0].request->cancel();
  });
  for (int i = 0; i < 3000; ++i) {
    for (CheckedRequest& request : requests) start(request);
    const Status status = requests[0].request->wait();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
    for (const size_t k : {1, 2}) expect_right(requests[k]);
  }
  stop = true;
  canceller.join();
}

TEST_F(MultiDeviceTest, RunningRequestsMayBeDestroyed) {
  const auto model = diamond();
  fast_->duration = milliseconds(3);
  for (int round = 0; round < 10; ++round) {
    auto compiled = compile(*model, "MULTI:FAST(2),OTHER(1)");
    std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 8);
    for (CheckedRequest& request : requests) start(request);
    std::this_thread::sleep_for(std::chrono::microseconds(round * 700));
    compiled.reset();
    std::rotate(requests.begin(), requests.begin() + round % 8, requests.end());
    requests.clear();
    EXPECT_EQ(fast_->live_models, 0u);
    EXPECT_EQ(other_->live_models, 0u);
  }
}

TEST_F(MultiDeviceTest, RequestsRestartFromTheirCallback) {
  const auto model = diamond();
  const auto compiled = compile(*model, "MULTI:FAST(1),OTHER(1)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 5);
  std::vector<std::atomic<int>> left(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    left[i] = 50;
    requests[i].request->set_callback([&, i](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(is_right(requests[i]));
      if (--left[i] > 0) start(requests[i]);
    });
  }
  for (CheckedRequest& request : requests) start(request);
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(requests[i].request->wait().ok());
    EXPECT_EQ(left[i], 0);
    EXPECT_EQ(runs(*fast_, requests[i]) + runs(*other_, requests[i]), 50u);
  }
}

TEST_F(MultiDeviceTest, ThreadsStartManyQuickRequests) {
  ModelMaker maker("short");
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model(), "MULTI:FAST(2),OTHER(1),REF(2)");
  std::vector<CheckedRequest> requests = make_requests(maker.model(), *compiled, 12);
  std::atomic<size_t> ended = 0;
  for (CheckedRequest& request : requests) {
    request.request->set_callback([&](const Status&) { ++ended; });
  }
  EXPECT_EQ(run_from_threads(requests), 0u);
  EXPECT_EQ(ended, 1200u);
  EXPECT_LE(runs(*fast_) + runs(*other_), 1200u);
  EXPECT_GT(runs(*fast_), 0u);
  EXPECT_LE(fast_->most_in_flight, 2u);
  EXPECT_EQ(other_->most_in_flight, 1u);
}

TEST_F(MultiDeviceTest, AnErrorIsThatOfItsRequest) {
  const auto model = diamond();
  fast_->outcome = [](size_t count) {
    return count == 1 ? Status(StatusCode::DeviceLost, "the link is down") : Status();
  };
  const auto compiled = compile(*model, "MULTI:FAST(1)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 3);
  for (CheckedRequest& request : requests) start(request);
  expect_right(requests[0]);
  const Status status = requests[1].request->wait();
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_EQ(status.message(), "on FAST: the link is down");
  expect_right(requests[2]);
  start(requests[1]);
  expect_right(requests[1]);
}

TEST_F(MultiDeviceTest, StartsThatFailAtOnceDoNotNest) {
  ModelMaker maker("short");
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model(), "MULTI:FAST(1)");
  // So many would not fit onto a thread's stack, one in the other.
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 20000; ++i) requests.push_back(*compiled->create_infer_request());
  fast_gate_.close();
  for (auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  fast_->refuse_start = [] { return Status(StatusCode::DeviceLost, "unplugged"); };
  fast_gate_.open();
  EXPECT_TRUE(requests[0]->wait().ok());
  for (size_t i = 1; i < requests.size(); ++i) {
    ASSERT_EQ(requests[i]->wait().message(), "on FAST: unplugged");
  }
  EXPECT_EQ(requests[0]->infer().code(), StatusCode::DeviceLost);
}

TEST_F(MultiDeviceTest, StateFollowsItsStream) {
  Model model("summator");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 2}});
  Attributes attributes = make_attributes(
      {{"variable_id", "total"}, {"variable_type", "float32"}, {"variable_shape", Ints{1, 2}}});
  Value* old = model.add_node("read", "ReadValue", "het", {}, {"old"}, attributes)->output();
  Value* sum = model.add_node("add", "Add", "", {old, x}, {"sum"})->output();
  model.add_node("assign", "Assign", "het", {sum}, {"stored"},
                 make_attributes({{"variable_id", "total"}}));
  model.add_output("sum", sum);
  const auto compiled = compile(model, "MULTI:FAST(1),OTHER(1),REF(1)");
  ASSERT_NE(compiled, nullptr);
  // Streams whose requests all run at once, on any device.
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 12; ++i) {
    requests.push_back(*compiled->create_infer_request());
    requests[i]->set_stream(fmt::format("s{}", i % 4));
    const auto step = static_cast<float>(1 + i % 4);
    ASSERT_TRUE(requests[i]->set_input(0, Tensor::from<float>({1, 2}, {step, -step})).ok());
  }
  for (int round = 0; round < 30; ++round) {
    for (auto& request : requests) ASSERT_TRUE(request->start_async().ok());
    for (int i = 0; i < 12; ++i) {
      ASSERT_TRUE(requests[i]->wait().ok());
      const auto turns = static_cast<float>(3 * round + i / 4 + 1);
      ASSERT_EQ(requests[i]->output(0).values<float>()[0], turns * static_cast<float>(1 + i % 4));
    }
  }
  EXPECT_GT(runs(*fast_), 0u);
  EXPECT_GT(runs(*other_), 0u);
  EXPECT_TRUE(compiled->set_property({{"MULTI_DEVICE_PRIORITIES", "OTHER"}}).ok());
  EXPECT_EQ(property(*compiled, "MULTI_DEVICE_PRIORITIES"), "OTHER");
}

TEST_F(MultiDeviceTest, UnboundShapesAreCompiledOnAllDevices) {
  ModelMaker maker("unbound");
  maker.output(maker.op("Relu", {maker.input({kUnknownDim, 2})}));
  const auto compiled = compile(maker.model(), "MULTI:FAST(1),OTHER(1)");
  ASSERT_NE(compiled, nullptr);
  auto request = *compiled->create_infer_request();
  for (const int64_t rows : {1, 3, 2, 3}) {
    Tensor input = random_tensor({rows, 2}, 9);
    ASSERT_TRUE(request->set_input(0, input).ok());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(request->output(0).shape(), (Shape{rows, 2}));
    EXPECT_EQ(request->output(0).values<float>()[1], std::max(0.0f, input.values<float>()[1]));
  }
}

TEST_F(MultiDeviceTest, PicturesAreConvertedByTheDevice) {
  ModelMaker maker("pictures");
  maker.output(maker.op("Relu", {maker.input({1, 3, 8, 8})}));
  maker.model().set_preprocess(0, PreprocessDesc());
  const Image image = *make_host_image(PixelFormat::RGB, 16, 12);
  for (size_t i = 0; i < 16 * 12 * 3; ++i) {
    image.planes[0].buffer->host()[i] = static_cast<std::byte>(i * 7);
  }
  auto wanted = *compile(maker.model(), "REF")->create_infer_request();
  ASSERT_TRUE(wanted->set_image(0, image, {2, 1, 9, 10}).ok());
  ASSERT_TRUE(wanted->infer().ok());
  const auto compiled = compile(maker.model(), "MULTI:FAST(1),OTHER(1)");
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 4; ++i) requests.push_back(*compiled->create_infer_request());
  for (int round = 0; round < 3; ++round) {
    for (auto& request : requests) {
      std::memset(request->output(0).bytes(), 0, request->output(0).size_bytes());
      ASSERT_TRUE(request->set_image(0, image, {2, 1, 9, 10}).ok());
      ASSERT_TRUE(request->start_async().ok());
    }
    for (auto& request : requests) {
      ASSERT_TRUE(request->wait().ok());
      EXPECT_EQ(std::memcmp(request->output(0).bytes(), wanted->output(0).bytes(),
                            wanted->output(0).size_bytes()),
                0);
    }
  }
}

TEST_F(MultiDeviceTest, ProfilesAreOfTheWorkerThatRan) {
  const auto model = diamond();
  fast_->speed = [](const Node&) { return std::chrono::microseconds(111); };
  other_->speed = [](const Node&) { return std::chrono::microseconds(222); };
  const auto compiled = compile(*model, "MULTI:FAST(1),OTHER(1)", {{"PERF_COUNT", "YES"}});
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 2);
  fast_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  expect_right(requests[1]);
  fast_gate_.open();
  expect_right(requests[0]);
  for (const size_t i : {0, 1}) {
    const std::vector<ProfileRow> rows = requests[i].request->profiling();
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].real_us, i == 0 ? 111 : 222);
  }
}

TEST_F(MultiDeviceTest, PropertiesReachTheDevices) {
  const auto model = diamond();
  auto compiled = compile(*model, "MULTI:FAST(2),OTHER", {{"OTHER.PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(fast_->compiled_with.back(), (Properties{{"PERFORMANCE_HINT", "THROUGHPUT"}}));
  EXPECT_EQ(other_->compiled_with.back(),
            (Properties{{"PERFORMANCE_HINT", "THROUGHPUT"}, {"PERF_COUNT", "YES"}}));
  compiled =
      compile(*model, "MULTI:FAST(2),REF",
              {{"PERFORMANCE_HINT", "LATENCY"}, {"DEVICE_PROPERTIES", "{REF:{NUM_STREAMS:2}}"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(fast_->compiled_with.back(), (Properties{{"PERFORMANCE_HINT", "LATENCY"}}));
  EXPECT_EQ(property(*compiled, "REF.NUM_STREAMS"), "2");
  EXPECT_EQ(property(*compiled, "PERFORMANCE_HINT"), "LATENCY");
  EXPECT_EQ(property(*compiled, "NETWORK_NAME"), "diamond");
  EXPECT_THAT(property(*compiled, "GPU.NUM_STREAMS"), HasSubstr("does not run on 'GPU'"));
  EXPECT_THAT(property(*compiled, "NUM_STREAM"), HasSubstr("did you mean NUM_STREAMS?"));
  EXPECT_THAT(compile_error(*model, "MULTI:FAST(2)", {{"GPU.PERF_COUNT", "YES"}}),
              HasSubstr("for a device 'GPU', which is not in MULTI:FAST(2)"));
}

TEST_F(MultiDeviceTest, DeviceListsAreChecked) {
  const auto model = diamond();
  EXPECT_THAT(compile_error(*model, "MULTI"), HasSubstr("MULTI needs devices"));
  EXPECT_THAT(compile_error(*model, "MULTI:BATCH:REF(2)"),
              HasSubstr("MULTI takes devices that compute, not BATCH:REF"));
  EXPECT_THAT(compile_error(*model, "MULTI:FAST,HETERO:REF"), HasSubstr("distributes work itself"));
  EXPECT_THAT(compile_error(*model, "HETERO:MULTI:REF"), HasSubstr("distributes work itself"));
  EXPECT_THAT(compile_error(*model, "MULTI:REF,NPU"), HasSubstr("NPU"));
  EXPECT_THAT(compile_error(*model, "MULTI:REF(0)"), HasSubstr("1 to 1024 requests"));
  const auto listed = compile(*model, "MULTI", {{"MULTI_DEVICE_PRIORITIES", "FAST(2),REF(1)"}});
  ASSERT_NE(listed, nullptr);
  EXPECT_EQ(property(*listed, "EXECUTION_DEVICES"), "FAST REF");
  EXPECT_EQ(property(*listed, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "3");
  EXPECT_EQ(*core_.get_property("MULTI:FAST", "FULL_DEVICE_NAME"), "Requests over several devices");
}

}  // namespace
}  // namespace het::hetero
