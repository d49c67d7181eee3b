#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "tests/devices/device_testing.h"
#include "tests/devices/vpu/vpu_daemon.h"

namespace het::device_testing {

/// Tests of the VPU device with device programs of ours.
class Vpu : public testing::Test {
 protected:
  static void add_small_network(ModelMaker& maker) {
    Value* x = maker.input({1, 3, 24, 24});
    Value* a = maker.op("Relu", {maker.conv(x, 3, 8, 3)});
    Value* b = maker.op("Sigmoid", {maker.conv(a, 8, 8, 3, 8)});
    maker.output(maker.op("Add", {a, b}));
  }
  std::shared_ptr<CompiledModel> compile(const Model& model, const Properties& properties = {},
                                         const std::string& device = "VPU") {
    auto compiled = core_->compile_model(model, device, properties);
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }
  static std::vector<float> run(CompiledModel& compiled, const Tensor& input) {
    const auto request = *compiled.create_infer_request();
    EXPECT_TRUE(request->set_input(0, input).ok());
    const Status status = request->infer();
    EXPECT_TRUE(status.ok()) << status.message();
    return *to_float_vector(request->output(0));
  }

  VpuDaemons daemons_;
  std::shared_ptr<Core> core_ = core();
};

}  // namespace het::device_testing
