#include "tools/stub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het {
namespace {

using ::testing::HasSubstr;

/// x -> conv -> relu -> pool -> y, and relu -> z.
Model make_net() {
  Model model("net");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 8, 8}});
  Tensor weights = *Tensor::allocate({ElementType::Float32, {4, 3, 1, 1}});
  std::fill_n(weights.bytes(), weights.size_bytes(), std::byte{0});
  Value* w = model.add_constant("w", weights);
  Value* conv = model.add_node("conv", "Conv", "", {x, w}, {"a"})->output();
  Node* relu = model.add_node("relu", "Relu", "", {conv}, {"b"});
  relu->add_original_names({"act/relu"});
  Value* pool = model.add_node("pool", "GlobalAveragePool", "", {relu->output()}, {"c"})->output();
  model.add_output("y", pool);
  model.add_output("z", relu->output());
  return model;
}

std::vector<std::string> found(const std::vector<std::string>& texts) {
  const Model model = make_net();
  const auto nodes = find_stubs(model, texts);
  EXPECT_TRUE(nodes) << nodes.error().message();
  std::vector<std::string> names;
  if (nodes) {
    for (const Node* node : *nodes) names.push_back(node->name());
  }
  return names;
}

TEST(Stub, NodesAreFoundByNameByTheFilesNameAndByType) {
  EXPECT_EQ(found({"conv"}), std::vector<std::string>{"conv"});
  EXPECT_EQ(found({"act/relu"}), std::vector<std::string>{"relu"});
  EXPECT_EQ(found({"GlobalAveragePool,Conv"}), (std::vector<std::string>{"conv", "pool"}));
  EXPECT_EQ(found({"relu", "relu", "Relu"}), std::vector<std::string>{"relu"});
}

TEST(Stub, WhatFitsNothingIsAnErrorWithTheNearestNames) {
  const Model model = make_net();
  for (const char* text : {"Cnov", "Conv,Cnov", "Conv,", ""}) {
    const auto nodes = find_stubs(model, {text});
    ASSERT_FALSE(nodes) << text;
    EXPECT_EQ(nodes.error().code(), StatusCode::NotFound);
    EXPECT_THAT(nodes.error().message(), HasSubstr("the nearest names are"));
  }
  EXPECT_THAT(find_stubs(model, {"Cnov"}).error().message(), HasSubstr("'Conv'"));
}

TEST(Stub, ANodeThatKeepsTypeAndShapeIsLeftOutAnotherBecomesAStub) {
  const Model model = make_net();
  const auto without = with_stubs(model, *find_stubs(model, {"Relu"}));
  ASSERT_TRUE(without) << without.error().message();
  EXPECT_EQ((*without)->find_node("relu"), nullptr);
  EXPECT_EQ((*without)->find_node("pool")->input(0)->producer()->name(), "conv");
  EXPECT_EQ((*without)->outputs()[1].value->producer()->name(), "conv");
  EXPECT_EQ((*without)->outputs()[1].name, "z");

  const auto stubbed = with_stubs(model, *find_stubs(model, {"Conv,pool"}));
  ASSERT_TRUE(stubbed) << stubbed.error().message();
  const Node* stub = (*stubbed)->find_node("conv/stub");
  ASSERT_NE(stub, nullptr);
  EXPECT_EQ(stub->qualified_type(), "het.Stub");
  EXPECT_EQ(stub->inputs().size(), 1u) << "x is computed all the same, weights are not read";
  EXPECT_EQ(stub->output()->desc(), (TensorDesc{ElementType::Float32, {1, 4, 8, 8}}));
  EXPECT_EQ((*stubbed)->outputs()[0].value->producer()->qualified_type(), "het.Stub");
  EXPECT_EQ((*stubbed)->nodes().size(), 3u);
  EXPECT_EQ(model.nodes().size(), 3u) << "a copy";
}

TEST(Stub, WhatIsSizedAtRunTimeHasNone) {
  Model model("net");
  Value* x = model.add_input("x", {ElementType::Float32, {4}});
  model.add_output("y", model.add_node("where", "NonZero", "", {x}, {"a"})->output());
  const auto stubbed = with_stubs(model, *find_stubs(model, {"where"}));
  ASSERT_FALSE(stubbed);
  EXPECT_EQ(stubbed.error().code(), StatusCode::NotSupported);
  EXPECT_THAT(stubbed.error().message(), HasSubstr("sized at run time"));

  Model unknown("net");
  Value* input = unknown.add_input("x", {ElementType::Float32, {4}});
  unknown.add_output("y", unknown.add_node("odd", "Frobnicate", "", {input}, {"a"})->output());
  EXPECT_THAT(with_stubs(unknown, *find_stubs(unknown, {"odd"})).error().message(),
              HasSubstr("no operator says"));
}

}  // namespace
}  // namespace het
