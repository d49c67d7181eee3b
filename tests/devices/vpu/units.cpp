/// Which unit of a VPU a model is on and which executes it, as OpenVINO's HDDL properties say; how
/// streams share a queue; what a configuration file changes.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "tests/devices/vpu/vpu_testing.h"

namespace het::device_testing {
namespace {

using testing::HasSubstr;

class VpuUnits : public Vpu {
 protected:
  VpuUnits() { maker_.output(maker_.op("Relu", {maker_.input({4})})); }

  std::string config(const std::string& json) const {
    const std::string path = daemons_.socket("config") + ".json";
    std::ofstream(path) << json;
    return path;
  }
  std::vector<std::string> metric(const std::string& name) const {
    std::istringstream text(*core_->get_property("VPU", name));
    std::vector<std::string> values;
    for (std::string word; text >> word;) values.push_back(word);
    return values;
  }
  std::shared_ptr<CompiledModel> loaded(Properties properties) {
    properties["PERF_COUNT"] = "YES";
    return compile(maker_.model(), properties);
  }
  Status refusal(const Properties& properties) {
    const auto compiled = core_->compile_model(maker_.model(), "VPU", properties);
    return compiled ? Status() : compiled.error();
  }
  /// The units that executed `runs` requests, `at_once` of them at a time.
  static std::set<std::string> units_of(CompiledModel& compiled, size_t runs, size_t at_once = 1) {
    std::set<std::string> units;
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (size_t i = 0; i < at_once; ++i) requests.push_back(*compiled.create_infer_request());
    for (size_t run = 0; run < runs; run += at_once) {
      for (const auto& request : requests) EXPECT_TRUE(request->start_async().ok());
      for (const auto& request : requests) {
        const Status status = request->wait();
        EXPECT_TRUE(status.ok()) << status.message();
        for (const ProfileRow& row : request->profiling()) {
          if (row.node_name == "3. VPU execute time") units.insert(row.exec_type);
        }
      }
    }
    return units;
  }

