#include "inference/passes/prepare_model.h"

#include <gtest/gtest.h>

#include "inference/passes/print_model.h"

namespace het {
namespace {

TEST(PrepareModel, UnboundDimensionsAreNamed) {
  Model model("m");
  Value* x = model.add_input("picture", {ElementType::Float32, {1, 3, kUnknownDim, 8}});
  model.add_output("y", model.add_node("relu", "Relu", "", {x}, {"y"})->output());
  const Status status = prepare_model(model);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  for (const char* part : {"dimension 2", "'picture'", "[1,3,?,8]", "reshape"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

TEST(PrepareModel, LeavesOnlyWhatHasToRun) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 4}});
  Value* unused = model.add_node("dead", "Neg", "", {x}, {"dead"})->output();
  model.add_node("dead_too", "Frobnicate", "", {unused}, {"dead_too"});
  Value* i = model.add_node("id", "Identity", "", {x}, {"i"})->output();
  Value* shape = model.add_node("shape", "Shape", "", {i}, {"shape"})->output();
  Value* r = model.add_node("reshape", "Reshape", "", {i, shape}, {"r"})->output();
  Value* y = model.add_node("relu", "Relu", "", {r}, {"y"})->output();
  model.add_output("y", y);
  ASSERT_TRUE(prepare_model(model).ok());
  EXPECT_EQ(print_model(model),
            "input x : float32[1,4]\n"
            "y = Relu(x) : float32[1,4]\n"
            "output y = y\n");
}

/// Two unknown nodes, one that its operator refuses, one that is fine, one that is folded.
std::unique_ptr<Model> troubled_model() {
  auto model = std::make_unique<Model>("troubled");
  Value* x = model->add_input("x", {ElementType::Float32, {2}});
  Value* three = model->add_constant("three", Tensor::from<float>({3}, {1, 2, 3}));
  Value* folded = model->add_node("folded", "Neg", "", {three}, {"negated"})->output();
  Value* a = model->add_node("odd", "Frobnicate", "", {x}, {"a"})->output();
  Value* b = model->add_node("refused", "Add", "", {x, folded}, {"b"})->output();
  Value* c = model->add_node("fine", "Relu", "", {x}, {"c"})->output();
  Value* d = model->add_node("stranger", "Twist", "org.example", {c}, {"d"})->output();
  for (Value* output : {a, b, c, d}) model->add_output(output->name(), output);
  return model;
}

TEST(PrepareModel, EveryNodeThatCannotRunIsNamed) {
  const auto model = troubled_model();
  const Status status = prepare_model(*model);
  ASSERT_FALSE(status.ok());
  for (const char* part :
       {"'odd' (Frobnicate)", "'refused' (Add)", "'stranger' (org.example.Twist)"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

TEST(PrepareModel, QueryRows) {
  const auto original = troubled_model();
  const auto prepared = original->clone();
  const auto failures = prepare_model_for_query(*prepared);
  ASSERT_TRUE(failures) << failures.error().message();
  const auto rows = query_rows(*original, *prepared, *failures, "TEST", [](const Node& node) {
    return node.op_type() == "Relu" ? std::string("no kernel") : std::string();
  });
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_TRUE(rows[0].supported());
  EXPECT_NE(rows[0].reason.find("folded"), std::string::npos);
  EXPECT_FALSE(rows[1].supported());
  EXPECT_NE(rows[1].reason.find("unknown"), std::string::npos);
  EXPECT_FALSE(rows[2].supported());
  EXPECT_EQ(rows[2].op_type, "Add");
  EXPECT_FALSE(rows[3].supported());
  EXPECT_EQ(rows[3].reason, "no kernel");
  EXPECT_EQ(rows[4].op_type, "org.example.Twist");
}

TEST(PrepareModel, QueryRowsSayWhatDependsOnUnknownSizes) {
  Model model;
  Value* open = model.add_input("open", {ElementType::Float32, {1, kUnknownDim}});
  Value* known = model.add_input("known", {ElementType::Float32, {1, 2}});
  Value* a = model.add_node("a", "Relu", "", {open}, {"a"})->output();
  Value* b = model.add_node("b", "Relu", "", {known}, {"b"})->output();
  Value* odd = model.add_node("odd", "Frobnicate", "", {open}, {"odd"})->output();
  // Its size is known at run time only, whatever the model's inputs.
  Value* places = model.add_node("places", "NonZero", "", {known}, {"places"})->output();
  Value* c = model.add_node("c", "Add", "", {a, b}, {"c"})->output();
  for (Value* output : {c, odd, places}) model.add_output(output->name(), output);
  const auto rows_of = [](const Model& original) {
    const auto prepared = original.clone();
    const auto failures = prepare_model_for_query(*prepared);
    EXPECT_TRUE(failures);
    return query_rows(original, *prepared, *failures, "TEST", [](const Node&) { return ""; });
  };
  const auto rows = rows_of(model);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_TRUE(rows[0].supported());
  EXPECT_EQ(rows[0].reason, kUnknownSizes);
  EXPECT_EQ(rows[1].reason, "");
  EXPECT_FALSE(rows[2].supported());
  EXPECT_NE(rows[2].reason.find("unknown"), std::string::npos);
  EXPECT_EQ(rows[3].reason, "");
  EXPECT_EQ(rows[4].reason, kUnknownSizes);
  ASSERT_TRUE(model.reshape({{"open", {1, 2}}}).ok());
  const auto bound = rows_of(model);
  EXPECT_EQ(bound[0].reason, "");
  EXPECT_EQ(bound[4].reason, "");
}

TEST(PrepareModel, QueryWorksBeforeDimensionsAreBound) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim, 4}});
  model.add_output("y", model.add_node("relu", "Relu", "", {x}, {"y"})->output());
  const auto failures = prepare_model_for_query(model);
  ASSERT_TRUE(failures);
  EXPECT_TRUE(failures->empty());
}

}  // namespace
}  // namespace het
