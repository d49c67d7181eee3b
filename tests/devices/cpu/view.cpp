/// Reshape and its like on device CPU: the same memory in other dimensions.

#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuView : public CpuTest {
 protected:
  const Attributes turned_ = make_attributes({{"perm", Ints{0, 2, 1}}});
};

// A format goes on where pixels get other dimensions: nothing is turned twice.
TEST_F(CpuView, PixelsBecomeTokensByOneReorder) {
  for (const int64_t channels : {32, 20}) {
    SCOPED_TRACE(channels);
    ModelMaker maker;
    Value* x = maker.conv(maker.input({2, 16, 6, 5}), 16, channels, 3);
    Value* rows = maker.op("Reshape", {x, maker.ints({2, channels, -1})});
    Value* tokens = maker.op("Transpose", {rows}, turned_);
    maker.output(maker.op("MatMul", {tokens, maker.random({channels, 8})}));
    const auto steps = compare(maker.model());
    EXPECT_EQ(count_type(steps, "Transpose"), 0u);
    // What the convolution and the product read.
    EXPECT_LE(count_type(steps, "Reorder"), 2u);
  }
}

TEST_F(CpuView, TokensBecomePixelsByOneReorder) {
  for (const int64_t channels : {32, 20}) {
    SCOPED_TRACE(channels);
    ModelMaker maker;
    Value* tokens = maker.op("MatMul", {maker.input({2, 30, 16}), maker.random({16, channels})});
    Value* columns = maker.op("Transpose", {tokens}, turned_);
    Value* pixels = maker.op("Reshape", {columns, maker.ints({2, channels, 6, 5})});
    maker.output(maker.conv(pixels, channels, 8, 3));
    const auto steps = compare(maker.model());
    EXPECT_EQ(count_type(steps, "Transpose"), 0u);
    // What the convolution reads and what the model shows.
    EXPECT_LE(count_type(steps, "Reorder"), 2u);
  }
}

// As detectors do with their levels: the smaller ones are turned, not the result.
TEST_F(CpuView, RowsOfPixelsAreJoinedAsPlanes) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 6, 4});
  std::vector<Value*> levels = {
      maker.op("Reshape", {maker.conv(x, 16, 32, 3), maker.ints({1, 32, -1})}),
      maker.op("Reshape", {maker.conv(x, 16, 32), maker.ints({1, 32, -1})})};
  maker.output(maker.op("Concat", levels, make_attributes({{"axis", int64_t{2}}})));
  size_t joined = 0;
  for (const ProfileRow& row : compare(maker.model())) {
    joined += row.layer_type == "Concat";
    if (row.layer_type != "Reorder") continue;
    EXPECT_EQ(row.node_name.find("Concat"), std::string::npos) << row.node_name;
  }
  EXPECT_EQ(joined, 1u);
}

TEST_F(CpuView, EveryShapeOfEveryFormat) {
  const std::vector<Ints> shapes = {
      {2, 20, 30}, {2, 20, 5, 6}, {2, 20, 1, 5, 6}, {2, 20, 2, 1, 3, 5}, {2, 600},
      {40, 30},    {2, 4, 5, 30}, {2, 40, 15},      {1, 2, 20, 30},      {2, 20, 30, 1}};
  for (const Ints& shape : shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    ModelMaker maker;
    Value* blocked = maker.conv(maker.input({2, 16, 6, 5}), 16, 20, 3);
    Value* last = maker.op("Transpose", {maker.input({2, 6, 5, 20})},
                           make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
    for (Value* from : {blocked, last, maker.input({2, 20, 6, 5})}) {
      Value* to = maker.op("Reshape", {from, maker.ints(shape)});
      maker.output(to);
      maker.output(maker.op("Relu", {to}));
      Value* softmax = maker.op("Softmax", {to}, make_attributes({{"axis", int64_t{1}}}));
      maker.output(maker.op("Reshape", {softmax, maker.ints({2, 20, 6, 5})}));
    }
    compare(maker.model());
  }
}

}  // namespace
}  // namespace het
