#include "hetero/batch/item_flow.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "hetero/batch/reshape.h"
#include "hetero/batch/rules/rule.h"
#include "inference/ops/op.h"
#include "tests/devices/device_testing.h"
#include "tests/hetero/batch/batch_as_alone.h"

/// The rules for operators: which graphs keep the items of a batch apart, and what is said where
/// they do not.
namespace het::hetero {
namespace {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;

using Build = std::function<Value*(ModelMaker&, Value*)>;

struct Case {
  const char* name;
  Shape shape;
  Build build;
  const char* refusal = nullptr;  ///< a part of the message; null: kept apart
};

Attributes axis_of(int64_t axis) {
  return make_attributes({{"axis", axis}});
}

Value* turned(ModelMaker& m, Value* x, const Ints& perm) {
  return m.op("Transpose", {x}, make_attributes({{"perm", perm}}));
}

Value* reshaped(ModelMaker& m, Value* x, const Ints& shape) {
  return m.op("Reshape", {x, m.ints(shape)});
}

Value* einsum(ModelMaker& m, const std::vector<Value*>& inputs, const std::string& equation) {
  return m.op("Einsum", inputs, make_attributes({{"equation", equation}}));
}

void expect_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (const size_t batch : {2, 3, 4}) {
      SCOPED_TRACE(fmt::format("{} with {}", c.name, batch));
      ModelMaker maker(c.name);
      maker.output(c.build(maker, maker.input(c.shape)));
      const auto result = reshape_to_batch(maker.model(), batch);
      if (c.refusal == nullptr) {
        EXPECT_TRUE(result) << result.error().message();
        if (result && batch == 3) expect_batch_as_alone(maker.model(), "REF", batch);
        continue;
      }
      if (result) {
        ADD_FAILURE() << "was not refused";
        continue;
      }
      EXPECT_EQ(result.error().code(), StatusCode::NotSupported);
      EXPECT_NE(result.error().message().find(c.refusal), std::string::npos)
          << result.error().message();
    }
  }
}

