#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het {
namespace {

using test::Attr;
using test::Graph;

void expect_error(const Result<std::unique_ptr<Model>>& model, StatusCode code,
                  const std::vector<std::string>& parts) {
  ASSERT_FALSE(model) << parts[0];
  EXPECT_EQ(model.error().code(), code) << model.error().message();
  for (const std::string& part : parts) {
    EXPECT_NE(model.error().message().find(part), std::string::npos) << model.error().message();
  }
}

TEST(OnnxGraph, NodesInputsConstantsAndOutputs) {
  Graph graph;
  graph.input("x", {{1, -1, 4}})
      .initializer(test::float_tensor("w", {1}, {2}))
      .node("Constant", {}, {"c"}, {Attr("value_ints", std::vector<int64_t>{0, -1})})
      .node("Mul", {"x", "w"}, {"m"}, {}, "", "scale")
      .node("Reshape", {"m", "c"}, {"y"})
      .output("y")
      .output("w");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(print_model(**model),
            "input x : float32[1,?,4]\n"
            "m = Mul(x, w=[2]) : ?\n"
            "y = Reshape(m, c=[0,-1]) : ?\n"
            "output y = y\n"
            "output w = w=[2]\n");
  EXPECT_NE((*model)->find_node("scale"), nullptr);
  EXPECT_NE((*model)->find_node("y"), nullptr) << "unnamed nodes are named after their output";
}

TEST(OnnxGraph, EveryFormOfConstant) {
  Graph graph;
  graph.node("Constant", {}, {"a"}, {Attr("value_float", 1.5f)})
      .node("Constant", {}, {"b"}, {Attr("value_floats", std::vector<float>{1, 2})})
      .node("Constant", {}, {"c"}, {Attr("value_int", 3)})
      .node("Constant", {}, {"d"}, {Attr::tensor("value", test::float_tensor("", {1}, {4}))})
      .node("Sum", {"a", "b", "d"}, {"s"})
      .output("s")
      .output("c");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(print_model(**model),
            "s = Sum(a=1.5, b=[1,2], d=[4]) : ?\n"
            "output s = s\n"
            "output c = c=3\n");
}

TEST(OnnxGraph, InitialisersThatAreInputsAreConstants) {
  Graph graph;
  graph.input("x", {{1}})
      .input("w", {{1}})
      .initializer(test::float_tensor("w", {1}, {2}))
      .node("Mul", {"x", "w"}, {"y"})
      .output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ((*model)->inputs().size(), 1u);
  EXPECT_EQ((*model)->inputs()[0].value->name(), "x");
}

TEST(OnnxGraph, InitialisersThatAreInputsMayBeOverridden) {
  Graph graph;
  graph.input("x", {{1}})
      .input("w", {{1}})
      .input("b", std::nullopt)
      .initializer(test::float_tensor("w", {1}, {2}))
      .initializer(test::float_tensor("b", {1}, {3}))
      .initializer(test::float_tensor("hidden", {1}, {4}))
      .node("Mul", {"x", "w"}, {"m"})
      .node("Add", {"m", "b"}, {"s"})
      .node("Add", {"s", "hidden"}, {"y"})
      .output("y");
  const std::string file = test::model_file(graph.bytes());
  const auto read = [&](const std::vector<std::string>& overridden) {
    return read_onnx_bytes(std::as_bytes(std::span(file.data(), file.size())), "", "test.onnx",
                           overridden);
  };
  const auto model = read({"b"});
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(print_model(**model),
            "input x : float32[1]\n"
            "input b : float32[1]\n"
            "m = Mul(x, w=[2]) : ?\n"
            "s = Add(m, b) : ?\n"
            "y = Add(s, hidden=[4]) : ?\n"
            "output y = y\n");
  const std::vector<std::string> both{"w", "b"};
  EXPECT_EQ((*model)->overridable_constants(), both);
  EXPECT_EQ((*model)->clone()->overridable_constants(), both);
  EXPECT_EQ(read({})->get()->inputs().size(), 1u);
  for (const char* name : {"hidden", "x", "nobody"}) {
    expect_error(read({name}), StatusCode::NotFound, {name, "those are: w, b"});
  }
}

TEST(OnnxGraph, UnsortedNodesAreSorted) {
  Graph graph;
  graph.input("x", {{1}})
      .node("Neg", {"b"}, {"c"})
      .node("Abs", {"a"}, {"b"})
      .node("Relu", {"x"}, {"a"})
      .output("c");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->nodes()[0]->op_type(), "Relu");
  EXPECT_EQ((*model)->nodes()[2]->op_type(), "Neg");
}

