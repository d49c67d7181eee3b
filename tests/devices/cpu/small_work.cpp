/// Work that is not worth a team stays on the calling thread.

#include "devices/cpu/formats/small_work.h"

#include <map>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/fuse.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/plan/plan_execution.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::TeamScope;

class CpuSmallWork : public CpuTest {
 protected:
  static cpu::Plan plan_of(Model& model) {
    EXPECT_TRUE(prepare_model(model).ok());
    EXPECT_TRUE(cpu::fuse(model, false).ok());
    cpu::PlanOptions options;
    options.blocked = cpu::preferred_blocked_format();
    auto plan = cpu::PlanBuilder(model, options).build();
    EXPECT_TRUE(plan) << plan.error().message();
    return plan ? std::move(*plan) : cpu::Plan();
  }
};

TEST_F(CpuSmallWork, CountsWholeVectorsOfChannels) {
  const auto is_small = [](int64_t ic, int64_t oc, int64_t side, int64_t kernel, int64_t group) {
    ModelMaker maker;
    Value* y = maker.conv(maker.input({1, ic, side, side}), ic, oc, kernel, group);
    maker.output(maker.op("Abs", {y}));
    EXPECT_TRUE(prepare_model(maker.model()).ok());
    EXPECT_FALSE(cpu::is_small_convolution(*maker.model().outputs()[0].value->producer()));
    return cpu::is_small_convolution(*y->producer());
  };
  EXPECT_TRUE(is_small(16, 8, 30, 1, 1));
  EXPECT_FALSE(is_small(16, 16, 30, 1, 1));
  EXPECT_TRUE(is_small(64, 1, 16, 1, 1)) << "131072 with seven channels that are not kept";
  EXPECT_FALSE(is_small(64, 1, 24, 1, 1)) << "36864 for one channel, 294912 for a vector";
  EXPECT_TRUE(is_small(32, 32, 13, 3, 32));
  EXPECT_FALSE(is_small(32, 32, 14, 3, 32));
}

TEST_F(CpuSmallWork, StepsOfAPlan) {
  const TeamScope team(2);
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 64, 64}), 8, 32, 3);
  maker.output(x);  // a reorder of 1 MiB
  Value* y = maker.conv(maker.op("MaxPool", {x},
                                 make_attributes({{"kernel_shape", cpu_testing::Ints{8, 8}},
                                                  {"strides", cpu_testing::Ints{8, 8}}})),
                        32, 16);
  maker.output(y);  // one of 8 KiB
  const cpu::Plan plan = plan_of(maker.model());
  std::map<std::string, bool> alone;
  for (const cpu::Step& step : plan.steps) alone[step.node_name] = step.alone;
  EXPECT_EQ(cpu::team_size(), 2);
  for (const auto& [name, wanted] : std::map<std::string, bool>{{x->producer()->name(), false},
                                                                {x->name() + "/reorder", false},
                                                                {y->producer()->name(), true},
                                                                {y->name() + "/reorder", true}}) {
    ASSERT_EQ(alone.count(name), 1u) << name;
    EXPECT_EQ(alone[name], wanted) << name;
  }
}

/// Notes the size of the team that it runs on.
class TeamKernel final : public cpu::Kernel {
 public:
  explicit TeamKernel(int& team) : team_(team) {}
  std::string_view implementation() const override { return "test"; }
  Status execute(const cpu::KernelArgs&, cpu::KernelState*) const override {
    team_ = cpu::team_size();
    return {};
  }

 private:
  int& team_;
};

TEST_F(CpuSmallWork, StepsRunAlone) {
  const TeamScope team(2);
  int teams[] = {0, 0, 0};
  cpu::Plan plan;
  for (int& seen : teams) {
    cpu::Step step;
    step.kernel = std::make_unique<TeamKernel>(seen);
    step.alone = &seen == &teams[1];
    plan.steps.push_back(std::move(step));
  }
  const auto execution = cpu::PlanExecution::create(plan);
  ASSERT_TRUE(execution) << execution.error().message();
  for (size_t k = 0; k < plan.steps.size(); ++k) {
    EXPECT_TRUE((*execution)->run_step(k, nullptr).ok());
  }
  EXPECT_EQ(teams[0], 2);
  EXPECT_EQ(teams[1], 1);
  EXPECT_EQ(teams[2], 2);
}

TEST_F(CpuSmallWork, SameResultsOnEveryTeam) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 12, 12}), 8, 16, 3);
  Value* y = maker.conv(maker.op("Relu", {x}), 16, 16, 3, 16);
  maker.output(maker.conv(y, 16, 1));
  maker.output(maker.conv(y, 16, 40));
  for (const char* threads : {"1", "2", "3"}) {
    compare(maker.model(), 1e-5f, {{"INFERENCE_NUM_THREADS", threads}});
  }
}

}  // namespace
}  // namespace het
