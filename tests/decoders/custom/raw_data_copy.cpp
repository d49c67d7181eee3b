#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

TEST(RawDataCopy, CopiesTheBatchItemOfEveryOutput) {
  DecodeCase c(8, 8);
  const auto values = c.add("first", {2, 3});
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  c.tensors.push_back(Tensor::from<int64_t>({2, 1}, {7, 9}));
  c.outputs.push_back({"ids", c.tensors.back().desc(), std::nullopt});
  c.context.batch_index = 1;
  const Results results = c.decode(converter("raw_data_copy"));
  ASSERT_EQ(results.tensors.size(), 2u);
  EXPECT_EQ(results.tensors[0].layer, "first");
  EXPECT_EQ(results.tensors[0].values.shape(), (Shape{1, 3}));
  EXPECT_EQ(to_float_vector(results.tensors[0].values).value(),
            (std::vector<float>{3.0f, 4.0f, 5.0f}));
  EXPECT_EQ(results.tensors[1].values.type(), ElementType::Int64);
  EXPECT_EQ(to_int64_vector(results.tensors[1].values).value(), (std::vector<int64_t>{9}));
  // The request may be used again at once.
  values[3] = -1.0f;
  EXPECT_EQ(results.tensors[0].values.values<float>()[0], 3.0f);
}

TEST(RawDataCopy, ABatchItemThatIsNotThereIsAnError) {
  DecodeCase c(8, 8);
  c.add("first", {2, 3});
  c.context.batch_index = 2;
  const auto results = c.create(converter("raw_data_copy")).value()->decode(c.tensors, c.context);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message().find("batch item 2"), std::string::npos);
}

TEST(Embedding, IsOneRow) {
  DecodeCase c(8, 8);
  const auto values = c.add("reid", {1, 4, 1, 1});
  values[2] = 2.5f;
  DecoderConfig config = converter("embedding");
  config.attribute_name = "person_id";
  const Results results = c.decode(config);
  ASSERT_EQ(results.tensors.size(), 1u);
  EXPECT_EQ(results.tensors[0].format, "cosine_distance");
  EXPECT_EQ(results.tensors[0].attribute, "person_id");
  EXPECT_EQ(results.tensors[0].values.shape(), (Shape{1, 4}));
  EXPECT_EQ(results.tensors[0].values.values<float>()[2], 2.5f);
}

TEST(ClipToken, IsThePooledVectorOrTheFirstToken) {
  DecodeCase c(8, 8);
  c.inputs[0].desc.shape[0] = 2;
  const auto hidden = c.add("last_hidden_state", {2, 3, 2});
  for (size_t i = 0; i < hidden.size(); ++i) hidden[i] = static_cast<float>(i);
  c.context.batch_index = 1;
  const Results token = c.decode(converter("clip_token"));
  EXPECT_EQ(token.tensors.at(0).values.shape(), (Shape{1, 1, 2}));
  EXPECT_EQ(to_float_vector(token.tensors[0].values).value(), (std::vector<float>{6.0f, 7.0f}));
  DecodeCase pooled(8, 8);
  pooled.add("pooler_output", {1, 5});
  EXPECT_EQ(pooled.decode(converter("clip_token")).tensors.at(0).values.shape(), (Shape{1, 5}));
  DecodeCase map(8, 8);
  map.add("map", {1, 5, 2, 2});
  EXPECT_NE(map.create_error(converter("clip_token")).find("[1,5,2,2]"), std::string::npos);
  DecodeCase none(8, 8);
  none.add("last_hidden_state", {1, 0, 2});
  EXPECT_FALSE(none.create(converter("clip_token")).value()->decode(none.tensors, none.context));
}

}  // namespace
}  // namespace het::test
