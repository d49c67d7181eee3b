// MODEL_DISTRIBUTION_POLICY: nodes go where there is room for their weights.
#include "hetero/placement/pipeline_placement.h"

#include <gmock/gmock.h>

#include "inference/base/log.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Properties kPipeline = {{"MODEL_DISTRIBUTION_POLICY", "PIPELINE_PARALLEL"}};
constexpr uint64_t kProduct = 64 * 64 * sizeof(float);

class PipelinePlacement : public HeteroDeviceTest {
 protected:
  /// Products of `kProduct` bytes of weights each, with a Relu between them.
  static std::unique_ptr<Model> chain(size_t products) {
    ModelMaker maker("chain");
    Value* x = maker.input({2, 64});
    for (size_t i = 0; i < products; ++i) {
      x = maker.op("Relu", {maker.op("MatMul", {x, maker.random({64, 64}, 0.1f)})});
    }
    maker.output(x);
    return maker.model().clone();
  }
  /// Room for this many products and a bit.
  static uint64_t room_for(double products) {
    return static_cast<uint64_t>(1.2 * products * static_cast<double>(kProduct)) + 16;
  }
  /// The devices of a model's nodes by their first letters.
  std::string devices_of(const Model& model, const std::string& device,
                         const Properties& properties = kPipeline) {
    const auto rows = core_.query_model(model, device, properties);
    if (!rows) return rows.error().message();
    std::string letters;
    for (const NodeSupport& row : *rows) letters += row.device.empty() ? '-' : row.device[0];
    return letters;
  }
  std::vector<std::string> reasons_of(const Model& model, const std::string& device) {
    std::vector<std::string> reasons;
    const auto rows = core_.query_model(model, device, kPipeline);
    EXPECT_TRUE(rows) << rows.error().message();
    for (const NodeSupport& row : *rows) reasons.push_back(row.reason);
    return reasons;
  }
};

TEST_F(PipelinePlacement, TheFirstDeviceTakesWhatItHasRoomFor) {
  const auto model = chain(4);
  // Nobody says how much there is.
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFFFFFFF");
  fast_->memory_bytes = room_for(4);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFFFFFFF");
  fast_->memory_bytes = room_for(4) - 32;
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFFFFFOO");
  // Without the margin four would fit.
  fast_->memory_bytes = 4 * kProduct;
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFFFFFOO");
  fast_->memory_bytes = room_for(1.5);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFOOOOOO");
  other_->memory_bytes = room_for(2);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER,REF"), "FFOOOORR");
  fast_->memory_bytes = 8;
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER,REF"), "OOOORRRR");
  // Only where it is asked for.
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER,REF", {}), "FFFFFFFF");
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER,REF", {{"MODEL_DISTRIBUTION_POLICY", ""}}),
            "FFFFFFFF");
}

TEST_F(PipelinePlacement, CompiledModelsAreSplitAsTheQuerySays) {
  const auto model = chain(5);
  fast_->memory_bytes = room_for(2);
  other_->memory_bytes = room_for(1);
  const auto compiled = compile(*model, "HETERO:FAST,OTHER,REF", kPipeline);
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER REF");
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "3");
  EXPECT_EQ(property(*compiled, "MODEL_DISTRIBUTION_POLICY"), "PIPELINE_PARALLEL");
  const std::string plan = property(*compiled, "HETERO_PLAN");
  EXPECT_THAT(plan, HasSubstr("by memory: FAST weights: 0.0 of 0.0 MB, OTHER weights"));
  EXPECT_THAT(plan, HasSubstr("because of 'MatMul4': not FAST: weights: 0.0 of 0.0 MB, no room"));
  expect_results_of_ref(*model, *compiled);
  for (const Properties& with : fast_->compiled_with) {
    EXPECT_FALSE(with.contains("MODEL_DISTRIBUTION_POLICY"));
  }
}

TEST_F(PipelinePlacement, ReasonsHaveFigures) {
  ModelMaker maker("large");
  Value* x = maker.input({1, 1000});
  for (int i = 0; i < 3; ++i) x = maker.op("MatMul", {x, maker.random({1000, 1000})});
  maker.output(x);
  fast_->memory_bytes = 10'000'000;  // two need 9.6
  const auto reasons = reasons_of(maker.model(), "HETERO:FAST,REF");
  EXPECT_THAT(reasons, ElementsAre("weights: 8.0 of 10.0 MB", "weights: 8.0 of 10.0 MB",
                                   "not FAST: weights: 8.0 of 10.0 MB, no room for 4.0 MB more and "
                                   "a fifth; weights: 4.0 MB"));
}

TEST_F(PipelinePlacement, ASharedConstantCountsOncePerDevice) {
  ModelMaker maker("shared");
  Value* weights = maker.random({64, 64}, 0.1f);
  Value* x = maker.input({2, 64});
  for (int i = 0; i < 4; ++i) x = maker.op("MatMul", {x, weights});
  x = maker.op("MatMul", {x, maker.random({64, 64}, 0.1f)});
  for (int i = 0; i < 3; ++i) x = maker.op("MatMul", {x, weights});
  maker.output(x);
  fast_->memory_bytes = room_for(1);
  other_->memory_bytes = room_for(2);
  EXPECT_EQ(devices_of(maker.model(), "HETERO:FAST,OTHER,REF"), "FFFFOOOO");
  // Both inputs of a node, too.
  ModelMaker square("square");
  Value* y =
      square.op("Add", {square.input({64, 64}), square.op("Relu", {square.input({64, 64})})});
  Value* table = square.random({64, 64});
  y = square.op("Concat", {y, table, table}, make_attributes({{"axis", int64_t{0}}}));
  square.output(y);
  EXPECT_EQ(devices_of(square.model(), "HETERO:FAST,OTHER"), "FFF");
}

