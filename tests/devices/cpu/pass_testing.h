#pragma once

#include <string>

#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het::cpu_testing {

using Pass = Status (*)(Model& model);

class PassTest : public CpuTest {
 protected:
  /// Shows the graph before and after one pass and compares the device with REF.
  void check(const Model& model, Pass pass, const std::string& before, const std::string& after,
             float tolerance = 5e-5f) {
    const std::unique_ptr<Model> prepared = model.clone();
    ASSERT_TRUE(prepare_model(*prepared).ok());
    EXPECT_EQ("\n" + print_model(*prepared), before);
    const Status status = pass(*prepared);
    ASSERT_TRUE(status.ok()) << status.message();
    prepared->remove_unused();
    ASSERT_TRUE(prepared->sort().ok());
    EXPECT_EQ("\n" + print_model(*prepared), after);
    compare(model, tolerance);
  }
};

}  // namespace het::cpu_testing
