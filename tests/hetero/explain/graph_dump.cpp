#include "hetero/explain/graph_dump.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "hetero/explain/dump_text.h"
#include "hetero/explain/layered_layout.h"
#include "inference/decoders/labels.h"
#include "tests/devices/device_testing.h"

namespace het::hetero {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class GraphDump : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "het_dump_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_;
};

/// x -> a(A) -> b(B) -> c(A) with a -> c; `odd` is a part of every name.
struct Example {
  explicit Example(const std::string& odd, size_t repetitions = 1) : model("net" + odd) {
    const TensorDesc desc{ElementType::Float32, {1, 64, 56, 56}};
    Value* last = model.add_input("x" + odd, desc);
    for (size_t i = 0; i < repetitions; ++i) {
      const std::string suffix = odd + (i == 0 ? "" : std::to_string(i));
      Value* a = model.add_node("a" + suffix, "Relu", "", {last}, {"ya" + suffix})->output();
      Value* b = model.add_node("b" + suffix, "Abs", "", {a}, {"yb" + suffix})->output();
      last = model.add_node("c" + suffix, "Add", "", {a, b}, {"yc" + suffix})->output();
      for (Value* value : {a, b, last}) model.set_desc(value, desc);
      for (const char* device : {"GPU", "CPU", "GPU"}) devices.push_back(device);
    }
    model.add_output("y" + odd, last);
    model.add_output("k" + odd, model.add_constant("k" + odd, Tensor::scalar(1.0f)));
    for (size_t i = 0; i < model.nodes().size(); ++i) {
      const Node& node = *model.nodes()[i];
      rows.push_back({node.name(), node.op_type(), devices[i], "reason" + odd});
    }
  }
  Split split() const {
    auto result = split_model(model, devices);
    EXPECT_TRUE(result) << result.error().message();
    return std::move(*result);
  }

  Model model;
  std::vector<std::string> devices;
  std::vector<NodeSupport> rows;
};

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(GraphDump, HasThePlacesOfAllNodes) {
  const Example example("");
  const auto paths = dump_affinity(example.model, example.rows, folder_);
  ASSERT_TRUE(paths) << paths.error().message();
  EXPECT_EQ((*paths)[0], folder_ + "/hetero_affinity_net.dot");
  const std::string dot = read((*paths)[0]);
  EXPECT_EQ(count_of(dot, "device=GPU"), 2u);
  EXPECT_EQ(count_of(dot, "device=CPU"), 1u);
  EXPECT_EQ(count_of(dot, "penwidth=2"), 2u) << "two edges change the device";
  EXPECT_NE(dot.find("float32[1,64,56,56], 784.0 KiB"), std::string::npos) << dot;
  const auto json = nlohmann::json::parse(read((*paths)[2]));
  EXPECT_EQ(json["model"], "net");
  EXPECT_EQ(json["devices"], (nlohmann::json{{"GPU", 2}, {"CPU", 1}}));
  ASSERT_EQ(json["nodes"].size(), 3u);
  EXPECT_EQ(json["nodes"][1]["name"], "b");
  EXPECT_EQ(json["nodes"][1]["device"], "CPU");
  EXPECT_EQ(json["nodes"][1]["reason"], "reason");
  EXPECT_EQ(json["nodes"][1]["outputs"][0]["bytes"], 4 * 64 * 56 * 56);
}