TEST(ItemFlow, MovesAreFollowed) {
  expect_cases({
      {"transposed there and back",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         return turned(m, m.op("Relu", {turned(m, x, {1, 0, 2})}), {1, 0, 2});
       }},
      {"transposed only",
       {1, 1, 4},
       [](ModelMaker& m, Value* x) {
         return turned(m, x, {1, 0, 2});
       },
       "output 'y0'"},
      {"joined with rows and split",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         return reshaped(m, m.op("Softmax", {reshaped(m, x, {-1, 4})}), {-1, 3, 4});
       }},
      {"joined behind rows and split",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         Value* rows = reshaped(m, turned(m, x, {1, 0, 2}), {-1, 4});
         return turned(m, reshaped(m, m.op("Softmax", {rows}), {3, -1, 4}), {1, 0, 2});
       }},
      {"softmax of all",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return reshaped(m, m.op("Softmax", {reshaped(m, x, {1, -1})}), {-1, 3});
       },
       "(Softmax) does not keep the items of a batch apart: it works along dimension 1"},
      {"flattened from 0",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* flat = m.op("Flatten", {x}, axis_of(0));
         return reshaped(m, m.op("Softmax", {flat}), {-1, 3});
       },
       "(Softmax)"},
      {"split and joined, squeezed and unsqueezed",
       {1, 4, 2},
       [](ModelMaker& m, Value* x) {
         const auto parts = m.split(
             "Split", {x}, 2, make_attributes({{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}));
         Value* both = m.op("Concat", {parts[1], m.op("Neg", {parts[0]})}, axis_of(-2));
         return m.op("Squeeze", {m.op("Unsqueeze", {both, m.ints({0})}), m.ints({0})});
       }},
      {"joined with itself along the batch",
       {1, 4},
       [](ModelMaker& m, Value* x) {
         Value* twice = m.op("Concat", {x, m.op("Neg", {x})}, axis_of(0));
         return m.op("Slice", {twice, m.ints({0}), m.ints({-1}), m.ints({0}), m.ints({2})});
       },
       "(Concat) does not keep the items of a batch apart: it works along dimension 0"},
      {"reversed",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Slice", {x, m.ints({-1}), m.ints({-2147483648}), m.ints({0}), m.ints({-1})});
       },
       "it reverses dimension 0, items would be exchanged"},
      {"reversed inside",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Slice", {x, m.ints({-1}), m.ints({-2147483648}), m.ints({1}), m.ints({-1})});
       }},
      {"the whole of dimension 0",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Slice", {x, m.ints({0}), m.ints({2147483647}), m.ints({0})});
       }},
      {"padded along the batch",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* padded = m.op("Pad", {x, m.ints({1, 0, 0, 0})});
         return m.op("Slice", {padded, m.ints({0}), m.ints({-1}), m.ints({0})});
       },
       "(Pad)"},
      {"padded inside, tiled, expanded",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* y = m.op("Tile", {m.op("Pad", {x, m.ints({0, 1, 0, 1})}), m.ints({1, 2})});
         return m.op("Expand", {m.op("Unsqueeze", {y, m.ints({2})}), m.ints({1, 1, 5})});
       }},
      {"tiled along the batch",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* y = m.op("Tile", {x, m.ints({2, 1})});
         return m.op("Slice", {y, m.ints({0}), m.ints({-1}), m.ints({0}), m.ints({2})});
       },
       "(Tile)"},
      {"parts by constant indices",
       {1, 3, 2},
       [](ModelMaker& m, Value* x) {
         return m.op("Gather", {x, m.ints({2, 0})}, axis_of(1));
       }},
      {"items by constant indices",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Gather", {x, m.ints({0})}, axis_of(0));
       },
       "(Gather) does not keep the items of a batch apart: it works along dimension 0"},
      {"a table looked up by the items",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* index =
             m.op("ArgMax", {x}, make_attributes({{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}));
         return m.op("Gather", {m.random({3, 5}), index}, axis_of(0));
       }},
      {"reversed sequences of lengths of their own",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* count = m.op("Shape", {x});
         Value* batch = m.op("Slice", {count, m.ints({0}), m.ints({1})});
         Value* lengths = m.op("Expand", {m.ints({2}), batch});
         return m.op("ReverseSequence", {x, lengths},
                     make_attributes({{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}}));
       }},
      {"reversed along the batch",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* count =
             m.op("Expand", {m.op("Gather", {m.op("Shape", {x}), m.ints({0})}), m.ints({3})});
         return m.op("ReverseSequence", {x, count},
                     make_attributes({{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}}));
       },
       "(ReverseSequence)"},
      {"depth to space",
       {1, 4, 2, 2},
       [](ModelMaker& m, Value* x) {
         return m.op("DepthToSpace", {x}, make_attributes({{"blocksize", int64_t{2}}}));
       }},
      {"depth to space with the batch as the height",
       {1, 4, 2, 2},
       [](ModelMaker& m, Value* x) {
         Value* deep = m.op("DepthToSpace", {turned(m, x, {2, 1, 0, 3})},
                            make_attributes({{"blocksize", int64_t{2}}}));
         return turned(m, deep, {2, 1, 0, 3});
       },
       "(DepthToSpace)"},
  });
}

TEST(ItemFlow, ProductsAreFollowed) {
  expect_cases({
      {"rows by a matrix",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("MatMul", {x, m.random({3, 5})});
       }},
      {"a matrix by columns",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return turned(m, m.op("MatMul", {m.random({5, 3}), turned(m, x, {1, 0})}), {1, 0});
       }},
      {"attention of each item",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         Value* scores = m.op("MatMul", {x, turned(m, x, {0, 2, 1})});
         return m.op("MatMul", {m.op("Softmax", {scores}), x});
       }},
      {"attention between items",
       {1, 4},
       [](ModelMaker& m, Value* x) {
         Value* scores = m.op("MatMul", {x, turned(m, x, {1, 0})});
         return m.op("MatMul", {m.op("Softmax", {scores}), x});
       },
       "(MatMul) does not keep the items of a batch apart: each item meets every other one"},
      {"a sum of products over items",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("MatMul", {x, m.op("MatMul", {turned(m, x, {1, 0}), x})});
       },
       "(MatMul)"},
      {"gemm of columns",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Gemm", {turned(m, x, {1, 0}), m.random({3, 2}), m.random({2})},
                     make_attributes({{"transA", int64_t{1}}}));
       }},
      {"gemm over items",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("MatMul",
                     {x, m.op("Gemm", {x, x}, make_attributes({{"transA", int64_t{1}}}))});
       },
       "(Gemm)"},
      {"einsum of each item",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         return einsum(m, {x, m.random({4, 5})}, "bij,jk->bik");
       }},
      {"einsum that moves the batch and back",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) { return einsum(m, {einsum(m, {x}, "bij->jbi")}, "jbi->bij"); }},
      {"einsum of all items",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return einsum(m, {x, x, x}, "ik,jk,jl->il");
       },
       "(Einsum)"},
      {"einsum with an ellipsis",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         return einsum(m, {x, x}, "...ij,...kj->...ik");
       }},
  });
}

