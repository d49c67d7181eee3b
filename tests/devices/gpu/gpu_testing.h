#pragma once

#include "devices/gpu/gpu_device.h"
#include "devices/gpu/opencl/hardware.h"
#include "inference/ops/onnx_type.h"
#include "tests/devices/device_testing.h"

namespace het::gpu_testing {

using namespace het::device_testing;

/// Attributes of Cast.
inline Attributes cast_to(ElementType type) {
  return make_attributes({{"to", onnx_type_code(type)}});
}

/// On the first OpenCL device, PoCL included; skipped where there is none.
class GpuTest : public DeviceTest {
 protected:
  void SetUp() override {
    if (gpu::list_gpus(true).empty()) GTEST_SKIP() << "OpenCL finds no device";
    device_ = *gpu::make_device(core_, "");
    DeviceTest::SetUp();
  }
};

}  // namespace het::gpu_testing
