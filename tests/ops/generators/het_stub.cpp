#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall stub(const std::vector<std::string>& types, const Ints& ranks, const Ints& dims) {
  return {
      "Stub",
      {make_ramp<float>({2}, 5), int64_tensor({1})},
      make_attributes({{"output_types", types}, {"output_ranks", ranks}, {"output_dims", dims}}),
      types.size(),
      "het"};
}

TEST(HetStub, IsZerosOfTheTypesAndShapesThatItsAttributesSay) {
  const auto outputs = run_op(stub({"float32", "int64"}, {2, 0}, {1, 3}));
  ASSERT_TRUE(outputs) << outputs.error().message();
  expect_values<float>((*outputs)[0], {1, 3}, {0, 0, 0});
  expect_values<int64_t>((*outputs)[1], {}, {0});
}

TEST(HetStub, RefusesAttributesThatDoNotFitTogether) {
  expect_op_error(stub({"float32"}, {1, 1}, {2, 2}), "1 and 2 entries for 1 outputs");
  expect_op_error(stub({"float32"}, {3}, {2, 2}), "has rank 3, but 2 of the 2");
  expect_op_error(stub({"float32"}, {-1}, {}), "has rank -1");
  expect_op_error(stub({"float32"}, {1}, {2, 2}), "1 entries more");
  expect_op_error(stub({"float32"}, {2}, {INT64_MAX, 2}), "more elements");
  expect_op_error(stub({"float32"}, {1}, {-1}), "");
  expect_op_error(stub({"string"}, {1}, {1}), "string");
}

}  // namespace
}  // namespace het::op_testing