TEST(ItemFlow, ReductionsAreFollowed) {
  const auto reduce = [](const std::string& type, const Ints& axes, int64_t keepdims) {
    return [=](ModelMaker& m, Value* x) {
      return m.op(type, {x, m.ints(axes)}, make_attributes({{"keepdims", keepdims}}));
    };
  };
  const auto minus = [](const std::string& type) {
    return [=](ModelMaker& m, Value* x) { return m.op("Sub", {x, m.op(type, {x, m.ints({0})})}); };
  };
  const auto along = [](const std::string& type, int64_t axis) {
    return [=](ModelMaker& m, Value* x) { return m.op(type, {x}, axis_of(axis)); };
  };
  std::vector<Case> cases{
      {"mean of a picture", {1, 3, 2, 2}, reduce("ReduceMean", {2, 3}, 0)},
      {"largest of a row", {1, 3, 2}, reduce("ReduceMax", {-1}, 1)},
      {"mean of all", {1, 3}, minus("ReduceMean"), "node 'ReduceMean0' (ReduceMean)"},
      {"sum of all items", {1, 3}, minus("ReduceSum"), "across the items"},
      {"training",
       {1, 3, 2},
       [](ModelMaker& m, Value* x) {
         return m.split("BatchNormalization",
                        {x, m.random({3}), m.random({3}), m.random({3}), m.random({3})}, 3,
                        make_attributes({{"training_mode", int64_t{1}}}))[0];
       },
       "training takes mean and variance of all items together"},
      {"batch normalisation",
       {1, 3, 2},
       [](ModelMaker& m, Value* x) {
         return m.op("BatchNormalization", {x, m.random({3}), m.random({3}), m.random({3}),
                                            m.op("Abs", {m.random({3})})});
       }},
      {"layer normalisation",
       {1, 3, 2},
       [](ModelMaker& m, Value* x) {
         return m.op("LayerNormalization", {x, m.random({2})}, axis_of(-1));
       }},
      {"layer normalisation from 0",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("LayerNormalization", {x, m.constant(Tensor::scalar(1.0f))}, axis_of(0));
       },
       "(LayerNormalization)"},
      {"variance of all",
       {1, 3, 2, 2},
       [](ModelMaker& m, Value* x) { return m.op("MeanVarianceNormalization", {x}); },
       "(MeanVarianceNormalization)"},
      {"running sums",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("CumSum", {x, m.constant(Tensor::scalar<int64_t>(0))});
       },
       "(CumSum)"},
      {"the best of all",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.split("TopK", {x, m.op("Slice", {m.op("Shape", {x}), m.ints({0}), m.ints({1})})},
                        2, axis_of(0))[0];
       },
       "(TopK)"},
      {"the best of a row",
       {1, 5},
       [](ModelMaker& m, Value* x) {
         return m.split("TopK", {x, m.ints({2})}, 2, axis_of(1))[0];
       }},
      {"what is not zero",
       {1, 3},
       [](ModelMaker& m, Value* x) { return m.op("NonZero", {x}); },
       "it lists what it finds in all items together"},
      {"instance normalisation",
       {1, 3, 4},
       [](ModelMaker& m, Value* x) {
         return m.op("InstanceNormalization", {x, m.random({3}), m.random({3})});
       }},
  };
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"}) {
    cases.push_back({type, {1, 3}, along(type, 1)});
    cases.push_back({type, {1, 3}, along(type, 0), "it works along dimension 0"});
  }
  expect_cases(cases);
}

