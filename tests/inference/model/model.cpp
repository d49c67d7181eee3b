#include "inference/model/model.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>
#include <string>
#include <vector>

namespace het {
namespace {

const TensorDesc kVector{ElementType::Float32, {4}, Layout::Plain};

/// x -> Relu(a) -> Relu(b) -> y
Model make_chain() {
  Model model("chain");
  Value* x = model.add_input("x", kVector);
  Node* a = model.add_node("a", "Relu", "", {x}, {"m"});
  Node* b = model.add_node("b", "Relu", "", {a->output()}, {"y"});
  model.add_output("y", b->output());
  return model;
}

TEST(Model, CloneIsIndependent) {
  Model model = make_chain();
  const auto copy = model.clone();
  copy->replace_uses(copy->find_value("m"), copy->find_value("x"));
  copy->remove_unused();
  EXPECT_EQ(copy->nodes().size(), 1u);
  ASSERT_EQ(model.nodes().size(), 2u);
  EXPECT_EQ(model.find_node("b")->input(0), model.find_value("m"));
  EXPECT_EQ(copy->find_node("b")->input(0), copy->find_value("x"));
  EXPECT_EQ(copy->outputs()[0].value->producer(), copy->find_node("b"));
}

TEST(Model, RemoveUnusedKeepsInputsAndDropsDeadBranches) {
  Model model = make_chain();
  model.add_node("dead", "Relu", "", {model.find_value("m")}, {"d"});
  model.add_constant("c", Tensor::scalar(1.0f));
  model.add_input("unused", kVector);
  model.remove_unused();
  EXPECT_EQ(model.find_node("dead"), nullptr);
  EXPECT_EQ(model.find_value("c"), nullptr);
  EXPECT_EQ(model.find_value("m")->consumers().size(), 1u);
  EXPECT_EQ(model.inputs().size(), 2u);
}

TEST(Model, SortOrdersProducersFirst) {
  Model model("reversed");
  Value* x = model.add_input("x", kVector);
  Node* late = model.add_node("late", "Relu", "", {x}, {"y"});
  Node* early = model.add_node("early", "Relu", "", {x}, {"m"});
  model.set_input(late, 0, early->output());
  model.add_output("y", late->output());
  ASSERT_TRUE(model.sort().ok());
  EXPECT_EQ(model.nodes()[0]->name(), "early");
}

TEST(Model, SortNamesANodeOnACycle) {
  Model model("loop");
  Value* x = model.add_input("x", kVector);
  Node* a = model.add_node("a", "Add", "", {x, x}, {"m"});
  Node* b = model.add_node("b", "Relu", "", {a->output()}, {"n"});
  Node* behind = model.add_node("behind", "Relu", "", {b->output()}, {"y"});
  model.set_input(a, 1, b->output());
  model.add_output("y", behind->output());
  const Status status = model.sort();
  ASSERT_EQ(status.code(), StatusCode::ParseError);
  EXPECT_NE(status.message().find("cycle"), std::string::npos);
  EXPECT_EQ(status.message().find("'behind'"), std::string::npos) << status.message();
}

TEST(Model, MakeConstantCutsTheProducer) {
  Model model = make_chain();
  model.make_constant(model.find_value("m"), Tensor::from<float>({4}, {1, 2, 3, 4}));
  model.remove_unused();
  EXPECT_EQ(model.find_node("a"), nullptr);
  EXPECT_TRUE(model.find_node("b")->input(0)->is_constant());
}

TEST(Model, ANodeMayReadAValueTwice) {
  Model model("twice");
  Value* x = model.add_input("x", kVector);
  Node* add = model.add_node("add", "Add", "", {x, x}, {"y"});
  model.add_output("y", add->output());
  EXPECT_EQ(x->consumers().size(), 2u);
  Value* z = model.add_input("z", kVector);
  model.set_input(add, 1, z);
  EXPECT_EQ(x->consumers().size(), 1u);
  model.replace_uses(x, z);
  EXPECT_EQ(z->consumers().size(), 2u);
}

TEST(Model, ReshapeBindsUnknownDimensionsAndChecksTheRank) {
  Model model("dynamic");
  model.add_input("x", {ElementType::Float32, {kUnknownDim, 3, kUnknownDim}, Layout::Plain});
  ASSERT_TRUE(model.reshape({{"x", {1, kUnknownDim, 5}}}).ok());
  EXPECT_EQ(model.inputs()[0].value->desc().shape, (Shape{1, 3, 5}));
  EXPECT_EQ(model.reshape({{"x", {1, 3}}}).code(), StatusCode::ShapeMismatch);
  const Status unknown = model.reshape({{"z", {1}}});
  EXPECT_EQ(unknown.code(), StatusCode::NotFound);
  EXPECT_NE(unknown.message().find("'x'"), std::string::npos) << unknown.message();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Anonymous memory in use, from /proc/self/status.
int64_t anonymous_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoll(line.substr(8));
  }
  return -1;
}

TEST(Model, MemoryGoesBackToTheSystem) {
  constexpr int64_t kConstants = 512;
  constexpr int64_t kValues = 8192;  // of 4 bytes: below what malloc maps by itself
  malloc_trim(0);                    // what other tests freed would be used again without a rise
  const int64_t before = anonymous_kib();
  std::vector<std::string> between;
  {
    Model model("large");
    for (int64_t i = 0; i < kConstants; ++i) {
      model.add_constant("c", Tensor::from<float>({kValues}, std::vector<float>(kValues, 1.0f)));
      between.emplace_back(4000, 'x');
    }
    ASSERT_GE(anonymous_kib(), before + kConstants * kValues * 4 / 1024);
  }
  // What was allocated last lies above all of it.
  EXPECT_LE(anonymous_kib(), before + kConstants * kValues * 4 / 1024 / 2);
}
#endif

TEST(Model, UnknownOperatorHasNoOp) {
  Model model("unknown");
  Value* x = model.add_input("x", kVector);
  EXPECT_EQ(model.add_node("n", "NoSuchOperator", "", {x}, {"y"})->op(), nullptr);
  EXPECT_EQ(model.add_node("q", "QLinearAdd", "com.microsoft", {x}, {"z"})->qualified_type(),
            "com.microsoft.QLinearAdd");
}

}  // namespace
}  // namespace het
