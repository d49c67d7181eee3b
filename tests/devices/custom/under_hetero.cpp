/// A device of a library beside others: HETERO, MULTI, AUTO, BATCH.
#include <sstream>

#include "custom_testing.h"

namespace het::custom_testing {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LibraryDeviceBesideOthers : public CustomDeviceTest {
 protected:
  /// Losses and returns until now, as "-FAULTDEV".
  static std::vector<std::string> changes(const CompiledModel& compiled) {
    uint64_t next = 0;
    std::vector<std::string> texts;
    for (const DeviceEvent& event : compiled.device_events(next)) {
      texts.push_back((event.cause.empty() ? "+" : "-") + event.device);
    }
    return texts;
  }
  /// Right results before and after the device is lost, in requests that are in flight together.
  void expect_fail_over(const Model& model, const std::string& devices) {
    const auto compiled = compile(model, devices,
                                  {{"FAULTDEV.FAULT", "lost"},
                                   {"FAULTDEV.FAULT_AFTER", "9"},
                                   {"HETERO_RETRY_INTERVAL", "0"}});
    ASSERT_NE(compiled, nullptr);
    const std::vector<Tensor> expected = expected_of(model);
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (int i = 0; i < 4; ++i) {
      requests.push_back(*compiled->create_infer_request());
      fill(*requests.back(), inputs_of(model));
    }
    // MULTI may give a busy machine's requests to the other device for a while.
    for (int round = 0; round < 6 || (round < 500 && changes(*compiled).empty()); ++round) {
      for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
      for (const auto& request : requests) {
        const Status status = request->wait();
        ASSERT_TRUE(status.ok()) << status.message();
        for (size_t i = 0; i < expected.size(); ++i) expect_near(request->output(i), expected[i]);
      }
      if (round > 0) continue;
      EXPECT_THAT(changes(*compiled), IsEmpty()) << "it is there at first";
    }
    EXPECT_THAT(changes(*compiled), ElementsAre("-FAULTDEV"));
    uint64_t next = 0;
    EXPECT_THAT(compiled->device_events(next).at(0).cause, HasSubstr("the cable is out"));
  }
};

TEST_F(LibraryDeviceBesideOthers, HeteroSplitsAndExplains) {
  const auto model = mixed();
  const auto compiled = compile(*model, "HETERO:MYDEV,CPU");
  ASSERT_NE(compiled, nullptr);
  expect_results_of_ref(*model, *compiled);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "MYDEV CPU");
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "4");
  const std::string plan = property(*compiled, "HETERO_PLAN");
  EXPECT_THAT(plan, AllOf(HasSubstr("on MYDEV"), HasSubstr("on CPU"),
                          HasSubstr("the device has no such operator")));
  const auto rows = core_.query_model(*model, "HETERO:MYDEV,CPU");
  ASSERT_TRUE(rows);
  for (const NodeSupport& row : *rows) {
    const bool is_own = row.op_type == "Conv" || row.op_type == "Relu";
    EXPECT_EQ(row.device, is_own ? "MYDEV" : "CPU") << row.node_name;
  }
}

TEST_F(LibraryDeviceBesideOthers, OwnPropertiesReachItInHetero) {
  const auto model = mixed();
  for (const Properties& properties :
       {Properties{{"MYDEV.MYDEV_OPERATORS", "Conv"}}, Properties{{"MYDEV_OPERATORS", "Conv"}},
        Properties{{"DEVICE_PROPERTIES", "{MYDEV:{MYDEV_OPERATORS:Conv}}"}}}) {
    const auto rows = core_.query_model(*model, "HETERO:MYDEV,CPU", properties);
    ASSERT_TRUE(rows) << rows.error().message();
    for (const NodeSupport& row : *rows) {
      EXPECT_EQ(row.device, row.op_type == "Conv" ? "MYDEV" : "CPU") << row.node_name;
    }
  }
  EXPECT_THAT(compile_error(*model, "HETERO:CPU,REF", {{"MYDEV.MYDEV_OPERATORS", "Conv"}}),
              HasSubstr("not in HETERO:CPU,REF"));
}