TEST(ItemFlow, WindowsAndRecurrencesAreFollowed) {
  const auto recurrence = [](const std::string& type, int64_t gates, int64_t layout) {
    return [=](ModelMaker& m, Value* x) {
      return m.split(type, {x, m.random({1, gates * 4, 3}), m.random({1, gates * 4, 4})}, 2,
                     make_attributes({{"hidden_size", int64_t{4}}, {"layout", layout}}))[0];
    };
  };
  const auto last_to_first = [=](const std::string& type, int64_t gates) {
    return [=](ModelMaker& m, Value* x) {
      return turned(m, recurrence(type, gates, 0)(m, turned(m, x, {1, 0, 2})), {2, 0, 1, 3});
    };
  };
  std::vector<Case> cases{
      {"convolution", {1, 3, 4, 4}, [](ModelMaker& m, Value* x) { return m.conv(x, 3, 2, 3); }},
      {"windows over items",
       {1, 1, 5},
       [](ModelMaker& m, Value* x) {
         Value* pooled = m.op("AveragePool", {turned(m, x, {1, 2, 0})},
                              make_attributes({{"kernel_shape", Ints{2}}, {"pads", Ints{0, 1}}}));
         return turned(m, pooled, {2, 0, 1});
       },
       "(AveragePool) does not keep the items of a batch apart: the items lie in dimension 2"},
      {"a pool and its indices",
       {1, 1, 4, 4},
       [](ModelMaker& m, Value* x) {
         const auto pooled =
             m.split("MaxPool", {x}, 2,
                     make_attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
         return m.op("Cast", {pooled[1]}, make_attributes({{"to", int64_t{1}}}));
       },
       "counts elements of all items together"},
      {"pooled and unpooled",
       {1, 2, 4, 4},
       [](ModelMaker& m, Value* x) {
         const Attributes window =
             make_attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
         const auto pooled = m.split("MaxPool", {x}, 2, window);
         return m.op("MaxUnpool", {m.op("Relu", {pooled[0]}), pooled[1]}, window);
       }},
      {"unpooled elsewhere",
       {1, 2, 5, 5},
       [](ModelMaker& m, Value* x) {
         const Attributes window =
             make_attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
         const auto pooled = m.split("MaxPool", {x}, 2, window);
         return m.op("MaxUnpool", pooled, window);
       },
       "(MaxUnpool)"},
      {"enlarged",
       {1, 1, 4, 4},
       [](ModelMaker& m, Value* x) {
         return m.op("Resize", {x, nullptr, m.constant(Tensor::from<float>({4}, {1, 1, 2, 2}))});
       }},
      {"steps over items",
       {1, 1, 3},
       [=](ModelMaker& m, Value* x) {
         return reshaped(m, recurrence("RNN", 1, 0)(m, x), {-1, 1, 4});
       },
       "it steps along dimension 0, from item to item"},
      {"LSTM", {1, 5, 3}, last_to_first("LSTM", 4)},
      {"GRU", {1, 5, 3}, last_to_first("GRU", 3)},
      {"RNN", {1, 5, 3}, last_to_first("RNN", 1)},
      {"batch first", {1, 5, 3}, recurrence("GRU", 3, 1)},
  };
  expect_cases(cases);
}

TEST(ItemFlow, SizesMayFollowTheBatch) {
  expect_cases({
      {"a computed shape",
       {1, 3, 2},
       [](ModelMaker& m, Value* x) {
         Value* batch = m.op("Gather", {m.op("Shape", {x}), m.ints({0})});
         return m.op("Reshape", {x, m.op("Concat", {batch, m.ints({-1})}, axis_of(0))});
       }},
      {"zeros of a computed shape",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         return m.op("Concat", {x, m.op("ConstantOfShape", {m.op("Shape", {x})})}, axis_of(1));
       }},
      {"a token for each item",
       {1, 3, 2},
       [](ModelMaker& m, Value* x) {
         Value* batch = m.op("Gather", {m.op("Shape", {x}), m.ints({0})});
         Value* shape = m.op("Concat", {batch, m.ints({-1, -1})}, axis_of(0));
         Value* token = m.op("Expand", {m.random({1, 1, 2}), m.op("Abs", {shape})});
         return m.op("Concat", {token, x}, axis_of(1));
       }},
      {"scaled by the batch",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         Value* count = m.op("Gather", {m.op("Shape", {x}), m.ints({0})});
         return m.op("Mul", {x, m.op("Cast", {count}, make_attributes({{"to", int64_t{1}}}))});
       },
       "changes with the size of the batch"},
      {"numbered items",
       {1, 3},
       [](ModelMaker& m, Value* x) {
         const auto zero = m.constant(Tensor::scalar<int64_t>(0));
         const auto one = m.constant(Tensor::scalar<int64_t>(1));
         Value* batch = m.op("Squeeze", {m.op("Gather", {m.op("Shape", {x}), m.ints({0})})});
         Value* numbers = m.op("Range", {zero, batch, one});
         Value* column =
             m.op("Unsqueeze",
                  {m.op("Cast", {numbers}, make_attributes({{"to", int64_t{1}}})), m.ints({1})});
         return m.op("Add", {x, column});
       },
       "changes with the size of the batch"},
  });
}

