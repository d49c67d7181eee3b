/// The VPU device with hetero-vpud at the other end.
#include <atomic>
#include <cmath>

#include "devices/register_devices.h"
#include "devices/vpu/connection.h"
#include "devices/vpu/daemon/half_rounding.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/vpu/vpu_testing.h"

namespace het::device_testing {
namespace {

using testing::HasSubstr;

TEST_F(Vpu, IsThereWhenItsSocketIs) {
  EXPECT_THAT(core_->available_devices(), testing::Not(testing::Contains("VPU")));
  ModelMaker maker;
  add_small_network(maker);
  const auto none = core_->compile_model(maker.model(), "VPU");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), StatusCode::NotFound);
  EXPECT_THAT(none.error().message(), HasSubstr("HETERO_VPU_FOLDER"));
  daemons_.start();
  EXPECT_THAT(core_->available_devices(), testing::Contains("VPU"));
  EXPECT_THAT(*core_->get_property("VPU", "FULL_DEVICE_NAME"), HasSubstr("myriad"));
  EXPECT_EQ(*core_->get_property("VPU", "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "4");
}

/// The device's results are the reference's with the same rounding, within what float32 sums in
/// another order make of a float16.
TEST_F(Vpu, RoundsToHalfAfterEachNode) {
  daemons_.start();
  ModelMaker maker;
  add_small_network(maker);
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(*compiled->get_property("INFERENCE_PRECISION_HINT"), "f16");
  const std::unique_ptr<Model> rounding = maker.model().clone();
  ASSERT_TRUE(prepare_model(*rounding).ok());
  ASSERT_TRUE(vpu::round_to_half(*rounding).ok());
  const auto reference = compile(*rounding, {}, "REF");
  const auto exact = compile(maker.model(), {}, "REF");
  const Tensor input = random_tensor({1, 3, 24, 24}, 7);
  const std::vector<float> got = run(*compiled, input);
  const std::vector<float> wanted = run(*reference, input);
  const std::vector<float> unrounded = run(*exact, input);
  ASSERT_EQ(got.size(), wanted.size());
  size_t other = 0;
  double error = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], half_to_float(float_to_half(got[i]))) << "no float16";
    EXPECT_NEAR(got[i], wanted[i], std::abs(wanted[i]) * 0x1p-9 + 0x1p-12);
    other += got[i] != wanted[i];
    error += std::abs(got[i] - unrounded[i]);
  }
  EXPECT_LE(other, got.size() / 20) << "halves fall on the other side now and then, not always";
  EXPECT_GT(error, 0.0) << "rounding shows";
}

TEST_F(Vpu, WhatItHasNoOperatorForIsRefusedWithTheReason) {
  daemons_.start();
  ModelMaker maker;
  Value* x = maker.input({1, 4});
  maker.output(maker.op("Relu", {maker.op("Round", {x})}));
  const auto rows = core_->query_model(maker.model(), "VPU");
  ASSERT_TRUE(rows);
  EXPECT_FALSE((*rows)[0].supported());
  EXPECT_EQ((*rows)[0].reason, "a myriad has no operator Round");
  EXPECT_TRUE((*rows)[1].supported());
  const auto compiled = core_->compile_model(maker.model(), "VPU");
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::NotSupported);
  const auto split = compile(maker.model(), {}, "HETERO:VPU,CPU");
  ASSERT_NE(split, nullptr);
  const auto values = run(*split, Tensor::from<float>({1, 4}, {-1.4f, 0.6f, 2.5f, 7.0f}));
  EXPECT_EQ(values, (std::vector<float>{0, 1, 2, 7}));
}

/// What query says, compile does: sizes that are not known are judged once they are.
TEST_F(Vpu, RunsModelsWhoseSizesTheFirstInputSays) {
  daemons_.start();
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.op("Relu", {maker.input({1, kUnknownDim})})}));
  for (const char* device : {"VPU", "HETERO:VPU", "AUTO:VPU"}) {
    const auto rows = core_->query_model(maker.model(), device);
    ASSERT_TRUE(rows) << rows.error().message();
    for (const NodeSupport& row : *rows) EXPECT_TRUE(row.supported()) << row.reason;
    const auto compiled = compile(maker.model(), {}, device);
    ASSERT_NE(compiled, nullptr);
    EXPECT_EQ(run(*compiled, Tensor::from<float>({1, 3}, {-1, 2, 3})),
              (std::vector<float>{0, 2, 3}));
    EXPECT_EQ(run(*compiled, Tensor::from<float>({1, 1}, {5})), (std::vector<float>{5}));
  }
  ModelMaker refused;
  refused.output(refused.op("Round", {refused.input({kUnknownDim})}));
  EXPECT_FALSE((*core_->query_model(refused.model(), "VPU"))[0].supported());
  EXPECT_FALSE(core_->compile_model(refused.model(), "VPU"));
}

