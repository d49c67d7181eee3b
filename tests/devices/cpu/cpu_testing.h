#pragma once

#include "devices/cpu/cpu_device.h"
#include "devices/cpu/threads/team.h"
#include "tests/devices/device_testing.h"

namespace het::cpu_testing {

using namespace het::device_testing;

/// Why a test in bfloat16 is skipped: !cpu::has_bfloat16().
inline constexpr const char* kNoBfloat16 =
    "no AVX-512 (or ONEDNN_MAX_CPU_ISA hides it): device CPU refuses bf16";

/// The calling thread has a team of this size while this lives.
class TeamScope {
 public:
  explicit TeamScope(int team) { cpu::start_team(team); }
  ~TeamScope() { cpu::end_team(); }
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;
};

class CpuTest : public DeviceTest {
 protected:
  void SetUp() override {
    device_ = *cpu::make_device(core_, "");
    DeviceTest::SetUp();
  }
};

}  // namespace het::cpu_testing