/// Relu for one item, the negative for more.
TEST(ItemFlow, BranchesThatOnlyABatchTakesAreRefused) {
  for (const bool follows_batch : {true, false}) {
    const auto branch = [](const std::string& type) {
      auto body = std::make_shared<Model>(type);
      Value* x = body->add_input("x", {ElementType::Float32, {kUnknownDim, 3}});
      body->add_output("y", body->add_node("node", type, "", {x}, {"y"})->output());
      return body;
    };
    ModelMaker maker("branches");
    Value* x = maker.input({1, 3});
    Value* size = maker.op(
        "Gather",
        {maker.op("Shape", {x}), maker.constant(Tensor::scalar<int64_t>(follows_batch ? 0 : 1))});
    Value* is_one = maker.op("Equal", {size, maker.constant(Tensor::scalar<int64_t>(1))});
    Attributes attributes;
    attributes.set("then_branch", branch("Relu"));
    attributes.set("else_branch", branch("Neg"));
    attributes.set("het.captures", std::vector<std::string>{"x"});
    maker.output(maker.op("If", {is_one, x}, attributes));
    const auto result = reshape_to_batch(maker.model(), 2);
    EXPECT_EQ(result.has_value(), !follows_batch);
    if (!result) {
      EXPECT_NE(result.error().message().find("takes another branch for a batch than for one item"),
                std::string::npos)
          << result.error().message();
    }
  }
}

/// An operator has a rule or is named here: whoever adds one decides. These depend on sizes only,
/// are random, serve training, take regions of pictures or stand in for something else: a batch
/// that meets them is refused.
TEST(ItemFlow, EveryOperatorIsDecided) {
  const std::set<std::string_view> without{"Adagrad",
                                           "Adam",
                                           "Bernoulli",
                                           "BlackmanWindow",
                                           "Constant",
                                           "ExperimentalDetectronPriorGridGenerator",
                                           "EyeLike",
                                           "HammingWindow",
                                           "HannWindow",
                                           "MelWeightMatrix",
                                           "Momentum",
                                           "Multinomial",
                                           "NegativeLogLikelihoodLoss",
                                           "PriorBox",
                                           "PriorBoxClustered",
                                           "Proposal",
                                           "RandomNormal",
                                           "RandomNormalLike",
                                           "RandomUniform",
                                           "RandomUniformLike",
                                           "Range",
                                           "Shape",
                                           "Size",
                                           "SoftmaxCrossEntropyLoss",
                                           "Stub"};
  for (const OpDef* op : op_registry().all()) {
    const bool has_rule = find_rule(op->domain, op->type, false) != nullptr;
    EXPECT_NE(has_rule, without.contains(op->type)) << op->domain << " " << op->type;
  }
}

}  // namespace
}  // namespace het::hetero
