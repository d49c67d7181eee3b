#include "inference/ops/movement/transpose.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Transpose, ReversesByDefault) {
  expect_values<float>(run_op_single({"Transpose", {make_ramp<float>({2, 3})}}), {3, 2},
                       {0, 3, 1, 4, 2, 5});
}

template <class T>
void check_permutation() {
  SCOPED_TRACE(to_string(element_type_of<T>()));
  std::vector<double> expected;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) expected.push_back(i * 12 + j * 4 + k);
    }
  }
  expect_values<T>(
      run_op_single(
          {"Transpose", {make_ramp<T>({2, 3, 4})}, make_attributes({{"perm", Ints{2, 0, 1}}})}),
      {4, 2, 3}, expected);
}

TEST(Transpose, EveryWidth) {
  check_permutation<uint8_t>();
  check_permutation<Float16>();
  check_permutation<float>();
  check_permutation<int64_t>();
}

TEST(Transpose, ScalarsAndEmptyTensors) {
  expect_near(run_op_single({"Transpose", {make_ramp<float>({}, 3)}}), make_ramp<float>({}, 3));
  expect_near(run_op_single({"Transpose", {make_ramp<float>({2, 0, 3})}}),
              make_ramp<float>({3, 0, 2}));
}

TEST(Transpose, RefusesOtherPermutations) {
  for (const Ints& perm : {Ints{0}, Ints{0, 0}, Ints{0, 2}, Ints{-1, 0}, Ints{0, 1, 2}, Ints{}}) {
    expect_op_error({"Transpose", {make_ramp<float>({2, 3})}, make_attributes({{"perm", perm}})},
                    "not a permutation");
  }
  expect_op_error({"Transpose", {make_ramp<float>({2})}, make_attributes({{"perm", int64_t{0}}})},
                  "'perm' is an int");
}

}  // namespace
}  // namespace het::op_testing