TEST(OnnxGraph, EqualNodeNamesAreMadeUnique) {
  Graph graph;
  graph.input("x", {{1}})
      .node("Neg", {"x"}, {"a"}, {}, "", "n")
      .node("Abs", {"a"}, {"b"}, {}, "", "n")
      .node("Relu", {"b"}, {"y"}, {}, "", "n_2")
      .output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  std::set<std::string> names;
  for (const auto& node : (*model)->nodes()) names.insert(node->name());
  EXPECT_EQ(names.size(), 3u);
}

TEST(OnnxGraph, UnknownOperatorsStayWithAReason) {
  Graph graph;
  graph.input("x", {{1}})
      .node("Frobnicate", {"x"}, {"a"}, {}, "org.example")
      .node("Relu", {"a"}, {"y"})
      .output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  const Node* node = (*model)->find_node("a");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->op(), nullptr);
  EXPECT_EQ(node->unsupported_reason(), "operator org.example.Frobnicate is unknown to this build");
}

TEST(OnnxGraph, OperatorsOutOfScopeSayWhy) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"SequenceLength", "", "sequence"},
      {"OptionalHasElement", "", "optional"},
      {"StringNormalizer", "", "strings"},
      {"Gradient", "ai.onnx.preview.training", "training"},
      {"TreeEnsemble", "ai.onnx.ml", "classical machine learning"}};
  for (const auto& [type, domain, part] : cases) {
    Graph graph;
    graph.input("x", {{1}}).node(type, {"x"}, {"y"}, {}, domain).output("y");
    const auto model = test::read(graph);
    ASSERT_TRUE(model) << model.error().message();
    const std::string reason = (*model)->find_node("y")->unsupported_reason();
    EXPECT_NE(reason.find(type + " is not supported: it "), std::string::npos) << reason;
    EXPECT_NE(reason.find(part), std::string::npos) << reason;
  }
}

TEST(OnnxGraph, NewerOpsetsAreTried) {
  Graph graph;
  graph.input("x", {{1}}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_TRUE(test::read(graph, 1000));
}

TEST(OnnxGraph, UnsupportedAttributesOnlyConcernTheirNode) {
  Graph graph;
  graph.input("x", {{1}})
      .node("Relu", {"x"}, {"a"}, {Attr::of_kind("sparse", onnx::AttributeKind::SparseTensor)})
      .node("Relu", {"x"}, {"b"}, {Attr::tensor("t", test::tensor_head("", test::kString, {0}))})
      .node("Constant", {}, {"c"}, {Attr("value_string", "text")})
      .node("Relu", {"c"}, {"d"})
      .output("a")
      .output("b")
      .output("d");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  for (const char* name : {"a", "b", "d"}) {
    EXPECT_EQ((*model)->find_node(name)->op(), nullptr) << name;
    EXPECT_NE((*model)->find_node(name)->unsupported_reason().find("not supported"),
              std::string::npos)
        << (*model)->find_node(name)->unsupported_reason();
  }
}

TEST(OnnxGraph, MetadataIsKept) {
  Graph graph;
  graph.input("x", {{1}}).node("Relu", {"x"}, {"y"}).output("y");
  std::string file = test::model_file(graph.bytes());
  protozero::pbf_writer writer(file);
  {
    protozero::pbf_writer entry(writer, onnx::model_field::kMetadata);
    entry.add_string(onnx::entry_field::kKey, "names");
    entry.add_string(onnx::entry_field::kValue, "{0: 'person'}");
  }
  const auto model = test::read(file);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->metadata().at("names"), "{0: 'person'}");
}

TEST(OnnxGraph, BodiesReachOuterValues) {
  Graph inner;
  inner.node("Add", {"x", "w"}, {"s"}).node("Neg", {"s"}, {"t"}).output("t");
  Graph otherwise;
  otherwise.node("Mul", {"later", "x"}, {"e"}).output("e");
  Graph graph;
  graph.input("x", {{1}})
      .input("cond", {std::vector<int64_t>{}}, test::kBool)
      .initializer(test::float_tensor("w", {1}, {2}))
      .node("If", {"cond"}, {"y"},
            {Attr::graph("then_branch", inner.bytes()),
             Attr::graph("else_branch", otherwise.bytes())})
      .node("Relu", {"x"}, {"later"})  // read by a body only, so it has to come first
      .output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(print_model(**model),
            "input x : float32[1]\n"
            "input cond : bool[]\n"
            "later = Relu(x) : ?\n"
            "y = If(cond, later, x) {else_branch=graph het.captures=[later,x] then_branch=graph} "
            ": ?\n"
            "  else_branch:\n"
            "    input later : ?\n"
            "    input x : float32[1]\n"
            "    e = Mul(later, x) : ?\n"
            "    output e = e\n"
            "  then_branch:\n"
            "    input x : float32[1]\n"
            "    s = Add(x, w=[2]) : ?\n"
            "    t = Neg(s) : ?\n"
            "    output t = t\n"
            "output y = y\n");
}

