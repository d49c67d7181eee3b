#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/readers/onnx/onnx_file.h"

namespace het {
namespace {

using test::Attr;
using test::Graph;

/// A model whose only output is the initialiser.
std::string holder(const std::string& tensor) {
  Graph graph;
  graph.initializer(tensor).output("t");
  return test::model_file(graph.bytes());
}

Result<Tensor> read_tensor(const std::string& tensor) {
  auto model = test::read(holder(tensor));
  if (!model) return Failure(model.error());
  return (*model)->outputs()[0].value->constant();
}

std::string int64_data(const std::vector<int64_t>& dims, const std::vector<int64_t>& values) {
  std::string out = test::tensor_head("t", test::kInt64, dims);
  protozero::pbf_writer writer(out);
  for (const int64_t v : values) writer.add_int64(onnx::tensor_field::kInt64Data, v);  // not packed
  return out;
}

TEST(OnnxTensor, RawFloats) {
  const auto tensor = read_tensor(test::float_tensor("t", {2, 2}, {1, 2, 3, -4.5f}));
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(to_string(tensor->desc()), "float32[2,2]");
  EXPECT_EQ(tensor->values<float>()[3], -4.5f);
}

TEST(OnnxTensor, TypedFieldsOfEveryWidth) {
  struct Case {
    int type;
    const char* desc;
    std::vector<int32_t> stored;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {2, "uint8[2]", {0, 255}, {0, 255}},
      {3, "int8[2]", {-128, 127}, {-128, 127}},
      {4, "uint16[2]", {0, 65535}, {0, 65535}},
      {5, "int16[2]", {-32768, 5}, {-32768, 5}},
      {6, "int32[2]", {-7, 7}, {-7, 7}},
      {9, "bool[2]", {0, 1}, {0, 1}},
      {10, "float16[2]", {0x3c00, 0xc000}, {1, -2}},
      {16, "bfloat16[2]", {0x3f80, 0xc000}, {1, -2}},
  };
  for (const Case& c : cases) {
    const auto tensor = read_tensor(test::int32_data_tensor("t", c.type, {2}, c.stored));
    ASSERT_TRUE(tensor) << tensor.error().message();
    EXPECT_EQ(to_string(tensor->desc()), c.desc);
    EXPECT_EQ(*to_float_vector(*tensor), c.expected) << c.desc;
  }
}

TEST(OnnxTensor, TypedFieldsOfTheirOwn) {
  std::string floats = test::tensor_head("t", test::kFloat, {2});
  const std::vector<float> values = {0.5f, -3.0f};
  protozero::pbf_writer(floats).add_packed_float(onnx::tensor_field::kFloatData, values.begin(),
                                                 values.end());
  EXPECT_EQ(*to_float_vector(*read_tensor(floats)), values);

  std::string doubles = test::tensor_head("t", 11, {2});
  const std::vector<double> wide = {0.25, 1e300};
  protozero::pbf_writer(doubles).add_packed_double(onnx::tensor_field::kDoubleData, wide.begin(),
                                                   wide.end());
  EXPECT_EQ(read_tensor(doubles)->values<double>()[1], 1e300);

  std::string unsigned_values = test::tensor_head("t", 13, {2});
  const std::vector<uint64_t> big = {1, UINT64_MAX};
  protozero::pbf_writer(unsigned_values)
      .add_packed_uint64(onnx::tensor_field::kUint64Data, big.begin(), big.end());
  EXPECT_EQ(read_tensor(unsigned_values)->values<uint64_t>()[1], UINT64_MAX);

  EXPECT_EQ(*to_int64_vector(*read_tensor(int64_data({2}, {-1, INT64_MIN}))),
            (std::vector<int64_t>{-1, INT64_MIN}));
}

TEST(OnnxTensor, FourBitValuesArePackedTwoToAByte) {
  // Three values take two bytes; in int32_data each number is one of these bytes.
  const auto typed = read_tensor(test::int32_data_tensor("t", 22, {3}, {0x2f, 0x07}));
  const auto raw = read_tensor(test::raw_tensor("t", 22, {3}, std::string("\x2f\x07", 2)));
  ASSERT_TRUE(typed) << typed.error().message();
  ASSERT_TRUE(raw) << raw.error().message();
  EXPECT_EQ(typed->type(), ElementType::Int4);
  ASSERT_EQ(typed->size_bytes(), 2u);
  EXPECT_EQ(std::memcmp(typed->bytes(), raw->bytes(), 2), 0);
  EXPECT_EQ(typed->bytes()[0], std::byte{0x2f});
}

TEST(OnnxTensor, BooleansBecomeZeroOrOne) {
  const auto tensor =
      read_tensor(test::raw_tensor("t", test::kBool, {3}, std::string("\0\2\xff", 3)));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(*to_float_vector(*tensor), (std::vector<float>{0, 1, 1}));
}

TEST(OnnxTensor, ScalarsAndEmptyTensors) {
  EXPECT_EQ(read_tensor(test::float_tensor("t", {}, {2.5f}))->rank(), 0);
  EXPECT_EQ(read_tensor(test::float_tensor("t", {0, 4}, {}))->element_count(), 0);
  // No content field at all is a valid empty tensor.
  EXPECT_EQ(read_tensor(test::tensor_head("t", test::kFloat, {0}))->element_count(), 0);
  // Nor does a byte for nothing matter.
  const auto one = read_tensor(test::raw_tensor("t", test::kFloat, {0, 3, 17}, "x"));
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(one->shape(), (Shape{0, 3, 17}));
}

TEST(OnnxTensor, ContentThatDoesNotFitTheShapeIsAnError) {
  const std::string broken[] = {
      test::float_tensor("t", {3}, {1, 2}),
      test::float_tensor("t", {1}, {1, 2}),
      test::int32_data_tensor("t", test::kInt32, {3}, {1, 2}),
      test::int32_data_tensor("t", test::kInt32, {1}, {1, 2}),
      test::float_tensor("t", {-1}, {1}),
      test::float_tensor("t", {0}, {1}),
      // Sizes that overflow or would need far more memory than the file justifies.
      test::tensor_head("t", test::kFloat, {int64_t{1} << 40, int64_t{1} << 40}),
      test::tensor_head("t", test::kFloat, {int64_t{1} << 40}),
      test::float_tensor("t", {INT64_MAX, 2}, {1}),
  };
  for (const std::string& tensor : broken) {
    const auto result = read_tensor(tensor);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message().find("tensor 't'"), std::string::npos)
        << result.error().message();
  }
}

TEST(OnnxTensor, UnsupportedTypesOnlyConcernTheirNode) {
  Graph graph;
  graph.input("x", {{2}})
      .initializer(test::tensor_head("words", test::kString, {1}))
      .node("Add", {"x", "x"}, {"y"})
      .node("StringNormalizer", {"words"}, {"w"})
      .output("y")
      .output("w");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->find_node("y")->unsupported_reason(), "");
  EXPECT_EQ((*model)->find_node("w")->unsupported_reason(),
            "tensor 'words': tensors of strings are not supported");
}

