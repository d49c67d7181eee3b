#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/ops/op.h"
#include "inference/tensors/tensor.h"

/// One operator in a model of one node, run through its reference evaluate().
namespace het::op_testing {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// `make_attributes({{"axis", 1}, {"alpha", 0.5f}, {"pads", Ints{0, 1}}, {"mode", "max"}})`
inline Attributes make_attributes(
    std::initializer_list<std::pair<std::string_view, Attribute>> list) {
  Attributes attributes;
  for (const auto& [name, value] : list) attributes.set(std::string(name), value);
  return attributes;
}

/// A tensor of element type T from doubles, rounded as T's conversion does.
template <class T>
Tensor make_tensor(const Shape& shape, const std::vector<double>& values) {
  Tensor tensor = *Tensor::allocate({element_type_of<T>(), shape});
  EXPECT_EQ(static_cast<size_t>(tensor.element_count()), values.size()) << "bad test values";
  T* dst = tensor.data<T>();
  for (const double value : values) {
    // Half types are made from float; integers and double keep every digit.
    if constexpr (std::is_arithmetic_v<T>) {
      *dst++ = static_cast<T>(value);
    } else {
      *dst++ = T(static_cast<float>(value));
    }
  }
  return tensor;
}

/// start, start + step, ... in row-major order.
template <class T>
Tensor make_ramp(const Shape& shape, double start = 0, double step = 1) {
  std::vector<double> values(static_cast<size_t>(het::element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = start + step * static_cast<double>(i);
  return make_tensor<T>(shape, values);
}

/// Int64 vector of rank 1: axes, shapes, pads.
inline Tensor int64_tensor(const std::vector<int64_t>& values) {
  return Tensor::from<int64_t>({static_cast<int64_t>(values.size())},
                               std::span<const int64_t>(values));
}

/// The operator under test. Empty tensors are omitted inputs.
struct OpCall {
  std::string type;
  std::vector<Tensor> inputs;
  Attributes attributes = {};
  size_t outputs = 1;
  std::string domain = {};
};

/// Evaluates the call. Also infers it once more without the inputs' content and expects that what
/// was inferred is what evaluate() gave.
inline Result<std::vector<Tensor>> run_op(const OpCall& call) {
  Model model;
  std::vector<Value*> values;
  std::vector<const Tensor*> tensors;
  std::vector<const TensorDesc*> descs;
  for (const Tensor& input : call.inputs) {
    const bool omitted = input.empty();
    values.push_back(omitted ? nullptr : model.add_input("", input.desc()));
    tensors.push_back(omitted ? nullptr : &input);
    descs.push_back(omitted ? nullptr : &input.desc());
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < call.outputs; ++i) names.push_back("y" + std::to_string(i));
  const Node* node = model.add_node("node", call.type, call.domain, values, names, call.attributes);
  HET_ASSIGN(std::vector<Tensor> outputs, evaluate_node(*node, tensors));
  HET_ASSIGN(const std::vector<TensorDesc> inferred,
             infer_node(*node, descs, std::vector<const Tensor*>(descs.size())));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!inferred[i].is_static()) continue;
    EXPECT_EQ(to_string(inferred[i]), to_string(outputs[i].desc())) << "output " << i;
  }
  return outputs;
}

/// The outputs of a call that must succeed; as many empty tensors when it does not.
inline std::vector<Tensor> run_op_ok(const OpCall& call) {
  Result<std::vector<Tensor>> result = run_op(call);
  if (result) return *std::move(result);
  ADD_FAILURE() << call.type << ": " << result.error().message();
  return std::vector<Tensor>(call.outputs);
}

/// The only or first output of a call that must succeed.
inline Tensor run_op_single(const OpCall& call) {
  return run_op_ok(call)[0];
}

/// Expects that the call fails with a message that contains `part`.
inline void expect_op_error(const OpCall& call, std::string_view part) {
  const Result<std::vector<Tensor>> result = run_op(call);
  ASSERT_FALSE(result) << call.type << " should have failed with: " << part;
  EXPECT_NE(result.error().message().find(part), std::string::npos)
      << "message: " << result.error().message() << "\nlacks: " << part;
}

/// Expects equal type, shape and values: |actual - expected| <= tolerance * (1 + |expected|);
/// NaN equals NaN. Compared as float.
inline void expect_near(const Tensor& actual, const Tensor& expected, double tolerance = 1e-5) {
  ASSERT_FALSE(actual.empty());
  ASSERT_EQ(to_string(actual.desc()), to_string(expected.desc()));
  const auto a = to_float_vector(actual);
  const auto e = to_float_vector(expected);
  ASSERT_TRUE(a && e);
  for (size_t i = 0; i < a->size(); ++i) {
    const double x = (*a)[i];
    const double y = (*e)[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ASSERT_LE(std::abs(x - y), tolerance * (1 + std::abs(y)))
        << "element " << i << " of " << to_string(actual.desc()) << ": " << x << ", expected " << y;
  }
}

/// expect_near() against values given in place; T is the type that the output must have.
template <class T>
void expect_values(const Tensor& actual, const Shape& shape, const std::vector<double>& values,
                   double tolerance = 1e-5) {
  expect_near(actual, make_tensor<T>(shape, values), tolerance);
}

}  // namespace het::op_testing
