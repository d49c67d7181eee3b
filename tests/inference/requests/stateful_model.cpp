#include "inference/requests/stateful_model.h"

#include <gtest/gtest.h>

#include <atomic>

#include "devices/register_devices.h"

namespace het {
namespace {

Attributes variable(const std::string& id) {
  Attributes attributes;
  attributes.set("variable_id", id);
  return attributes;
}

/// sum = total + x, total = sum; total begins at 10 (or, without a first value, at zero).
Model make_summator(bool with_first_value, Shape shape = {1, 2}) {
  Model model("summator");
  Value* x = model.add_input("x", {ElementType::Float32, shape});
  std::vector<Value*> inputs;
  Attributes attributes = variable("total");
  if (with_first_value) {
    inputs = {model.add_constant("first", Tensor::from<float>({1, 1}, {10}))};
  }
  attributes.set("variable_type", "float32");
  attributes.set("variable_shape", shape);
  Value* old = model.add_node("read", "ReadValue", "het", inputs, {"old"}, attributes)->output();
  Value* sum = model.add_node("add", "Add", "", {old, x}, {"sum"})->output();
  model.add_node("assign", "Assign", "het", {sum}, {"stored"}, variable("total"));
  model.add_output("sum", sum);
  return model;
}

class StatefulModel : public testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<CompiledModel> compile(const Model& model) {
    auto compiled = core_->compile_model(model, GetParam());
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }

  std::shared_ptr<Core> core_ = core();
};

std::unique_ptr<InferRequest> make_request(CompiledModel& model, const std::string& stream) {
  auto request = model.create_infer_request();
  EXPECT_TRUE(request) << request.error().message();
  (*request)->set_stream(stream);
  return std::move(*request);
}

float add(InferRequest& request, float value) {
  EXPECT_TRUE(request.set_tensor("x", Tensor::from<float>({1, 2}, {value, value})).ok());
  const Status status = request.infer();
  EXPECT_TRUE(status.ok()) << status.message();
  return request.output(0).values<float>()[1];
}

TEST_P(StatefulModel, ShowsOnlyThePortsOfTheModel) {
  const auto model = compile(make_summator(true, {1, 1}));
  EXPECT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->outputs().size(), 1u);
}

TEST_P(StatefulModel, AddsUpFromTheFirstValue) {
  const auto model = compile(make_summator(true));
  const auto request = make_request(*model, "a");
  EXPECT_EQ(add(*request, 1), 11.0f);
  EXPECT_EQ(add(*request, 2), 13.0f);
  EXPECT_EQ(add(*request, 4), 17.0f);
}

TEST_P(StatefulModel, WithoutAFirstValueItIsZero) {
  const auto model = compile(make_summator(false));
  const auto request = make_request(*model, "a");
  EXPECT_EQ(add(*request, 1), 1.0f);
  EXPECT_EQ(add(*request, 2), 3.0f);
}

TEST_P(StatefulModel, RequestsOfAStreamShareStateAndStreamsDoNot) {
  const auto model = compile(make_summator(true));
  const auto first = make_request(*model, "a");
  const auto second = make_request(*model, "a");
  const auto other = make_request(*model, "b");
  EXPECT_EQ(add(*first, 1), 11.0f);
  EXPECT_EQ(add(*second, 2), 13.0f);
  EXPECT_EQ(add(*other, 5), 15.0f);
  EXPECT_EQ(add(*first, 4), 17.0f);
}

TEST_P(StatefulModel, StateCanBeReadAndReset) {
  const auto model = compile(make_summator(true));
  const auto request = make_request(*model, "a");
  EXPECT_TRUE(model->query_state("a")->empty());
  add(*request, 1);
  const auto state = model->query_state("a");
  ASSERT_TRUE(state);
  ASSERT_EQ(state->size(), 1u);
  EXPECT_EQ((*state)[0].id, "total");
  EXPECT_EQ((*state)[0].value.values<float>()[0], 11.0f);
  ASSERT_TRUE(model->reset_state("a").ok());
  EXPECT_TRUE(model->query_state("a")->empty());
  EXPECT_EQ(add(*request, 2), 12.0f);
}

TEST_P(StatefulModel, ManyRequestsInFlightRunInTheOrderOfTheirStarts) {
  const auto model = compile(make_summator(false));
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 16; ++i) requests.push_back(make_request(*model, "a"));
  for (int round = 0; round < 20; ++round) {
    for (const auto& request : requests) {
      ASSERT_TRUE(request->set_tensor("x", Tensor::from<float>({1, 2}, {1, 1})).ok());
      ASSERT_TRUE(request->start_async().ok());
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      ASSERT_TRUE(requests[i]->wait().ok());
      EXPECT_EQ(requests[i]->output(0).values<float>()[0],
                static_cast<float>(round * 16 + static_cast<int>(i) + 1));
    }
  }
}

TEST_P(StatefulModel, AFailedExecutionLeavesTheState) {
  const auto model = compile(make_summator(true, {-1, 2}));
  const auto request = make_request(*model, "a");
  EXPECT_EQ(add(*request, 1), 11.0f);
  // A state of one row cannot be added to two rows of three columns.
  ASSERT_FALSE(request->set_tensor("x", Tensor::from<float>({1, 3}, {1, 2, 3})).ok());
  EXPECT_EQ(add(*request, 1), 12.0f);
}

TEST_P(StatefulModel, RequestsThatWaitCanBeCancelled) {
  const auto model = compile(make_summator(true));
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 32; ++i) requests.push_back(make_request(*model, "a"));
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  for (const auto& request : requests) request->cancel();
  for (const auto& request : requests) {
    const Status status = request->wait();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, StatefulModel, testing::Values("REF", "CPU"));

}  // namespace
}  // namespace het
