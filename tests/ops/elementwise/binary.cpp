#include "inference/ops/elementwise/binary.h"

#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
Tensor apply(const std::string& type, const std::vector<double>& a, const std::vector<double>& b,
             Attributes attributes = {}) {
  return run_op_single({type,
                        {make_tensor<T>({static_cast<int64_t>(a.size())}, a),
                         make_tensor<T>({static_cast<int64_t>(b.size())}, b)},
                        std::move(attributes)});
}

TEST(Binary, Arithmetic) {
  expect_values<float>(apply<float>("Add", {1, 2}, {3, 5}), {2}, {4, 7});
  expect_values<double>(apply<double>("Sub", {1, 2}, {3, 5}), {2}, {-2, -3});
  expect_values<Float16>(apply<Float16>("Mul", {1.5, 2}, {3, 5}), {2}, {4.5, 10});
  expect_values<BFloat16>(apply<BFloat16>("Div", {1, 9}, {4, 3}), {2}, {0.25, 3});
  expect_values<float>(apply<float>("Div", {1, -1}, {0, 0}), {2}, {kInf, -kInf});
  expect_values<float>(apply<float>("PRelu", {-2, 2}, {0.5, 0.5}), {2}, {-1, 2});
  expect_values<int64_t>(apply<int64_t>("PRelu", {-2, 2}, {3, 3}), {2}, {-6, 2});
}

TEST(Binary, IntegersWrapAroundAndDivisionTruncates) {
  expect_values<uint8_t>(apply<uint8_t>("Add", {250, 1}, {10, 2}), {2}, {4, 3});
  expect_values<uint8_t>(apply<uint8_t>("Sub", {1}, {2}), {1}, {255});
  expect_values<uint16_t>(apply<uint16_t>("Mul", {65535}, {65535}), {1}, {1});
  expect_values<int32_t>(apply<int32_t>("Add", {2147483647}, {1}), {1}, {-2147483648.0});
  expect_values<int32_t>(apply<int32_t>("Div", {-7, 7, -7, 7}, {2, 2, -2, -2}), {4},
                         {-3, 3, 3, -3});
  expect_values<uint64_t>(apply<uint64_t>("Div", {7}, {2}), {1}, {3});
}

TEST(Binary, IntegerDivisionByZeroAndOverflowAreDefined) {
  expect_values<int32_t>(apply<int32_t>("Div", {5, -5}, {0, 0}), {2}, {0, 0});
  expect_values<int32_t>(apply<int32_t>("Mod", {5, -5}, {0, 0}), {2}, {0, 0});
  expect_values<int32_t>(apply<int32_t>("Div", {-2147483648.0}, {-1}), {1}, {-2147483648.0});
  expect_values<int8_t>(apply<int8_t>("Div", {-128}, {-1}), {1}, {-128});
  expect_values<int64_t>(apply<int64_t>("Mod", {-9}, {-1}), {1}, {0});
}

TEST(Binary, ModFollowsTheDivisorOrTheDividend) {
  const std::vector<double> a{-4, 7, 5, 4, -7, 8};
  const std::vector<double> b{2, -3, 8, -2, 3, 5};
  const Attributes fmod = make_attributes({{"fmod", int64_t{1}}});
  expect_values<int32_t>(apply<int32_t>("Mod", a, b), {6}, {0, -2, 5, 0, 2, 3});
  expect_values<int32_t>(apply<int32_t>("Mod", a, b, fmod), {6}, {0, 1, 5, 0, -1, 3});
  expect_values<float>(apply<float>("Mod", {-4.3, 7.2, 5}, {2.1, -3.4, 8}, fmod), {3},
                       {-0.1, 0.4, 5});
  expect_values<float>(apply<float>("Mod", {-4.3, 7.2, 5}, {2.1, -3.4, 8}), {3}, {2, -3, 5});
  expect_values<float>(apply<float>("Mod", {-1, 1, kInf, 1}, {kInf, kInf, 2, 0}), {4},
                       {kInf, 1, kNaN, kNaN});
  expect_op_error({"Mod",
                   {make_tensor<float>({1}, {1}), make_tensor<float>({1}, {1})},
                   make_attributes({{"fmod", int64_t{2}}})},
                  "fmod is 2");
}

TEST(Binary, Comparisons) {
  const std::vector<double> a{1, 2, 3};
  const std::vector<double> b{2, 2, 2};
  expect_values<bool>(apply<float>("Equal", a, b), {3}, {0, 1, 0});
  expect_values<bool>(apply<int8_t>("Greater", a, b), {3}, {0, 0, 1});
  expect_values<bool>(apply<Float16>("GreaterOrEqual", a, b), {3}, {0, 1, 1});
  expect_values<bool>(apply<uint64_t>("Less", a, b), {3}, {1, 0, 0});
  expect_values<bool>(apply<double>("LessOrEqual", a, b), {3}, {1, 1, 0});
  expect_values<bool>(apply<bool>("Equal", {1, 0}, {1, 1}), {2}, {1, 0});
  expect_values<bool>(apply<float>("Equal", {kNaN}, {kNaN}), {1}, {0});
}

