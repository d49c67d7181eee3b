#pragma once

#include "devices/cpu/cpu_device.h"
#include "tests/devices/device_testing.h"

namespace het::cpu_testing {

using namespace het::device_testing;

class CpuTest : public DeviceTest {
 protected:
  void SetUp() override {
    device_ = *cpu::make_device(core_, "");
    DeviceTest::SetUp();
  }
};

}  // namespace het::cpu_testing