TEST_F(PipelinePlacement, NodesThatADeviceRefusesGoToTheNextThatTakesThem) {
  const auto model = chain(4);
  refuse_types(*fast_, {"Relu"});
  fast_->memory_bytes = room_for(3);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FOFOFOOO");
  // The next device is full as well: the one behind it.
  other_->memory_bytes = 8;
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER,REF"), "FOFOFORR");
  // No other device takes it, so it goes where there is no room.
  refuse_types(*fast_, {});
  refuse_types(*other_, {"MatMul"});
  fast_->memory_bytes = room_for(1);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFFOFOFO");
}

TEST_F(PipelinePlacement, AffinitiesWin) {
  const auto model = chain(4);
  model->find_node("MatMul6")->set_affinity("FAST");
  model->find_node("MatMul0")->set_affinity("OTHER");
  fast_->memory_bytes = room_for(1);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "OFOOOOFO");
  const auto reasons = reasons_of(*model, "HETERO:FAST,OTHER");
  EXPECT_THAT(reasons[6], HasSubstr("affinity of the model; weights: 0.0 of 0.0 MB"));
  const auto compiled = compile(*model, "HETERO:FAST,OTHER", kPipeline);
  ASSERT_NE(compiled, nullptr);
  expect_results_of_ref(*model, *compiled);
  // Strictness is a wish for the first device.
  Properties strict = kPipeline;
  strict["HETERO_STRICT"] = "YES";
  EXPECT_EQ(devices_of(*chain(4), "HETERO:FAST,OTHER", strict), "FFFFFFFF");
}

TEST_F(PipelinePlacement, TheLastDeviceTakesTheRestWithAWarning) {
  const auto model = chain(6);
  fast_->memory_bytes = room_for(2);
  other_->memory_bytes = room_for(1);
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); },
               LogLevel::Warning);
  EXPECT_EQ(devices_of(*model, "HETERO:FAST,OTHER"), "FFFFOOOOOOOO");
  set_log_sink({}, LogLevel::Warning);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("model 'chain' needs 0.1 MB of weights on OTHER, which has")));
}

TEST_F(PipelinePlacement, WeightsInBodiesCount) {
  auto body = std::make_shared<Model>("body");
  Value* weights = body->add_constant("w", random_tensor({64, 64}, 1));
  body->add_output("b", body->add_node("copy", "Identity", "", {weights}, {"b"})->output());
  ModelMaker maker("branches");
  Value* condition = maker.input({}, ElementType::Bool);
  Attributes attributes;
  attributes.set("then_branch", std::shared_ptr<Model>(body->clone()));
  attributes.set("else_branch", std::shared_ptr<Model>(body->clone()));
  maker.output(maker.op("If", {condition}, attributes));
  fast_->memory_bytes = room_for(1);
  EXPECT_EQ(devices_of(maker.model(), "HETERO:FAST,REF"), "R");
  fast_->memory_bytes = room_for(2);
  EXPECT_EQ(devices_of(maker.model(), "HETERO:FAST,REF"), "F");
}

TEST_F(PipelinePlacement, LostDevicesLeaveTheirNodesToTheOthers) {
  const auto model = chain(4);
  fast_->memory_bytes = room_for(2);
  other_->memory_bytes = room_for(1);
  fast_->outcome = [](size_t) { return Status(error(StatusCode::DeviceLost, "gone")); };
  const auto compiled = compile(*model, "HETERO:FAST,OTHER,REF", kPipeline);
  auto request = *compiled->create_infer_request();
  EXPECT_TRUE(request->infer().ok());
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER REF");
  EXPECT_THAT(property(*compiled, "HETERO_PLAN"), HasSubstr("by memory: OTHER"));
}

TEST_F(PipelinePlacement, WhatCannotBeIsAnError) {
  const auto model = chain(2);
  const Properties tensor = {{"MODEL_DISTRIBUTION_POLICY", "TENSOR_PARALLEL"}};
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", tensor),
              HasSubstr("would divide single operators among devices"));
  EXPECT_THAT(devices_of(*model, "HETERO:FAST,REF", tensor), HasSubstr("PIPELINE_PARALLEL"));
  Properties both = kPipeline;
  both["HETERO_POLICY"] = "latency";
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", both), HasSubstr("give one of them"));
  both["HETERO_POLICY"] = "priority";
  EXPECT_NE(compile(*model, "HETERO:FAST,REF", both), nullptr);
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", {{"MODEL_DISTRIBUTION_POLICY", "PIPELINE"}}),
              HasSubstr("PIPELINE_PARALLEL TENSOR_PARALLEL"));
}

TEST_F(PipelinePlacement, RealDevicesSayWhatTheyHave) {
  const auto memory = core_.get_property("CPU", "DEVICE_TOTAL_MEM_SIZE");
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_GT(std::stoull(*memory), 100'000'000u);
  const auto compiled = compile(*chain(2), "HETERO:CPU,REF", kPipeline);
  ASSERT_NE(compiled, nullptr);
  EXPECT_THAT(property(*compiled, "HETERO_PLAN"),
              HasSubstr(fmt::format("by memory: CPU weights: 0.0 of {:.1f} MB",
                                    static_cast<double>(std::stoull(*memory)) / 1e6)));
}

}  // namespace
}  // namespace het::hetero
