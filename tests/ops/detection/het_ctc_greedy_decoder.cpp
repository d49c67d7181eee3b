#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// Rows of scores in which the given class is best.
std::vector<double> path(const std::vector<size_t>& best, size_t classes) {
  std::vector<double> scores(best.size() * classes, .1);
  for (size_t i = 0; i < best.size(); ++i) scores[i * classes + best[i]] = .5;
  return scores;
}

TEST(HetCtcGreedyDecoder, MergesAndDropsBlanks) {
  // Five steps of one sequence; class 2 is the blank.
  const Tensor x = make_tensor<float>({5, 1, 3}, path({1, 1, 2, 1, 0}, 3));
  const Tensor mask = make_tensor<float>({5, 1}, {1, 1, 1, 1, 1});
  expect_values<float>(run_op_single({"CTCGreedyDecoder", {x, mask}, {}, 1, "het"}), {1, 5, 1, 1},
                       {1, 1, 0, -1, -1});
  expect_values<float>(
      run_op_single(
          {"CTCGreedyDecoder", {x, mask}, make_attributes({{"ctc_merge_repeated", 0}}), 1, "het"}),
      {1, 5, 1, 1}, {1, 1, 1, 0, -1});
}

TEST(HetCtcGreedyDecoder, TheMaskEndsASequence) {
  // Two sequences, step by step; the mask of the second ends after one step although it goes on
  // later.
  const Tensor x = make_tensor<float>({3, 2, 2}, path({0, 0, 1, 1, 0, 0}, 2));
  const Tensor mask = make_tensor<float>({3, 2}, {1, 1, 1, 0, 1, 1});
  expect_values<float>(run_op_single({"CTCGreedyDecoder", {x, mask}, {}, 1, "het"}), {2, 3, 1, 1},
                       {0, 0, -1, 0, -1, -1});
}

TEST(HetCtcGreedyDecoderSeqLen, LengthsAndBlank) {
  const Tensor x = make_tensor<float>({2, 4, 3}, path({0, 1, 1, 2, 0, 2, 2, 1}, 3));
  const Tensor lengths = make_tensor<int32_t>({2}, {4, 3});
  const auto run = [&](const std::vector<Tensor>& inputs, const Attributes& attributes) {
    return run_op_ok({"CTCGreedyDecoderSeqLen", inputs, attributes, 2, "het"});
  };
  std::vector<Tensor> y = run({x, lengths}, {});
  expect_values<int32_t>(y[0], {2, 4}, {0, 1, -1, -1, 0, -1, -1, -1});
  expect_values<int32_t>(y[1], {2}, {2, 1});
  y = run({x, lengths, make_tensor<int32_t>({}, {0})},
          make_attributes({{"merge_repeated", 0},
                           {"classes_index_type", "int64"},
                           {"sequence_length_type", "int64"}}));
  expect_values<int64_t>(y[0], {2, 4}, {1, 1, 2, -1, 2, 2, -1, -1});
  expect_values<int64_t>(y[1], {2}, {3, 2});
}

TEST(HetCtcGreedyDecoder, RefusesBadInput) {
  const Tensor x = make_tensor<float>({2, 1, 2}, path({0, 1}, 2));
  expect_op_error({"CTCGreedyDecoder", {x, make_tensor<float>({2}, {1, 1})}, {}, 1, "het"},
                  "sequence_mask [2]");
  expect_op_error({"CTCGreedyDecoderSeqLen", {x, make_tensor<int32_t>({2}, {2, 1})}, {}, 2, "het"},
                  "sequence_length of sequence 0 is 2");
  expect_op_error({"CTCGreedyDecoderSeqLen",
                   {x, make_tensor<int32_t>({2}, {1, 1})},
                   make_attributes({{"classes_index_type", "float32"}}),
                   2,
                   "het"},
                  "classes_index_type is float32");
}

}  // namespace
}  // namespace het::op_testing
