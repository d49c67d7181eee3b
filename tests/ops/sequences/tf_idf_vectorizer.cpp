#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

/// The pool 2, 3 and the pairs 2 3, 3 2 in columns 0, 1, 3 and 2.
OpCall call(const Tensor& x, const char* mode, int64_t skips, int64_t shortest = 1) {
  return {"TfIdfVectorizer",
          {x},
          make_attributes({{"mode", std::string(mode)},
                           {"min_gram_length", shortest},
                           {"max_gram_length", int64_t{2}},
                           {"max_skip_count", skips},
                           {"ngram_counts", Ints{0, 2}},
                           {"ngram_indexes", Ints{0, 1, 3, 2}},
                           {"pool_int64s", Ints{2, 3, 2, 3, 3, 2}},
                           {"weights", Floats{1, 10, 100, 1000}}})};
}

TEST(TfIdfVectorizer, CountsWithAndWithoutSkips) {
  const Tensor row = make_tensor<int32_t>({5}, {2, 3, 2, 5, 2});
  expect_values<float>(run_op_single(call(row, "TF", 0)), {4}, {3, 1, 1, 1});
  // One item between: 2 2, 3 5, 2 2: nothing of the pool. Two between: 2 5, 3 2.
  expect_values<float>(run_op_single(call(row, "TF", 1)), {4}, {3, 1, 1, 1});
  expect_values<float>(run_op_single(call(row, "TF", 2)), {4}, {3, 1, 2, 1});
  expect_values<float>(run_op_single(call(row, "TF", 0, 2)), {4}, {0, 0, 1, 1});
}

TEST(TfIdfVectorizer, ModesAndRows) {
  const Tensor rows = make_tensor<int64_t>({2, 3}, {2, 2, 3, 3, 3, 3});
  expect_values<float>(run_op_single(call(rows, "IDF", 0)), {2, 4}, {1, 10, 0, 100, 0, 10, 0, 0});
  expect_values<float>(run_op_single(call(rows, "TFIDF", 0)), {2, 4}, {2, 10, 0, 100, 0, 30, 0, 0});
}

TEST(TfIdfVectorizer, Refusals) {
  const Tensor row = make_tensor<int32_t>({1}, {2});
  expect_op_error(call(row, "IDF2", 0), "mode 'IDF2'");
  OpCall bad = call(row, "TF", 0);
  bad.attributes.set("ngram_counts", Ints{0, 7});
  expect_op_error(bad, "1-grams lie at [0, 7)");
  bad.attributes.set("ngram_counts", Ints{0, 1});
  expect_op_error(bad, "2-grams lie at [1, 6)");
  bad = call(row, "TF", 0);
  bad.attributes.erase("pool_int64s");
  expect_op_error(bad, "pool of strings");
}

}  // namespace
}  // namespace het
