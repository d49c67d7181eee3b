#include "op_testing.h"

/// Operators that make values: Constant, ConstantOfShape, Range, EyeLike and the windows.
namespace het::op_testing {
namespace {

Tensor constant(std::string_view name, const Attribute& value) {
  return run_op_single({"Constant", {}, make_attributes({{name, value}})});
}

TEST(Constant, EveryAttribute) {
  expect_near(constant("value", make_ramp<uint8_t>({2, 2})), make_ramp<uint8_t>({2, 2}));
  expect_values<float>(constant("value_float", 1.5f), {}, {1.5});
  expect_values<int64_t>(constant("value_int", int64_t{7}), {}, {7});
  expect_values<float>(constant("value_floats", Floats{1, 2}), {2}, {1, 2});
  expect_values<int64_t>(constant("value_ints", Ints{}), {0}, {});
  expect_op_error({"Constant", {}}, "none of value");
  expect_op_error({"Constant", {}, make_attributes({{"value", 1.0f}})}, "'value' is a float");
}

TEST(ConstantOfShape, FillsWithTheValue) {
  expect_values<float>(run_op_single({"ConstantOfShape", {int64_tensor({2, 2})}}), {2, 2},
                       {0, 0, 0, 0});
  const auto filled = [](const Tensor& value, const Ints& shape) {
    return OpCall{"ConstantOfShape", {int64_tensor(shape)}, make_attributes({{"value", value}})};
  };
  expect_values<int32_t>(run_op_single(filled(make_ramp<int32_t>({1}, 5), {3})), {3}, {5, 5, 5});
  expect_values<bool>(run_op_single(filled(make_ramp<bool>({1}, 1), {})), {}, {1});
  expect_values<int64_t>(run_op_single(filled(make_ramp<int64_t>({1}, 5), {2, 0})), {2, 0}, {});
  expect_op_error(filled(make_ramp<float>({2}), {1}), "exactly one");
  expect_op_error(filled(make_ramp<float>({1}), {-1}), "negative");
  expect_op_error(filled(make_ramp<float>({1}), {INT64_MAX, 2}), "more elements");
}

template <class T>
OpCall range(double start, double limit, double delta) {
  return {"Range",
          {make_tensor<T>({}, {start}), make_tensor<T>({}, {limit}), make_tensor<T>({}, {delta})}};
}

TEST(Range, CountsUpAndDown) {
  expect_values<int32_t>(run_op_single(range<int32_t>(3, 9, 3)), {2}, {3, 6});
  expect_values<int64_t>(run_op_single(range<int64_t>(10, 4, -2)), {3}, {10, 8, 6});
  expect_values<int16_t>(run_op_single(range<int16_t>(-2, 3, 2)), {3}, {-2, 0, 2});
  expect_values<float>(run_op_single(range<float>(1, 2.2, 0.5)), {3}, {1, 1.5, 2});
  expect_values<double>(run_op_single(range<double>(0, -1, -0.25)), {4}, {0, -0.25, -0.5, -0.75});
  expect_values<BFloat16>(run_op_single(range<BFloat16>(0, 300, 100)), {3}, {0, 100, 200}, 0);
}

TEST(Range, EmptyAndRefused) {
  expect_values<int32_t>(run_op_single(range<int32_t>(5, 5, 1)), {0}, {});
  expect_values<float>(run_op_single(range<float>(5, 1, 1)), {0}, {});
  expect_op_error(range<int32_t>(0, 1, 0), "never end");
  expect_op_error(range<float>(0, 1, std::nan("")), "never end");
  expect_op_error(range<double>(0, 1e300, 1e-300), "too long");
  expect_op_error({"Range",
                   {Tensor::scalar<int64_t>(INT64_MIN), Tensor::scalar<int64_t>(INT64_MAX),
                    Tensor::scalar<int64_t>(1)}},
                  "too long");
  expect_op_error(
      {"Range",
       {Tensor::scalar<uint8_t>(0), Tensor::scalar<uint8_t>(1), Tensor::scalar<uint8_t>(1)}},
      "uint8");
  expect_op_error({"Range", {make_ramp<float>({2}), Tensor::scalar(1.0f), Tensor::scalar(1.0f)}},
                  "scalar");
}

TEST(EyeLike, DiagonalAndType) {
  const Tensor x = make_ramp<int32_t>({2, 3});
  expect_values<int32_t>(run_op_single({"EyeLike", {x}}), {2, 3}, {1, 0, 0, 0, 1, 0});
  expect_values<double>(
      run_op_single({"EyeLike", {x}, make_attributes({{"k", int64_t{1}}, {"dtype", int64_t{11}}})}),
      {2, 3}, {0, 1, 0, 0, 0, 1});
  expect_values<int32_t>(
      run_op_single({"EyeLike", {x}, make_attributes({{"k", int64_t{INT64_MIN}}})}), {2, 3},
      {0, 0, 0, 0, 0, 0});
  expect_op_error({"EyeLike", {make_ramp<float>({2})}}, "rank");
  expect_op_error({"EyeLike", {x}, make_attributes({{"dtype", int64_t{8}}})}, "strings");
}

OpCall window(const std::string& type, int64_t size, bool periodic = true) {
  return {type,
          {Tensor::scalar(size)},
          make_attributes({{"periodic", static_cast<int64_t>(periodic)}})};
}

TEST(SignalWindow, PeriodicAndSymmetric) {
  expect_values<float>(run_op_single(window("HannWindow", 4)), {4}, {0, 0.5, 1, 0.5});
  expect_values<float>(run_op_single(window("HannWindow", 5, false)), {5}, {0, 0.5, 1, 0.5, 0});
  expect_values<float>(run_op_single(window("HammingWindow", 2)), {2}, {2.0 / 23, 1});
  expect_values<float>(run_op_single(window("BlackmanWindow", 4)), {4}, {0, 0.34, 1, 0.34});
  expect_values<float>(run_op_single(window("HannWindow", 1, false)), {1}, {1});
  expect_values<float>(run_op_single(window("HannWindow", 0)), {0}, {});
  expect_op_error(window("HannWindow", -1), "size");
}

}  // namespace
}  // namespace het::op_testing
