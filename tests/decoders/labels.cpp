#include "inference/decoders/labels.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "inference/decoders/model_proc.h"

namespace het {
namespace {

class LabelsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / ("labels_" + std::string(test->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(LabelsFile, OneLabelPerLine) {
  const auto labels = read_labels(write("a.txt",
                                        "\xEF\xBB\xBF"
                                        "cat\r\ndog, big\n\n\xC3\xA9t\xC3\xA9\n\n\n"));
  ASSERT_TRUE(labels) << labels.error().message();
  EXPECT_EQ(*labels, (std::vector<std::string>{"cat", "dog, big", "", "\xC3\xA9t\xC3\xA9"}));
}

TEST_F(LabelsFile, LastLineMayLackItsEnd) {
  EXPECT_EQ(read_labels(write("a.txt", "cat\ndog")).value().size(), 2u);
}

TEST_F(LabelsFile, RefusesWhatIsNoText) {
  for (const std::string& bad : {std::string("cat\n\xff\n"), std::string("cat\nd\0g\n", 8),
                                 std::string("\xed\xa0\x80\n"), std::string("\xc0\xaf\n"),
                                 std::string("\xf5\x80\x80\x80\n"), std::string("cat\n\xe2\x82")}) {
    const auto labels = read_labels(write("a.txt", bad));
    ASSERT_FALSE(labels);
    EXPECT_NE(labels.error().message().find("not UTF-8"), std::string::npos);
  }
}

TEST_F(LabelsFile, RefusesEmptyFiles) {
  EXPECT_FALSE(read_labels(write("a.txt", "")));
  EXPECT_FALSE(read_labels(write("a.txt", "\n\n\n")));
}

TEST_F(LabelsFile, HasLimits) {
  std::string many;
  for (size_t i = 0; i < kMaxLabels; ++i) many += "a\n";
  EXPECT_EQ(read_labels(write("a.txt", many)).value().size(), kMaxLabels);
  const auto one_more = read_labels(write("a.txt", many + "a\n"));
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(read_labels(write("a.txt", std::string(kMaxLabelsFileBytes, 'a'))));
  EXPECT_FALSE(read_labels(write("a.txt", std::string(kMaxLabelsFileBytes + 1, 'a'))));
}

TEST_F(LabelsFile, RefusesWhatIsNoFile) {
  EXPECT_FALSE(read_labels(folder_.string()));
  EXPECT_FALSE(read_labels((folder_ / "missing.txt").string()));
  EXPECT_FALSE(read_labels("/dev/zero"));
}

TEST_F(LabelsFile, DescriptorNamesAFileInItsFolder) {
  std::filesystem::create_directories(folder_ / "labels");
  write("labels/two.txt", "a\nb\n");
  const auto model_proc =
      read_model_proc(write("model.json", R"({"json_schema_version": "2.2.0", "input_preproc": [],
          "output_postproc": [{"converter": "label", "labels": "labels/../labels/two.txt"}]})"));
  ASSERT_TRUE(model_proc) << model_proc.error().message();
  EXPECT_EQ(model_proc->outputs[0].labels.size(), 2u);
}

TEST(LabelsPath, StaysInTheFolder) {
  EXPECT_EQ(path_beside("a/b.txt", "/x/m.json").value(), "/x/a/b.txt");
  EXPECT_EQ(path_beside("b.txt", "m.json").value(), "b.txt");
  for (const char* bad : {"", "/etc/passwd", "../b.txt", "a/../../b.txt", ".."})
    EXPECT_FALSE(path_beside(bad, "/x/m.json")) << bad;
}

}  // namespace
}  // namespace het
