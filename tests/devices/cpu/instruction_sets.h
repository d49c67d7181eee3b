#pragma once

#include <hwy/targets.h>

#include <gtest/gtest.h>

namespace het::cpu_testing {

/// Runs a test of loops once for each instruction set of this processor and build.
template <class F>
void on_each_instruction_set(const F& test) {
  const auto choose = [](int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    choose(target);
    test();
    choose(0);
  }
}

}  // namespace het::cpu_testing
