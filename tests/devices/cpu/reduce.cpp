/// Reductions down the rows (devices/cpu/loops/column_loops.h) and the pooling made of them.

#include <cmath>
#include <limits>

#include "devices/cpu/loops/column_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu::Accumulation;
using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

constexpr Accumulation kAccumulations[] = {Accumulation::Sum, Accumulation::SumSquare,
                                           Accumulation::SumAbs, Accumulation::Max,
                                           Accumulation::Min};

double folded(Accumulation kind, double so_far, double value) {
  switch (kind) {
    case Accumulation::Sum:
      return so_far + value;
    case Accumulation::SumSquare:
      return so_far + value * value;
    case Accumulation::SumAbs:
      return so_far + std::abs(value);
    case Accumulation::Max:
      return std::isnan(so_far) || so_far > value ? so_far : value;
    case Accumulation::Min:
      return std::isnan(so_far) || so_far < value ? so_far : value;
  }
  return so_far;
}

/// `src` has nothing behind the last column of the last row: reads beyond it would show.
template <class T>
void expect_columns(const std::vector<T>& src, int64_t rows, int64_t stride, int64_t count) {
  for (const Accumulation kind : kAccumulations) {
    std::vector<float> got(static_cast<size_t>(count) + 1, -7.0f);
    cpu::reduce_columns(kind, src.data(), rows, stride, count, got.data());
    for (int64_t c = 0; c < count; ++c) {
      const bool is_extreme = kind == Accumulation::Max || kind == Accumulation::Min;
      double wanted = is_extreme ? static_cast<float>(src[static_cast<size_t>(c)]) : 0.0;
      for (int64_t r = 0; r < rows; ++r) {
        wanted = folded(kind, wanted, static_cast<float>(src[static_cast<size_t>(r * stride + c)]));
      }
      const float value = got[static_cast<size_t>(c)];
      SCOPED_TRACE(
          fmt::format("kind {}, {} rows, column {} of {}", static_cast<int>(kind), rows, c, count));
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(value)) << value;
      } else if (std::isinf(wanted)) {
        ASSERT_EQ(value, static_cast<float>(wanted));
      } else {
        ASSERT_NEAR(value, wanted, 1e-5 * static_cast<double>(rows) * (1.0 + std::abs(wanted)));
      }
    }
    ASSERT_EQ(got.back(), -7.0f) << "behind the last column";
  }
}

TEST(CpuReduceColumns, EveryInstructionSetAndWidth) {
  cpu_testing::on_each_instruction_set([] {
    for (const int64_t rows : {1, 2, 3, 4, 5, 11, 49}) {
      for (const int64_t count : {1, 3, 8, 15, 16, 17, 72, 128, 150}) {
        const int64_t stride = count + rows % 3;
        std::vector<float> floats;
        std::vector<BFloat16> halves;
        for (int64_t i = 0; i < (rows - 1) * stride + count; ++i) {
          floats.push_back(static_cast<float>((i * 37 + rows) % 101) / 16.0f - 3.0f);
        }
        // In rows of their own, and both infinities in one column.
        const auto put = [&](int64_t row, int64_t column, float value) {
          if (row < rows && column < count) {
            floats[static_cast<size_t>(row * stride + column)] = value;
          }
        };
        put(2, 0, std::numeric_limits<float>::quiet_NaN());
        put(rows - 1, 7, std::numeric_limits<float>::quiet_NaN());
        put(0, 2, std::numeric_limits<float>::infinity());
        put(1, count - 1, -std::numeric_limits<float>::infinity());
        put(3, 12, std::numeric_limits<float>::infinity());
        put(4, 12, -std::numeric_limits<float>::infinity());
        for (const float value : floats) halves.emplace_back(value);
        expect_columns(floats, rows, stride, count);
        expect_columns(halves, rows, stride, count);
      }
    }
  });
}

class CpuReduce : public CpuTest {};

TEST_F(CpuReduce, PixelsOfBlockedPictures) {
  for (const char* type : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1",
                           "ReduceL2", "ReduceSumSquare"}) {
    for (const char* threads : {"1", "2"}) {
      SCOPED_TRACE(type);
      ModelMaker maker;
      Value* x = maker.conv(maker.input({2, 8, 23, 19}), 8, 37);
      Value* y = maker.op(type, {x, maker.ints({2, 3})});
      maker.output(maker.op("Mul", {x, maker.op("Sigmoid", {maker.conv(y, 37, 37)})}));
      const auto rows =
          compare(maker.model(), 1e-4f, {{"INFERENCE_NUM_THREADS", threads}, {"CACHE_DIR", ""}});
      EXPECT_EQ(implementation(rows, y->producer()->name()), "own_simd");
    }
  }
}

