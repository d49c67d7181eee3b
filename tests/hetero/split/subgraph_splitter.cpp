#include "hetero/split/subgraph_splitter.h"

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "inference/passes/prepare_model.h"
#include "tests/hetero/split/split_testing.h"

namespace het::hetero {
namespace {

using device_testing::make_attributes;
using device_testing::ModelMaker;
using split_testing::expect_equal_results;
using split_testing::expect_sound;
using split_testing::to_text;

const TensorDesc kDesc{ElementType::Float32, {2, 3}};

/// One line per node: its name, device and what it reads. "x..." is a model input, "c..." a
/// constant. Outputs are the nodes that nobody reads, and those whose name ends with '!'.
struct Line {
  std::string name;
  std::string device;
  std::vector<std::string> reads;
};

struct Topology {
  std::string name;
  std::vector<Line> lines;
  std::string subgraphs;  ///< their nodes, as to_text() tells
  size_t openvino_count;  ///< what its test of the same topology expects
  std::vector<std::string> unused_inputs = {};
};

/// For GoogleTest's messages.
void PrintTo(const Topology& topology, std::ostream* stream) {
  *stream << topology.name;
}

struct Built {
  Model model{"net"};
  std::vector<std::string> devices;
};

Built build(const Topology& topology) {
  Built built;
  Model& model = built.model;
  const auto value_of = [&](const std::string& name) {
    if (Value* value = model.find_value(name)) return value;
    if (name.starts_with("c"))
      return model.add_constant(name, device_testing::random_tensor(kDesc.shape, 1));
    return model.add_input(name, kDesc);
  };
  for (const Line& line : topology.lines) {
    std::vector<Value*> inputs;
    for (const std::string& name : line.reads) inputs.push_back(value_of(name));
    const char* const op = inputs.size() == 1 ? "Abs" : line.device == "A" ? "Add" : "Sub";
    model.add_node(line.name, op, "", inputs, {line.name});
    built.devices.push_back(line.device);
  }
  for (const std::string& name : topology.unused_inputs) model.add_input(name, kDesc);
  for (const auto& node : model.nodes()) {
    Value* value = node->output();
    model.set_desc(value, kDesc);
    if (value->consumers().empty() || node->name().ends_with("!")) {
      model.add_output("result of " + node->name(), value);
    }
  }
  return built;
}

class SplitTopology : public testing::TestWithParam<Topology> {};

TEST_P(SplitTopology, HasTheseSubgraphs) {
  const Built built = build(GetParam());
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_EQ(to_text(built.model, *split), GetParam().subgraphs);
  // OpenVINO makes a subgraph for every input that nothing reads.
  EXPECT_LE(split->subgraphs.size() + GetParam().unused_inputs.size(), GetParam().openvino_count);
  expect_sound(built.model, built.devices, *split);
  expect_equal_results(built.model, *split);
}

// A model output has no device of its own, so the case of a result that is marked for another
// device than its producer is the case of one device; a state pair has a test below.
INSTANTIATE_TEST_SUITE_P(
    All, SplitTopology,
    testing::Values(
        Topology{"linear_chain",
                 {{"add", "A", {"x", "c"}}, {"sub", "B", {"add", "c"}}, {"last", "A", {"sub"}}},
                 "add | sub | last",
                 3},
        Topology{"diamond",
                 {{"add1", "A", {"x", "c"}},
                  {"add2", "A", {"add1", "c"}},
                  {"sub", "B", {"add2", "c"}},
                  {"add3", "A", {"add1", "sub"}}},
                 "add1 add2 | sub | add3",
                 3},
        Topology{"nested_cycles",
                 {{"a1", "A", {"x", "c"}},
                  {"b1", "B", {"a1", "c"}},
                  {"a2", "A", {"b1", "c"}},
                  {"b2", "B", {"a2", "c"}},
                  {"a3", "A", {"b2", "a1"}}},
                 "a1 | b1 | a2 | b2 | a3",
                 5},
        Topology{"all_same",
                 {{"add", "A", {"x", "c"}}, {"sub", "A", {"add", "c"}}, {"last", "A", {"sub"}}},
                 "add sub last",
                 1},
        Topology{"all_different",
                 {{"a", "A", {"x", "c"}},
                  {"b", "B", {"a", "c"}},
                  {"e", "C", {"b", "c"}},
                  {"f", "D", {"e", "c"}}},
                 "a | b | e | f",
                 4},
        Topology{"alternating",
                 {{"a", "A", {"x", "c"}},
                  {"b", "B", {"a", "c"}},
                  {"e", "A", {"b", "c"}},
                  {"f", "B", {"e", "c"}}},
                 "a | b | e | f",
                 4},
        Topology{"result_follows_producer",
                 {{"add!", "A", {"x", "c"}}, {"sub", "A", {"add!", "c"}}, {"last!", "A", {"sub"}}},
                 "add! sub last!",
                 1},
        Topology{"unconnected_paths",
                 {{"add1", "A", {"x1", "c1"}}, {"add2", "A", {"x2", "c2"}}},
                 "add1 | add2",
                 2},
        Topology{
            "one_node_two_readers",
            {{"add", "A", {"x", "c"}}, {"sub1", "A", {"add", "c"}}, {"sub2", "A", {"add", "c"}}},
            "add sub1 sub2",
            1},
        Topology{"unused_input",
                 {{"add1", "A", {"x1", "c1"}}, {"add2", "B", {"add1", "c2"}}},
                 "add1 | add2",
                 3,
                 {"x2"}}),
    [](const auto& test) { return test.param.name; });

// A shared constant neither joins what would close a cycle nor keeps apart what could be together.
INSTANTIATE_TEST_SUITE_P(
    SharedConstant, SplitTopology,
    testing::Values(
        Topology{"feedback_through_another_device",
                 {{"a", "A", {"x", "c1"}},
                  {"b", "B", {"a"}},
                  {"x_", "A", {"a", "c2"}},
                  {"e", "A", {"b", "c2"}}},
                 "a x_ | b | e",
                 3},
        Topology{"three_readers_on_two_devices",
                 {{"a", "A", {"x", "c"}}, {"b", "B", {"a", "c"}}, {"e", "A", {"b", "c"}}},
                 "a | b | e",
                 3},
        // OpenVINO needs a fourth: there the constant is a part of a subgraph, so that "b" depends
        // on "f". With a constant of its own in each subgraph "f" need not be before "b".
        Topology{"feeds_both_sides",
                 {{"a", "A", {"x"}},
                  {"b", "B", {"a", "c"}},
                  {"f!", "A", {"c"}},
                  {"e", "A", {"b", "f!"}}},
                 "a | b | f! e",
                 4},
        Topology{"without_feedback",
                 {{"a", "A", {"x", "c"}}, {"f", "A", {"c"}}, {"b", "B", {"a"}}},
                 "a f | b",
                 2},
        Topology{"indirect_bridge_without_cycle",
                 {{"a", "A", {"x", "c1"}},
                  {"f", "A", {"a", "c2"}},
                  {"b", "B", {"a"}},
                  {"e", "A", {"a", "c2"}}},
                 "a f e | b",
                 2},
        Topology{"only_one_of_several_closes_a_cycle",
                 {{"a", "A", {"x", "c1"}},
                  {"f", "A", {"a", "c2"}},
                  {"b", "B", {"a"}},
                  {"e", "A", {"b", "c1"}},
                  {"g", "A", {"c2"}}},
                 "a f g | b | e",
                 3},
        Topology{"beside_a_shared_input",
                 {{"a", "A", {"x1", "x2"}},
                  {"f", "A", {"a", "c"}},
                  {"b!", "B", {"a"}},
                  {"e", "A", {"b!", "x2"}},
                  {"g", "A", {"b!", "c"}}},
                 "a f | b! | e | g",
                 4}),
    [](const auto& test) { return test.param.name; });

TEST(SubgraphSplitter, AnInputJoinsItsReadersOnADevice) {
  const Built built = build({"", {{"a", "A", {"x"}}, {"b", "B", {"x"}}, {"e", "A", {"x"}}}, "", 2});
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split);
  EXPECT_EQ(to_text(built.model, *split), "a e | b");
  EXPECT_EQ(split->input_readers[0], (std::vector<SubgraphPort>{{0, 0}, {1, 0}}));
  EXPECT_TRUE(split->subgraphs[1].dependencies.empty());
  EXPECT_TRUE(split->cuts.empty());
}

TEST(SubgraphSplitter, AConstantIsInEverySubgraphThatReadsItWithoutACopy) {
  const Built built = build({"", {{"a", "A", {"x", "c"}}, {"b", "B", {"a", "c"}}}, "", 2});
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split);
  for (const Subgraph& subgraph : split->subgraphs) {
    const Value* constant = subgraph.model->find_value("c");
    ASSERT_NE(constant, nullptr);
    EXPECT_EQ(constant->constant().bytes(), built.model.find_value("c")->constant().bytes());
    EXPECT_EQ(subgraph.model->inputs().size(), 1u);
  }
}