TEST(Binary, Logic) {
  const std::vector<double> a{0, 0, 1, 1};
  const std::vector<double> b{0, 1, 0, 1};
  expect_values<bool>(apply<bool>("And", a, b), {4}, {0, 0, 0, 1});
  expect_values<bool>(apply<bool>("Or", a, b), {4}, {0, 1, 1, 1});
  expect_values<bool>(apply<bool>("Xor", a, b), {4}, {0, 1, 1, 0});
}

TEST(Binary, Bits) {
  expect_values<uint8_t>(apply<uint8_t>("BitwiseAnd", {0xf0}, {0x3c}), {1}, {0x30});
  expect_values<int32_t>(apply<int32_t>("BitwiseOr", {1, -2}, {2, 1}), {2}, {3, -1});
  expect_values<uint64_t>(apply<uint64_t>("BitwiseXor", {6}, {3}), {1}, {5});
  const Attributes left = make_attributes({{"direction", "LEFT"}});
  const Attributes right = make_attributes({{"direction", "RIGHT"}});
  expect_values<uint8_t>(apply<uint8_t>("BitShift", {16, 4, 1, 1}, {1, 7, 8, 200}, left), {4},
                         {32, 0, 0, 0});
  expect_values<uint64_t>(apply<uint64_t>("BitShift", {16, 4, 1}, {1, 2, 64}, right), {3},
                          {8, 1, 0});
  expect_values<int16_t>(apply<int16_t>("BitShift", {-8, -8, 8, -1, 1}, {1, 16, 16, -1, -1}, right),
                         {5}, {-4, -1, 0, -1, 0});
  expect_values<int8_t>(apply<int8_t>("BitShift", {64, -1}, {1, -3}, left), {2}, {-128, 0});
  expect_op_error({"BitShift", {make_tensor<uint8_t>({1}, {1}), make_tensor<uint8_t>({1}, {1})}},
                  "'direction'");
}

TEST(Binary, Broadcasting) {
  const Tensor column = make_tensor<float>({2, 1}, {10, 20});
  const Tensor row = make_tensor<float>({3}, {1, 2, 3});
  expect_values<float>(run_op_single({"Add", {column, row}}), {2, 3}, {11, 12, 13, 21, 22, 23});
  expect_values<float>(run_op_single({"Sub", {row, column}}), {2, 3}, {-9, -8, -7, -19, -18, -17});
  expect_values<float>(run_op_single({"Mul", {row, Tensor::scalar(2.0f)}}), {3}, {2, 4, 6});
  // 4 dimensions, both inputs repeat in different ones
  const Tensor a = make_ramp<float>({2, 1, 2, 1});
  const Tensor b = make_ramp<float>({1, 3, 1, 2}, 0, 10);
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 2; ++k) {
        for (int l = 0; l < 2; ++l) expected.push_back(i * 2 + k + 10 * (j * 2 + l));
      }
    }
  }
  expect_values<float>(run_op_single({"Add", {a, b}}), {2, 3, 2, 2}, expected);
}

TEST(Binary, EmptyTensors) {
  expect_values<float>(
      run_op_single({"Add", {make_tensor<float>({2, 0}, {}), make_tensor<float>({1}, {1})}}),
      {2, 0}, {});
  expect_values<bool>(
      run_op_single(
          {"Less", {make_tensor<int32_t>({0}, {}), make_tensor<int32_t>({3, 1}, {1, 2, 3})}}),
      {3, 0}, {});
}

TEST(Binary, RefusesWhatDoesNotFit) {
  const Tensor two = make_tensor<float>({2}, {1, 2});
  expect_op_error({"Add", {two, make_tensor<float>({3}, {1, 2, 3})}}, "[2] and [3]");
  expect_op_error({"Add", {two, make_tensor<double>({2}, {1, 2})}}, "float32 and float64");
  expect_op_error({"And", {two, two}}, "float32");
  expect_op_error({"Add", {Tensor(), two}}, "missing");
  expect_op_error({"PRelu", {two, make_tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})}}, "slope");
  expect_op_error({"Add", {two}}, "has 1 inputs");
}

TEST(Binary, KindAppliesAttributes) {
  EXPECT_EQ(binary_kind("Mod", make_attributes({{"fmod", int64_t{1}}})), BinaryKind::Fmod);
  EXPECT_EQ(binary_kind("BitShift", make_attributes({{"direction", "RIGHT"}})),
            BinaryKind::ShiftRight);
  EXPECT_EQ(binary_kind("Add", {}), BinaryKind::Add);
  EXPECT_FALSE(binary_kind("Conv", {}).has_value());
  EXPECT_TRUE(gives_bool(BinaryKind::Less));
  EXPECT_FALSE(gives_bool(BinaryKind::BitwiseAnd));
}

}  // namespace
}  // namespace het::op_testing