TEST_F(LibraryDeviceBesideOthers, PoliciesThatMeasureTakeIt) {
  const auto model = mixed();
  for (const char* policy : {"latency", "throughput"}) {
    const auto compiled =
        compile(*model, "HETERO:MYDEV,CPU",
                {{"HETERO_POLICY", policy}, {"HETERO_EXPLAIN", "YES"}, {"CACHE_DIR", ""}});
    ASSERT_NE(compiled, nullptr);
    EXPECT_THAT(property(*compiled, "HETERO_PLAN"), HasSubstr("MYDEV"));
    expect_results_of_ref(*model, *compiled);
  }
}

TEST_F(LibraryDeviceBesideOthers, NeighboursShareItsMemory) {
  const auto model = mixed();
  const auto compiled = compile(*model, "HETERO:FAULTDEV,CPU");
  auto request = *compiled->create_infer_request();
  fill(*request, inputs_of(*model));
  ASSERT_TRUE(request->infer().ok());
  // Of its last subgraph: what CPU wrote for it, and what it wrote for CPU.
  EXPECT_EQ(property("FAULTDEV", "FAULT_OWN_TENSORS"), "2");
}

TEST_F(LibraryDeviceBesideOthers, TheFailOverOfHetero) {
  expect_fail_over(*mixed(), "HETERO:FAULTDEV,CPU");
}

TEST_F(LibraryDeviceBesideOthers, TheFailOverOfMulti) {
  expect_fail_over(*everything(), "MULTI:FAULTDEV,CPU");
}

TEST_F(LibraryDeviceBesideOthers, TheFailOverOfAuto) {
  expect_fail_over(*everything(), "AUTO:FAULTDEV,CPU");
}

TEST_F(LibraryDeviceBesideOthers, MultiAndBatchRunIt) {
  const auto model = everything();
  for (const char* device : {"MULTI:MYDEV,CPU", "AUTO:MYDEV,CPU", "BATCH:MYDEV(2)"}) {
    Properties properties{{"PERFORMANCE_HINT", "THROUGHPUT"}};
    if (std::string_view(device).starts_with("BATCH")) properties["AUTO_BATCH_TIMEOUT"] = "10";
    const auto compiled = compile(*model, device, properties);
    ASSERT_NE(compiled, nullptr) << device;
    expect_results_of_ref(*model, *compiled);
  }
}

TEST_F(LibraryDeviceBesideOthers, AutoFindsItByItself) {
  const auto model = everything();
  const auto compiled = compile(*model, "AUTO:-GPU,-VPU,-FAULTDEV",
                                {{"ENABLE_STARTUP_FALLBACK", "NO"}, {"MYDEV_OPERATORS", ""}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "MYDEV");
}

TEST_F(LibraryDeviceBesideOthers, HeteroExportsAndImportsIt) {
  const auto model = mixed();
  std::stringstream file;
  ASSERT_TRUE(compile(*model, "HETERO:MYDEV,CPU")->export_model(file).ok());
  const auto imported = core_.import_model(file, "HETERO:MYDEV,CPU");
  ASSERT_TRUE(imported) << imported.error().message();
  expect_results_of_ref(*model, **imported);
  // Where the library is not loaded, the name says what is missing.
  Core other;
  register_devices(other);
  file.clear();
  file.seekg(0);
  const auto missing = other.import_model(file, "HETERO");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("MYDEV"));
}

TEST_F(LibraryDeviceBesideOthers, RequestsOfSeveralModelsTakeTurns) {
  const auto model = everything();
  const auto compiled = compile(*model, "MYDEV", {{"EXCLUSIVE_ASYNC_REQUESTS", "YES"}});
  ASSERT_NE(compiled, nullptr);
  expect_results_of_ref(*model, *compiled);
}

}  // namespace
}  // namespace het::custom_testing
