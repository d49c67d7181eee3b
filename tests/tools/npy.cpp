#include "tools/npy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace het {
namespace {

class NpyFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("het_npy_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "t.npy") const { return (folder_ / name).string(); }

  /// A version 1.0 file with this header dictionary and content.
  void write_raw(std::string header, const std::string& content) {
    header += '\n';
    std::ofstream file(path(), std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xff)
         << static_cast<char>(header.size() >> 8) << header << content;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(NpyFile, RoundTripsEveryType) {
  const Tensor tensors[] = {
      Tensor::from<float>({2, 2}, {1.5f, -2, 3, 4}),
      Tensor::from<double>({1}, {0.1}),
      Tensor::from<int64_t>({3}, {1, -2, 3}),
      Tensor::from<int32_t>({1, 1}, {7}),
      Tensor::from<uint8_t>({2}, {0, 255}),
      Tensor::from<int8_t>({2}, {-128, 127}),
      Tensor::from<Float16>({2}, {Float16(1.5f), Float16(-0.25f)}),
      Tensor::from<bool>({2}, {true, false}),
      Tensor::scalar<float>(2.0f),
      Tensor::from<float>({0, 3}, std::initializer_list<float>{}),
  };
  for (const Tensor& tensor : tensors) {
    ASSERT_TRUE(write_npy(path(), tensor).ok());
    const auto back = read_npy(path());
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->desc(), tensor.desc());
    EXPECT_EQ(std::string(reinterpret_cast<char*>(back->bytes()), back->size_bytes()),
              std::string(reinterpret_cast<char*>(tensor.bytes()), tensor.size_bytes()));
  }
}

TEST_F(NpyFile, ValuesBeginAtAMultipleOf64) {
  ASSERT_TRUE(write_npy(path(), Tensor::from<float>({1}, {1.0f})).ok());
  EXPECT_EQ((std::filesystem::file_size(path()) - 4) % 64, 0u);
}

TEST_F(NpyFile, FortranOrderIsPutRight) {
  const float columns[] = {1, 4, 2, 5, 3, 6};
  write_raw("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
            std::string(reinterpret_cast<const char*>(columns), sizeof columns));
  const auto tensor = read_npy(path());
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(tensor->shape(), (Shape{2, 3}));
  EXPECT_EQ(*to_float_vector(*tensor), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyFile, BadFilesAreErrorsThatNameTheFile) {
  const auto expect_error = [&](const std::string& what) {
    const auto tensor = read_npy(path());
    ASSERT_FALSE(tensor);
    EXPECT_NE(tensor.error().message().find(path()), std::string::npos);
    EXPECT_NE(tensor.error().message().find(what), std::string::npos) << tensor.error().message();
  };
  expect_error("cannot open");
  std::ofstream(path()) << "not NumPy at all";
  expect_error("not a NumPy");
  write_raw("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234");
  expect_error("ends before");
  write_raw("{'descr': '<f4', 'fortran_order': False, 'shape': (400000000,), }", "1234");
  expect_error("ends before its 1600000000 bytes");
  write_raw("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "12345678");
  expect_error("'|O'");
  write_raw("{'descr': '<f4', 'shape': (99999999999, 99999999999), }", "");
  expect_error("elements");
  write_raw("{'descr': '<f4', 'shape': (99999999999,), }", "");
  expect_error("limit");
  write_raw("{'descr': '<f4', 'shape': (-1,), }", "");
  expect_error("shape");
  write_raw("{}", "");
  expect_error("descr");
}

TEST_F(NpyFile, EveryPrefixOfAFileIsAnErrorNotACrash) {
  ASSERT_TRUE(write_npy(path(), Tensor::from<float>({4}, {1, 2, 3, 4})).ok());
  std::ifstream file(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(path("part.npy"), std::ios::binary) << whole.substr(0, length);
    EXPECT_FALSE(read_npy(path("part.npy"))) << length;
  }
}

}  // namespace
}  // namespace het