TEST(OnnxGraph, BodiesInsideBodiesHandValuesThrough) {
  Graph innermost;
  innermost.node("Relu", {"x"}, {"i"}).output("i");
  Graph middle;
  middle.node("If", {"cond"}, {"m"}, {Attr::graph("then_branch", innermost.bytes())}).output("m");
  Graph graph;
  graph.input("x", {{1}})
      .input("cond", {std::vector<int64_t>{}}, test::kBool)
      .node("If", {"cond"}, {"y"}, {Attr::graph("then_branch", middle.bytes())})
      .output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  const Node* node = (*model)->find_node("y");
  EXPECT_EQ(node->attributes().get_strings("het.captures"),
            (std::vector<std::string>{"cond", "x"}));
  EXPECT_EQ(node->inputs().size(), 3u);
}

TEST(OnnxGraph, BodiesMayGiveOuterValuesAndInitialisers) {
  Graph then_branch;
  then_branch.output("x");
  Graph else_branch;
  else_branch.initializer(test::float_tensor("own", {1}, {3})).output("own");
  Graph graph;
  graph.input("x", {{1}})
      .input("cond", {std::vector<int64_t>{}}, test::kBool)
      .node("If", {"cond"}, {"y"},
            {Attr::graph("then_branch", then_branch.bytes()),
             Attr::graph("else_branch", else_branch.bytes())})
      .output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(print_model(**model),
            "input x : float32[1]\n"
            "input cond : bool[]\n"
            "y = If(cond, x) {else_branch=graph het.captures=[x] then_branch=graph} : ?\n"
            "  else_branch:\n"
            "    output own = own=[3]\n"
            "  then_branch:\n"
            "    input x : float32[1]\n"
            "    output x = x\n"
            "output y = y\n");
}

/// A Loop body with inputs i, again and v, and `output` as its carried value.
void loop_body(Graph& body, const std::string& output) {
  body.input("i", {std::vector<int64_t>{}}, test::kInt64)
      .input("again", {std::vector<int64_t>{}}, test::kBool)
      .input("v", {{1}});
  body.output("again").output(output);
}

TEST(OnnxGraph, NamesOfBodies) {
  {
    // The body's input has the name of what the node gives: no cycle.
    Graph body;
    loop_body(body, "v");
    Graph graph;
    graph.input("x", {{1}})
        .node("Loop", {"", "", "x"}, {"v"}, {Attr::graph("body", body.bytes())})
        .output("v");
    EXPECT_TRUE(test::read(graph));
  }
  {
    // An initialiser that is a body's input is only its default.
    Graph body;
    body.initializer(test::float_tensor("v", {1}, {3}));
    loop_body(body, "v");
    Graph graph;
    graph.input("x", {{1}})
        .node("Loop", {"", "", "x"}, {"y"}, {Attr::graph("body", body.bytes())})
        .output("y");
    const auto model = test::read(graph);
    ASSERT_TRUE(model) << model.error().message();
    const Attribute* attribute = (*model)->find_node("y")->attributes().find("body");
    EXPECT_EQ(std::get<std::shared_ptr<Model>>(*attribute)->inputs().size(), 3u);
  }
  {
    Graph body;
    body.node("Relu", {"v"}, {"x"});
    loop_body(body, "x");
    Graph graph;
    graph.input("x", {{1}})
        .node("Loop", {"", "", "x"}, {"y"}, {Attr::graph("body", body.bytes())})
        .output("y");
    expect_error(test::read(graph), StatusCode::ParseError, {"'x'", "(Relu)", "forbids"});
  }
}

TEST(OnnxGraph, OutputsListedTwiceAreGivenTwice) {
  Graph graph;
  graph.input("x", {{1}}).node("Relu", {"x"}, {"y"}).output("y").output("x").output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ((*model)->outputs().size(), 3u);
  EXPECT_EQ((*model)->outputs()[0].value, (*model)->outputs()[2].value);
  EXPECT_EQ((*model)->outputs()[2].name, "y");
}