  ModelMaker maker_;
};

TEST_F(VpuUnits, AModelIsOnAllUnitsUnlessSomethingIsAskedFor) {
  daemons_.start("a", {"--profile", "hddl", "--execution-us", "20000"});
  EXPECT_EQ(units_of(*loaded({}), 16, 8).size(), 8u);
  EXPECT_EQ(units_of(*loaded({{"HDDL_USE_SGAD", "YES"}}), 16, 8).size(), 8u);
}

TEST_F(VpuUnits, AGraphTagSaysOnHowManyUnits) {
  daemons_.start("a", {"--config", config(R"({"base": "hddl", "graph_tags": {"three": 3}})"),
                       "--execution-us", "20000"});
  const auto tagged = loaded({{"HDDL_GRAPH_TAG", "three"}});
  EXPECT_EQ(metric("HDDL_DEVICE_GROUP_USING_NUM")[0], "3");
  EXPECT_EQ(units_of(*tagged, 16, 8).size(), 3u);
  const Status unknown = refusal({{"HDDL_GRAPH_TAG", "four"}});
  EXPECT_EQ(unknown.code(), StatusCode::NotFound);
  EXPECT_THAT(unknown.message(), HasSubstr("it has three"));
}

TEST_F(VpuUnits, AStreamKeepsItsUnit) {
  daemons_.start("a", {"--profile", "hddl"});
  const auto first = loaded({{"HDDL_STREAM_ID", "camera 1"}});
  const auto other = loaded({{"HDDL_STREAM_ID", "camera 2"}});
  const auto again = loaded({{"HDDL_STREAM_ID", "camera 1"}});
  const auto units = units_of(*first, 8, 4);
  EXPECT_EQ(units.size(), 1u);
  EXPECT_EQ(units_of(*again, 8, 4), units);
  EXPECT_EQ(units_of(*other, 8, 4).size(), 1u);
  EXPECT_NE(units_of(*other, 8, 4), units);
}

TEST_F(VpuUnits, ADeviceTagNamesAUnit) {
  daemons_.start("a", {"--profile", "hddl"});
  const auto bound = loaded({{"HDDL_DEVICE_TAG", "left"}, {"HDDL_BIND_DEVICE", "YES"}});
  const auto units = units_of(*bound, 8, 4);
  EXPECT_EQ(units.size(), 1u);
  const std::vector<std::string> tags = metric("HDDL_DEVICE_TAG");
  ASSERT_EQ(tags.size(), 8u);
  const auto left = std::find(tags.begin(), tags.end(), "left") - tags.begin();
  EXPECT_EQ(*units.begin(), "unit" + std::to_string(left));
  EXPECT_EQ(units_of(*loaded({{"HDDL_DEVICE_TAG", "left"}, {"HDDL_BIND_DEVICE", "YES"}}), 4),
            units);
  const auto right = loaded({{"HDDL_DEVICE_TAG", "right"}, {"HDDL_BIND_DEVICE", "YES"}});
  EXPECT_NE(units_of(*right, 4), units);
  EXPECT_EQ(refusal({{"HDDL_DEVICE_TAG", "left"}, {"HDDL_STREAM_ID", "x"}}).code(),
            StatusCode::InvalidArgument);
}

/// The same model on two units, not bound: either executes requests of both, the one with the
/// larger priority first.
TEST_F(VpuUnits, RuntimePrioritySaysWhichUnitIsUsedFirst) {
  daemons_.start("a", {"--profile", "hddl", "--execution-us", "20000"});
  const auto low = loaded({{"HDDL_DEVICE_TAG", "low"}, {"HDDL_RUNTIME_PRIORITY", "1"}});
  const auto high = loaded({{"HDDL_DEVICE_TAG", "high"}, {"HDDL_RUNTIME_PRIORITY", "2"}});
  const std::vector<std::string> tags = metric("HDDL_DEVICE_TAG");
  const auto unit = [&](const char* tag) {
    return "unit" + std::to_string(std::find(tags.begin(), tags.end(), tag) - tags.begin());
  };
  EXPECT_EQ(units_of(*low, 3), std::set{unit("high")});
  EXPECT_EQ(units_of(*high, 3), std::set{unit("high")});
  EXPECT_EQ(units_of(*low, 4, 2), (std::set{unit("high"), unit("low")}));
}

TEST_F(VpuUnits, ATagIsFreeAgainWithItsLastModel) {
  daemons_.start("a", {"--config", config(R"({"base": "hddl", "units": 1})")});
  {
    const auto first = loaded({{"HDDL_DEVICE_TAG", "one"}});
    EXPECT_EQ(refusal({{"HDDL_DEVICE_TAG", "two"}}).code(), StatusCode::Busy);
  }
  EXPECT_TRUE(refusal({{"HDDL_DEVICE_TAG", "two"}}).ok());
}

TEST_F(VpuUnits, MetricsTellOfEveryUnit) {
  daemons_.start("a", {"--profile", "hddl", "--execution-us", "5000"});
  EXPECT_EQ(metric("HDDL_DEVICE_NUM")[0], "8");
  EXPECT_EQ(metric("HDDL_DEVICE_GROUP_TOTAL_NUM")[0], "8");
  EXPECT_EQ(metric("HDDL_DEVICE_ID").back(), "7");
  EXPECT_EQ(metric("HDDL_DEVICE_MODEL")[3], "hddl");
  EXPECT_EQ(metric("HDDL_DEVICE_NAME")[3], "hddl.3");
  EXPECT_EQ(metric("HDDL_DEVICE_SUBCLASS").size(), 8u);
  EXPECT_EQ(metric("HDDL_DEVICE_MEMORY_TOTAL")[0], "512.0");
  EXPECT_EQ(metric("HDDL_DEVICE_MEMORY_USED")[0], "0.0");
  ModelMaker large;
  large.output(large.op("Relu", {large.input({1 << 20})}));
  const auto compiled =
      compile(large.model(), {{"HDDL_DEVICE_TAG", "x"}, {"HDDL_BIND_DEVICE", "YES"}});
  const std::vector<std::string> tags = metric("HDDL_DEVICE_TAG");
  const auto unit = static_cast<size_t>(std::find(tags.begin(), tags.end(), "x") - tags.begin());
  ASSERT_LT(unit, tags.size());
  EXPECT_EQ(metric("HDDL_DEVICE_MEMORY_USED")[unit], "2.0") << "a million halves";
  const double idle = std::stod(metric("HDDL_DEVICE_THERMAL")[unit]);
  const auto request = *compiled->create_infer_request();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(request->infer().ok());
  EXPECT_GT(std::stod(metric("HDDL_DEVICE_UTILIZATION")[unit]), 5.0);
  EXPECT_GT(std::stod(metric("HDDL_DEVICE_THERMAL")[unit]), idle);
  EXPECT_EQ(std::stod(metric("HDDL_DEVICE_UTILIZATION")[(unit + 1) % 8]), 0.0);
}

/// 16 streams, one of them with eight requests in flight, share the five of the queue.
TEST_F(VpuUnits, StreamsShareTheQueueOfAnFpga) {
  daemons_.start("a", {"--profile", "fpga", "--execution-us", "1000"});
  const auto compiled = compile(maker_.model());
  constexpr size_t kStreams = 16;
  std::vector<std::atomic<int>> ended(kStreams);
  std::atomic<bool> stopping{false};
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (size_t stream = 0; stream < kStreams; ++stream) {
    for (int i = 0; i < (stream == 0 ? 8 : 2); ++i) {
      requests.push_back(*compiled->create_infer_request());
      InferRequest* const request = requests.back().get();
      request->set_stream("stream " + std::to_string(stream));
      request->set_callback([&, request, stream](const Status& status) {
        if (status.ok()) ++ended[stream];
        if (!stopping) (void)request->start_async();
      });
    }
  }
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::vector<int> before;
  for (const auto& count : ended) before.push_back(count);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  std::vector<int> counts;
  for (size_t i = 0; i < kStreams; ++i) counts.push_back(ended[i] - before[i]);
  stopping = true;
  for (const auto& request : requests) EXPECT_TRUE(request->wait().ok());
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  EXPECT_GT(*least, 20);
  EXPECT_GE(*least + 1, 0.9 * *most) << testing::PrintToString(counts);
}

TEST_F(VpuUnits, AConfigurationFileMakesAProfile) {
  daemons_.start("a", {"--config", config(R"({"name": "mine", "requests": 3, "memory_mb": 1,
      "operators": ["Relu"], "types": ["float32"], "bitstream": "relu only"})")});
  EXPECT_THAT(*core_->get_property("VPU", "FULL_DEVICE_NAME"),
              testing::AllOf(HasSubstr("profile mine"), HasSubstr("bitstream relu only")));
  EXPECT_EQ(*core_->get_property("VPU", "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "3");
  EXPECT_EQ(*core_->get_property("VPU", "DEVICE_TOTAL_MEM_SIZE"), "1048576");
  EXPECT_TRUE(refusal({}).ok());
  ModelMaker other;
  other.output(other.op("Sigmoid", {other.input({4})}));
  const auto refused = core_->compile_model(other.model(), "VPU");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("a mine has no operator Sigmoid"));
  ModelMaker large;
  large.output(large.op("Relu", {large.input({1 << 20})}));
  const auto full = core_->compile_model(large.model(), "VPU");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), StatusCode::OutOfMemory) << full.error().message();
}

TEST_F(VpuUnits, AConfigurationThatIsWrongIsTold) {
  const std::string program = built_file("devices/vpu/daemon/hetero-vpud");
  const auto run_with = [&](const std::string& options) {
    return run_child(program + " --socket " + daemons_.socket("a") + " " + options + " 2>&1");
  };
  for (const auto& [json, wanted] : std::vector<std::pair<std::string, std::string>>{
           {R"({"requests": 0})", "'requests' has to be a number from 1 to 4096, not 0"},
           {R"({"reqests": 4})", "there is no entry 'reqests'"},
           {R"({"base": "stick"})", "there is no profile 'stick'"},
           {R"({"operators": "Relu"})", "'operators' has to be a list of texts"},
           {R"([])", "it is no object"},
           {R"({)", "is no JSON"}}) {
    const auto child = run_with("--config " + config(json));
    EXPECT_EQ(child.status, 2) << json;
    EXPECT_THAT(child.output, HasSubstr(wanted));
  }
  EXPECT_EQ(run_with("--config /nowhere.json").status, 2);
  EXPECT_THAT(run_with("--listen tcp://127.0.0.1:0").output, HasSubstr("--key-file"));
  EXPECT_THAT(run_with("--user nobody-has-this-name").output, HasSubstr("there is no user"));
}

/// What takes longer than the device allows is ended, by the device.
TEST_F(VpuUnits, AnExecutionHasALimit) {
  daemons_.start("a", {"--config", config(R"({"request_limit_ms": 100})")});
  ModelMaker slow;
  Value* x = slow.input({1, 64, 256, 256});
  for (int i = 0; i < 12; ++i) x = slow.conv(x, 64, 64, 3);
  slow.output(x);
  const auto compiled = compile(slow.model());
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::TimedOut) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("limit of 100 ms"));
  EXPECT_EQ(units_of(*loaded({}), 1).size(), 1u) << "the device goes on";
}

}  // namespace
}  // namespace het::device_testing
