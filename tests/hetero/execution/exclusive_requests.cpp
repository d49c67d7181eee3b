// EXCLUSIVE_ASYNC_REQUESTS: requests of all models on a device run one after the other.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <sstream>
#include <thread>

#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using std::chrono::milliseconds;
using Requests = std::vector<std::unique_ptr<InferRequest>>;

const Properties kExclusive = {{"EXCLUSIVE_ASYNC_REQUESTS", "YES"}};

class ExclusiveRequests : public HeteroDeviceTest {
 protected:
  static Requests make_requests(const std::vector<std::shared_ptr<CompiledModel>>& models,
                                size_t each) {
    Requests requests;
    for (size_t n = 0; n < each; ++n) {
      for (const auto& model : models) requests.push_back(*model->create_infer_request());
    }
    return requests;
  }
  /// Starts all of them, waits, and gives the most that were in flight on the device.
  static size_t most_in_flight(WrappedBehaviour& behaviour, const Requests& requests) {
    behaviour.most_in_flight = 0;
    for (const auto& request : requests) EXPECT_TRUE(request->start_async().ok());
    for (const auto& request : requests) EXPECT_TRUE(request->wait().ok());
    return behaviour.most_in_flight;
  }
  static std::unique_ptr<Model> named(const std::string& name) {
    ModelMaker maker(name);
    maker.output(maker.op("Relu", {maker.input({1, 4})}));
    return maker.model().clone();
  }

  /// FAST runs nothing until it is opened.
  void close_fast() {
    fast_->before = [this] { opened_.wait(); };
  }
  void open_fast() { gate_.set_value(); }

  std::promise<void> gate_;
  std::shared_future<void> opened_ = gate_.get_future().share();
};

TEST_F(ExclusiveRequests, ModelsOfADeviceTakeTurns) {
  fast_->duration = milliseconds(2);
  const auto requests = [&](const Properties& first, const Properties& second) {
    return make_requests(
        {compile(*named("a"), "FAST", first), compile(*named("b"), "FAST", second)}, 3);
  };
  EXPECT_EQ(most_in_flight(*fast_, requests({}, {})), 6u);
  EXPECT_EQ(most_in_flight(*fast_, requests(kExclusive, kExclusive)), 1u);
  // One that does not have the property goes beside those that do.
  EXPECT_EQ(most_in_flight(*fast_, requests(kExclusive, {})), 4u);
}

TEST_F(ExclusiveRequests, EveryDeviceHasTurnsOfItsOwn) {
  const auto model = named("a");
  const Requests requests =
      make_requests({compile(*model, "FAST", kExclusive), compile(*model, "OTHER", kExclusive)}, 1);
  // Each waits inside its device for the other one to get there.
  std::promise<void> fast_is_in;
  std::promise<void> other_is_in;
  std::future<void> fast_came = fast_is_in.get_future();
  std::future<void> other_came = other_is_in.get_future();
  fast_->before = [&] {
    fast_is_in.set_value();
    other_came.wait();
  };
  other_->before = [&] {
    other_is_in.set_value();
    fast_came.wait();
  };
  EXPECT_EQ(most_in_flight(*fast_, requests), 1u);
}

TEST_F(ExclusiveRequests, FirstComeFirstServed) {
  const Requests requests = make_requests(
      {compile(*named("a"), "FAST", kExclusive), compile(*named("b"), "FAST", kExclusive)}, 4);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(most_in_flight(*fast_, requests), 1u);
    std::string order;
    for (const TracedExecution& run : fast_->executions) {
      order += fmt::format("{}{} ", run.model, run.request);
    }
    EXPECT_EQ(order, "a0 b0 a1 b1 a2 b2 a3 b3 ");
    fast_->executions.clear();
  }
}

TEST_F(ExclusiveRequests, ResultsAndPropertiesAreTheModels) {
  const auto model = diamond();
  const auto compiled = compile(*model, "FAST", kExclusive);
  EXPECT_EQ(property(*compiled, "EXCLUSIVE_ASYNC_REQUESTS"), "YES");
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  EXPECT_EQ(property(*compile(*model, "FAST"), "EXCLUSIVE_ASYNC_REQUESTS"), "NO");
  expect_results_of_ref(*model, *compiled);
  // Core::set_property() is for every later model.
  ASSERT_TRUE(core_.set_property("OTHER", kExclusive).ok());
  const auto other = compile(*model, "OTHER");
  expect_results_of_ref(*model, *other);
  EXPECT_EQ(most_in_flight(*other_, make_requests({other, other}, 2)), 1u);
  EXPECT_THAT(compile_error(*model, "FAST", {{"EXCLUSIVE_ASYNC_REQUESTS", "MAYBE"}}),
              testing::HasSubstr("takes YES or NO"));
}

TEST_F(ExclusiveRequests, TwoNamesOfADeviceAreOne) {
  fast_->duration = milliseconds(2);
  const auto model = named("a");
  const Requests requests = make_requests(
      {compile(*model, "FAST", kExclusive), compile(*model, "FAST.0", kExclusive)}, 2);
  EXPECT_EQ(most_in_flight(*fast_, requests), 1u);
  const Requests others = make_requests(
      {compile(*model, "FAST", kExclusive), compile(*model, "FAST.1", kExclusive)}, 2);
  EXPECT_EQ(most_in_flight(*fast_, others), 2u);
}

