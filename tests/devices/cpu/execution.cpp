#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "devices/cpu/formats/tensor_spec.h"
#include "devices/cpu/plan/stream_settings.h"
#include "inference/machine/core_count.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

/// Convolutions, a residual sum, a concatenation with odd channels, element-wise nodes.
void build_network(ModelMaker& maker, int64_t size = 24) {
  Value* x = maker.input({1, 3, size, size});
  Value* a = maker.op("Relu", {maker.conv(x, 3, 20, 3)});
  Value* b = maker.conv(a, 20, 20, 3);
  Value* c = maker.op("Relu", {maker.op("Add", {a, b})});
  Value* d = maker.op("Mul", {c, maker.op("Sigmoid", {c})});
  Value* e = maker.op("Concat", {d, b}, make_attributes({{"axis", int64_t{1}}}));
  Value* f = maker.conv(e, 40, 16);
  maker.output(maker.op("Softmax", {f}, make_attributes({{"axis", int64_t{1}}})));
  maker.output(maker.op("ReduceMean", {f, maker.ints({2, 3})}));
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

TEST_F(CpuTest, SixteenRequestsOnFourStreamsGiveTheSameBytes) {
  ModelMaker maker;
  build_network(maker);
  const auto one = compile(maker.model(), {{"NUM_STREAMS", "1"}, {"INFERENCE_NUM_THREADS", "1"}});
  const auto four = compile(maker.model(), {{"NUM_STREAMS", "4"}, {"INFERENCE_NUM_THREADS", "4"}});
  std::vector<Tensor> inputs;
  std::vector<std::vector<Tensor>> wanted;
  for (unsigned i = 0; i < 16; ++i) {
    inputs.push_back(random_tensor({1, 3, 24, 24}, i));
    wanted.push_back(infer(*one, {inputs.back()}));
  }
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (size_t i = 0; i < 16; ++i) requests.push_back(*four->create_infer_request());
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < 16; ++i) {
      const size_t picture = (i + static_cast<size_t>(round)) % 16;
      ASSERT_TRUE(requests[i]->set_input(0, inputs[picture]).ok());
      ASSERT_TRUE(requests[i]->start_async().ok());
    }
    for (size_t i = 0; i < 16; ++i) {
      const size_t picture = (i + static_cast<size_t>(round)) % 16;
      ASSERT_TRUE(requests[i]->wait().ok());
      ASSERT_TRUE(same_bytes(requests[i]->output(0), wanted[picture][0])) << round << " " << i;
      ASSERT_TRUE(same_bytes(requests[i]->output(1), wanted[picture][1])) << round << " " << i;
    }
  }
}

TEST_F(CpuTest, TwoThreadsEqualReference) {
  ModelMaker maker;
  build_network(maker, 40);
  compare(maker.model(), 1e-4f, {{"INFERENCE_NUM_THREADS", "2"}});
}

TEST_F(CpuTest, CancelEndsAnExecutionBetweenSteps) {
  ModelMaker maker;
  Value* x = maker.input({512, 512});
  Value* y = x;
  for (int i = 0; i < 400; ++i) y = maker.op("MatMul", {y, x});
  maker.output(y);
  const auto compiled = compile(maker.model());
  auto request = *compiled->create_infer_request();
  std::memset(request->input(0).bytes(), 0, request->input(0).size_bytes());
  ASSERT_TRUE(request->start_async().ok());
  request->cancel();
  EXPECT_EQ(request->wait().code(), StatusCode::Cancelled);
  // The request works again afterwards.
  EXPECT_TRUE(request->infer().ok());
}

TEST_F(CpuTest, CallbackMayStartTheNextExecution) {
  ModelMaker maker;
  build_network(maker);
  const auto compiled = compile(maker.model());
  auto request = *compiled->create_infer_request();
  std::atomic<int> runs{0};
  request->set_callback([&](const Status& status) {
    EXPECT_TRUE(status.ok()) << status.message();
    if (++runs < 20) {
      EXPECT_TRUE(request->start_async().ok());
    }
  });
  ASSERT_TRUE(request->start_async().ok());
  while (runs < 20) ASSERT_TRUE(request->wait().ok());
  EXPECT_EQ(runs, 20);
}

