#include <atomic>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// sum' = sum + i; the condition is i < `last`; collected: sum' * capture "k".
std::shared_ptr<Model> counting_body(int64_t last) {
  auto body = std::make_shared<Model>("body");
  Value* i = body->add_input("i", {ElementType::Int64, {}});
  body->add_input("again", {ElementType::Bool, {}});
  Value* sum = body->add_input("sum", {});
  Value* k = body->add_input("k", {});
  Value* end = body->add_constant("last", Tensor::scalar(last));
  Value* more = body->add_node("less", "Less", "", {i, end}, {"more"})->output();
  Value* next = body->add_node("add", "Add", "", {sum, i}, {"next"})->output();
  Value* twice = body->add_node("fixed", "Add", "", {k, k}, {"twice"})->output();
  Value* half =
      body->add_node("div", "Div", "",
                     {twice, body->add_constant("two", Tensor::scalar<int64_t>(2))}, {"half"})
          ->output();
  Value* scaled = body->add_node("mul", "Mul", "", {next, half}, {"scaled"})->output();
  for (Value* output : {more, next, scaled}) body->add_output(output->name(), output);
  return body;
}

OpCall counting(const Tensor& trips, const Tensor& cond, int64_t last = 1000) {
  return {"Loop",
          {trips, cond, Tensor::scalar<int64_t>(100), int64_tensor({1, 10})},
          make_attributes(
              {{"body", counting_body(last)}, {"het.captures", std::vector<std::string>{"k"}}}),
          2};
}

TEST(Loop, TripCount) {
  const auto y = run_op_ok(counting(Tensor::scalar<int64_t>(3), Tensor()));
  expect_values<int64_t>(y[0], {}, {103});  // 100 + 0 + 1 + 2
  expect_values<int64_t>(y[1], {3, 2}, {100, 1000, 101, 1010, 103, 1030});
}

TEST(Loop, ConditionOfTheBody) {
  // Runs for i = 0, 1, 2: the iteration that finds i < 2 false still counts.
  const auto y = run_op_ok(counting(Tensor(), Tensor::scalar(true), 2));
  expect_values<int64_t>(y[0], {}, {103});
  const auto both = run_op_ok(counting(Tensor::scalar<int64_t>(2), Tensor::scalar(true), 9));
  expect_values<int64_t>(both[0], {}, {101});
}

TEST(Loop, NoIteration) {
  for (const OpCall& call : {counting(Tensor::scalar<int64_t>(0), Tensor()),
                             counting(Tensor::scalar<int64_t>(-5), Tensor::scalar(true)),
                             counting(Tensor::scalar<int64_t>(7), Tensor::scalar(false))}) {
    const auto y = run_op_ok(call);
    expect_values<int64_t>(y[0], {}, {100});
    expect_values<int64_t>(y[1], {0, 2}, {});
  }
}

/// v' = Concat(v, [i]): a carried value that grows; the slice is what `collect` makes of it.
std::shared_ptr<Model> growing_body(bool collect_growing) {
  auto body = std::make_shared<Model>("body");
  Value* i = body->add_input("i", {ElementType::Int64, {1}});  // declared with one dimension
  Value* again = body->add_input("again", {ElementType::Bool, {1}});
  Value* v = body->add_input("v", {});
  Value* next = body->add_node("join", "Concat", "", {v, i}, {"next"},
                               make_attributes({{"axis", int64_t{0}}}))
                    ->output();
  body->add_output("again", again);
  body->add_output("next", next);
  body->add_output("slice", collect_growing ? next : i);
  return body;
}

TEST(Loop, CarriedValuesMayGrow) {
  OpCall call{"Loop",
              {Tensor::scalar<int64_t>(3), Tensor::scalar(true), int64_tensor({7})},
              make_attributes({{"body", growing_body(false)}}),
              2};
  const auto y = run_op_ok(call);
  expect_values<int64_t>(y[0], {4}, {7, 0, 1, 2});
  expect_values<int64_t>(y[1], {3, 1}, {0, 1, 2});
  call.attributes.set("body", growing_body(true));
  expect_op_error(call, "started with int64[2]");
}

TEST(Loop, WhatWasNeverMadeHasTheDeclaredType) {
  auto body = std::make_shared<Model>("body");
  body->add_input("i", {});
  Value* again = body->add_input("again", {});
  Value* v = body->add_input("v", {});
  Value* found = body->add_node("find", "NonZero", "", {v}, {"found"})->output();
  Value* cast =
      body->add_node("cast", "Cast", "", {found}, {"cast"}, make_attributes({{"to", int64_t{1}}}))
          ->output();
  for (Value* output : {again, v, cast}) body->add_output(output->name(), output);
  OpCall call{"Loop",
              {Tensor::scalar<int64_t>(0), Tensor::scalar(true), int64_tensor({7})},
              make_attributes({{"body", body}}),
              2};
  expect_op_error(call, "neither the body nor the file tells the type of body output 2");
  call.attributes.set("het.body_types", Ints{9, 7, 1});
  call.attributes.set("het.body_ranks", Ints{0, 1, 2});
  expect_values<float>(run_op_ok(call)[1], {0, 0, 0}, {});
}

TEST(Loop, ShapesAreToldWhenTheyStay) {
  const OpCall call = counting(Tensor::scalar<int64_t>(3), Tensor());
  Model model;
  std::vector<const TensorDesc*> descs;
  std::vector<Value*> values;
  for (const Tensor& input : call.inputs) {
    values.push_back(input.empty() ? nullptr : model.add_input("", input.desc()));
    descs.push_back(input.empty() ? nullptr : &input.desc());
  }
  const Node* node = model.add_node("loop", "Loop", "", values, {"a", "b"}, call.attributes);
  const auto early = infer_node(*node, descs, {&call.inputs[0], nullptr, nullptr, nullptr});
  ASSERT_TRUE(early) << early.error().message();
  EXPECT_EQ(to_string((*early)[0]), "int64[]");
  EXPECT_EQ(to_string((*early)[1]), "int64[?,2]") << "the body's condition may end it early";
}

TEST(Loop, EndlessLoopsEndWhenCancelled) {
  auto body = std::make_shared<Model>("body");
  body->add_input("i", {});
  Value* again = body->add_input("again", {});
  Value* v = body->add_input("v", {});
  body->add_output("again", again);
  body->add_output("v", v);
  Model model;
  const Tensor start = Tensor::scalar(1.0f);
  const Node* node =
      model.add_node("endless", "Loop", "", {nullptr, nullptr, model.add_input("x", start.desc())},
                     {"y"}, make_attributes({{"body", body}}));
  const std::atomic<bool> cancelled = true;
  const auto result = evaluate_node(*node, {nullptr, nullptr, &start}, {}, &cancelled);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), StatusCode::Cancelled) << result.error().message();
}

TEST(Loop, BadNodesAreRefused) {
  OpCall call = counting(Tensor::scalar<int64_t>(3), Tensor());
  call.inputs[0] = int64_tensor({1, 2});
  expect_op_error(call, "trip count");
  call = counting(Tensor::scalar(3.0f), Tensor());
  expect_op_error(call, "trip count");
  call = counting(Tensor::scalar<int64_t>(3), Tensor());
  call.inputs.insert(call.inputs.begin() + 2, Tensor::scalar(1.0f));
  expect_op_error(call, "has 3 inputs, but 4 values");
  call = counting(Tensor::scalar<int64_t>(3), Tensor());
  call.outputs = 3;
  expect_op_error(call, "has 3 outputs");
  call.attributes.erase("body");
  expect_op_error(call, "'body' is missing");
}

}  // namespace
}  // namespace het::op_testing
