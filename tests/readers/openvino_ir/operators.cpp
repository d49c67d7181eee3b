#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/readers/openvino_ir/ir_file.h"

/// That the reader only makes nodes of operators that there are.
namespace het {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void collect(const std::string& text, const char* pattern, std::set<std::string>& names) {
  const std::regex regex(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it) {
    names.insert((*it)[1]);
  }
}

/// Operators are spelled in the sources as the first argument of add(), add_many() and finish(), as
/// the second one of finish_output(), as the second word of a table, and, those of the domain het
/// that keep their names, as rows of attributes.
TEST(IrOperators, EveryOperatorThatTheReaderMakesExists) {
  const char* root = std::getenv("HET_SOURCE_ROOT");
  ASSERT_NE(root, nullptr) << "HET_SOURCE_ROOT must name the source tree; meson sets it";
  std::set<std::string> names;
  std::set<std::string> own;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(root) / "inference/readers/openvino_ir/translations")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = text_of(entry.path());
    collect(text, R"re((?:add|add_many|finish)\(\s*"(\w+)")re", names);
    collect(text, R"re(finish_output\(\s*\w+,\s*"(\w+)")re", names);
    collect(text, R"re(\{"\w+", "([A-Z]\w+)"\})re", names);
    collect(text, R"re(\{"(\w+)", own_operation\})re", own);
    collect(text, R"re(\{"(\w+)",\s*\{\{")re", own);
  }
  EXPECT_GT(names.size(), 100u);
  EXPECT_GT(own.size(), 15u);
  const OpRegistry& registry = op_registry();
  for (const std::string& name : names) {
    EXPECT_TRUE(registry.find("", name) != nullptr || registry.find("het", name) != nullptr)
        << name << " is no operator of this build";
  }
  for (const std::string& name : own) {
    EXPECT_NE(registry.find("het", name), nullptr) << "het." << name << " is no operator";
  }
}

}  // namespace
}  // namespace het