TEST(SubgraphSplitter, AValueCrossesOnceHoweverOftenItIsRead) {
  const Built built = build({"",
                             {{"a!", "A", {"x"}},
                              {"b1", "B", {"a!", "a!"}},
                              {"b2", "B", {"a!", "b1"}},
                              {"e", "C", {"a!"}}},
                             "",
                             3});
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split);
  expect_sound(built.model, built.devices, *split);
  ASSERT_EQ(split->cuts.size(), 1u);
  EXPECT_EQ(split->cuts[0].name, "a!");
  EXPECT_EQ(split->cuts[0].desc, kDesc);
  EXPECT_EQ(split->cuts[0].producer, (SubgraphPort{0, 0}));
  EXPECT_EQ(split->cuts[0].readers, (std::vector<SubgraphPort>{{1, 0}, {2, 0}}));
  EXPECT_EQ(split->subgraphs[0].model->outputs().size(), 1u);
  EXPECT_EQ(split->subgraphs[1].model->inputs().size(), 1u);
  EXPECT_EQ(split->subgraphs[2].dependencies, (std::vector<size_t>{0}));
  expect_equal_results(built.model, *split);
}

TEST(SubgraphSplitter, OutputsThatAreInputsOrConstantsNeedNoSubgraph) {
  Model model("net");
  Value* x = model.add_input("x", kDesc);
  Value* c = model.add_constant("c", device_testing::random_tensor({2}, 1));
  model.add_output("c out", c);
  model.add_output("x out", x);
  const auto empty = split_model(model, {});
  ASSERT_TRUE(empty) << empty.error().message();
  EXPECT_TRUE(empty->subgraphs.empty());
  EXPECT_EQ(empty->outputs[0].kind, TensorSource::Kind::Constant);
  EXPECT_EQ(empty->outputs[0].constant.bytes(), c->constant().bytes());
  EXPECT_EQ(empty->outputs[1].kind, TensorSource::Kind::ModelInput);
  EXPECT_EQ(empty->outputs[1].index, 0u);
  EXPECT_TRUE(empty->input_readers[0].empty());
  expect_equal_results(model, *empty);
  model.add_output("abs", model.add_node("abs", "Abs", "", {x}, {"y"})->output());
  const auto split = split_model(model, {"A"});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->subgraphs.size(), 1u);
  EXPECT_EQ(split->outputs[2].kind, TensorSource::Kind::SubgraphOutput);
  expect_equal_results(model, *split);
}

