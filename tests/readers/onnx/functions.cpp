#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>

#include "inference/passes/print_model.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het {
namespace {

using test::Attr;
using test::Graph;

/// Collects a FunctionProto of domain "f".
class Function {
 public:
  Function(const std::string& name, const std::vector<std::string>& inputs,
           const std::vector<std::string>& outputs, int64_t opset = 17) {
    writer_.add_string(onnx::function_field::kName, name);
    writer_.add_string(onnx::function_field::kDomain, "f");
    for (const std::string& i : inputs) writer_.add_string(onnx::function_field::kInput, i);
    for (const std::string& o : outputs) writer_.add_string(onnx::function_field::kOutput, o);
    protozero::pbf_writer import(writer_, onnx::function_field::kOpsetImport);
    import.add_int64(onnx::opset_field::kVersion, opset);
  }
  Function& node(const std::string& op_type, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::vector<Attr>& attributes = {},
                 const std::string& domain = "") {
    // A graph of one node holds the node in the form that functions hold it.
    Graph graph;
    graph.node(op_type, inputs, outputs, attributes, domain);
    protozero::pbf_reader reader(graph.bytes());
    while (reader.next()) {
      if (reader.tag() == onnx::graph_field::kNode) {
        writer_.add_message(onnx::function_field::kNode, reader.get_view());
      } else {
        reader.skip();
      }
    }
    return *this;
  }
  Function& attribute_default(const Attr& attribute) {
    writer_.add_message(onnx::function_field::kAttributeProto, attribute.bytes());
    return *this;
  }
  Function& overload(const std::string& name) {
    writer_.add_string(onnx::function_field::kOverload, name);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  protozero::pbf_writer writer_{bytes_};
};

/// An attribute whose value is the call's attribute `refers_to`.
Attr reference(const std::string& name, onnx::AttributeKind kind, const std::string& refers_to) {
  return Attr::of_kind(name, kind, refers_to);
}

std::string file_of(const Graph& graph, const std::vector<std::string>& functions,
                    int64_t opset = 17) {
  std::string file = test::model_file(graph.bytes(), opset);
  protozero::pbf_writer writer(file);
  for (const std::string& function : functions) {
    writer.add_message(onnx::model_field::kFunctions, function);
  }
  return file;
}

void expect_text(const std::string& file, const std::string& text) {
  const auto model = test::read(file);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(print_model(**model), text);
}

void expect_refused(const std::string& file, StatusCode code, const std::string& part) {
  const auto model = test::read(file);
  ASSERT_FALSE(model) << part;
  EXPECT_EQ(model.error().code(), code) << model.error().message();
  EXPECT_NE(model.error().message().find(part), std::string::npos) << model.error().message();
}

TEST(OnnxFunctions, EveryCallGetsItsOwnNodes) {
  Function square_plus("SquarePlus", {"a", "b"}, {"r"});
  square_plus.node("Mul", {"a", "a"}, {"t"}).node("Add", {"t", "b"}, {"r"});
  Graph graph;
  graph.input("x", {{1}})
      .node("SquarePlus", {"x", "x"}, {"m"}, {}, "f", "one")
      .node("SquarePlus", {"m", "x"}, {"y"}, {}, "f", "two")
      .output("y");
  expect_text(file_of(graph, {square_plus.bytes()}),
              "input x : float32[1]\n"
              "one/t = Mul(x, x) : ?\n"
              "m = Add(one/t, x) : ?\n"
              "two/t = Mul(m, m) : ?\n"
              "y = Add(two/t, x) : ?\n"
              "output y = y\n");
}

TEST(OnnxFunctions, EqualNamesStayApart) {
  Function twice("Twice", {"a"}, {"r"});
  twice.node("Neg", {"a"}, {"t"}).node("Neg", {"t"}, {"r"});
  Graph graph;
  graph.input("x", {{1}})
      .node("Relu", {"x"}, {"call/t"})
      .node("Twice", {"call/t"}, {"a"}, {}, "f", "call")
      .node("Twice", {"a"}, {"b"}, {}, "f", "call")
      .output("b");
  expect_text(file_of(graph, {twice.bytes()}),
              "input x : float32[1]\n"
              "call/t = Relu(x) : ?\n"
              "call/t_2 = Neg(call/t) : ?\n"
              "a = Neg(call/t_2) : ?\n"
              "call_2/t = Neg(a) : ?\n"
              "b = Neg(call_2/t) : ?\n"
              "output b = b\n");
}

TEST(OnnxFunctions, AttributesOfTheCallAndDefaults) {
  const auto kind = onnx::AttributeKind::Float;
  Function leaky("Leaky", {"a"}, {"r"});
  leaky.node("LeakyRelu", {"a"}, {"t"}, {reference("alpha", kind, "slope")})
      .node("Elu", {"t"}, {"r"}, {reference("alpha", kind, "missing")})
      .attribute_default(Attr("slope", 0.25f));
  Function outer("Outer", {"a"}, {"r"});
  outer.node("Leaky", {"a"}, {"r"}, {reference("slope", kind, "s")}, "f");
  Graph graph;
  graph.input("x", {{1}})
      .node("Leaky", {"x"}, {"a"}, {}, "f")
      .node("Leaky", {"a"}, {"b"}, {Attr("slope", 0.5f)}, "f")
      .node("Outer", {"b"}, {"y"}, {Attr("s", 2.0f)}, "f")
      .output("y");
  expect_text(file_of(graph, {leaky.bytes(), outer.bytes()}),
              "input x : float32[1]\n"
              "a/t = LeakyRelu(x) {alpha=0.25} : ?\n"
              "a = Elu(a/t) : ?\n"
              "b/t = LeakyRelu(a) {alpha=0.5} : ?\n"
              "b = Elu(b/t) : ?\n"
              "y/r/t = LeakyRelu(b) {alpha=2} : ?\n"
              "y = Elu(y/r/t) : ?\n"
              "output y = y\n");
}

TEST(OnnxFunctions, TheFunctionsOpsetDecidesHowItIsLifted) {
  Function old("Old", {"a"}, {"r"}, 11);  // axes is an attribute up to opset 12
  old.node("Squeeze", {"a"}, {"r"}, {Attr("axes", std::vector<int64_t>{0})});
  Graph graph;
  graph.input("x", {{1, 2}}).node("Old", {"x"}, {"y"}, {}, "f").output("y");
  const auto model = test::read(file_of(graph, {old.bytes()}));
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_NE(print_model(**model).find("y = Squeeze(x, y/r/axes=[0])"), std::string::npos)
      << print_model(**model);
}

TEST(OnnxFunctions, OmittedInputsAndOutputs) {
  Function clip("Bound", {"a", "low"}, {"r", "s"});
  clip.node("Clip", {"a", "low"}, {"r"}).node("Neg", {"r"}, {"s"});
  Graph graph;
  graph.input("x", {{1}}).node("Bound", {"x"}, {"", "y"}, {}, "f", "call").output("y");
  expect_text(file_of(graph, {clip.bytes()}),
              "input x : float32[1]\n"
              "call/r = Clip(x) : ?\n"
              "y = Neg(call/r) : ?\n"
              "output y = y\n");
}

TEST(OnnxFunctions, InputsThatAreHandedThrough) {
  Function same("Same", {"a"}, {"a"});
  same.node("Neg", {"a"}, {"unused"});
  Graph graph;
  graph.input("x", {{1}}).node("Same", {"x"}, {"y"}, {}, "f", "call").output("y");
  expect_text(file_of(graph, {same.bytes()}),
              "input x : float32[1]\n"
              "y = Identity(x) : ?\n"
              "call/unused = Neg(x) : ?\n"
              "output y = y\n");
}

TEST(OnnxFunctions, BodiesInsideFunctions) {
  Graph then_branch;
  then_branch.node("Add", {"a", "t"}, {"s"}).output("s");
  Graph else_branch;
  else_branch.node("Inner", {"t"}, {"s"}, {}, "f").output("s");
  Function choose("Choose", {"c", "a"}, {"r"});
  choose.node("Neg", {"a"}, {"t"})
      .node("If", {"c"}, {"r"},
            {Attr::graph("then_branch", then_branch.bytes()),
             Attr::graph("else_branch", else_branch.bytes())});
  Function inner("Inner", {"v"}, {"w"});
  inner.node("Relu", {"v"}, {"w"});
  Graph graph;
  graph.input("x", {{1}})
      .input("c", {std::vector<int64_t>{}}, test::kBool)
      .node("Relu", {"x"}, {"s"})  // the bodies' own "s" is another value
      .node("Choose", {"c", "s"}, {"y"}, {}, "f", "call")
      .output("y");
  expect_text(file_of(graph, {choose.bytes(), inner.bytes()}),
              "input x : float32[1]\n"
              "input c : bool[]\n"
              "s = Relu(x) : ?\n"
              "call/t = Neg(s) : ?\n"
              "y = If(c, call/t, s) {else_branch=graph het.captures=[call/t,s] "
              "then_branch=graph} : ?\n"
              "  else_branch:\n"
              "    input call/t : ?\n"
              "    call/s_2 = Relu(call/t) : ?\n"
              "    output call/s_2 = call/s_2\n"
              "  then_branch:\n"
              "    input s : ?\n"
              "    input call/t : ?\n"
              "    call/s = Add(s, call/t) : ?\n"
              "    output call/s = call/s\n"
              "output y = y\n");
}

TEST(OnnxFunctions, OverloadsAreDifferentFunctions) {
  Function plain("Act", {"a"}, {"r"});
  plain.node("Relu", {"a"}, {"r"});
  Function other("Act", {"a"}, {"r"});
  other.node("Neg", {"a"}, {"r"}).overload("neg");
  Graph graph;
  graph.input("x", {{1}});
  {
    protozero::pbf_writer node(graph.writer(), onnx::graph_field::kNode);
    node.add_string(onnx::node_field::kInput, "x");
    node.add_string(onnx::node_field::kOutput, "y");
    node.add_string(onnx::node_field::kOpType, "Act");
    node.add_string(onnx::node_field::kDomain, "f");
    node.add_string(onnx::node_field::kOverload, "neg");
  }
  graph.output("y");
  expect_text(file_of(graph, {plain.bytes(), other.bytes()}),
              "input x : float32[1]\n"
              "y = Neg(x) : ?\n"
              "output y = y\n");
}

TEST(OnnxFunctions, WhatDoesNotFitIsRefused) {
  Graph graph;
  graph.input("x", {{1}}).node("A", {"x"}, {"y"}, {}, "f", "call").output("y");
  Function a("A", {"a"}, {"r"});
  a.node("B", {"a"}, {"r"}, {}, "f");
  Function b("B", {"a"}, {"r"});
  b.node("A", {"a"}, {"r"}, {}, "f");
  expect_refused(file_of(graph, {a.bytes(), b.bytes()}), StatusCode::ParseError, "calls itself");

  Function without("A", {"a"}, {"r"});
  expect_refused(file_of(graph, {without.bytes()}), StatusCode::ParseError,
                 "output 'r' of the function is not computed");
  Function reads("A", {"a"}, {"r"});
  reads.node("Add", {"a", "x"}, {"r"});
  expect_refused(file_of(graph, {reads.bytes()}), StatusCode::ParseError, "reads 'x'");
  Function none("A", {}, {"r"});
  none.node("Relu", {"a"}, {"r"});
  expect_refused(file_of(graph, {none.bytes()}), StatusCode::ParseError, "the function takes 0");
}

/// Six levels of functions, each of which calls the next one four times; the last is `inner`.
std::string many_calls(const std::string& inner) {
  std::vector<std::string> functions{inner};
  for (int i = 0; i < 6; ++i) {
    Function f("F" + std::to_string(i), {"a"}, {"r"});
    const std::string next = i < 5 ? "F" + std::to_string(i + 1) : "Inner";
    f.node(next, {"a"}, {"p"}, {}, "f").node(next, {"p"}, {"q"}, {}, "f");
    f.node(next, {"q"}, {"s"}, {}, "f").node(next, {"s"}, {"r"}, {}, "f");
    functions.push_back(f.bytes());
  }
  Graph graph;
  graph.input("x", {{1}}).node("F0", {"x"}, {"y"}, {}, "f").output("y");
  return file_of(graph, functions);
}

TEST(OnnxFunctions, TensorsThatEveryCallReadsAgainAreBounded) {
  // Nothing of the content belongs to a tensor of no elements, but it is walked over.
  const auto inner = [](size_t numbers) {
    Function f("Inner", {"a"}, {"r"});
    f.node("Constant", {}, {"c"},
           {Attr::tensor("value", test::int32_data_tensor("", test::kFloat, {0},
                                                          std::vector<int32_t>(numbers, 1)))});
    return many_calls(f.node("Neg", {"a"}, {"r"}).bytes());
  };
  EXPECT_TRUE(test::read(inner(10)));
  expect_refused(inner(20'000), StatusCode::OutOfMemory, "expanding its functions");
}

TEST(OnnxFunctions, DamagedFunctionsAreRefusedOrStay) {
  const auto file = [](Function& f, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
    Graph graph;
    graph.input("x", {{1}}).node("A", inputs, outputs, {}, "f", "call").output(outputs[0]);
    return file_of(graph, {f.bytes()});
  };
  Function same_name("A", {"a", "a"}, {"r"});
  same_name.node("Neg", {"a"}, {"r"});
  expect_refused(file(same_name, {"x", "x"}, {"y"}), StatusCode::ParseError, "defined twice");
  Function overwrites("A", {"a"}, {"r"});
  overwrites.node("Neg", {"a"}, {"a"}).node("Neg", {"a"}, {"r"});
  expect_refused(file(overwrites, {"x"}, {"y"}), StatusCode::ParseError, "defined twice");
  Function few("A", {"a"}, {"r"});
  few.node("Neg", {"a"}, {"r"});
  expect_refused(file(few, {"x"}, {"y", "z"}), StatusCode::ParseError, "2 outputs");
  Function circle("A", {"a"}, {"r"});
  circle.node("Add", {"a", "s"}, {"r"}).node("Neg", {"r"}, {"s"});
  expect_refused(file(circle, {"x"}, {"y"}), StatusCode::ParseError, "cycle");
  Function twice("A", {"a"}, {"r"});
  twice.node("Neg", {"a"}, {"r"}).node("Relu", {"a"}, {"r"});
  expect_refused(file(twice, {"x"}, {"y"}), StatusCode::ParseError, "defined twice");

  // A body that calls the function around it.
  Graph branch;
  branch.node("A", {"a"}, {"b"}, {}, "f").output("b");
  Function recursive("A", {"a"}, {"r"});
  recursive.node(
      "If", {"a"}, {"r"},
      {Attr::graph("then_branch", branch.bytes()), Attr::graph("else_branch", branch.bytes())});
  expect_refused(file(recursive, {"x"}, {"y"}), StatusCode::ParseError, "calls itself");

  // A domain without functions: a node that no device runs.
  Function elsewhere("A", {"a"}, {"r"});
  elsewhere.node("A", {"a"}, {"r"}, {}, "g");
  const auto model = test::read(file(elsewhere, {"x"}, {"y"}));
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->nodes()[0]->op(), nullptr);
}

TEST(OnnxFunctions, ExpansionIsBounded) {
  // Each function calls the next one four times: 4^30 nodes, were there no limit.
  std::vector<std::string> functions;
  for (int i = 0; i < 30; ++i) {
    Function f("F" + std::to_string(i), {"a"}, {"r"});
    const std::string next = "F" + std::to_string(i + 1);
    f.node(next, {"a"}, {"p"}, {}, "f").node(next, {"p"}, {"q"}, {}, "f");
    f.node(next, {"q"}, {"s"}, {}, "f").node(next, {"s"}, {"r"}, {}, "f");
    functions.push_back(f.bytes());
  }
  Graph graph;
  graph.input("x", {{1}}).node("F0", {"x"}, {"y"}, {}, "f").output("y");
  expect_refused(file_of(graph, functions), StatusCode::OutOfMemory, "expanding its functions");
}

}  // namespace
}  // namespace het