TEST_F(Vpu, ManyRequestsKeepTheirTensors) {
  daemons_.start();
  ModelMaker maker;
  maker.output(maker.op("Add", {maker.input({8}), maker.constant(Tensor::from<float>({}, {1}))}));
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 16; ++i) requests.push_back(*compiled->create_infer_request());
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < requests.size(); ++i) {
      for (float& value : requests[i]->input(0).values<float>()) {
        value = static_cast<float>(100 * round + static_cast<int>(i));
      }
      ASSERT_TRUE(requests[i]->start_async().ok());
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      const Status status = requests[i]->wait();
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(requests[i]->output(0).values<float>()[7],
                static_cast<float>(100 * round + static_cast<int>(i) + 1));
    }
  }
}

TEST_F(Vpu, TensorsOfTheApplicationAreUsed) {
  daemons_.start();
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model());
  const auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->set_input(0, Tensor::from<float>({4}, {-1, 2, -3, 4})).ok());
  float memory[4] = {9, 9, 9, 9};
  ASSERT_TRUE(
      request->set_output(0, *Tensor::wrap({ElementType::Float32, {4}}, memory, sizeof memory))
          .ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(std::vector<float>(memory, memory + 4), (std::vector<float>{0, 2, 0, 4}));
}

TEST_F(Vpu, StagesOrNodesAreTold) {
  daemons_.start("a", {"--link-us", "2000", "--execution-us", "3000"});
  daemons_.start("b", {"--profile", "fpga"});
  ModelMaker maker;
  add_small_network(maker);
  const auto rows_of = [&](const std::string& device, const Properties& properties) {
    Properties all = properties;
    all["PERF_COUNT"] = "YES";
    const auto compiled = compile(maker.model(), all, device);
    const auto request = *compiled->create_infer_request();
    EXPECT_TRUE(request->infer().ok());
    EXPECT_TRUE(request->infer().ok());
    return request->profiling();
  };
  const std::vector<ProfileRow> stages = rows_of("VPU.0", {});
  ASSERT_EQ(stages.size(), 6u);
  EXPECT_EQ(stages[1].node_name, "2. input transfer to DDR");
  EXPECT_GE(stages[1].real_us, 1900);
  EXPECT_EQ(stages[2].node_name, "3. VPU execute time");
  EXPECT_GE(stages[2].real_us, 2900);
  EXPECT_EQ(stages[2].exec_type, "unit0");
  EXPECT_GE(stages[3].real_us, 1900);
  const std::vector<ProfileRow> nodes = rows_of("VPU.0", {{"VPU_PERF_REPORT_MODE", "PER_LAYER"}});
  ASSERT_EQ(nodes.size(), 5 + maker.model().nodes().size());
  EXPECT_EQ(nodes[2].node_name, "Conv0");
  EXPECT_EQ(nodes[2].layer_type, "Conv");
  EXPECT_EQ(nodes[2].status, ProfileStatus::Executed);
  // One that counts in bulk only.
  EXPECT_EQ(rows_of("VPU.1", {{"VPU_PERF_REPORT_MODE", "PER_LAYER"}}).size(), 6u);
}