TEST(SubgraphSplitter, OneValueMayBeSeveralOutputs) {
  Model model("net");
  Value* y = model.add_node("abs", "Abs", "", {model.add_input("x", kDesc)}, {"y"})->output();
  model.set_desc(y, kDesc);
  model.add_output("first", y);
  model.add_output("second", y);
  const auto split = split_model(model, {"A"});
  ASSERT_TRUE(split);
  ASSERT_EQ(split->subgraphs[0].model->outputs().size(), 1u);
  for (const TensorSource& source : split->outputs) EXPECT_EQ(source.index, 0u);
  expect_equal_results(model, *split);
}

TEST(SubgraphSplitter, AnUnusedInputIsKnown) {
  const Built built = build({"", {{"a", "A", {"x"}}}, "", 1, {"x2"}});
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->input_readers[0].size(), 1u);
  EXPECT_TRUE(split->input_readers[1].empty());
}

TEST(SubgraphSplitter, WhatIsKnownOfInputsAndNodesIsKept) {
  Model model("net");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, kUnknownDim, 8}});
  PreprocessDesc preprocess;
  preprocess.mean = {1, 2, 3};
  model.set_preprocess(0, preprocess);
  model.set_dim_names(0, {"", "", "height", ""});
  Node* a = model.add_node("a", "Abs", "", {x}, {"y"});
  a->add_original_names({"conv", "relu"});
  a->set_affinity("GPU");
  Node* b = model.add_node("b", "Nonsense", "my", {a->output(), nullptr, x}, {"z"});
  model.mark_unsupported(b, "no reason");
  model.add_output("z", b->output());
  const auto split = split_model(model, {"A", "B"});
  ASSERT_TRUE(split);
  expect_sound(model, {"A", "B"}, *split);
  for (const Subgraph& subgraph : split->subgraphs) {
    const ModelInput& input = subgraph.model->inputs()[0];
    EXPECT_EQ(input.value->name(), "x");
    ASSERT_TRUE(input.preprocess);
    EXPECT_EQ(input.preprocess->mean, preprocess.mean);
    EXPECT_EQ(input.dim_names, model.inputs()[0].dim_names);
  }
  EXPECT_EQ(split->subgraphs[1].model->nodes()[0]->unsupported_reason(), "no reason");
  EXPECT_EQ(split->subgraphs[1].model->inputs()[1].value->name(), "y");
}

