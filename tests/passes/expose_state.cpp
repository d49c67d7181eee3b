#include "inference/passes/expose_state.h"

#include <gtest/gtest.h>

#include "inference/passes/print_model.h"

namespace het {
namespace {

Attributes variable(const std::string& id) {
  Attributes attributes;
  attributes.set("variable_id", id);
  return attributes;
}

/// sum = ReadValue(first) + x; Assign(sum); output sum.
Model make_summator(bool with_first_value) {
  Model model("summator");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 2}});
  std::vector<Value*> inputs;
  Attributes attributes = variable("total");
  if (with_first_value) {
    inputs = {model.add_constant("first", Tensor::from<float>({1, 2}, {10, 20}))};
  } else {
    attributes.set("variable_type", "float32");
    attributes.set("variable_shape", std::vector<int64_t>{1, 2});
  }
  Value* old = model.add_node("read", "ReadValue", "het", inputs, {"old"}, attributes)->output();
  Value* sum = model.add_node("add", "Add", "", {old, x}, {"sum"})->output();
  model.add_node("assign", "Assign", "het", {sum}, {"stored"}, variable("total"));
  model.add_output("sum", sum);
  return model;
}

TEST(ExposeState, VariablesBecomePorts) {
  Model model = make_summator(true);
  EXPECT_TRUE(has_state(model));
  const auto variables = expose_state(model);
  ASSERT_TRUE(variables) << variables.error().message();
  EXPECT_FALSE(has_state(model));
  EXPECT_EQ(print_model(model),
            "input x : float32[1,2]\n"
            "input het.state.total : float32[1,2]\n"
            "input het.state_is_set.total : bool[]\n"
            "sum = Add(old/current, x) : ?\n"
            "old/current = Where(het.state_is_set.total, het.state.total, first=[10,20]) : ?\n"
            "output sum = sum\n"
            "output het.state.total = sum\n");
  ASSERT_EQ(variables->size(), 1u);
  EXPECT_EQ((*variables)[0].id, "total");
  EXPECT_EQ((*variables)[0].value_input, 1u);
  EXPECT_EQ((*variables)[0].is_set_input, 2u);
  EXPECT_EQ((*variables)[0].output, 1u);
}

TEST(ExposeState, VariablesWithoutElements) {
  Model model("empty");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 0}});
  Value* first = model.add_node("before", "Neg", "", {x}, {"first"})->output();
  Value* old =
      model.add_node("read", "ReadValue", "het", {first}, {"old"}, variable("v"))->output();
  model.add_output("y", model.add_node("after", "Neg", "", {old}, {"y"})->output());
  const auto variables = expose_state(model);
  ASSERT_TRUE(variables) << variables.error().message();
  EXPECT_EQ((*variables)[0].desc, (TensorDesc{ElementType::Float32, {1, 0}}));
}

TEST(ExposeState, StateNodesWithoutPorts) {
  Model unread = make_summator(true);
  unread.add_node("again", "ReadValue", "het", {}, {}, variable("other"));
  const auto variables = expose_state(unread);
  ASSERT_TRUE(variables) << variables.error().message();
  EXPECT_EQ(variables->size(), 1u);
  EXPECT_FALSE(has_state(unread));

  Model empty = make_summator(true);
  Value* y = empty.add_node("none", "Assign", "het", {}, {"y"}, variable("total"))->output();
  empty.add_output("y", y);
  const auto refused = expose_state(empty);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("node 'none' (het.Assign) has no input"),
            std::string::npos)
      << refused.error().message();
}

TEST(ExposeState, MoreVariablesThanAnyModelHasAreRefused) {
  Model model = make_summator(true);
  for (int i = 0; i < 4100; ++i) model.add_node("", "ReadValue", "het", {}, {"v"});
  const auto refused = expose_state(model);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), StatusCode::OutOfMemory);
}

TEST(ExposeState, WithoutAFirstValueTheInputIsReadDirectly) {
  Model model = make_summator(false);
  const auto variables = expose_state(model);
  ASSERT_TRUE(variables) << variables.error().message();
  EXPECT_EQ(print_model(model),
            "input x : float32[1,2]\n"
            "input het.state.total : float32[1,2]\n"
            "sum = Add(het.state.total, x) : ?\n"
            "output sum = sum\n"
            "output het.state.total = sum\n");
  EXPECT_FALSE((*variables)[0].is_set_input);
}

TEST(ExposeState, RefusesTwoAssignmentsAndUnknownTypes) {
  Model twice = make_summator(true);
  twice.add_node("again", "Assign", "het", {twice.inputs()[0].value}, {"stored2"},
                 variable("total"));
  const auto assigned_twice = expose_state(twice);
  ASSERT_FALSE(assigned_twice);
  EXPECT_NE(assigned_twice.error().message().find("'again'"), std::string::npos);

  Model untyped;
  Value* old = untyped.add_node("read", "ReadValue", "het", {}, {"old"}, variable("v"))->output();
  untyped.add_output("old", old);
  const auto no_type = expose_state(untyped);
  ASSERT_FALSE(no_type);
  EXPECT_NE(no_type.error().message().find("variable_type"), std::string::npos)
      << no_type.error().message();
}

TEST(ExposeState, AnAssignmentIsNoUnusedNode) {
  Model model = make_summator(true);
  Value* x = model.inputs()[0].value;
  model.set_output(0, x);
  model.remove_unused();
  EXPECT_NE(model.find_node("assign"), nullptr);
  EXPECT_NE(model.find_node("read"), nullptr);
}

}  // namespace
}  // namespace het
