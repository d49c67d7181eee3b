#include <limits>

#include "inference/ops/onnx_type.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

/// Kernels on types other than float32, and those that move and rank values.
class CpuTyped : public CpuTest {
 protected:
  /// Runs on both devices; `node` must have run a kernel, not the reference.
  void compare_kernel(const Model& model, const std::string& node, float tolerance = 0.0f) {
    const std::string ran = implementation(compare(model, tolerance), node);
    EXPECT_EQ(ran.rfind("own", 0), 0u) << node << " ran '" << ran << "'";
  }

  static Value* cast(ModelMaker& maker, Value* value, ElementType type) {
    return maker.op("Cast", {value},
                    make_attributes({{"to", static_cast<int64_t>(onnx_type_code(type))}}));
  }
  /// Values around 0, some beyond the range of bytes.
  static Value* typed_input(ModelMaker& maker, const Shape& shape, ElementType type) {
    Value* wide = maker.op("Mul", {maker.input(shape), maker.constant(Tensor::scalar(60.0f))});
    return cast(maker, wide, type);
  }
};

constexpr ElementType kTypes[] = {ElementType::Float32, ElementType::Float64, ElementType::Int64,
                                  ElementType::Int32,   ElementType::Int8,    ElementType::UInt8,
                                  ElementType::Bool};

TEST_F(CpuTyped, CastsBetweenAllTypes) {
  for (const ElementType from : kTypes) {
    for (const ElementType to : kTypes) {
      if (from == to) continue;
      SCOPED_TRACE(std::string(to_string(from)) + " to " + std::string(to_string(to)));
      ModelMaker maker;
      Value* x = typed_input(maker, {3, 7, 11}, from);
      maker.output(cast(maker, x, to));
      compare_kernel(maker.model(), "Cast2");
    }
  }
}

TEST_F(CpuTyped, HalfPrecisionRoundsToEvenAndKeepsLimits) {
  // 2049 and 2051 lie half way between two float16 values; the even ones are 2048 and 2052.
  const std::vector<float> given = {2049.0f,  2051.0f, 65504.0f,
                                    65520.0f, -1e6f,   6e-8f,
                                    1e-9f,    -0.0f,   std::numeric_limits<float>::infinity()};
  const std::vector<float> wanted = {2048.0f,
                                     2052.0f,
                                     65504.0f,
                                     std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity(),
                                     0x1p-24f,
                                     0.0f,
                                     0.0f,
                                     std::numeric_limits<float>::infinity()};
  // Inside a model float16 is computed in float32; at its borders it is what it says.
  ModelMaker narrow;
  narrow.output(cast(narrow, narrow.input({3, 9}), ElementType::Float16));
  ModelMaker widen;
  widen.output(cast(widen, widen.input({3, 9}, ElementType::Float16), ElementType::Float32));
  Tensor input = *Tensor::allocate({ElementType::Float32, {3, 9}});
  for (size_t i = 0; i < 27; ++i) input.values<float>()[i] = given[i % 9];
  const auto narrowing = compile(narrow.model());
  const auto widening = compile(widen.model());
  ASSERT_TRUE(narrowing != nullptr && widening != nullptr);
  const Tensor half = infer(*narrowing, {input})[0];
  ASSERT_EQ(half.type(), ElementType::Float16);
  const Tensor got = infer(*widening, {half})[0];
  for (size_t i = 0; i < 27; ++i) {
    EXPECT_EQ(static_cast<float>(half.values<Float16>()[i]), wanted[i % 9]) << i;
    EXPECT_EQ(got.values<float>()[i], wanted[i % 9]) << i;
  }
}

TEST_F(CpuTyped, BinaryOperatorsWithBroadcast) {
  for (const ElementType type : {ElementType::Float64, ElementType::Int64, ElementType::Int32,
                                 ElementType::Int8, ElementType::UInt8}) {
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Greater",
                           "GreaterOrEqual", "Less", "LessOrEqual"}) {
      for (const auto& [a, b] : {std::pair<Shape, Shape>{{3, 5, 7}, {3, 5, 7}},
                                 {{3, 5, 7}, {}},
                                 {{3, 1, 7}, {5, 1}},
                                 {{1}, {2, 3, 1}}}) {
        SCOPED_TRACE(std::string(op) + " of " + std::string(to_string(type)) + to_string(a) +
                     to_string(b));
        ModelMaker maker;
        Value* left = typed_input(maker, a, type);
        maker.output(maker.op(op, {left, typed_input(maker, b, type)}));
        compare_kernel(maker.model(), std::string(op) + "4");
      }
    }
  }
}