TEST(SubgraphSplitter, NodesThatReadConstantsOnlyFollowTheirReader) {
  Built built = build(
      {"",
       {{"f", "", {"c1"}}, {"g", "", {"f", "c2"}}, {"a", "A", {"x", "c1"}}, {"b", "B", {"a", "g"}}},
       "",
       2});
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_EQ(to_text(built.model, *split), "a | f g b");
  expect_equal_results(built.model, *split);
  built.devices[2] = "";
  const auto refused = split_model(built.model, built.devices);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "node 'a' (Add) of model 'net' has no device");
}

std::shared_ptr<Model> branch(const std::string& op) {
  auto body = std::make_shared<Model>("branch");
  Value* first = body->add_input("first", {});
  Value* second = body->add_input("second", {});
  body->add_output("r", body->add_node("inner", op, "", {first, second}, {"r"})->output());
  return body;
}

TEST(SubgraphSplitter, BodiesReadValuesOfOtherSubgraphs) {
  // The captured values come from another device and from a constant.
  Model model("net");
  Value* x = model.add_input("x", kDesc);
  Value* c = model.add_constant("c", device_testing::random_tensor(kDesc.shape, 1));
  Value* first = model.add_node("abs", "Abs", "", {x}, {"outer"})->output();
  Value* zero = model.add_constant("zero", Tensor::scalar(0.0f));
  Value* sum =
      model
          .add_node("sum", "ReduceSum", "", {x}, {"s"}, make_attributes({{"keepdims", int64_t{0}}}))
          ->output();
  Value* cond = model.add_node("cond", "Greater", "", {sum, zero}, {"positive"})->output();
  const Attributes attributes =
      make_attributes({{"then_branch", branch("Add")},
                       {"else_branch", branch("Sub")},
                       {"het.captures", std::vector<std::string>{"first", "second"}}});
  Value* y = model.add_node("if", "If", "", {cond, first, c}, {"y"}, attributes)->output();
  model.add_output("y", model.add_node("neg", "Neg", "", {y}, {"out"})->output());
  for (Value* value : {first, y}) model.set_desc(value, kDesc);
  model.set_desc(sum, {ElementType::Float32, {}});
  model.set_desc(cond, {ElementType::Bool, {}});
  const std::vector<std::string> devices{"A", "B", "B", "C", "A"};
  const auto split = split_model(model, devices);
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_EQ(to_text(model, *split), "abs | sum cond | if | neg");
  expect_sound(model, devices, *split);
  expect_equal_results(model, *split, 6);
}