TEST(OnnxGraph, SparseTensorsAreConstants) {
  const std::string values = test::float_tensor("w", {2}, {3, -4});
  const std::vector<std::vector<int64_t>> dims{{2}, {2, 2}};
  const std::vector<std::vector<int64_t>> places{{1, 5}, {0, 1, 1, 2}};
  const std::vector<float> wanted{0, 3, 0, 0, 0, -4};
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string sparse =
        test::sparse_tensor(values, test::int64_tensor("", dims[i], places[i]), {2, 3});
    Graph graph;
    graph.sparse_initializer(sparse)
        .node("Constant", {}, {"c"}, {Attr::sparse_tensor("sparse_value", sparse)})
        .output("w")
        .output("c");
    const auto model = test::read(graph);
    ASSERT_TRUE(model) << model.error().message();
    const Tensor& content = (*model)->outputs()[0].value->constant();
    EXPECT_EQ(content.shape(), (Shape{2, 3}));
    EXPECT_EQ(*to_float_vector(content), wanted);
    EXPECT_EQ(*to_float_vector((*model)->outputs()[1].value->constant()), wanted);
  }
}

TEST(OnnxGraph, BrokenSparseTensors) {
  const std::string values = test::float_tensor("w", {2}, {3, -4});
  const auto read = [&](const std::string& indices, const std::vector<int64_t>& dims) {
    Graph graph;
    graph.sparse_initializer(test::sparse_tensor(values, indices, dims)).output("w");
    return test::read(graph);
  };
  const StatusCode parse = StatusCode::ParseError;
  expect_error(read(test::int64_tensor("", {2}, {1, 6}), {2, 3}), parse, {"index 1", "outside"});
  expect_error(read(test::int64_tensor("", {2}, {-1, 0}), {2, 3}), parse, {"index 0", "outside"});
  expect_error(read(test::int64_tensor("", {2, 2}, {0, 0, 0, 3}), {2, 3}), parse,
               {"index 1", "outside"});
  expect_error(read(test::int64_tensor("", {3}, {0, 1, 2}), {2, 3}), parse, {"indices"});
  expect_error(read(test::int64_tensor("", {2, 3}, {0, 0, 0, 1, 1, 1}), {2, 3}), parse,
               {"indices"});
  expect_error(read(test::float_tensor("", {2}, {0, 1}), {2, 3}), parse, {"indices"});
  EXPECT_FALSE(read(test::int64_tensor("", {2}, {0, 1}), {1000000, 1000000, 1000}));
}