TEST_F(GraphDump, HasTheSubgraphsAndWhatCrosses) {
  const Example example("");
  const auto paths = dump_subgraphs(example.model, example.split(), folder_);
  ASSERT_TRUE(paths) << paths.error().message();
  EXPECT_EQ((*paths)[1], folder_ + "/hetero_subgraphs_net.svg");
  const std::string dot = read((*paths)[0]);
  EXPECT_EQ(count_of(dot, "subgraph cluster_"), 3u);
  EXPECT_NE(dot.find("net_1: CPU, 1 node\""), std::string::npos) << dot;
  EXPECT_EQ(count_of(dot, "penwidth=2"), 3u);
  EXPECT_EQ(count_of(dot, "784.0 KiB"), 3u);
  const auto json = nlohmann::json::parse(read((*paths)[2]));
  ASSERT_EQ(json["subgraphs"].size(), 3u);
  EXPECT_EQ(json["subgraphs"][2]["nodes"], nlohmann::json({"c"}));
  EXPECT_EQ(json["subgraphs"][2]["dependencies"], nlohmann::json({0, 1}));
  EXPECT_EQ(json["subgraphs"][0]["inputs"][0]["source"], (nlohmann::json{{"model_input", 0}}));
  ASSERT_EQ(json["cuts"].size(), 2u);
  EXPECT_EQ(json["cuts"][0]["name"], "ya");
  EXPECT_EQ(json["cuts"][0]["readers"].size(), 2u);
  EXPECT_EQ(json["outputs"][1]["source"], (nlohmann::json{{"constant", "float32[]"}}));
  EXPECT_EQ(json["nodes"][1]["subgraph"], 1);
}

