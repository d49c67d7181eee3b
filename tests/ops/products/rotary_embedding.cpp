#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

// Rotation by a quarter turn, (a, b) -> (-b, a), and by nothing.
Tensor cosines(const Shape& shape) {
  return make_tensor<float>(shape, {0, 1});
}
Tensor sines(const Shape& shape) {
  return make_tensor<float>(shape, {1, 0});
}

TEST(RotaryEmbedding, HalvesAndNeighbours) {
  OpCall call{
      "RotaryEmbedding",
      {make_tensor<float>({1, 1, 1, 4}, {1, 2, 3, 4}), cosines({1, 1, 2}), sines({1, 1, 2})}};
  expect_values<float>(run_op_single(call), {1, 1, 1, 4}, {-3, 2, 1, 4});
  call.attributes = make_attributes({{"interleaved", 1}});
  expect_values<float>(run_op_single(call), {1, 1, 1, 4}, {-2, 1, 3, 4});
}

TEST(RotaryEmbedding, PositionsChooseRowsAndTheRestPassesThrough) {
  // Two tokens of two heads of 3 values, of which the first 2 turn; tokens use rows 1 and 0.
  const OpCall call{"RotaryEmbedding",
                    {make_tensor<float>({1, 2, 6}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}),
                     cosines({2, 1}), sines({2, 1}), make_tensor<int64_t>({1, 2}, {1, 0})},
                    make_attributes({{"num_heads", 2}, {"rotary_embedding_dim", 2}})};
  expect_values<float>(run_op_single(call), {1, 2, 6}, {1, 2, 3, 4, 5, 6, -2, 1, 3, -5, 4, 6});
}

TEST(RotaryEmbedding, HeadsFirst) {
  const OpCall call{"RotaryEmbedding",
                    {make_tensor<float>({1, 2, 1, 2}, {1, 2, 3, 4}),
                     make_tensor<float>({1, 1, 1}, {0}), make_tensor<float>({1, 1, 1}, {1})}};
  expect_values<float>(run_op_single(call), {1, 2, 1, 2}, {-2, 1, -4, 3});
}

TEST(RotaryEmbedding, Refusals) {
  OpCall call{"RotaryEmbedding",
              {make_tensor<float>({1, 1, 1, 4}, {1, 2, 3, 4}), cosines({2, 1}), sines({2, 1}),
               make_tensor<int64_t>({1, 1}, {2})},
              make_attributes({{"rotary_embedding_dim", 2}})};
  expect_op_error(call, "position 2 is not among the cache's 2");
  call.attributes = make_attributes({{"rotary_embedding_dim", 3}});
  expect_op_error(call, "must be an even number");
  call.attributes = {};
  expect_op_error(call, "do not fit X");
}

}  // namespace
}  // namespace het