TEST_F(ExclusiveRequests, OneThatWaitsIsCancelledAtOnce) {
  close_fast();
  const Requests requests = make_requests(
      {compile(*named("a"), "FAST", kExclusive), compile(*named("b"), "FAST", kExclusive)}, 2);
  std::thread::id ended_on;
  requests[1]->set_callback([&](const Status&) { ended_on = std::this_thread::get_id(); });
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  requests[1]->cancel();
  EXPECT_EQ(requests[1]->wait_for(milliseconds(5000)).code(), StatusCode::Cancelled);
  EXPECT_NE(ended_on, std::this_thread::get_id()) << "the caller may hold a lock";
  EXPECT_EQ(requests[0]->wait_for(milliseconds(1)).code(), StatusCode::TimedOut);
  requests[1]->cancel();  // nothing
  // It comes last when it is started again.
  ASSERT_TRUE(requests[1]->start_async().ok());
  open_fast();
  for (const auto& request : requests) EXPECT_TRUE(request->wait().ok());
  std::string order;
  for (const TracedExecution& run : fast_->executions) order += run.model;
  EXPECT_EQ(order, "aabb");
}

TEST_F(ExclusiveRequests, OneThatRunsIsCancelledOnItsDevice) {
  close_fast();
  const Requests requests = make_requests({compile(*named("a"), "FAST", kExclusive)}, 2);
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  requests[0]->cancel();
  open_fast();
  EXPECT_EQ(requests[0]->wait().code(), StatusCode::Cancelled);
  (void)requests[1]->wait();
  EXPECT_TRUE(requests[1]->infer().ok());
}

TEST_F(ExclusiveRequests, ErrorsEndTheirOwnRequestOnly) {
  fast_->outcome = [](size_t count) {
    return count == 1 ? Status(error(StatusCode::Internal, "number 1")) : Status();
  };
  const Requests requests = make_requests({compile(*named("a"), "FAST", kExclusive)}, 3);
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  EXPECT_TRUE(requests[0]->wait().ok());
  EXPECT_EQ(requests[1]->wait().message(), "number 1");
  EXPECT_TRUE(requests[2]->wait().ok());
}

TEST_F(ExclusiveRequests, EndsThatComeAtOnceDoNotNest) {
  fast_->ends_inline = true;
  const auto model = named("a");
  const Requests requests = make_requests({compile(*model, "FAST", kExclusive)}, 300);
  std::promise<void> entered;
  uintptr_t lowest = UINTPTR_MAX;
  uintptr_t highest = 0;
  int runs = 0;
  fast_->before = [&] {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    lowest = std::min(lowest, here);
    highest = std::max(highest, here);
    if (runs++ > 0) return;
    entered.set_value();
    opened_.wait();
  };
  // The first runs on a thread of the test until all others wait.
  std::thread thread([&] { EXPECT_TRUE(requests[0]->infer().ok()); });
  entered.get_future().wait();
  for (size_t i = 1; i < requests.size(); ++i) ASSERT_TRUE(requests[i]->start_async().ok());
  open_fast();
  thread.join();
  for (const auto& request : requests) EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ(runs, 300);
  EXPECT_LT(highest - lowest, 16384u);
}

TEST_F(ExclusiveRequests, StartsThatFailAtOnceGoOn) {
  const Requests requests = make_requests({compile(*named("a"), "FAST", kExclusive)}, 50);
  std::atomic<int> starts = 0;
  fast_->refuse_start = [&] {
    return ++starts % 2 == 0 ? Status(error(StatusCode::Busy, "not now")) : Status();
  };
  int failed = 0;
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  for (const auto& request : requests) failed += request->wait().ok() ? 0 : 1;
  EXPECT_EQ(failed, 25);
}

TEST_F(ExclusiveRequests, RequestsThatRestartInTheirCallbacksShare) {
  const Requests requests = make_requests(
      {compile(*named("a"), "FAST", kExclusive), compile(*named("b"), "FAST", kExclusive)}, 2);
  std::vector<std::atomic<int>> left(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    left[i] = 50;
    requests[i]->set_callback([&, i](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.message();
      const bool is_last = --left[i] == 0;
      EXPECT_TRUE(is_last || requests[i]->start_async().ok());
    });
  }
  fast_->most_in_flight = 0;
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  for (const auto& request : requests) EXPECT_TRUE(request->wait().ok());
  for (const auto& count : left) EXPECT_EQ(count, 0);
  EXPECT_EQ(fast_->most_in_flight, 1u);
}