/// The link of a stick: a picture of 1.2 MB takes 3 ms there.
TEST_F(Vpu, TheProfilesLinkHasItsSpeed) {
  daemons_.start("a", {"--profile-link"});
  ModelMaker maker;
  maker.output(maker.op("ReduceMax", {maker.input({1, 3, 320, 320})}));
  const auto compiled = compile(maker.model(), {{"PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  EXPECT_GE(request->profiling()[1].real_us, 3100);
}

/// What waits for a credit, what waits for a unit and what is executed.
TEST_F(Vpu, RequestsAreCancelled) {
  daemons_.start("a", {"--execution-us", "500000"});
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model());
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 6; ++i) {
    requests.push_back(*compiled->create_infer_request());
    ASSERT_TRUE(requests.back()->start_async().ok());
  }
  for (const size_t i : {1u, 2u, 3u, 4u, 5u}) requests[i]->cancel();
  EXPECT_TRUE(requests[0]->wait().ok());
  for (const size_t i : {1u, 2u, 3u, 4u, 5u}) {
    EXPECT_EQ(requests[i]->wait().code(), StatusCode::Cancelled) << i;
  }
  EXPECT_TRUE(requests[1]->infer().ok()) << "it is of use afterwards";
}

/// Also those that are on their way to the device just then: new requests, whose memory is mapped
/// first.
TEST_F(Vpu, RequestsAreCancelledOnTheirWay) {
  daemons_.start("a", {"--execution-us", "100000"});
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model());
  for (int round = 0; round < 15; ++round) {
    const auto first = *compiled->create_infer_request();
    const auto second = *compiled->create_infer_request();
    ASSERT_TRUE(first->start_async().ok());
    ASSERT_TRUE(second->start_async().ok());
    std::this_thread::sleep_for(std::chrono::microseconds(40 * round));
    second->cancel();
    EXPECT_EQ(second->wait().code(), StatusCode::Cancelled) << round;
    EXPECT_TRUE(first->wait().ok());
  }
}

/// Other devices of the machine may compute.
TEST_F(Vpu, ComputesOnAnyDevice) {
  daemons_.start("a");
  daemons_.start("b", {"--device", "REF"});
  daemons_.start("c", {"--device", "GPU"});
  ModelMaker maker;
  add_small_network(maker);
  const Tensor input = random_tensor({1, 3, 24, 24}, 7);
  const std::vector<float> wanted = run(*compile(maker.model(), {}, "VPU.0"), input);
  for (const char* device : {"VPU.1", "VPU.2"}) {
    const auto compiled = compile(maker.model(), {}, device);
    ASSERT_NE(compiled, nullptr) << device;
    const std::vector<float> got = run(*compiled, input);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], wanted[i], std::abs(wanted[i]) * 0x1p-9 + 0x1p-11) << device;
    }
  }
}

TEST_F(Vpu, ADeviceThatGoesEndsItsRequestsAndIsUsedAgain) {
  const pid_t first = daemons_.start();
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model());
  const Tensor input = Tensor::from<float>({4}, {-1, 2, -3, 4});
  EXPECT_EQ(run(*compiled, input)[3], 4);
  const auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  daemons_.kill(first);
  const Status lost = request->infer();
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.code(), StatusCode::DeviceLost);
  EXPECT_EQ(request->infer().code(), StatusCode::DeviceLost);
  daemons_.start();
  EXPECT_TRUE(request->infer().ok()) << "the model is loaded again";
  EXPECT_EQ(run(*compiled, input)[1], 2);
}

TEST_F(Vpu, UnderHeteroTheHostTakesOver) {
  const pid_t device = daemons_.start();
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model(), {}, "HETERO:VPU,CPU");
  ASSERT_NE(compiled, nullptr);
  const Tensor input = Tensor::from<float>({4}, {-1, 2, -3, 4});
  EXPECT_EQ(run(*compiled, input)[1], 2);
  EXPECT_THAT(*compiled->get_property("EXECUTION_DEVICES"), HasSubstr("VPU"));
  daemons_.kill(device);
  EXPECT_EQ(run(*compiled, input)[3], 4);
  EXPECT_EQ(*compiled->get_property("EXECUTION_DEVICES"), "CPU");
}

TEST_F(Vpu, SeveralDevicesHaveNumbers) {
  daemons_.start("a");
  daemons_.start("b", {"--profile", "hddl"});
  EXPECT_THAT(core_->available_devices(), testing::IsSupersetOf({"VPU.0", "VPU.1"}));
  EXPECT_THAT(*core_->get_property("VPU.1", "FULL_DEVICE_NAME"), HasSubstr("hddl"));
  EXPECT_EQ(*core_->get_property("VPU.1", "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "32");
  EXPECT_FALSE(core_->get_property("VPU.2", "FULL_DEVICE_NAME"));
}

TEST_F(Vpu, OpenvinosNamesAreProfiles) {
  ModelMaker maker;
  add_small_network(maker);
  const auto none = core_->compile_model(maker.model(), "HETERO:MYRIAD,CPU");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("there is no VPU.myriad"));
  daemons_.start("a", {"--profile", "fpga"});
  const auto other = core_->compile_model(maker.model(), "MYRIAD");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("there is no VPU.myriad; there is: profile fpga"));
  daemons_.start("b");
  const Tensor input = random_tensor({1, 3, 24, 24}, 7);
  const auto alone = compile(maker.model(), {}, "MYRIAD");
  ASSERT_NE(alone, nullptr);
  const auto split = compile(maker.model(), {}, "HETERO:MYRIAD,CPU");
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(run(*alone, input), run(*split, input));
  EXPECT_EQ(*compile(maker.model(), {}, "FPGA")->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"),
            "5");
}