/// Strips of a picture are summed by threads; how many there are changes no result.
TEST_F(CpuReduce, ResultsDoNotDependOnTheTeam) {
  for (const char* precision : {"f32", "bf16"}) {
    if (precision == std::string("bf16") && !cpu::has_bfloat16()) continue;
    for (const auto& [height, width] : {std::pair(9, 10), {16, 8}, {33, 31}, {70, 71}}) {
      SCOPED_TRACE(testing::Message() << precision << " " << height << "x" << width);
      ModelMaker maker;
      Value* x = maker.conv(maker.input({2, 8, height, width}), 8, 37);
      for (const char* type : {"ReduceMean", "ReduceL2", "ReduceMax", "ReduceMin"}) {
        Value* y = maker.op(type, {maker.op("Relu", {x}), maker.ints({2, 3})});
        maker.output(maker.conv(y, 37, 5));
      }
      // In a column of the last strip.
      Tensor picture = cpu_testing::random_tensor({2, 8, height, width}, 3);
      picture.values<float>().back() = std::numeric_limits<float>::quiet_NaN();
      std::vector<Tensor> first;
      for (const char* threads : {"1", "2", "3"}) {
        const auto compiled = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", precision},
                                                      {"INFERENCE_NUM_THREADS", threads},
                                                      {"CACHE_DIR", ""}});
        ASSERT_NE(compiled, nullptr);
        const std::vector<Tensor> got = infer(*compiled, {picture});
        if (first.empty()) first = got;
        for (size_t k = 0; k < got.size(); ++k) {
          for (size_t i = 0; i < 10; ++i) {
            const float value = got[k].values<float>()[i];
            ASSERT_EQ(std::isnan(value), i >= 5) << "of the second picture";
            if (i < 5) {
              EXPECT_EQ(value, first[k].values<float>()[i]) << threads << " threads";
            }
          }
        }
      }
    }
  }
}

TEST_F(CpuReduce, GatesOfAPlanInBFloat16ReadTheirPictureAsItIs) {
  if (!cpu::has_bfloat16()) GTEST_SKIP() << cpu_testing::kNoBfloat16;
  ModelMaker maker;
  Value* x = maker.op("Relu", {maker.conv(maker.input({2, 16, 23, 19}), 16, 40)});
  Value* mean = maker.op("ReduceMean", {x, maker.ints({2, 3})});
  Value* gate = maker.conv(maker.op("Relu", {maker.conv(mean, 40, 24)}), 24, 40);
  Value* shown = maker.conv(maker.op("Mul", {x, maker.op("Sigmoid", {gate})}), 40, 16);
  maker.output(shown);
  const auto rows =
      compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}, {"CACHE_DIR", ""}});
  EXPECT_EQ(implementation(rows, mean->producer()->name()), "own_simd");
  for (const ProfileRow& row : rows) {
    if (row.layer_type != "Reorder") continue;
    EXPECT_TRUE(row.node_name == "x0/reorder" || row.node_name == shown->name() + "/reorder")
        << row.node_name << ": nothing but the input and the output is converted";
  }
}

TEST_F(CpuReduce, OtherAxesOfAPlanInBFloat16) {
  if (!cpu::has_bfloat16()) GTEST_SKIP() << cpu_testing::kNoBfloat16;
  for (const cpu_testing::Ints& axes :
       {cpu_testing::Ints{1}, cpu_testing::Ints{3}, cpu_testing::Ints{2, 3}}) {
    for (const int64_t keepdims : {0, 1}) {
      ModelMaker maker;
      Value* x = maker.op("Relu", {maker.conv(maker.input({1, 16, 9, 7}), 16, 24)});
      maker.output(
          maker.op("ReduceMean", {x, maker.ints(axes)}, make_attributes({{"keepdims", keepdims}})));
      maker.output(maker.conv(x, 24, 8));
      compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}, {"CACHE_DIR", ""}});
    }
  }
}

}  // namespace
}  // namespace het
