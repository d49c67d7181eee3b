#include "tools/accuracy/progress_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace het {
namespace {

using testing::HasSubstr;

class ProgressFileTest : public testing::Test {
 protected:
  ProgressFileTest() {
    dataset_.categories = {{1, "car"}};
    for (const char* id : {"one", "two"}) {
      LabelledPicture picture;
      picture.id = id;
      dataset_.pictures.push_back(picture);
    }
    std::filesystem::remove(path_);
  }
  ~ProgressFileTest() override { std::filesystem::remove(path_); }

  PictureResults none() const { return {{std::nullopt, std::nullopt}}; }

  std::string path_ = testing::TempDir() + "/accuracy_progress.state";
  Dataset dataset_;
  const RunIdentity identity_ = {{"model", "'a.onnx' (1)"}, {"device", "CPU"}};
};

TEST_F(ProgressFileTest, KeepsEveryBitOfWhatIsDone) {
  const ProgressFile file(path_, identity_);
  PictureResults results = none();
  EXPECT_TRUE(file.load(dataset_, results).ok()) << "it need not be there";
  Found found;
  found.boxes = {{{0.1, 1.0 / 3.0, 1e-7, 12345.678}, 0.1f, 0}};
  found.ranking = {3, kNoCategory};
  results[0][1] = found;
  ASSERT_TRUE(file.save(dataset_, results).ok());
  PictureResults loaded = none();
  ASSERT_TRUE(file.load(dataset_, loaded).ok());
  EXPECT_FALSE(loaded[0][0]);
  ASSERT_TRUE(loaded[0][1]);
  ASSERT_EQ(loaded[0][1]->boxes.size(), 1u);
  EXPECT_EQ(loaded[0][1]->boxes[0].box.y, found.boxes[0].box.y);
  EXPECT_EQ(loaded[0][1]->boxes[0].score, found.boxes[0].score);
  EXPECT_EQ(loaded[0][1]->ranking, found.ranking);
  file.remove();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ProgressFileTest, RefusesAnotherRunsFile) {
  ASSERT_TRUE(ProgressFile(path_, identity_).save(dataset_, none()).ok());
  RunIdentity other = identity_;
  other["device"] = "GPU";
  PictureResults results = none();
  const Status status = ProgressFile(path_, other).load(dataset_, results);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("device is GPU now and was CPU then"));
}

TEST_F(ProgressFileTest, RefusesWhatIsNoState) {
  for (const char* text :
       {"", "{", "[1]\n", "{\"state_of\":\"nothing\",\"run\":{}}\n",
        "{\"state_of\":\"hetero accuracy\",\"run\":{\"model\":\"'a.onnx' (1)\",\"device\":\"CPU\"}}"
        "\n{\"column\":7,\"picture\":\"one\",\"boxes\":[],\"ranking\":[]}\n",
        "{\"state_of\":\"hetero accuracy\",\"run\":{\"model\":\"'a.onnx' (1)\",\"device\":\"CPU\"}}"
        "\n{\"column\":0,\"picture\":\"one\",\"boxes\":[[9,0,0,1,1,1]],\"ranking\":[]}\n"}) {
    std::ofstream(path_) << text;
    PictureResults results = none();
    const Status status = ProgressFile(path_, identity_).load(dataset_, results);
    EXPECT_EQ(status.code(), StatusCode::ParseError) << text;
    EXPECT_THAT(status.message(), HasSubstr("is no state of an accuracy run")) << text;
  }
}

TEST_F(ProgressFileTest, HashesTellContentsApart) {
  std::ofstream(path_) << "a";
  EXPECT_EQ(file_hash(path_), "af63dc4c8601ec8c");  // FNV-1a's published value for "a"
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(file_hash(path_ + ".no"), "none");
}

}  // namespace
}  // namespace het