TEST(OnnxGraph, BrokenGraphs) {
  const StatusCode parse = StatusCode::ParseError;
  {
    Graph g;
    g.input("x", {{1}}).node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).output("b");
    expect_error(test::read(g), parse, {"test.onnx", "cycle", "Add"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Relu", {"a"}, {"a"}).output("a");
    expect_error(test::read(g), parse, {"cycle", "node 'a' (Relu)"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Relu", {"x"}, {"y"}).node("Abs", {"x"}, {"y"}).output("y");
    expect_error(test::read(g), parse, {"'y' is defined twice", "Abs"});
  }
  {
    Graph g;
    g.input("x", {{1}}).input("x", {{1}}).node("Relu", {"x"}, {"y"}).output("y");
    expect_error(test::read(g), parse, {"twice the input 'x'"});
  }
  {
    Graph g;
    g.initializer(test::float_tensor("w", {1}, {1}))
        .initializer(test::float_tensor("w", {1}, {1}))
        .output("w");
    expect_error(test::read(g), parse, {"'w' is defined twice"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Relu", {"x"}, {"x"}).output("x");
    expect_error(test::read(g), parse, {"'x' is defined twice"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Conv", {"x", "w"}, {"y"}).output("y");
    expect_error(test::read(g), parse, {"node 'y' (Conv)", "reads 'w'"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Relu", {"x"}, {"y"});
    expect_error(test::read(g), parse, {"has no outputs"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Relu", {"x"}, {"y"}).output("z");
    expect_error(test::read(g), parse, {"output 'z'"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("", {"x"}, {"y"}).output("y");
    expect_error(test::read(g), parse, {"no operator type"});
  }
  {
    Graph g;
    g.input("x", {{1}}).node("Relu", {"x"}, {"y"}, {Attr("a", 1), Attr("a", 2)}).output("y");
    expect_error(test::read(g), parse, {"attribute 'a'"});
  }
  {
    Graph g;
    g.input("x", {{1}}, test::kString).node("Relu", {"x"}, {"y"}).output("y");
    expect_error(test::read(g), StatusCode::NotSupported, {"input 'x'", "strings"});
  }
  {
    Graph g;
    g.input("x", {{1}}, 77).node("Relu", {"x"}, {"y"}).output("y");
    expect_error(test::read(g), parse, {"input 'x'", "77"});
  }
  {
    Graph g;
    g.input("x", {std::vector<int64_t>(100, 1)}).node("Relu", {"x"}, {"y"}).output("y");
    expect_error(test::read(g), StatusCode::OutOfMemory, {"graph.input[0].type", "dimensions"});
  }
}

TEST(OnnxGraph, SequencesAreNotSupported) {
  Graph graph;
  std::string input;
  protozero::pbf_writer writer(input);
  writer.add_string(onnx::value_field::kName, "s");
  {
    protozero::pbf_writer type(writer, onnx::value_field::kType);
    protozero::pbf_writer sequence(type, onnx::type_field::kSequence);
    sequence.add_message(1, test::value("", test::kFloat, std::nullopt));
  }
  graph.writer().add_message(onnx::graph_field::kInput, input);
  graph.node("SequenceLength", {"s"}, {"y"}).output("y");
  expect_error(test::read(graph), StatusCode::NotSupported, {"input 's'", "sequence"});
}

TEST(OnnxGraph, GraphsNestedTooDeep) {
  std::string body;
  {
    Graph innermost;
    innermost.node("Relu", {"x"}, {"y"}).output("y");
    body = innermost.bytes();
  }
  for (int depth = 0; depth < 40; ++depth) {
    Graph graph;
    graph.node("If", {"c"}, {"y"}, {Attr::graph("then_branch", body)}).output("y");
    body = graph.bytes();
  }
  expect_error(test::read(test::model_file(body)), StatusCode::OutOfMemory, {"nested deeper"});
}

TEST(OnnxGraph, LongNamesAreNotRepeatedForOmittedOutputs) {
  Graph graph;
  std::vector<std::string> outputs(1000);
  outputs.back() = "y";
  graph.input("x", {{1000}}).node("Split", {"x"}, outputs, {}, "", std::string(60'000, 'n'));
  const auto model = test::read(graph.output("y"));
  ASSERT_TRUE(model) << model.error().message();
  for (const auto& value : (*model)->values()) EXPECT_LT(value->name().size(), 1000u);
}

TEST(OnnxGraph, BodiesThatCaptureManyValuesDoNotTakeLong) {
  Graph branch;
  Graph graph;
  graph.input("c", {std::vector<int64_t>{}}, test::kBool).input("x", {{1}});
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) {
    names.push_back("v" + std::to_string(i));
    graph.node("Neg", {"x"}, {names.back()});
  }
  branch.node("Sum", names, {"r"}).output("r");
  graph.node(
      "If", {"c"}, {"y"},
      {Attr::graph("then_branch", branch.bytes()), Attr::graph("else_branch", branch.bytes())});
  auto model = test::read(graph.output("y"));
  ASSERT_TRUE(model) << model.error().message();
  const auto failures = prepare_model_for_query(**model);
  ASSERT_TRUE(failures);
  EXPECT_TRUE(failures->empty());
}

TEST(OnnxGraph, MissingOpset) {
  Graph graph;
  graph.input("x", {{1}}).node("Relu", {"x"}, {"y"}).output("y");
  std::string file;
  protozero::pbf_writer writer(file);
  writer.add_int64(onnx::model_field::kIrVersion, 8);
  writer.add_message(onnx::model_field::kGraph, graph.bytes());
  expect_error(test::read(file), StatusCode::ParseError, {"opset_import"});
}

TEST(OnnxGraph, FilesThatAreNoModels) {
  expect_error(read_onnx("/nowhere/model.onnx"), StatusCode::NotFound, {"/nowhere/model.onnx"});
  expect_error(read_onnx("/"), StatusCode::InvalidArgument, {"not a regular file"});
  expect_error(test::read(""), StatusCode::ParseError, {"empty"});
  expect_error(test::read("hello, this is a text file\n"), StatusCode::ParseError, {"test.onnx"});
  expect_error(test::read("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
               StatusCode::ParseError, {"git lfs pull"});
  // Valid protobuf, but no model: field 1 is a number as ir_version, the graph is missing.
  expect_error(test::read(std::string("\x08\x07", 2)), StatusCode::ParseError,
               {"ModelProto with a graph"});
}

}  // namespace
}  // namespace het