TEST_F(CpuTyped, PoolsOfBytesHaveAKernelInAnyFormat) {
  // The input is plain; oneDNN pools bytes fast with channels last only.
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    ModelMaker maker;
    Value* y = maker.op(
        "MaxPool", {maker.input({1, 32, 20, 20}, type)},
        make_attributes(
            {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}));
    maker.output(y);
    const std::vector<ProfileRow> rows = compare(maker.model(), 0.0f);
    EXPECT_EQ(implementation(rows, y->producer()->name()).rfind("ref", 0), std::string::npos);
  }
}

TEST_F(CpuTyped, ComparisonsLogicAndWhere) {
  ModelMaker maker;
  Value* x = maker.input({4, 1, 9});
  Value* y = maker.input({3, 9});
  Value* greater = maker.op("Greater", {x, y});
  Value* less = maker.op("Less", {x, maker.constant(Tensor::scalar(0.5f))});
  Value* both = maker.op("And", {greater, less});
  Value* either = maker.op("Or", {maker.op("Xor", {both, less}), greater});
  maker.output(maker.op("Equal", {both, either}));
  maker.output(maker.op("Where", {either, x, y}));
  maker.output(maker.op("Where", {less, maker.ints({7}), maker.ints({-1})}));
  const std::vector<ProfileRow> rows = compare(maker.model(), 0.0f);
  for (const char* node :
       {"Greater0", "Less1", "And2", "Xor3", "Or4", "Equal5", "Where6", "Where7"}) {
    EXPECT_EQ(implementation(rows, node), "own") << node;
  }
}

TEST_F(CpuTyped, TopKKeepsTheOrderOfEqualValues) {
  for (const ElementType type : {ElementType::Float32, ElementType::Int32}) {
    for (const int64_t largest : {0, 1}) {
      for (const int64_t axis : {-1, 1, 0}) {
        SCOPED_TRACE(std::string(to_string(type)) + (largest ? " largest " : " smallest ") +
                     std::to_string(axis));
        ModelMaker maker;
        // Whole numbers from about -6 to 6: many are equal, some are -0.
        Value* x = maker.op(
            "Round",
            {maker.op("Mul", {maker.input({6, 40, 5}), maker.constant(Tensor::scalar(2.0f))})});
        Value* whole = cast(maker, x, type);
        const std::vector<Value*> made =
            maker.split("TopK", {whole, maker.ints({5})}, 2,
                        make_attributes({{"axis", axis}, {"largest", largest}}));
        maker.output(made[0]);
        maker.output(made[1]);
        compare_kernel(maker.model(), "TopK3");
      }
    }
  }
}

TEST_F(CpuTyped, TopKPutsNanFirst) {
  ModelMaker maker;
  const std::vector<Value*> made = maker.split("TopK", {maker.input({6}), maker.ints({4})}, 2);
  maker.output(made[1]);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const std::vector<float> values = {1, nan, -inf, inf, -nan, 1};
  const Tensor got = infer(*compiled, {Tensor::from<float>({6}, values)})[0];
  const std::vector<int64_t> wanted = {1, 4, 3, 0};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got.values<int64_t>()[i], wanted[i]);
}

TEST_F(CpuTyped, GatherElementsAlongEveryAxis) {
  for (const int64_t axis : {0, 1, -1}) {
    ModelMaker maker;
    Value* x = maker.input({4, 5, 6});
    std::vector<int64_t> picked;
    for (int64_t i = 0; i < 3 * 2 * 5; ++i) picked.push_back(i * 7 % 4 - (i % 3 == 0 ? 4 : 0));
    Value* indices = maker.constant(Tensor::from<int64_t>({3, 2, 5}, picked));
    maker.output(maker.op("GatherElements", {x, indices}, make_attributes({{"axis", axis}})));
    compare_kernel(maker.model(), "GatherElements0");
  }
}

TEST_F(CpuTyped, GatherElementsRefusesAnIndexOutside) {
  ModelMaker maker;
  Value* indices = cast(maker, maker.input({2, 3}), ElementType::Int64);
  maker.output(maker.op("GatherElements", {maker.random({2, 3}), indices}));
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  auto request = *compiled->create_infer_request();
  const std::vector<float> values = {0, 1, -2, 1, 2, 0};
  ASSERT_TRUE(request->set_input(0, Tensor::from<float>({2, 3}, values)).ok());
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("index 2 is outside [-2, 2)"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace het
