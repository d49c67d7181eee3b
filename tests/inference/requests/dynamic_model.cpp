#include "inference/requests/dynamic_model.h"

#include <gtest/gtest.h>

#include "devices/register_devices.h"

namespace het {
namespace {

/// y = relu(x) + x, z = column sums of x; the batch is not known.
Model make_model() {
  Model model("rows");
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim, 2}});
  Value* relu = model.add_node("relu", "Relu", "", {x}, {"r"})->output();
  Value* y = model.add_node("add", "Add", "", {relu, x}, {"y"})->output();
  Attributes attributes;
  attributes.set("keepdims", int64_t{0});
  Value* axes = model.add_constant("axes", Tensor::from<int64_t>({1}, {0}));
  Value* z = model.add_node("sum", "ReduceSum", "", {x, axes}, {"z"}, attributes)->output();
  model.add_output("y", y);
  model.add_output("z", z);
  return model;
}

class DynamicModel : public testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<CompiledModel> compile(const Model& model) {
    auto compiled = core_->compile_model(model, GetParam());
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }

  std::shared_ptr<Core> core_ = core();
};

Tensor rows(int64_t count, float value) {
  const std::vector<float> values(static_cast<size_t>(count * 2), value);
  return Tensor::from<float>({count, 2}, values);
}

size_t plans(const CompiledModel& model) {
  return dynamic_cast<const DynamicCompiledModel&>(model).plan_count();
}

TEST_P(DynamicModel, TheFirstInputBindsTheShape) {
  const auto model = compile(make_model());
  EXPECT_EQ(model->inputs()[0].desc.shape, (Shape{kUnknownDim, 2}));
  auto request = *model->create_infer_request();
  for (const int64_t count : {3, 1, 5, 3}) {
    ASSERT_TRUE(request->set_tensor("x", rows(count, 2)).ok());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(request->output(0).shape(), (Shape{count, 2}));
    EXPECT_EQ(request->output(0).values<float>()[static_cast<size_t>(2 * count - 1)], 4.0f);
    EXPECT_EQ(request->output(1).values<float>()[1], 2.0f * static_cast<float>(count));
  }
  EXPECT_EQ(plans(*model), 3u);
}

TEST_P(DynamicModel, PlansAreBounded) {
  const auto model = compile(make_model());
  auto request = *model->create_infer_request();
  for (int64_t count = 1; count <= 20; ++count) {
    ASSERT_TRUE(request->set_tensor("x", rows(count, 1)).ok());
    ASSERT_TRUE(request->infer().ok());
    EXPECT_EQ(request->output(1).values<float>()[0], static_cast<float>(count));
  }
  EXPECT_EQ(plans(*model), DynamicCompiledModel::kMaxPlans);
}

TEST_P(DynamicModel, RequestsOfDifferentShapesRunSideBySide) {
  const auto model = compile(make_model());
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(*model->create_infer_request());
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < requests.size(); ++i) {
      const auto count = static_cast<int64_t>(1 + (i + static_cast<size_t>(round)) % 4);
      ASSERT_TRUE(requests[i]->set_tensor("x", rows(count, 1)).ok());
      ASSERT_TRUE(requests[i]->start_async().ok());
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      ASSERT_TRUE(requests[i]->wait().ok());
      EXPECT_EQ(requests[i]->output(1).values<float>()[0],
                static_cast<float>(1 + (i + static_cast<size_t>(round)) % 4));
    }
  }
  EXPECT_EQ(plans(*model), 4u);
}

TEST_P(DynamicModel, AnInputWithoutATensorIsAClearError) {
  const auto model = compile(make_model());
  auto request = *model->create_infer_request();
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("'x'"), std::string::npos) << status.message();
}

TEST_P(DynamicModel, CancelAndDestructionWhileAPlanIsMade) {
  const auto model = compile(make_model());
  for (int64_t count = 1; count <= 12; ++count) {
    auto request = *model->create_infer_request();
    ASSERT_TRUE(request->set_tensor("x", rows(count, 1)).ok());
    ASSERT_TRUE(request->start_async().ok());
    if (count % 2 == 0) request->cancel();
    if (count % 3 == 0) (void)request->wait();
  }
}

TEST_P(DynamicModel, UnknownOperatorsAreRefusedAtOnce) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim}});
  model.add_output("y", model.add_node("odd", "NoSuchOperator", "", {x}, {"y"})->output());
  const auto compiled = core_->compile_model(model, GetParam());
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::NotSupported);
  EXPECT_NE(compiled.error().message().find("NoSuchOperator"), std::string::npos);
}

TEST_P(DynamicModel, AShapeThatTheModelCannotTakeFailsOnlyItsExecution) {
  Model model("pairs");
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim}});
  Value* shape = model.add_constant("pairs", Tensor::from<int64_t>({2}, {-1, 2}));
  model.add_output("y", model.add_node("reshape", "Reshape", "", {x, shape}, {"y"})->output());
  const auto compiled = compile(model);
  auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->set_tensor("x", Tensor::from<float>({3}, {1, 2, 3})).ok());
  EXPECT_FALSE(request->infer().ok());
  ASSERT_TRUE(request->set_tensor("x", Tensor::from<float>({4}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(request->output(0).shape(), (Shape{2, 2}));
}

TEST_P(DynamicModel, PropertiesReadBackBeforeTheFirstShape) {
  auto compiled = core_->compile_model(make_model(), GetParam(), {{"NUM_STREAMS", "2"}});
  ASSERT_TRUE(compiled) << compiled.error().message();
  EXPECT_EQ(*(*compiled)->get_property("NUM_STREAMS"), "2");
  EXPECT_EQ(*(*compiled)->get_property("NETWORK_NAME"), "rows");
}

INSTANTIATE_TEST_SUITE_P(Devices, DynamicModel, testing::Values("REF", "CPU", "GPU"));

}  // namespace
}  // namespace het
