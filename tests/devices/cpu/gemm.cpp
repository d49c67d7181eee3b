#include "cpu_testing.h"
#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/gemm_loops.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/onednn/onednn.h"

/// Products whose weights are fetched ahead (devices/cpu/products/gemm.h).
namespace het::cpu_testing {
namespace {

constexpr int64_t kDepth = 523;

/// Columns with which the weights do not stay in the second-level cache; no multiple of a vector.
int64_t many_columns() {
  return cpu::second_level_bytes() / (4 * kDepth) + 37;
}

class CpuGemm : public CpuTest {
 protected:
  /// Compares with REF and expects this kernel for `node`.
  void expect_own(ModelMaker& maker, const std::string& node) {
    for (const char* threads : {"1", "2"}) {
      const std::vector<ProfileRow> rows =
          compare(maker.model(), 1e-5f, {{"INFERENCE_NUM_THREADS", threads}});
      EXPECT_EQ(implementation(rows, node), std::string("own_gemm_") + cpu::simd_target());
    }
  }
};

TEST_F(CpuGemm, AnyNumberOfRows) {
  const int64_t n = many_columns();
  const Tensor weights = random_tensor({kDepth, n}, 1, 0.05f);
  for (const int64_t m : {8, 13, 14, 15, 29, 50, 128}) {
    ModelMaker maker;
    Value* y = maker.op("MatMul", {maker.input({m, kDepth}), maker.constant(weights)});
    maker.output(y);
    SCOPED_TRACE(m);
    expect_own(maker, y->producer()->name());
  }
}

TEST_F(CpuGemm, FewRowsOfAnyWeights) {
  for (const int64_t m : {1, 2, 7}) {
    for (const int64_t k : {1, 15, 64, 523, 2500}) {
      for (const int64_t n : {64, 77}) {
        ModelMaker maker;
        Value* y =
            maker.op("Gemm", {maker.input({m, k}), maker.constant(random_tensor({k, n}, 1, 0.05f)),
                              maker.constant(random_tensor({n}, 2))});
        maker.output(maker.op("Relu", {y}));
        SCOPED_TRACE(fmt::format("{} x {} x {}", m, k, n));
        expect_own(maker, y->producer()->name());
      }
    }
  }
}

TEST_F(CpuGemm, DeepProductsAreCutIntoSlices) {
  constexpr int64_t kDeep = 2 * cpu::GemmShape::kMostDepth + 77;
  ModelMaker maker;
  Value* y = maker.op("MatMul", {maker.input({19, kDeep}),
                                 maker.constant(random_tensor({kDeep, many_columns()}, 1, 0.05f))});
  Value* sum = maker.op("Add", {y, maker.input({19, many_columns()})});
  maker.output(maker.op("Relu", {sum}));
  expect_own(maker, y->producer()->name());
}

// Strips are loops of the same kernel, so nothing but their results can be seen.
TEST_F(CpuGemm, RowsThatDoNotStayInTheCacheKeepTheirResults) {
  // Of 127 rows, about four times what a strip has; 300 columns end within a group of panels.
  const int64_t depth = cpu::second_level_bytes() / (4 * 63);
  ModelMaker maker;
  Value* y = maker.op(
      "MatMul", {maker.input({127, depth}), maker.constant(random_tensor({depth, 300}, 1, 0.02f))});
  Value* biased = maker.op("Add", {y, maker.constant(random_tensor({300}, 2))});
  Value* sum = maker.op("Add", {biased, maker.input({127, 300})});
  maker.output(maker.op("Sigmoid", {sum}));
  expect_own(maker, y->producer()->name());
}

TEST_F(CpuGemm, StackedRowsBiasSumAndActivation) {
  const int64_t n = many_columns();
  ModelMaker maker;
  Value* x = maker.input({2, 9, kDepth});
  Value* y = maker.op("MatMul", {x, maker.constant(random_tensor({kDepth, n}, 1, 0.05f))});
  Value* biased = maker.op("Add", {y, maker.constant(random_tensor({n}, 2))});
  Value* sum = maker.op("Add", {biased, maker.input({2, 9, n})});
  maker.output(maker.op("Relu", {sum}));
  expect_own(maker, y->producer()->name());
  // All of it in one kernel.
  EXPECT_EQ(count_type(compare(maker.model(), 1e-5f), "Add"), 0u);
}

TEST_F(CpuGemm, TransposedWeightsAndALongerTail) {
  const int64_t n = many_columns();
  ModelMaker maker;
  Value* y =
      maker.op("Gemm",
               {maker.input({17, kDepth}), maker.constant(random_tensor({n, kDepth}, 1, 0.05f)),
                maker.constant(random_tensor({n}, 2))},
               make_attributes({{"transB", int64_t{1}}}));
  maker.output(maker.op("Sigmoid", {y}));
  expect_own(maker, y->producer()->name());
}

TEST_F(CpuGemm, FewRowsInBfloat16) {
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  const int64_t n = 2 * many_columns() + 5;
  const auto implementation_of = [&](int64_t m) {
    ModelMaker maker;
    Value* y = maker.op(
        "Gemm",
        {maker.input({m, 2 * kDepth}), maker.constant(random_tensor({n, 2 * kDepth}, 1, 0.05f)),
         maker.constant(random_tensor({n}, 2))},
        make_attributes({{"transB", int64_t{1}}}));
    maker.output(maker.op("Relu", {y}));
    const auto rows = compare(maker.model(), 0.02f, {{"INFERENCE_PRECISION_HINT", "bf16"}});
    return implementation(rows, y->producer()->name());
  };
  for (const int64_t m : {1, 3, 4}) {
    EXPECT_EQ(implementation_of(m), std::string("own_gemm_") + cpu::simd_target()) << m;
  }
  EXPECT_EQ(implementation_of(5).find("own"), std::string::npos);
}

TEST_F(CpuGemm, SmallWeightsTimesManyRowsStayWithOneDnn) {
  const auto implementation_of = [&](int64_t m, int64_t n) {
    ModelMaker maker;
    Value* y = maker.op(
        "MatMul", {maker.input({m, kDepth}), maker.constant(random_tensor({kDepth, n}, 1, 0.05f))});
    maker.output(y);
    return implementation(compare(maker.model(), 1e-5f), y->producer()->name());
  };
  EXPECT_EQ(implementation_of(50, 64).find("own"), std::string::npos);
  EXPECT_EQ(implementation_of(129, many_columns()).find("own"), std::string::npos);
}

}  // namespace
}  // namespace het::cpu_testing
