#include "inference/ops/products/einsum.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor einsum(const char* equation, const std::vector<Tensor>& inputs) {
  return run_op_single({"Einsum", inputs, make_attributes({{"equation", equation}})});
}

TEST(Einsum, ProductsOfMatrices) {
  const Tensor a = make_tensor<float>({2, 2}, {1, 2, 3, 4});
  const Tensor b = make_tensor<float>({2, 2}, {5, 6, 7, 8});
  expect_values<float>(einsum("ij,jk->ik", {a, b}), {2, 2}, {19, 22, 43, 50});
  expect_values<float>(einsum(" i j , k j ", {a, b}), {2, 2}, {17, 23, 39, 53});
  expect_values<float>(einsum("ij,ij->", {a, b}), {}, {70});
  expect_values<float>(einsum("i,j->ji", {make_ramp<float>({2}, 1), make_ramp<float>({3}, 1)}),
                       {3, 2}, {1, 2, 2, 4, 3, 6});
  expect_values<float>(einsum("ij,jk,kl->il", {a, b, a}), {2, 2}, {85, 126, 193, 286});
}

TEST(Einsum, OneInput) {
  const Tensor a = make_ramp<int32_t>({2, 3});
  expect_values<int32_t>(einsum("ij->ji", {a}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_values<int32_t>(einsum("ba", {a}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_values<int32_t>(einsum("aB", {a}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_values<int32_t>(einsum("ij->i", {a}), {2}, {3, 12});
  const Tensor square = make_ramp<int32_t>({3, 3});
  expect_values<int32_t>(einsum("ii->i", {square}), {3}, {0, 4, 8});
  expect_values<int32_t>(einsum("ii", {square}), {}, {12});
}

TEST(Einsum, EllipsesBroadcast) {
  const Tensor a = make_ramp<float>({2, 1, 2});
  const Tensor b = make_ramp<float>({3, 2});
  expect_values<float>(einsum("...i,...i->...", {a, b}), {2, 3}, {1, 3, 5, 3, 13, 23});
  expect_values<float>(einsum("...ij->...ji", {make_ramp<float>({1, 2, 2})}), {1, 2, 2},
                       {0, 2, 1, 3});
  expect_values<float>(einsum("b...a", {make_ramp<float>({2, 1, 2})}), {1, 2, 2}, {0, 2, 1, 3});
}

TEST(Einsum, EmptySumsAreZero) {
  const Tensor a = make_tensor<float>({2, 0}, {});
  expect_values<float>(einsum("ij->i", {a}), {2}, {0, 0});
  expect_values<float>(einsum("ij->ij", {a}), {2, 0}, {});
}

TEST(Einsum, PlanHasTheOutputLoopsFirst) {
  const auto plan = einsum_plan("ij,jk->ki", {{2, 3}, {3, 4}});
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->output_shape, (Shape{4, 2}));
  EXPECT_EQ(plan->loops, (Shape{4, 2, 3}));
  EXPECT_EQ(plan->strides[0], (Ints{0, 3, 1}));
  EXPECT_EQ(plan->strides[1], (Ints{1, 0, 4}));
}

TEST(Einsum, RefusesBadInput) {
  const Tensor a = make_ramp<float>({2, 3});
  const auto expect = [&](const char* equation, const char* part) {
    expect_op_error({"Einsum", {a}, make_attributes({{"equation", equation}})}, part);
  };
  expect("ij,jk->ik", "2 terms");
  expect("ijk->i", "does not fit its term");
  expect("i->i", "does not fit its term");
  expect("ij->ik", "label 'k'");
  expect("ij->ii", "label 'i'");
  expect("ii->i", "stands for 2");
  expect("i..j->i", "'i..j'");
  expect("......->...", "one '...' only");
  expect("i1->i", "'i1'");
  expect("ij->i->j", "one '...' only");
  expect("...j->j", "not in its output");
  expect_op_error({"Einsum", {a}}, "'equation'");
  const int64_t big = int64_t{1} << 40;
  EXPECT_FALSE(einsum_plan("a,b->", {{big}, {big}}));
}

}  // namespace
}  // namespace het::op_testing
