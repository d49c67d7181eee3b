#include "serving/archive/records/pipeline_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/readers/onnx/onnx_file.h"

namespace het::archive {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(const std::vector<std::string>& words) {
  return check_pipeline(words).message();
}

TEST(PipelineWords, WhatAPipelineHasToHave) {
  EXPECT_TRUE(check_pipeline({"filesrc", "location={video}", "!", "x", "file-path={output}"}).ok());
  EXPECT_THAT(refused({}), HasSubstr("behind --"));
  EXPECT_THAT(refused({"filesrc", "location={video}", "!", "fakesink"}), HasSubstr("{output}"));
  EXPECT_THAT(refused({"filesrc", "location=a.mp4", "!", "x", "file-path={output}"}),
              HasSubstr("{video}"));
  EXPECT_THAT(refused({"x", "location={video}", "y={output}", "z={nmae}"}), HasSubstr("{nmae}"));
}

TEST(PipelineWords, AnyPathIsOneValue) {
  const ShardValues values = {"/v/a b\"c' !.mp4", "file:///v/a", "a", "/o/k"};
  const auto text = shard_pipeline({"filesrc", "location={video}", "!", "x", "o={output}"}, values);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "filesrc location=/v/a\\ b\\\"c\\'\\ \\!.mp4 ! x o=/o/k");
}

TEST(PipelineWords, WordsWithBlanksStayTogether) {
  const ShardValues values = {"/v", "u", "n", "/o"};
  EXPECT_EQ(*shard_pipeline({"a", "b=c d", "!", "e={name}"}, values), "a b=c\\ d ! e=n");
  EXPECT_EQ(*shard_pipeline({"a b=\"c d\" ! e={name}"}, values), "a b=\"c d\" ! e=n");
}

TEST(PipelineWords, AUrlIsNoPath) {
  const ShardValues values = {"", "http://host/a.mp4?key=1", "host/a.mp4", "/o"};
  const auto text = shard_pipeline({"filesrc", "location={video}"}, values);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), HasSubstr("{uri}"));
  EXPECT_EQ(unsigned_uri(values.uri), "http://host/a.mp4");
  EXPECT_EQ(unsigned_uri("file:///a%3Fb?c"), "file:///a%3Fb?c");
}

TEST(PipelineWords, NamesThatAreWrittenAreNotThoseThatAreRead) {
  const WrittenNames read = written_names({"filesrc", "location={video}", "uri={uri}"});
  EXPECT_FALSE(read.video || read.uri || read.name);
  EXPECT_TRUE(written_names({"heterometaconvert", "source={name}"}).name);
  EXPECT_TRUE(written_names({"heterometaconvert source={uri} ! x location={video}"}).uri);
}

TEST(PipelineWords, FilesOfAModel) {
  const std::filesystem::path folder = testing::TempDir() + "/named files";
  std::filesystem::create_directories(folder);
  for (const char* name : {"net.xml", "net.bin", "other.bin", "proc.json"}) {
    std::ofstream(folder / name) << name;
  }
  const std::string at = folder.string() + "/";
  EXPECT_THAT(named_files({"x", "model=" + at + "net.xml", "model-proc=\"" + at + "proc.json\"",
                           "other=" + at + "none.json"}),
              ElementsAre(at + "net.bin", at + "net.xml", at + "proc.json"));
  // External data has any name.
  test::Graph graph;
  graph.initializer(test::external_tensor("w", test::kFloat, {2}, {{"location", "other.bin"}}))
      .output("w");
  std::ofstream(folder / "m.onnx", std::ios::binary) << test::model_file(graph.bytes());
  EXPECT_THAT(named_files({"x", "model=" + at + "m.onnx"}),
              ElementsAre(at + "m.onnx", at + "other.bin"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace het::archive