TEST_F(CpuTest, StridedTensorsOfTheCaller) {
  ModelMaker maker;
  Value* x = maker.input({2, 3});
  maker.output(maker.op("Relu", {x}));
  const auto compiled = compile(maker.model());
  auto request = *compiled->create_infer_request();
  std::vector<float> in = {1, -2, 3, 99, 4, -5, 6, 99};
  std::vector<float> out(8, 77.0f);
  const TensorDesc desc{ElementType::Float32, {2, 3}};
  ASSERT_TRUE(request->set_input(0, *Tensor::wrap(desc, in.data(), 32, {}, {16, 4})).ok());
  ASSERT_TRUE(request->set_output(0, *Tensor::wrap(desc, out.data(), 32, {}, {16, 4})).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(out, (std::vector<float>{1, 0, 3, 77, 4, 0, 6, 77}));
}

TEST_F(CpuTest, PropertiesReadBack) {
  ModelMaker maker;
  build_network(maker);
  const auto latency = compile(maker.model());
  EXPECT_EQ(*latency->get_property("NUM_STREAMS"), "1");
  EXPECT_EQ(*latency->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "1");
  EXPECT_EQ(*latency->get_property("EXECUTION_DEVICES"), "CPU");
  EXPECT_EQ(*latency->get_property("NETWORK_NAME"), "test");
  EXPECT_EQ(*latency->get_property("PERFORMANCE_HINT"), "LATENCY");
  EXPECT_EQ(*latency->get_property("INFERENCE_PRECISION_HINT"), "f32");
  const auto streams = compile(
      maker.model(), {{"NUM_STREAMS", "3"}, {"INFERENCE_NUM_THREADS", "6"}, {"PERF_COUNT", "YES"}});
  EXPECT_EQ(*streams->get_property("NUM_STREAMS"), "3");
  EXPECT_EQ(*streams->get_property("INFERENCE_NUM_THREADS"), "6");
  EXPECT_EQ(*streams->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "6");
  EXPECT_EQ(*streams->get_property("PERF_COUNT"), "YES");
  EXPECT_FALSE(streams->get_property("NO_SUCH_PROPERTY"));
}

TEST_F(CpuTest, SubnormalNumbersAreFlushedUnlessAccuracyIsWanted) {
  ModelMaker maker;
  Value* x = maker.input({1 << 18});  // enough for both threads of the team
  maker.output(maker.op("Mul", {x, maker.constant(Tensor::scalar(1e-20f))}));
  Tensor small = *Tensor::allocate({ElementType::Float32, {1 << 18}});
  std::ranges::fill(small.values<float>(), 1e-20f);
  const auto largest = [&](Properties properties) {
    properties["INFERENCE_NUM_THREADS"] = "2";
    const std::vector<Tensor> got = infer(*compile(maker.model(), properties), {small});
    return std::ranges::max(got[0].values<float>());
  };
  EXPECT_EQ(largest({}), 0.0f);
  EXPECT_GT(largest({{"EXECUTION_MODE_HINT", "ACCURACY"}}), 0.0f);
  EXPECT_GT(largest({{"CPU_DENORMALS_OPTIMIZATION", "NO"}}), 0.0f);
  EXPECT_EQ(largest({{"EXECUTION_MODE_HINT", "ACCURACY"}, {"CPU_DENORMALS_OPTIMIZATION", "YES"}}),
            0.0f);
}

TEST(CpuCoreCount, RespectsControlGroups) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("het_core_count_" + std::to_string(getpid()));
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  CoreSources sources{8, (folder / "root").string(), (folder / "self").string()};
  write("self", "0::/a/b\n");
  EXPECT_EQ(usable_cores(sources), 8u) << "no quota anywhere";
  write("root/a/b/cpu.max", "max 100000\n");
  write("root/a/cpu.max", "350000 100000\n");
  EXPECT_EQ(usable_cores(sources), 3u) << "the group around it has 3.5 CPUs";
  write("root/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(usable_cores(sources), 1u) << "1.5 CPUs are one thread";
  write("root/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(usable_cores(sources), 1u) << "never 0";
  write("self", "4:cpu,cpuacct:/c\n");
  write("root/cpu/c/cpu.cfs_quota_us", "200000\n");
  write("root/cpu/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(usable_cores(sources), 2u) << "version 1";
  std::filesystem::remove_all(folder);
}

TEST_F(CpuTest, ProfileNamesEveryNode) {
  ModelMaker maker;
  build_network(maker);
  const auto rows = compare(maker.model(), 1e-4f);
  EXPECT_EQ(rows[0].node_name, "preprocess");
  for (const auto& node : maker.model().nodes()) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const ProfileRow& r) { return r.node_name == node->name(); });
    ASSERT_NE(row, rows.end()) << node->name();
    EXPECT_NE(row->status, ProfileStatus::NotRun) << node->name();
  }
  EXPECT_EQ(implementation(rows, "Relu1"), "fused:Conv0");
  ModelMaker quiet;
  build_network(quiet);
  auto request = *compile(quiet.model())->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  EXPECT_TRUE(request->profiling().empty());
}

