#include "hetero/placement/affinity.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace het::hetero {
namespace {

const std::vector<std::string> kDevices{"GPU", "CPU", "VPU"};

/// x -> conv1 -> head/softmax -> fused (which stands for head/add and relu too).
Model make_model() {
  Model model("net");
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Value* conv = model.add_node("conv1", "Abs", "", {x}, {"a"})->output();
  Value* softmax = model.add_node("head/softmax", "Softmax", "", {conv}, {"b"})->output();
  Node* fused = model.add_node("fused", "ReadValue", "het", {softmax}, {"c"});
  fused->add_original_names({"head/add", "relu"});
  model.add_output("y", fused->output());
  return model;
}

AffinityRules rules(const std::string& json) {
  auto result = AffinityRules::parse(json, "affinity file 'x'");
  EXPECT_TRUE(result) << result.error().message();
  return result ? std::move(*result) : AffinityRules();
}

std::string devices_of(const Model& model, const AffinityRules& list) {
  const auto wishes = find_wishes(model, list, kDevices);
  if (!wishes) return wishes.error().message();
  std::string text;
  for (const AffinityWish& wish : *wishes) text += (wish.device.empty() ? "-" : wish.device) + " ";
  return text;
}

TEST(Affinity, WithoutRulesTheModelCounts) {
  const Model model = make_model();
  model.nodes()[1]->set_affinity("CPU");
  EXPECT_EQ(devices_of(model, {}), "- CPU - ");
  const auto wishes = find_wishes(model, {}, kDevices);
  EXPECT_EQ((*wishes)[0].cause, "");
  EXPECT_EQ((*wishes)[1].cause, "affinity of the model");
  model.nodes()[1]->set_affinity("TPU");
  EXPECT_EQ(devices_of(model, {}),
            "node 'head/softmax' of model 'net' wants device 'TPU', but there are only GPU, CPU, "
            "VPU");
  EXPECT_EQ(devices_of(model, rules(R"({"head/softmax": ""})")), "- - - ") << "overruled";
}

TEST(Affinity, NamesAndDevicesAloneAreRules) {
  const Model model = make_model();
  EXPECT_EQ(devices_of(model, rules(R"({"conv1": "GPU", "head/softmax": "CPU"})")), "GPU CPU - ");
  EXPECT_EQ(devices_of(model, rules("{}")), "- - - ");
  const auto wishes = find_wishes(model, rules(R"({"fused": "VPU", "conv1": "GPU"})"), kDevices);
  EXPECT_EQ((*wishes)[0].cause, "affinity file 'x' (name 'conv1')");
}

TEST(Affinity, LaterRulesWin) {
  const AffinityRules list = rules(R"({"rules": [
      {"regex": ".*", "device": "GPU"}, {"type": "Softmax", "device": "CPU"},
      {"name": "conv1", "device": ""}]})");
  EXPECT_EQ(devices_of(make_model(), list), "- CPU GPU ");
  const auto wishes = find_wishes(make_model(), list, kDevices);
  EXPECT_EQ((*wishes)[0].cause, "");
  EXPECT_EQ((*wishes)[1].cause, "affinity file 'x' rule 2 (type 'Softmax')");
  EXPECT_EQ((*wishes)[2].cause, "affinity file 'x' rule 1 (regex '.*')");
}

TEST(Affinity, FusedNodesHaveTheirOldNamesToo) {
  EXPECT_EQ(devices_of(make_model(), rules(R"({"relu": "CPU"})")), "- - CPU ");
  EXPECT_EQ(
      devices_of(make_model(), rules(R"({"rules": [{"regex": "head/.*", "device": "VPU"}]})")),
      "- VPU VPU ");
}

