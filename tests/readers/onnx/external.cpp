#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/readers/onnx/onnx_file.h"

namespace het {
namespace {

namespace fs = std::filesystem;
using test::Graph;

/// A folder with a model's folder inside: what lies beside the inner one must stay out of reach.
class OnnxExternal : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("onnx_external_" + std::to_string(getpid()));
    fs::create_directories(root_ / "model/sub");
    write(root_ / "secret.bin", "12345678");
    write(root_ / "model/weights.bin", "xxxx" + test::bytes_of<float>({1.5f, -2.0f}));
    write(root_ / "model/sub/weights.bin", test::bytes_of<float>({7.0f, 8.0f}));
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  Result<Tensor> read(const std::vector<std::pair<std::string, std::string>>& entries,
                      const std::vector<int64_t>& dims = {2}) {
    Graph graph;
    graph.initializer(test::external_tensor("w", test::kFloat, dims, entries)).output("w");
    write(root_ / "model/model.onnx", test::model_file(graph.bytes()));
    auto model = read_onnx((root_ / "model/model.onnx").string());
    if (!model) return Failure(model.error());
    return (*model)->outputs()[0].value->constant();
  }

  void expect_error(const std::vector<std::pair<std::string, std::string>>& entries,
                    const std::string& part) {
    const auto tensor = read(entries);
    ASSERT_FALSE(tensor) << part;
    EXPECT_NE(tensor.error().message().find(part), std::string::npos) << tensor.error().message();
    EXPECT_NE(tensor.error().message().find("tensor 'w'"), std::string::npos)
        << tensor.error().message();
  }

  fs::path root_;
};

TEST_F(OnnxExternal, ATensorWithoutElementsNeedsNoFile) {
  const std::pair<std::string, std::string> location{"location", "missing.bin"};
  using Entries = std::vector<std::pair<std::string, std::string>>;
  for (const Entries& entries : {Entries{location},
                                 {location, {"length", "0"}},
                                 {location, {"offset", "64"}, {"length", "1"}}}) {
    const auto tensor = read(entries, {2, 0});
    ASSERT_TRUE(tensor) << tensor.error().message();
    EXPECT_EQ(tensor->shape(), (Shape{2, 0}));
  }
  EXPECT_FALSE(read({location, {"length", "8"}}, {2, 0}));
}

TEST_F(OnnxExternal, OffsetAndLength) {
  const auto tensor = read({{"location", "weights.bin"}, {"offset", "4"}, {"length", "8"}});
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(*to_float_vector(*tensor), (std::vector<float>{1.5f, -2.0f}));
  const auto no_length = read({{"location", "weights.bin"}, {"offset", "4"}});
  ASSERT_TRUE(no_length) << no_length.error().message();
}

TEST_F(OnnxExternal, SubfoldersAndLinksInsideTheFolder) {
  EXPECT_TRUE(read({{"location", "sub/weights.bin"}}));
  EXPECT_TRUE(read({{"location", "./sub/weights.bin"}}));
  fs::create_symlink("sub/weights.bin", root_ / "model/link.bin");
  EXPECT_TRUE(read({{"location", "link.bin"}}));
}

TEST_F(OnnxExternal, UnalignedDataIsCopied) {
  write(root_ / "model/odd.bin", "x" + test::bytes_of<float>({3.0f, 4.0f}));
  const auto tensor = read({{"location", "odd.bin"}, {"offset", "1"}});
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->bytes()) % alignof(float), 0u);
  EXPECT_EQ(*to_float_vector(*tensor), (std::vector<float>{3.0f, 4.0f}));
}

TEST_F(OnnxExternal, NothingOutsideTheFolder) {
  expect_error({{"location", (root_ / "secret.bin").string()}}, "it is absolute");
  expect_error({{"location", "../secret.bin"}}, "'..'");
  expect_error({{"location", "sub/../../secret.bin"}}, "'..'");
  expect_error({{"location", ""}}, "it is empty");
  expect_error({}, "it is empty");
  expect_error({{"location", std::string("weights.bin\0/x", 14)}}, "zero byte");
  fs::create_symlink(root_ / "secret.bin", root_ / "model/link.bin");
  expect_error({{"location", "link.bin"}}, "outside the model's folder");
  fs::create_symlink("..", root_ / "model/up");
  expect_error({{"location", "up/secret.bin"}}, "outside the model's folder");
  expect_error({{"location", "."}}, "outside the model's folder");
}