TEST_F(GraphDump, OddNamesAreSafe) {
  const std::vector<std::string> names{"\"quoted\" \\",
                                       "../../etc/passwd",
                                       "two\nlines\r\t",
                                       "<b>&amp;]]>",
                                       "'; --",
                                       "\xC3\xA9\xE2\x82\xAC",
                                       "\xFF\xC3",
                                       std::string("\0\x01\x7F", 3),
                                       std::string(100'000, 'n'),
                                       "\xEF\xBF\xBE",
                                       "n0 -> n1 [label=\"",
                                       "\\\\\"",
                                       "{|}",
                                       "$(x)`%n"};
  for (const std::string& name : names) {
    SCOPED_TRACE(name.substr(0, 50));
    const Example example(name);
    const auto paths = dump_subgraphs(example.model, example.split(), folder_);
    ASSERT_TRUE(paths) << paths.error().message();
    const auto more = dump_affinity(example.model, example.rows, folder_);
    ASSERT_TRUE(more) << more.error().message();
    for (const auto* list : {&*paths, &*more}) {
      for (const std::string& path : *list) {
        EXPECT_EQ(fs::path(path).parent_path(), folder_);
        EXPECT_TRUE(fs::exists(path));
        EXPECT_TRUE(is_utf8(read(path))) << path;
      }
      pugi::xml_document svg;
      const auto parsed = svg.load_file((*list)[1].c_str(), pugi::parse_full);
      EXPECT_TRUE(parsed) << parsed.description();
      EXPECT_EQ(svg.child("svg").select_nodes(".//g").size(), 6u) << "x, a, b, c, y and k";
      EXPECT_FALSE(nlohmann::json::parse(read((*list)[2]), nullptr, false).is_discarded());
      // Quotes that are no text come in pairs.
      std::string dot = read((*list)[0]);
      for (const char* escaped : {"\\\\", "\\\""}) {
        for (size_t at; (at = dot.find(escaped)) != std::string::npos;) dot.erase(at, 2);
      }
      EXPECT_EQ(count_of(dot, "\"") % 2, 0u);
    }
  }
}

TEST_F(GraphDump, GraphvizReadsTheDotFiles) {
  if (std::system("dot -V >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "dot of Graphviz is not installed";
  for (const std::string name : {"", "\"\\ <&>\n", "n0 -> n1 [label=\""}) {
    const Example example(name);
    const auto paths = dump_subgraphs(example.model, example.split(), folder_);
    ASSERT_TRUE(paths);
    EXPECT_EQ(std::system(("dot -Tplain -o /dev/null '" + (*paths)[0] + "'").c_str()), 0);
  }
}

TEST_F(GraphDump, AFolderThatCannotBeWrittenIsNamed) {
  const Example example("");
  const std::string absent = folder_ + "/absent";
  const auto paths = dump_affinity(example.model, example.rows, absent);
  ASSERT_FALSE(paths);
  EXPECT_EQ(
      paths.error().message(),
      "cannot write '" + absent +
          "/hetero_affinity_net.dot': No such file or directory; check that its folder exists "
          "and is writable");
  EXPECT_FALSE(dump_affinity(example.model, {}, folder_));
}

TEST_F(GraphDump, ThousandsOfNodesAreDrawn) {
  const Example example("", 1500);
  const auto paths = dump_subgraphs(example.model, example.split(), folder_);
  ASSERT_TRUE(paths) << paths.error().message();
  EXPECT_EQ(count_of(read((*paths)[1]), "<g>"), 4503u);
}

TEST(DumpText, LongTextsLoseTheirMiddle) {
  EXPECT_EQ(printable("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(printable("abcdefghi", 8), "abcd\xE2\x80\xA6ghi");
  EXPECT_EQ(printable("a\nb", 8), "a?b");
  EXPECT_EQ(printable("\xC3\xA9\xC3", 8), "\xC3\xA9?");
  EXPECT_EQ(printable("abc", 0), "\xE2\x80\xA6");
}

TEST(DumpText, FileNamesStayInTheirFolder) {
  EXPECT_EQ(file_name_part("yolo-v8.1_x"), "yolo-v8.1_x");
  EXPECT_EQ(file_name_part("../x"), "_._x");
  EXPECT_EQ(file_name_part(""), "model");
  EXPECT_EQ(file_name_part(std::string(1000, 'x')).size(), 100u);
}

TEST(LayeredLayout, BoxesOfALayerDoNotOverlapAndEdgesGoDown) {
  std::mt19937 random(6);
  for (int run = 0; run < 30; ++run) {
    std::vector<LayoutBox> boxes;
    std::vector<std::pair<size_t, size_t>> edges;
    for (size_t i = 0; i < 60; ++i) {
      boxes.push_back({{10.0 + random() % 100, 10.0 + random() % 30}});
      for (size_t k = 0; k < 2 && i > 0; ++k)
        edges.emplace_back(i - 1 - random() % std::min<size_t>(i, 12), i);
    }
    const Layout layout = lay_out(boxes, edges);
    for (const auto& [from, to] : edges) {
      const double end = layout.centres[from].y + boxes[from].size.height / 2;
      EXPECT_LT(end, layout.centres[to].y - boxes[to].size.height / 2);
    }
    for (size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_GE(layout.centres[i].x - boxes[i].size.width / 2, -1e-6);
      EXPECT_LE(layout.centres[i].x + boxes[i].size.width / 2, layout.size.width + 1e-6);
      EXPECT_LE(layout.centres[i].y + boxes[i].size.height / 2, layout.size.height + 1e-6);
      for (size_t k = 0; k < i; ++k) {
        const double dx = std::abs(layout.centres[i].x - layout.centres[k].x);
        const double dy = std::abs(layout.centres[i].y - layout.centres[k].y);
        EXPECT_TRUE(2 * dx + 1e-6 >= boxes[i].size.width + boxes[k].size.width ||
                    2 * dy >= boxes[i].size.height + boxes[k].size.height)
            << "boxes " << i << " and " << k;
      }
    }
  }
}

TEST(LayeredLayout, BoxesForTopAndBottomAreThere) {
  using Place = LayoutBox::Place;
  // 0 -> 1 -> 2; 3 (top) -> 2; 0 -> 4 (bottom).
  const Layout layout =
      lay_out({{{9, 9}}, {{9, 9}}, {{9, 9}}, {{4, 0}, Place::Top}, {{4, 0}, Place::Bottom}},
              {{0, 1}, {1, 2}, {3, 2}, {0, 4}});
  EXPECT_EQ(layout.centres[3].y, layout.centres[0].y);
  EXPECT_GT(layout.centres[4].y, layout.centres[2].y);
  EXPECT_EQ(layout.bends[2].size(), 2u) << "beside box 1";
  EXPECT_EQ(layout.bends[3].size(), 4u) << "beside boxes 1 and 2";
}

TEST(LayeredLayout, NothingIsNoTrouble) {
  const Layout layout = lay_out({}, {});
  EXPECT_EQ(layout.size.width, 0);
  EXPECT_EQ(lay_out({{{10, 10}}, {{10, 10}}}, {{0, 1}, {1, 0}}).centres.size(), 2u) << "a cycle";
}

}  // namespace
}  // namespace het::hetero