TEST_F(CpuTest, AModelWithoutInputs) {
  ModelMaker maker;
  maker.output(
      maker.op("RandomUniform", {}, make_attributes({{"shape", Ints{2, 3}}, {"seed", 1.5f}})));
  compare(maker.model());
}

TEST_F(CpuTest, ProductsOfNoElements) {
  ModelMaker maker;
  Value* batched = maker.op("MatMul", {maker.input({0, 3, 8, 0}), maker.random({0, 3, 0, 1})});
  maker.output(maker.op("Relu", {batched}));
  // Sums of nothing are 0.
  maker.output(maker.op("Relu", {maker.op("MatMul", {maker.input({2, 0}), maker.input({0, 3})})}));
  compare(maker.model());
}

TEST_F(CpuTest, QuerySaysWhatCompileDoes) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 4, 5, 5}), 4, 4);
  maker.output(maker.op("NonZero", {x}));
  const auto rows = device_->query_model(maker.model(), {});
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].device, "CPU");
  EXPECT_EQ((*rows)[0].reason, "");
  EXPECT_EQ((*rows)[1].device, "CPU");
  EXPECT_EQ((*rows)[1].reason, "runs the reference implementation");

  maker.output(maker.op("NoSuchOperator", {x}));
  maker.output(maker.op("AnotherOne", {x}));
  const auto refused = device_->query_model(maker.model(), {});
  ASSERT_TRUE(refused) << refused.error().message();
  EXPECT_FALSE((*refused)[2].supported());
  EXPECT_FALSE((*refused)[3].supported());
  const auto compiled = device_->compile_model(maker.model(), {}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::NotSupported);
  EXPECT_NE(compiled.error().message().find("NoSuchOperator"), std::string::npos);
  EXPECT_NE(compiled.error().message().find("AnotherOne"), std::string::npos);
}

TEST(CpuTensorSpec, FormatsDescribeTheirBytes) {
  using cpu::Format;
  const auto spec = [](const Shape& shape, Format format) {
    return cpu::TensorSpec{ElementType::Float32, shape, format};
  };
  EXPECT_EQ(cpu::physical_dims(spec({1, 20, 3, 4}, Format::Blocked16)),
            (std::vector<int64_t>{1, 2, 3, 4, 16}));
  EXPECT_EQ(cpu::physical_dims(spec({1, 20, 3, 4}, Format::ChannelsLast)),
            (std::vector<int64_t>{1, 3, 4, 20}));
  EXPECT_EQ(cpu::size_bytes(spec({1, 20, 3, 4}, Format::Blocked16)), 2u * 12 * 16 * 4);
  EXPECT_TRUE(
      cpu::same_bytes(spec({2, 32, 1, 1}, Format::Plain), spec({2, 32, 1, 1}, Format::Blocked16)));
  EXPECT_FALSE(
      cpu::same_bytes(spec({2, 20, 1, 1}, Format::Plain), spec({2, 20, 1, 1}, Format::Blocked16)));
  EXPECT_FALSE(
      cpu::same_bytes(spec({2, 32, 2, 1}, Format::Plain), spec({2, 32, 2, 1}, Format::Blocked16)));
  EXPECT_TRUE(
      cpu::same_bytes(spec({2, 1, 5, 7}, Format::Plain), spec({2, 1, 5, 7}, Format::ChannelsLast)));
}

}  // namespace
}  // namespace het