/// Hugging Face's cache: the model and its data are links to files with the names of their
/// checksums.
TEST_F(OnnxExternal, LinksOfTheModelAndItsDataToOneFolder) {
  fs::create_directories(root_ / "blobs");
  fs::create_directories(root_ / "snapshots/0/onnx");
  const fs::path data = root_ / "snapshots/0/onnx/model.onnx_data";
  Graph graph;
  graph
      .initializer(test::external_tensor("w", test::kFloat, {2}, {{"location", "model.onnx_data"}}))
      .output("w");
  write(root_ / "blobs/1234", test::model_file(graph.bytes()));
  write(root_ / "blobs/5678", test::bytes_of<float>({3.0f, 4.0f}));
  const fs::path model = root_ / "snapshots/0/onnx/model.onnx";
  fs::create_symlink("../../../blobs/1234", model);
  fs::create_symlink("../../../blobs/5678", data);
  const auto read = read_onnx(model.string());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*to_float_vector((*read)->outputs()[0].value->constant()),
            (std::vector<float>{3.0f, 4.0f}));
  // Only right beside the model's own file.
  fs::remove(data);
  fs::create_symlink("../../../secret.bin", data);
  const auto outside = read_onnx(model.string());
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message().find("outside the model's folder"), std::string::npos);
}

TEST_F(OnnxExternal, OnlyRegularFiles) {
  expect_error({{"location", "sub"}}, "not a regular file");
  ASSERT_EQ(mkfifo((root_ / "model/fifo").c_str(), 0600), 0);
  expect_error({{"location", "fifo"}}, "not a regular file");
  expect_error({{"location", "missing.bin"}}, "is missing");
}

TEST_F(OnnxExternal, SizesAreChecked) {
  expect_error({{"location", "weights.bin"}, {"offset", "8"}}, "which has 12");
  expect_error({{"location", "weights.bin"}, {"offset", "18446744073709551615"}}, "which has 12");
  expect_error({{"location", "weights.bin"}, {"offset", "18446744073709551616"}}, "not a number");
  expect_error({{"location", "weights.bin"}, {"offset", "-4"}}, "not a number");
  expect_error({{"location", "weights.bin"}, {"length", "4"}}, "has length 4");
  expect_error({{"location", "weights.bin"}, {"length", "x"}}, "not a number");
}

TEST_F(OnnxExternal, BytesThatAreSharedTooOftenAreRefused) {
  // Unaligned data is copied: a small file must not make many large copies of one part.
  constexpr int64_t kCount = 1 << 18;
  write(root_ / "model/large.bin", std::string(4 * kCount + 1, 'x'));
  const auto model_with = [&](int uses) {
    Graph graph;
    for (int i = 0; i < uses; ++i) {
      graph.initializer(test::external_tensor("w" + std::to_string(i), test::kFloat, {kCount},
                                              {{"location", "large.bin"}, {"offset", "1"}}));
    }
    graph.output("w0");
    write(root_ / "model/model.onnx", test::model_file(graph.bytes()));
    return read_onnx((root_ / "model/model.onnx").string());
  };
  EXPECT_TRUE(model_with(2));
  const auto model = model_with(40);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), StatusCode::OutOfMemory) << model.error().message();
}

TEST_F(OnnxExternal, FilesAreTold) {
  const auto stored = [](const std::string& name, const std::string& location) {
    return test::external_tensor(name, test::kFloat, {2}, {{"location", location}});
  };
  Graph branch;
  branch.initializer(stored("v", "sub/weights.bin")).output("v");
  Graph graph;
  graph.initializer(stored("w", "weights.bin"))
      .initializer(stored("again", "weights.bin"))
      .initializer(stored("gone", "gone.bin"))
      .initializer(stored("outside", "../secret.bin"))
      .input("choose", std::vector<int64_t>{}, test::kBool)
      .node("If", {"choose"}, {"y"},
            {test::Attr::graph("then_branch", branch.bytes()),
             test::Attr::graph("else_branch", branch.bytes())})
      .output("y");
  const std::string path = (root_ / "model/model.onnx").string();
  write(path, test::model_file(graph.bytes()));
  const auto files = onnx_external_files(path);
  ASSERT_TRUE(files) << files.error().message();
  const std::string folder = (root_ / "model/").string();
  EXPECT_EQ(*files, (std::vector<std::string>{folder + "sub/weights.bin", folder + "weights.bin"}));
  write(path, "no model");
  EXPECT_FALSE(onnx_external_files(path));
}

TEST_F(OnnxExternal, ModelsInMemoryHaveNoFolder) {
  Graph graph;
  graph.initializer(test::external_tensor("w", test::kFloat, {2}, {{"location", "weights.bin"}}))
      .output("w");
  const auto model = test::read(graph);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message().find("'w'"), std::string::npos) << model.error().message();
}

}  // namespace
}  // namespace het