/// sum = total + x; total = -(-sum), where `between` are two nodes on the way.
Built summator(const std::string& read, const std::string& between, const std::string& assign) {
  Built built;
  Model& model = built.model;
  Value* x = model.add_input("x", kDesc);
  Attributes attributes = make_attributes({{"variable_id", "total"},
                                           {"variable_type", "float32"},
                                           {"variable_shape", std::vector<int64_t>{2, 3}}});
  Value* old = model.add_node("read", "ReadValue", "het", {}, {"old"}, attributes)->output();
  Value* sum = model.add_node("add", "Add", "", {old, x}, {"sum"})->output();
  Value* neg = model.add_node("neg", "Neg", "", {sum}, {"less"})->output();
  Value* back = model.add_node("back", "Neg", "", {neg}, {"more"})->output();
  model.add_node("assign", "Assign", "het", {back}, {"stored"},
                 make_attributes({{"variable_id", "total"}}));
  Value* y = model.add_node("last", "Abs", "", {sum}, {"y"})->output();
  for (Value* value : {old, sum, neg, back, y}) model.set_desc(value, kDesc);
  model.add_output("y", y);
  built.devices = {read, "A", between, between, assign, "B"};
  return built;
}

TEST(SubgraphSplitter, AVariableStaysInOneSubgraph) {
  const Built built = summator("A", "A", "A");
  const auto split = split_model(built.model, built.devices);
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_EQ(to_text(built.model, *split), "read add neg back assign | last");
  expect_sound(built.model, built.devices, *split);
  expect_equal_results(built.model, *split, 4);
}

TEST(SubgraphSplitter, AVariableOnTwoDevicesIsRefused) {
  const Built built = summator("A", "B", "B");
  const auto split = split_model(built.model, built.devices);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(split.error().message(),
            "variable 'total' is shared by node 'read' (het.ReadValue) on A and node 'assign' "
            "(het.Assign) on B; they have to be on one device");
}

TEST(SubgraphSplitter, AVariableAroundAnotherDeviceIsRefused) {
  const Built built = summator("A", "B", "A");
  const auto split = split_model(built.model, built.devices);
  ASSERT_FALSE(split);
  EXPECT_EQ(
      split.error().message(),
      "variable 'total' is read and assigned on A, but what is assigned depends on node 'neg' "
      "(Neg) on B, which depends on the variable; node 'neg' (Neg) has to be on A too");
}

TEST(SubgraphSplitter, AVariableConnectsWhatNothingElseDoes) {
  Model model("net");
  Value* x = model.add_input("x", kDesc);
  const Attributes attributes = make_attributes({{"variable_id", "last"},
                                                 {"variable_type", "float32"},
                                                 {"variable_shape", std::vector<int64_t>{2, 3}}});
  Value* old = model.add_node("read", "ReadValue", "het", {}, {"old"}, attributes)->output();
  model.add_node("assign", "Assign", "het", {x}, {"stored"}, attributes);
  model.set_desc(old, kDesc);
  model.add_output("old", old);
  const auto split = split_model(model, {"A", "A"});
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_EQ(split->subgraphs.size(), 1u);
  expect_equal_results(model, *split, 3);
}

TEST(SubgraphSplitter, WhatNobodyReadsIsKept) {
  Model model("net");
  Value* x = model.add_input("x", kDesc);
  model.add_node("dead", "Abs", "", {model.add_node("a", "Abs", "", {x}, {"y"})->output()}, {"z"});
  model.set_desc(model.find_value("y"), kDesc);
  model.add_output("y", model.find_value("y"));
  const auto split = split_model(model, {"A", "B"});
  ASSERT_TRUE(split);
  EXPECT_TRUE(split->subgraphs[1].model->outputs().empty());
  expect_sound(model, {"A", "B"}, *split);
  expect_equal_results(model, *split);
}

TEST(SubgraphSplitter, WrongCallsAreExplained) {
  Built built = build({"", {{"a", "A", {"x"}}, {"b", "B", {"a"}}}, "", 2});
  built.devices.pop_back();
  auto split = split_model(built.model, built.devices);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().message(), "model 'net' has 2 nodes, but 1 devices are given for them");
  Node* first = built.model.nodes()[0].get();
  Node* late = built.model.add_node("late", "Abs", "", {built.model.find_value("x")}, {"l"});
  built.model.set_input(first, 0, late->output());
  split = split_model(built.model, {"A", "A", "A"});
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().message(),
            "model 'net' is not sorted: node 'a' (Abs) comes before node 'late' (Abs), whose value "
            "'l' it reads");
}

