#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuElementwise : public GpuTest {};

TEST_F(GpuElementwise, ChainIsOneKernel) {
  ModelMaker maker;
  Value* x = maker.input({1, 5, 7, 9});
  Value* y = maker.op("Sigmoid", {maker.op("Mul", {x, maker.random({5, 1, 1})})});
  maker.output(maker.op("Add", {y, maker.random({1})}));
  const auto rows = compare(maker.model());
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                          [](const ProfileRow& row) { return row.exec_type == "elementwise"; }),
            1);
}

TEST_F(GpuElementwise, OperandsAreBroadcastAlongAnyDimension) {
  ModelMaker maker;
  Value* x = maker.input({2, 3, 4, 5});
  Value* a = maker.input({3, 1, 5});
  Value* b = maker.input({4, 1});
  maker.output(maker.op("Sub", {maker.op("Add", {x, a}), b}));
  compare(maker.model());
}

TEST_F(GpuElementwise, HalfStorageStaysNear) {
  ModelMaker maker;
  Value* x = maker.input({1, 8, 13, 17});
  maker.output(maker.op("Tanh", {maker.op("Mul", {x, x})}));
  compare(maker.model(), 2e-3f, {{"INFERENCE_PRECISION_HINT", "f16"}});
}

TEST_F(GpuElementwise, ReshapeCostsNothing) {
  ModelMaker maker;
  Value* x = maker.input({2, 3, 4});
  Value* y = maker.op("Reshape", {maker.op("Relu", {x}), maker.ints({6, 4})});
  maker.output(maker.op("Neg", {y}));
  const auto rows = compare(maker.model());
  EXPECT_EQ(count_type(rows, "Reshape"), 0u);
}

TEST_F(GpuElementwise, GatesWithAFactor) {
  ModelMaker maker;
  Value* a = maker.input({3, 21});
  Value* b = maker.input({3, 21});
  maker.output(maker.op("SwiGLU", {a, b}));
  maker.output(maker.op("SwiGLU", {a, b}, make_attributes({{"alpha", 1.7f}})));
  compare(maker.model(), 2e-6f);
}

}  // namespace
}  // namespace het::gpu_testing
