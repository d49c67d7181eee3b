#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuMatMul : public GpuTest {
 protected:
  static bool ran(const std::vector<ProfileRow>& rows, const std::string& kernel) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ProfileRow& row) { return row.exec_type == kernel; });
  }
};

TEST_F(GpuMatMul, ConstantRightSideIsPackedBefore) {
  ModelMaker maker;
  Value* x = maker.input({3, 19, 70});
  maker.output(maker.op("MatMul", {x, maker.random({70, 45})}));
  const auto rows = compare(maker.model());
  EXPECT_TRUE(ran(rows, "matmul"));
  EXPECT_FALSE(ran(rows, "pack_panels"));
}

TEST_F(GpuMatMul, VariableRightSideIsPackedOrReadWhereItLies) {
  ModelMaker maker;
  Value* x = maker.input({2, 1, 33, 40});
  Value* y = maker.input({3, 40, 37});
  maker.output(maker.op("MatMul", {x, y}));
  EXPECT_TRUE(ran(compare(maker.model()), "pack_panels"));
  ModelMaker few;
  x = few.input({2, 1, 3, 40});
  y = few.input({3, 40, 192});
  few.output(few.op("MatMul", {x, y}));
  EXPECT_FALSE(ran(compare(few.model()), "pack_panels"));
}

TEST_F(GpuMatMul, DepthIsSplitWhereRowsAndColumnsAreFew) {
  for (const int64_t rows : {1, 3}) {
    ModelMaker maker;
    Value* x = maker.input({rows, 2100});
    Value* y = maker.op("Gemm", {x, maker.random({5, 2100}), maker.random({5})},
                        make_attributes({{"transB", int64_t{1}}}));
    maker.output(maker.op("Relu", {y}));
    compare(maker.model());
  }
}

TEST_F(GpuMatMul, TailAddsBiasSumAndActivations) {
  ModelMaker maker;
  Value* x = maker.input({2, 13, 24});
  Value* residual = maker.input({2, 13, 50});
  Value* y = maker.op("MatMul", {x, maker.random({24, 50})});
  y = maker.op("Add", {y, maker.random({50})});
  y = maker.op("Sigmoid", {y});
  maker.output(maker.op("Relu", {maker.op("Add", {y, residual})}));
  const auto rows = compare(maker.model());
  EXPECT_TRUE(ran(rows, "matmul"));
  EXPECT_FALSE(ran(rows, "elementwise"));
}

TEST_F(GpuMatMul, GemmWithFactorsAndBiasAlongRows) {
  for (const Shape& bias : {Shape{17, 1}, Shape{1, 22}, Shape{17, 22}, Shape{1}, Shape{}}) {
    ModelMaker maker;
    Value* x = maker.input({9, 17});
    Value* y = maker.input({22, 9});
    maker.output(maker.op(
        "Gemm", {x, y, maker.random(bias)},
        make_attributes(
            {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}, {"beta", 2.0f}})));
    compare(maker.model());
  }
}

TEST_F(GpuMatMul, HalfStorageStaysNear) {
  ModelMaker maker;
  Value* x = maker.input({40, 300});
  Value* y = maker.input({300, 31});
  Value* left = maker.op("MatMul", {x, maker.random({300, 31})});
  maker.output(maker.op("Add", {left, maker.op("MatMul", {x, y})}));
  compare(maker.model(), 3e-3f, {{"INFERENCE_PRECISION_HINT", "f16"}});
}

TEST_F(GpuMatMul, EinsteinSumsOfTwoAreStacksOfProducts) {
  struct Sum {
    const char* equation;
    Shape a, b;
  };
  for (const Sum& sum :
       {Sum{"bhid,bhjd->bhij", {2, 3, 17, 8}, {2, 3, 21, 8}},
        Sum{"bhij,bhjd->bihd", {2, 3, 17, 21}, {2, 3, 21, 8}}, Sum{"ij,jk->ki", {19, 30}, {30, 40}},
        Sum{"i,j->ij", {20}, {33}}, Sum{"ij,ij->ij", {5, 6}, {5, 6}},
        Sum{"ij,ij->i", {5, 60}, {5, 60}}, Sum{"bchw,bkc->bkhw", {2, 5, 6, 7}, {2, 9, 5}},
        Sum{"abcd,cde->abe", {2, 3, 4, 5}, {4, 5, 6}}}) {
    SCOPED_TRACE(sum.equation);
    ModelMaker maker;
    maker.output(maker.op("Einsum", {maker.input(sum.a), maker.input(sum.b)},
                          make_attributes({{"equation", std::string(sum.equation)}})));
    compare(maker.model());
  }
}

TEST_F(GpuMatMul, GemmOfIntegersIsRefused) {
  ModelMaker maker;
  Value* x = maker.input({4, 4}, ElementType::Int32);
  maker.output(maker.op("Gemm", {x, x}));
  auto compiled = device_->compile_model(maker.model(), {}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message().find("products of int32"), std::string::npos)
      << compiled.error().message();
}

TEST_F(GpuMatMul, AffineGridsAreProducts) {
  for (const int64_t align : {0, 1}) {
    ModelMaker maker;
    const Attributes attributes = make_attributes({{"align_corners", align}});
    maker.output(
        maker.op("AffineGrid", {maker.input({2, 2, 3}), maker.ints({2, 1, 9, 13})}, attributes));
    maker.output(
        maker.op("AffineGrid", {maker.input({2, 3, 4}), maker.ints({2, 1, 3, 1, 5})}, attributes));
    maker.output(
        maker.op("AffineGrid", {maker.random({1, 2, 3}), maker.ints({1, 3, 4, 4})}, attributes));
    compare(maker.model(), 2e-6f);
  }
}

}  // namespace
}  // namespace het::gpu_testing