/// Nodes of one and two outputs with up to two inputs, of all kinds of values.
Built random_model(std::mt19937& random, size_t count, size_t device_count) {
  Built built;
  Model& model = built.model;
  std::vector<Value*> values;
  for (int i = 0; i < 3; ++i) values.push_back(model.add_input("x" + std::to_string(i), kDesc));
  for (unsigned i = 0; i < 3; ++i) {
    values.push_back(
        model.add_constant("c" + std::to_string(i), device_testing::random_tensor(kDesc.shape, i)));
  }
  for (size_t i = 0; i < count; ++i) {
    const auto any = [&] {
      const size_t reach = std::min<size_t>(values.size(), 3 + random() % 20);
      return values[values.size() - 1 - random() % reach];
    };
    const std::string name = "n" + std::to_string(i);
    const char* const types[] = {"Add", "Sub", "Max", "Dropout", "Abs"};
    const char* const type = types[random() % 5];
    const bool is_binary = type == types[0] || type == types[1] || type == types[2];
    std::vector<Value*> inputs{any()};
    if (is_binary) inputs.push_back(any());
    std::vector<std::string> outputs{name};
    if (type == types[3]) outputs.push_back(name + "_mask");
    Node* node = model.add_node(name, type, "", inputs, outputs);
    model.set_desc(node->output(), kDesc);
    if (type == types[3]) model.set_desc(node->output(1), {ElementType::Bool, kDesc.shape});
    values.push_back(node->output());
    built.devices.push_back(std::string(1, static_cast<char>('A' + random() % device_count)));
  }
  for (const auto& value : model.values()) {
    if (value->consumers().empty() || random() % 10 == 0) {
      model.add_output("out_" + value->name(), value.get());
    }
  }
  return built;
}

TEST(SubgraphSplitter, RandomModelsGiveTheSameResults) {
  std::mt19937 random(4);
  for (int run = 0; run < 400; ++run) {
    SCOPED_TRACE(run);
    const size_t device_count = 2 + static_cast<size_t>(run) % 3;
    const Built built = random_model(random, 4 + random() % 40, device_count);
    const auto split = split_model(built.model, built.devices);
    ASSERT_TRUE(split) << split.error().message();
    expect_sound(built.model, built.devices, *split);
    if (run % 5 == 0) expect_equal_results(built.model, *split);
    if (HasFailure()) return;
  }
}

class SplitFile : public testing::TestWithParam<const char*> {};

/// Stretches of nodes, five on average, alternate between devices.
TEST_P(SplitFile, GivesTheSameResults) {
  const char* const shared = std::getenv("HET_SHARED_DATA");
  const std::filesystem::path path =
      std::filesystem::path(shared ? shared : "") / "models" / GetParam();
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the shared data (HET_SHARED_DATA) has no " << path;
  }
  auto model = core()->read_model(path.string());
  ASSERT_TRUE(model) << model.error().message();
  std::map<std::string, Shape> shapes;
  for (const ModelInput& input : (*model)->inputs()) {
    Shape& shape = shapes[input.value->name()] = input.value->desc().shape;
    std::ranges::replace(shape, kUnknownDim, int64_t{1});
  }
  ASSERT_TRUE((*model)->reshape(shapes).ok());
  const Status prepared = prepare_model(**model);
  ASSERT_TRUE(prepared.ok()) << prepared.message();
  std::mt19937 random(5);
  std::vector<std::string> devices;
  for (size_t i = 0; i < (*model)->nodes().size(); ++i) {
    const bool stays = i > 0 && random() % 5 > 0;
    devices.push_back(stays ? devices.back()
                            : std::string(1, static_cast<char>('A' + random() % 3)));
  }
  const auto split = split_model(**model, devices);
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_GT(split->subgraphs.size(), 1u);
  expect_sound(**model, devices, *split);
  expect_equal_results(**model, *split);
}

INSTANTIATE_TEST_SUITE_P(
    SharedData, SplitFile,
    testing::Values(
        "onnx/mnist-8.onnx", "onnx/kws_qdq_int8.onnx", "onnx/ultraface_rfb_320.onnx",
        "ir/landmarks-regression-retail-0009/FP32/landmarks-regression-retail-0009.xml"),
    [](const auto& test) {
      std::string name = std::filesystem::path(test.param).stem().string();
      for (char& c : name) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace het::hetero
