#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(DepthToSpace, DepthColumnRow) {
  // Channel = block row * 4 + block column * 2 + output channel.
  const Tensor x = make_ramp<float>({1, 8, 1, 2});
  const Attributes attributes = make_attributes({{"blocksize", 2}});
  expect_values<float>(run_op_single({"DepthToSpace", {x}, attributes}), {1, 2, 2, 4},
                       {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15});
}

TEST(DepthToSpace, ColumnRowDepth) {
  // Channel = output channel * 4 + block row * 2 + block column.
  const Tensor x = make_ramp<float>({1, 8, 1, 2});
  const Attributes attributes = make_attributes({{"blocksize", 2}, {"mode", "CRD"}});
  expect_values<float>(run_op_single({"DepthToSpace", {x}, attributes}), {1, 2, 2, 4},
                       {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15});
}

TEST(SpaceToDepth, UndoesDepthToSpace) {
  const Tensor x = make_ramp<uint8_t>({2, 18, 3, 2});
  for (const char* mode : {"DCR", "CRD"}) {
    const Attributes attributes = make_attributes({{"blocksize", 3}, {"mode", mode}});
    const Tensor wide = run_op_single({"DepthToSpace", {x}, attributes});
    expect_near(run_op_single({"SpaceToDepth", {wide}, attributes}), x);
  }
}

TEST(SpaceToDepth, BlocksBecomeChannels) {
  const Tensor x = make_ramp<int64_t>({1, 1, 2, 4});
  expect_values<int64_t>(run_op_single({"SpaceToDepth", {x}, make_attributes({{"blocksize", 2}})}),
                         {1, 4, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7});
}

TEST(DepthToSpace, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 6, 3, 3});
  const auto block = [](int64_t size) { return make_attributes({{"blocksize", size}}); };
  expect_op_error({"DepthToSpace", {x}, block(2)}, "multiple of blocksize squared, 4");
  expect_op_error({"SpaceToDepth", {x}, block(2)}, "multiples of blocksize 2");
  expect_op_error({"DepthToSpace", {x}, block(0)}, "blocksize is 0");
  expect_op_error({"DepthToSpace", {x}, block(int64_t{1} << 40)}, "blocksize is");
  expect_op_error({"DepthToSpace", {x}}, "'blocksize'");
  expect_op_error({"DepthToSpace", {make_ramp<float>({6, 3})}, block(1)}, "rank must be 4");
  expect_op_error({"DepthToSpace", {x}, make_attributes({{"blocksize", 1}, {"mode", "RCD"}})},
                  "'RCD'");
}

}  // namespace
}  // namespace het::op_testing
