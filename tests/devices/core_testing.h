#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "devices/register_devices.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::device_testing {

/// A core of its own that knows the real devices; models are compiled by the names of devices.
class CoreTest : public testing::Test {
 protected:
  void SetUp() override { register_devices(core_); }

  std::shared_ptr<CompiledModel> compile(const Model& model, const std::string& device,
                                         const Properties& properties = {}) {
    auto compiled = core_.compile_model(model, device, properties);
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }
  std::string compile_error(const Model& model, const std::string& device,
                            const Properties& properties = {}) {
    auto compiled = core_.compile_model(model, device, properties);
    return compiled ? "no error" : compiled.error().message();
  }
  /// A value, or what the error says.
  std::string property(const std::string& device, std::string_view name) {
    auto value = core_.get_property(device, name);
    return value ? *value : value.error().message();
  }
  static std::string property(const CompiledModel& model, std::string_view name) {
    auto value = model.get_property(name);
    return value ? *value : value.error().message();
  }

  Core core_;
};

}  // namespace het::device_testing
