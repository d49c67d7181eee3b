#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "devices/register_devices.h"
#include "inference/core.h"
#include "tests/devices/device_testing.h"

/// Models whose items do not stay independent when dimension 0 grows: BATCH refuses them or gives
/// what single runs give, never something else.
namespace het {
namespace {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;
using device_testing::random_tensor;

struct Pattern {
  const char* name;
  Shape shape;
  std::function<Value*(ModelMaker&, Value*)> build;
};

Value* transposed(ModelMaker& m, Value* x, const Ints& perm) {
  return m.op("Transpose", {x}, make_attributes({{"perm", perm}}));
}

std::vector<Pattern> patterns() {
  const auto axis = [](int64_t value) { return make_attributes({{"axis", value}}); };
  return {
      {"reversed",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Slice", {x, m.ints({-1}), m.ints({-2147483648}), m.ints({0}), m.ints({-1})});
       }},
      {"softmax_of_all",
       {1, 3},
       [=](ModelMaker& m, Value* x) {
         Value* soft = m.op("Softmax", {m.op("Reshape", {x, m.ints({1, -1})})}, axis(1));
         return m.op("Reshape", {soft, m.ints({-1, 3})});
       }},
      {"flattened_from_0",
       {1, 3},
       [=](ModelMaker& m, Value* x) {
         Value* soft = m.op("Softmax", {m.op("Flatten", {x}, axis(0))}, axis(1));
         return m.op("Reshape", {soft, m.ints({-1, 3})});
       }},
      {"softmax_of_columns",
       {1, 3},
       [=](ModelMaker& m, Value* x) {
         Value* soft = m.op("Softmax", {transposed(m, x, {1, 0})}, axis(1));
         return transposed(m, soft, {1, 0});
       }},
      {"layer_norm_from_0",
       {1, 3},
       [=](ModelMaker& m, Value* x) {
         return m.op("LayerNormalization", {x, m.constant(Tensor::scalar(1.0f))}, axis(0));
       }},
      {"running_sums",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* sums =
             m.op("CumSum", {transposed(m, x, {1, 0}), m.constant(Tensor::scalar<int64_t>(1))});
         return transposed(m, sums, {1, 0});
       }},
      {"products_of_items",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* square = m.op("MatMul", {transposed(m, x, {1, 0}), x});  // [3, 3], of all items
         return m.op("MatMul", {x, square});
       }},
      {"einsum",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Einsum", {x, x, x},
                     make_attributes({{"equation", std::string("ik,jk,jl->il")}}));
       }},
      {"windows_over_items",
       {1, 1, 5},
       [](ModelMaker& m, Value* x) {
         Value* along = transposed(m, x, {1, 2, 0});  // [1, 5, items]
         Value* pooled = m.op("AveragePool", {along},
                              make_attributes({{"kernel_shape", Ints{2}}, {"pads", Ints{0, 1}}}));
         return transposed(m, pooled, {2, 0, 1});
       }},
      {"recurrence_over_items",
       {1, 1, 3},
       [](ModelMaker& m, Value* x) {
         Value* y = m.split("RNN", {x, m.random({1, 4, 3}), m.random({1, 4, 4})}, 1,
                            make_attributes({{"hidden_size", int64_t{4}}}))[0];
         return m.op("Reshape", {y, m.ints({-1, 1, 4})});
       }},
      {"scaled_by_the_batch",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* count = m.op("Gather", {m.op("Shape", {x}), m.ints({0})});
         return m.op("Mul", {x, m.op("Cast", {count}, make_attributes({{"to", int64_t{1}}}))});
       }},
      {"quantised_by_the_range_of_all",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         const std::vector<Value*> parts = m.split("DynamicQuantizeLinear", {x}, 3);
         return m.op("DequantizeLinear", parts);
       }},
  };
}

/// Requests of a batch give what single ones give, or the model is refused with this text.
void expect_alone_or_refused(const Pattern& pattern, const std::string& device) {
  const std::shared_ptr<Core> core = het::core();
  ModelMaker maker(pattern.name);
  maker.output(pattern.build(maker, maker.input(pattern.shape)));
  const auto batched = core->compile_model(maker.model(), device, {{"AUTO_BATCH_TIMEOUT", "5000"}});
  if (!batched) {
    EXPECT_EQ(batched.error().code(), StatusCode::NotSupported) << batched.error().message();
    std::cout << pattern.name << ": " << batched.error().message() << "\n";
    return;
  }
  const auto single = core->compile_model(maker.model(), "CPU", {});
  ASSERT_TRUE(single);
  constexpr size_t kItems = 4;
  std::vector<std::unique_ptr<InferRequest>> requests;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < kItems; ++i) {
    inputs.push_back(random_tensor(pattern.shape, static_cast<unsigned>(50 + i), 3.0f));
    requests.push_back(*(*batched)->create_infer_request());
    ASSERT_TRUE(requests.back()->set_input(0, inputs.back()).ok());
  }
  for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  auto alone = *(*single)->create_infer_request();
  for (size_t i = 0; i < kItems; ++i) {
    ASSERT_TRUE(requests[i]->wait().ok());
    ASSERT_TRUE(alone->set_input(0, inputs[i]).ok());
    ASSERT_TRUE(alone->infer().ok());
    const auto got = *to_float_vector(requests[i]->output(0));
    const auto wanted = *to_float_vector(alone->output(0));
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t k = 0; k < got.size(); ++k) {
      EXPECT_NEAR(got[k], wanted[k], 1e-4f) << pattern.name << " item " << i << " at " << k;
    }
  }
}

TEST(BatchIndependence, WhatMixesItemsIsRefusedOrRight) {
  for (const Pattern& pattern : patterns()) {
    SCOPED_TRACE(pattern.name);
    expect_alone_or_refused(pattern, "BATCH:CPU(2)");
    expect_alone_or_refused(pattern, "BATCH:REF(4)");
  }
}

TEST(BatchIndependence, WhatDoesNotMixThemRuns) {
  const std::shared_ptr<Core> core = het::core();
  ModelMaker maker;
  Value* x = maker.input({1, 3, 8, 8});
  Value* c = maker.op("Relu", {maker.conv(x, 3, 8, 3)});
  Value* rows = maker.op("Reshape", {maker.op("GlobalAveragePool", {c}), maker.ints({-1, 8})});
  Value* product = maker.op("MatMul", {rows, maker.random({8, 5})});
  maker.output(maker.op("Softmax", {product}, make_attributes({{"axis", int64_t{1}}})));
  maker.output(maker.op("ArgMax", {product}, make_attributes({{"axis", int64_t{1}}})));
  Value* turned = transposed(maker, c, {2, 0, 3, 1});
  maker.output(transposed(maker, maker.op("Sigmoid", {turned}), {1, 3, 0, 2}));
  for (const char* device : {"BATCH:CPU(2)", "BATCH:CPU(8)", "BATCH:REF(3)"}) {
    const auto compiled = core->compile_model(maker.model(), device, {});
    EXPECT_TRUE(compiled) << compiled.error().message();
  }
}

}  // namespace
}  // namespace het