/// What a host may send that is wrong: the device goes on for others.
TEST_F(Vpu, AHostThatBreaksTheProtocolLosesItsLinkOnly) {
  daemons_.start();
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled = compile(maker.model());
  const auto expect_closed = [&](const std::vector<std::pair<vpu::FrameType, vpu::Bytes>>& frames) {
    auto socket = vpu::LinkSocket::connect(*vpu::LinkAddress::parse(daemons_.socket("a")));
    ASSERT_TRUE(socket);
    ASSERT_TRUE(socket->send(vpu::FrameType::Hello, 0, vpu::Hello{1, 1, "test"}.encode()).ok());
    uint64_t sequence = 1;
    for (const auto& [type, payload] : frames) (void)socket->send(type, sequence++, payload);
    for (int i = 0; i < 200; ++i) {
      auto frame = socket->receive(std::chrono::milliseconds(100));
      if (!frame) {
        EXPECT_EQ(frame.error().code(), StatusCode::DeviceLost);
        return;
      }
    }
    ADD_FAILURE() << "the link is still open";
  };
  using vpu::FrameType;
  expect_closed({{FrameType::Loaded, {}}});
  expect_closed({{FrameType::LoadEnd, vpu::Number{7}.encode()}});
  expect_closed({{FrameType::LoadChunk, vpu::LoadChunk{7, 0, {}}.encode()}});
  expect_closed({{FrameType::MapMemory, vpu::MapMemory{1, 4096}.encode()}});
  expect_closed({{FrameType::Submit, vpu::Bytes(3)}});
  EXPECT_EQ(run(*compiled, Tensor::from<float>({4}, {-1, 2, -3, 4}))[1], 2);
}

TEST_F(Vpu, WhatIsRefusedCostsTheCommandOnly) {
  daemons_.start();
  const auto connection = vpu::Connection::open(daemons_.socket("a"), {});
  ASSERT_TRUE(connection) << connection.error().message();
  using vpu::FrameType;
  const auto load = [&](const std::string& text) {
    const vpu::ByteView file = std::as_bytes(std::span(text.data(), text.size()));
    const uint32_t number = (*connection)->new_number();
    EXPECT_TRUE((*connection)
                    ->call(FrameType::LoadBegin,
                           vpu::LoadBegin{number, file.size(), vpu::crc32_of(file)}.encode(),
                           FrameType::Acknowledged));
    EXPECT_TRUE((*connection)
                    ->call(FrameType::LoadChunk, vpu::LoadChunk{number, 0, file}.encode(),
                           FrameType::Acknowledged));
    return (*connection)->call(FrameType::LoadEnd, vpu::Number{number}.encode(), FrameType::Loaded);
  };
  const auto refused = load("this is no model");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), StatusCode::ParseError) << refused.error().message();
  const auto large =
      (*connection)
          ->call(FrameType::LoadBegin, vpu::LoadBegin{99, uint64_t{2} << 30, 0}.encode(),
                 FrameType::Acknowledged);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), StatusCode::OutOfMemory);
  const auto telemetry = (*connection)->call(FrameType::GetTelemetry, {}, FrameType::Telemetry);
  ASSERT_TRUE(telemetry);
  EXPECT_TRUE(vpu::Telemetry::decode(telemetry->payload));
  EXPECT_FALSE((*connection)->is_lost());
}

TEST_F(Vpu, SomethingElseThatListensIsNoDevice) {
  const std::string path = daemons_.socket("a");
  const auto child = run_child(
      "sh -c \"python3 -c \\\"import socket,sys,time; s=socket.socket(socket.AF_UNIX); "
      "s.bind('" +
      path + "'); s.listen(1); open('" + path +
      ".ready','w'); c,_=s.accept(); c.sendall(b'x'*64); time.sleep(1)\\\" >/dev/null 2>&1 &\" ");
  ASSERT_EQ(child.status, 0) << child.output;
  for (int i = 0; i < 500 && !std::filesystem::exists(path + ".ready"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto connection = vpu::Connection::open(path, {});
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code(), StatusCode::DeviceLost);
  EXPECT_THAT(connection.error().message(), HasSubstr("is no VPU"));
}

}  // namespace
}  // namespace het::device_testing