TEST_F(ExclusiveRequests, CancelsAtAnyTimeEndEveryRequestOnce) {
  const Requests requests = make_requests(
      {compile(*named("a"), "FAST", kExclusive), compile(*named("b"), "FAST", kExclusive)}, 2);
  std::atomic<bool> stop = false;
  std::atomic<int> ended = 0;
  int started = 0;
  for (const auto& request : requests) {
    request->set_callback([&](const Status& status) {
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
      ++ended;
    });
  }
  std::thread canceller([&] {
    for (size_t i = 0; !stop; ++i) requests[i % requests.size()]->cancel();
  });
  for (int round = 0; round < 300; ++round) {
    for (const auto& request : requests) {
      if (request->start_async().ok()) ++started;
    }
    for (const auto& request : requests) (void)request->wait();
  }
  stop = true;
  canceller.join();
  EXPECT_EQ(ended, started);
  EXPECT_EQ(fast_->in_flight, 0u);
  EXPECT_TRUE(requests[0]->infer().ok());
}

TEST_F(ExclusiveRequests, CompositeDevicesPassItOn) {
  fast_->duration = milliseconds(2);
  const auto model = diamond();
  for (const std::string device :
       {"HETERO:FAST,REF", "MULTI:FAST(3)", "AUTO:FAST", "BATCH:FAST(2)"}) {
    const bool is_batch = device.starts_with("BATCH");
    Properties properties;
    if (is_batch) properties["AUTO_BATCH_TIMEOUT"] = "20";
    for (const char* name : {"EXCLUSIVE_ASYNC_REQUESTS", "FAST.EXCLUSIVE_ASYNC_REQUESTS"}) {
      // BATCH has one device, so it knows no properties of single ones.
      if (is_batch && name[0] == 'F') continue;
      SCOPED_TRACE(device + " " + name);
      Properties with = properties;
      with[name] = "YES";
      const auto compiled = compile(*model, device, with);
      ASSERT_NE(compiled, nullptr);
      EXPECT_EQ(most_in_flight(*fast_, make_requests({compiled}, 6)), 1u);
      EXPECT_EQ(property(*compiled, name), "YES");
      expect_results_of_ref(*model, *compiled);
      // With a model that uses the device alone, too.
      const auto alone = compile(*model, "FAST", kExclusive);
      EXPECT_EQ(most_in_flight(*fast_, make_requests({compiled, alone}, 4)), 1u);
    }
    const auto without = compile(*model, device, properties);
    const size_t most = most_in_flight(*fast_, make_requests({without}, 6));
    // AUTO runs as many as the device wants for a model, which is one.
    EXPECT_EQ(most > 1, device != "AUTO:FAST") << device;
  }
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", {{"OTHER.EXCLUSIVE_ASYNC_REQUESTS", "YES"}}),
              testing::HasSubstr("not in HETERO:FAST,REF"));
}

TEST_F(ExclusiveRequests, OnCpuExecutionsDoNotOverlap) {
  ModelMaker maker("large");
  Value* x = maker.input({1, 16, 48, 48});
  for (int i = 0; i < 3; ++i) x = maker.op("Relu", {maker.conv(x, 16, 16, 3)});
  maker.output(x);
  Properties properties{
      {"PERF_COUNT", "YES"}, {"NUM_STREAMS", "2"}, {"EXCLUSIVE_ASYNC_REQUESTS", "YES"}};
  const auto first = compile(maker.model(), "CPU", properties);
  std::stringstream file;
  ASSERT_TRUE(first->export_model(file).ok());
  // The file says it of the imported one.
  const auto second = core_.import_model(file, "CPU");
  ASSERT_TRUE(second) << second.error().message();
  const Requests requests = make_requests({first, *second}, 2);
  for (int round = 0; round < 5; ++round) {
    for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
    std::vector<std::pair<int64_t, int64_t>> spans;
    for (const auto& request : requests) {
      ASSERT_TRUE(request->wait().ok());
      int64_t begin = INT64_MAX;
      int64_t end = 0;
      for (const ProfileRow& row : request->profiling()) {
        if (row.status != ProfileStatus::Executed || row.start_us == 0) continue;
        begin = std::min(begin, row.start_us);
        end = std::max(end, row.start_us + row.real_us);
      }
      ASSERT_LT(begin, end);
      spans.emplace_back(begin, end);
    }
    for (size_t i = 1; i < spans.size(); ++i) {
      EXPECT_LE(spans[i - 1].second, spans[i].first + 1) << "rounded to microseconds";
    }
  }
}

TEST_F(ExclusiveRequests, ModelsWithUnboundShapesTakeTurnsToo) {
  Model open("open");
  Value* x = open.add_input("x", {ElementType::Float32, {1, kUnknownDim}});
  open.add_output("y", open.add_node("relu", "Relu", "", {x}, {"y"})->output());
  const auto model = compile(open, "FAST", kExclusive);
  const Requests requests = make_requests({model, compile(*named("a"), "FAST", kExclusive)}, 3);
  for (size_t i = 0; i < requests.size(); i += 2) {
    const auto size = static_cast<int64_t>(i + 1);
    ASSERT_TRUE(requests[i]->set_input(0, random_tensor({1, size}, 1)).ok());
  }
  EXPECT_EQ(most_in_flight(*fast_, requests), 1u);
}

}  // namespace
}  // namespace het::hetero