TEST(Affinity, TypesHaveADomainOrNot) {
  for (const std::string type : {"ReadValue", "het.ReadValue"}) {
    EXPECT_EQ(devices_of(make_model(),
                         rules(R"({"rules": [{"device": "CPU", "type": ")" + type + "\"}]}")),
              "- - CPU ");
  }
  EXPECT_EQ(devices_of(make_model(), rules(R"({"rules": [{"type": "Conv", "device": "CPU"}]})")),
            "- - - ");
}

TEST(Affinity, UnknownNamesAndDevicesAreExplained) {
  EXPECT_EQ(devices_of(make_model(), rules(R"({"conv2": "GPU"})")),
            "affinity file 'x' (name 'conv2'): model 'net' has no such node; the nearest "
            "names are 'conv1', 'fused', 'relu'");
  EXPECT_EQ(devices_of(make_model(), rules(R"({"relu": "CPU", "conv1": "GPUU"})")),
            "affinity file 'x' (name 'conv1') wants device 'GPUU', but there are only GPU, "
            "CPU, VPU");
  EXPECT_EQ(devices_of(Model("empty"), rules(R"({"a": "CPU"})")),
            "affinity file 'x' (name 'a'): model 'empty' has no such node; it has no nodes");
}

TEST(Affinity, MalformedRulesAreExplained) {
  const auto message = [](const std::string& json) {
    const auto result = AffinityRules::parse(json, "x");
    return result ? "fine" : result.error().message();
  };
  EXPECT_EQ(message("{"), "x is not valid JSON");
  EXPECT_EQ(message(""), "x is not valid JSON");
  EXPECT_EQ(message("\"\xFF\""), "x is not valid JSON");
  EXPECT_EQ(message("[]"),
            "x has to be an object of node names and devices, or one with \"rules\"; found array");
  EXPECT_EQ(message(R"({"a": 1})"), "x (name 'a'): the device has to be a string, found number");
  EXPECT_EQ(message(R"({"rules": {}})"), "x: \"rules\" has to be an array and the only key");
  EXPECT_EQ(message(R"({"rules": [], "a": "CPU"})"),
            "x: \"rules\" has to be an array and the only key");
  EXPECT_EQ(message(R"({"rules": "CPU"})"), "fine") << "a node of this name";
  EXPECT_EQ(message(R"({"rules": [[]]})"), "x rule 1: an object is expected, found array");
  EXPECT_EQ(message(R"({"rules": [{"name": "a", "device": "b"}, {"name": "a"}]})"),
            "x rule 2: it needs one of name, type and regex, and a device");
  EXPECT_EQ(message(R"({"rules": [{"name": "a", "type": "b", "device": "c"}]})"),
            "x rule 1: it needs one of name, type and regex, and a device");
  EXPECT_EQ(message(R"({"rules": [{"nmae": "a", "device": "b"}]})"),
            "x rule 1: unknown key 'nmae'; there are name, type, regex, device");
  EXPECT_EQ(message(R"({"rules": [{"regex": "a(b", "device": "c"}]})"),
            "x rule 1: ')' is missing at place 4 of 'a(b'");
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(message("{\"a\": " + deep + "}"),
            "x (name 'a'): the device has to be a string, found array");
  std::string many = R"({"rules": [)";
  for (int i = 0; i < 300; ++i) many += R"({"regex": "a", "device": "b"},)";
  many.back() = ']';
  EXPECT_EQ(message(many + "}"), "x has 300 rules with a regex, the limit is 256");
}

TEST(Affinity, FilesAreRead) {
  EXPECT_FALSE(AffinityRules::read("/nonexistent/affinity.json"));
  std::string path = (std::filesystem::temp_directory_path() / "het_affinity_XXXXXX").string();
  const int descriptor = mkstemp(path.data());
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  std::ofstream(path) << R"({"conv1": "GPU"})";
  const auto list = AffinityRules::read(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(list->describe(0), "affinity file '" + path + "' (name 'conv1')");
}

bool matches(std::string_view pattern, std::string_view name) {
  const auto parsed = NamePattern::parse(pattern);
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed && parsed->matches(name);
}

TEST(NamePattern, WholeNamesMatch) {
  struct Case {
    std::string pattern;
    std::vector<std::string> good;
    std::vector<std::string> bad;
  };
  const std::vector<Case> cases{
      {"", {""}, {"a"}},
      {"abc", {"abc"}, {"ab", "abcd", "xabc"}},
      {"^abc$", {"abc"}, {"abcd", "^abc$"}},
      {"head/.*", {"head/", "head/conv"}, {"head", "a/head/conv"}},
      {"conv[0-9]+", {"conv1", "conv42"}, {"conv", "conv1a"}},
      {"[^/]*", {"", "conv"}, {"a/b"}},
      {"[]a-]+", {"]", "a-a"}, {"b"}},
      {"[\\d_.]{2}", {"1_", ".."}, {"1", "1_2"}},
      {"a|bc|", {"a", "bc", ""}, {"ab", "c"}},
      {"(?:stem|layer(1|2))/relu", {"stem/relu", "layer2/relu"}, {"layer3/relu", "layer/relu"}},
      {"a?b*c+", {"c", "abbcc", "bc"}, {"aac", "ab"}},
      {"a{2}", {"aa"}, {"a", "aaa"}},
      {"(ab){1,2}", {"ab", "abab"}, {"", "ababab"}},
      {"a{2,}", {"aa", "aaaaa"}, {"a"}},
      {"a{0}b", {"b"}, {"ab"}},
      {"(a*)*", {"", "aaa"}, {"b"}},
      {"\\.\\$\\(\\[\\\\", {".$([\\"}, {"a$([\\"}},
      {"\\w+\\s\\W\\S\\D", {"ab /xx"}, {"ab/ xx"}},
      {"()", {""}, {"a"}},
      {".", {"\n", std::string(1, '\0'), "\xFF"}, {"", "ab"}},
  };
  for (const Case& c : cases) {
    for (const std::string& name : c.good)
      EXPECT_TRUE(matches(c.pattern, name)) << c.pattern << " " << name;
    for (const std::string& name : c.bad)
      EXPECT_FALSE(matches(c.pattern, name)) << c.pattern << " " << name;
  }
}

TEST(NamePattern, WrongPatternsAreRefused) {
  for (const std::string pattern :
       {"(",   ")",   "a)",    "[",       "[a",      "[z-a]",  "*",   "a|*", "+a",
        "{2}", "a{",  "a{x}",  "a{2",     "a{3,2}",  "a{101}", "\\",  "\\1", "\\b",
        "a^b", "a$b", "(?=a)", "(?<n>a)", "[a-\\d]", "?",      "(a$)"}) {
    EXPECT_FALSE(NamePattern::parse(pattern)) << pattern;
  }
  EXPECT_FALSE(NamePattern::parse(std::string(1001, 'a')));
  EXPECT_FALSE(NamePattern::parse(std::string(100, '(')));
  EXPECT_FALSE(NamePattern::parse("((a{100}){100}){100}")) << "a million steps";
}

/// Steps that double with every letter would not end; sanitizers on a busy machine may take a
/// while.
TEST(NamePattern, NothingTakesLong) {
  const auto start = std::chrono::steady_clock::now();
  const std::string name(100'000, 'a');
  EXPECT_FALSE(matches("(a+)+b", name));
  EXPECT_FALSE(matches("(a|aa)*c", name));
  EXPECT_TRUE(matches("(.*)*", name));
  std::string nothing = "()";
  for (int i = 0; i < 100; ++i) nothing += "{100}";
  EXPECT_TRUE(matches(nothing, ""));
  std::string nested = "a";
  for (int i = 0; i < 40; ++i) nested = "(" + nested + "*)";
  EXPECT_TRUE(matches(nested, name));
  matches("a" + std::string(900, '*'), "aaa");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 60.0);
}

}  // namespace
}  // namespace het::hetero
