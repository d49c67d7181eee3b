#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(HetSoftNms, OverlappingBoxesFade) {
  // Boxes 0 and 1 overlap by 1/3: box 1 has 0.8 exp(-1 / (9 * 2 * 0.5)) = 0.8 exp(-1/9) = 0.7159,
  // so box 2 with 0.75 comes first.
  const Tensor boxes = make_tensor<float>({1, 3, 4}, {0, 0, 2, 2, 0, 1, 2, 3, 9, 9, 10, 10});
  const Tensor scores = make_tensor<float>({1, 1, 3}, {.9, .8, .75});
  const auto run = [&](double most, double overlap, double least, double sigma = .5) {
    return run_op_ok(
        {"NonMaxSuppression",
         {boxes, scores, make_tensor<int64_t>({}, {most}), make_tensor<float>({}, {overlap}),
          make_tensor<float>({}, {least}), make_tensor<float>({}, {sigma})},
         make_attributes({{"output_type", "i32"}}),
         3,
         "het"});
  };
  const auto y = run(3, 1, .1);
  expect_values<int32_t>(y[0], {3, 3}, {0, 0, 0, 0, 0, 2, 0, 0, 1});
  expect_values<float>(y[1], {3, 3}, {0, 0, .9, 0, 0, .75, 0, 0, .8 * std::exp(-1.0 / 9)});
  expect_values<int32_t>(y[2], {1}, {3});
  expect_values<int32_t>(run(2, 1, .1)[0], {2, 3}, {0, 0, 0, 0, 0, 2});
  // Faded below the threshold: gone.
  expect_values<int32_t>(run(3, 1, .72)[0], {2, 3}, {0, 0, 0, 0, 0, 2});
  // Overlapping too much: gone without a sigma only.
  expect_values<int32_t>(run(3, .3, .1)[0], {3, 3}, {0, 0, 0, 0, 0, 2, 0, 0, 1});
  expect_values<int32_t>(run(3, .3, .1, 0)[0], {2, 3}, {0, 0, 0, 0, 0, 2});
}

TEST(HetSoftNms, RefusesBadInput) {
  expect_op_error({"NonMaxSuppression",
                   {make_ramp<float>({1, 3, 4}), make_ramp<float>({1, 1, 3})},
                   make_attributes({{"box_encoding", "polar"}}),
                   3,
                   "het"},
                  "'polar'");
  expect_op_error({"NonMaxSuppression",
                   {make_ramp<float>({1, 3, 4}), make_ramp<float>({1, 1, 2})},
                   {},
                   3,
                   "het"},
                  "scores [1,1,2]");
}

}  // namespace
}  // namespace het::op_testing