TEST(OnnxTensor, AlignedRawBytesOfAFileAreNotCopied) {
  // The second model has one more byte in front of its weights, so one of the two is aligned.
  const auto path = std::filesystem::temp_directory_path() /
                    ("onnx_tensor_" + std::to_string(getpid()) + ".onnx");
  size_t referenced = 0;
  for (const std::string name : {"t", "tt", "ttt", "tttt"}) {
    Graph graph;
    graph.initializer(test::float_tensor(name, {4}, {1, 2, 3, 4})).output(name);
    const std::string file = test::model_file(graph.bytes());
    std::ofstream(path, std::ios::binary) << file;
    const auto model = read_onnx(path.string());
    ASSERT_TRUE(model) << model.error().message();
    const Tensor weights = (*model)->outputs()[0].value->constant();
    EXPECT_EQ(*to_float_vector(weights), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.bytes()) % alignof(float), 0u);
    // A page holds the whole file: the offset tells whether the bytes lie where the file has them.
    const size_t place = file.find(test::bytes_of<float>({1, 2, 3, 4}));
    referenced += reinterpret_cast<uintptr_t>(weights.bytes()) % 4096 == place ? 1 : 0;
  }
  std::filesystem::remove(path);
  EXPECT_GE(referenced, 1u);
}

}  // namespace
}  // namespace het
