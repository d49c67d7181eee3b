#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>

#include "devices/register_devices.h"
#include "inference/core.h"
#include "tests/devices/device_testing.h"

/// Models of which nothing is left to run, on every device and on every device made of devices.
namespace het {
namespace {

using device_testing::ModelMaker;

struct Case {
  const char* name;
  std::unique_ptr<Model> model;
  std::vector<Tensor> inputs;
  std::vector<Tensor> wanted;
};

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from<float>(shape, values);
}

template <class Build>
Case make_case(const char* name, Build build) {
  ModelMaker maker(name);
  Case made{name, nullptr, {}, {}};
  build(maker, made);
  made.model = maker.model().clone();
  return made;
}

std::vector<Case> all_cases() {
  const Tensor row = floats({1, 3}, {1, -2, 3});
  std::vector<Case> cases;
  cases.push_back(make_case("identity", [&](ModelMaker& maker, Case& made) {
    maker.output(maker.op("Identity", {maker.input({1, 3})}));
    made.inputs = {row};
    made.wanted = {row};
  }));
  cases.push_back(make_case("dropout", [&](ModelMaker& maker, Case& made) {
    maker.output(maker.op("Dropout", {maker.input({1, 3})}));
    made.inputs = {row};
    made.wanted = {row};
  }));
  cases.push_back(make_case("output_is_input", [&](ModelMaker& maker, Case& made) {
    Value* x = maker.input({1, 3});
    maker.output(x);
    maker.output(x);
    made.inputs = {row};
    made.wanted = {row, row};
  }));
  cases.push_back(make_case("constants", [&](ModelMaker& maker, Case& made) {
    maker.input({1, 3});
    maker.output(maker.op("Neg", {maker.constant(row)}));
    made.inputs = {row};
    made.wanted = {floats({1, 3}, {-1, 2, -3})};
  }));
  cases.push_back(make_case("shape", [&](ModelMaker& maker, Case& made) {
    maker.output(maker.op("Shape", {maker.input({1, 3})}));
    made.inputs = {row};
    made.wanted = {Tensor::from<int64_t>({2}, {1, 3})};
  }));
  cases.push_back(make_case("no_rows", [&](ModelMaker& maker, Case& made) {
    Value* product = maker.op(
        "MatMul", {maker.input({0, 4}), maker.constant(floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))});
    maker.output(maker.op("Add", {product, maker.constant(floats({2}, {1, 2}))}));
    made.inputs = {floats({0, 4}, {})};
    made.wanted = {floats({0, 2}, {})};
  }));
  cases.push_back(make_case("no_depth", [&](ModelMaker& maker, Case& made) {
    Value* product = maker.op("MatMul", {maker.input({3, 0}), maker.constant(floats({0, 2}, {}))});
    maker.output(maker.op("Add", {product, maker.constant(floats({2}, {1, 2}))}));
    made.inputs = {floats({3, 0}, {})};
    made.wanted = {floats({3, 2}, {1, 2, 1, 2, 1, 2})};
  }));
  return cases;
}

class NothingToRun : public testing::TestWithParam<const char*> {};

TEST_P(NothingToRun, GivesWhatTheModelSays) {
  const std::string device = GetParam();
  const std::shared_ptr<Core> core = het::core();
  const std::vector<std::string> there = core->available_devices();
  if (device.find("GPU") != std::string::npos &&
      std::ranges::none_of(there,
                           [](const std::string& name) { return name.starts_with("GPU"); })) {
    GTEST_SKIP() << "there is no GPU, and without HETERO_GPU_ALLOW_CPU=1 a CPU of OpenCL is none";
  }
  std::vector<Properties> settings{{}};
  if (device.starts_with("HETERO")) {
    for (const char* policy : {"latency", "parallel", "throughput"}) {
      settings.push_back({{"HETERO_POLICY", policy}});
    }
    settings.push_back({{"HETERO_EXPLAIN", "YES"}});
  }
  std::vector<Case> cases = all_cases();
  if (device.starts_with("BATCH")) {
    settings = {{{"AUTO_BATCH_TIMEOUT", "1"}}};
    // Outputs that do not grow with the inputs cannot be cut into items.
    std::erase_if(cases,
                  [](const Case& one) { return one.wanted[0].desc() != one.inputs[0].desc(); });
    std::erase_if(cases, [](const Case& one) { return one.name == std::string("constants"); });
  }
  for (size_t n = 0; n < cases.size() * settings.size(); ++n) {
    const Case& one = cases[n % cases.size()];
    const Properties& properties = settings[n / cases.size()];
    SCOPED_TRACE(testing::Message() << one.name << " " << (n / cases.size()));
    const auto rows = core->query_model(*one.model, device, properties);
    EXPECT_TRUE(rows) << rows.error().message();
    const auto compiled = core->compile_model(*one.model, device, properties);
    ASSERT_TRUE(compiled) << compiled.error().message();
    auto request = (*compiled)->create_infer_request();
    ASSERT_TRUE(request) << request.error().message();
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      ASSERT_TRUE((*request)->set_input(i, one.inputs[i]).ok());
    }
    for (int round = 0; round < 2; ++round) {
      const Status status = (*request)->infer();
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < one.wanted.size(); ++i) {
        const Tensor& output = (*request)->output(i);
        EXPECT_EQ(output.desc(), one.wanted[i].desc());
        EXPECT_EQ(*to_float_vector(output), *to_float_vector(one.wanted[i])) << "output " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NothingToRun,
                         testing::Values("REF", "CPU", "GPU", "HETERO:CPU", "HETERO:CPU,REF",
                                         "HETERO:GPU,CPU", "MULTI:CPU,REF", "AUTO:CPU,REF",
                                         "BATCH:CPU(2)"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace het
