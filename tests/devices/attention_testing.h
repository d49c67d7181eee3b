#pragma once

#include <vector>

#include "tests/devices/device_testing.h"

namespace het::device_testing {

/// What tests of attention on several devices have in common; `Base` sets the device.
template <class Base>
class AttentionTest : public Base {
 protected:
  Value* transpose(Value* x, const Ints& order) {
    return maker_.op("Transpose", {x}, make_attributes({{"perm", order}}));
  }
  Value* reshape(Value* x, const Ints& shape) {
    return maker_.op("Reshape", {x, maker_.ints(shape)});
  }
  Value* scalar(float value) { return maker_.constant(Tensor::scalar(value)); }
  Value* softmax(Value* x) {
    return maker_.op("Softmax", {x}, make_attributes({{"axis", int64_t{-1}}}));
  }

  /// As PyTorch exports nn.MultiheadAttention: 5 tokens, 3 heads of 4, one product for queries,
  /// keys and values.
  void make_packed_attention() {
    Value* x = maker_.input({5, 1, 12});
    Value* all = maker_.op("MatMul", {x, maker_.random({12, 36}, 0.5f)});
    Value* parts = transpose(reshape(all, {5, 1, 3, 12}), {2, 0, 1, 3});
    const auto part = [&](int64_t index) {
      Value* one = maker_.op("Gather", {parts, maker_.constant(Tensor::scalar(index))},
                             make_attributes({{"axis", int64_t{0}}}));
      return reshape(transpose(reshape(one, {5, 3, 4}), {1, 0, 2}), {1, 3, 5, 4});
    };
    Value* query = maker_.op("Mul", {part(0), scalar(0.5f)});
    Value* key = maker_.op("Mul", {transpose(part(1), {0, 1, 3, 2}), scalar(0.25f)});
    Value* weights = softmax(maker_.op("MatMul", {query, key}));
    Value* y = maker_.op("MatMul", {weights, part(2)});
    maker_.output(reshape(transpose(y, {2, 0, 1, 3}), {5, 1, 12}));
  }

  /// Batch, queries, keys, depth, columns: keys beyond one slice of the product, single rows,
  /// columns beyond whole panels.
  static std::vector<Ints> attention_sizes() {
    return {{1, 7, 9, 16, 16},     {3, 1, 40, 8, 24},     {2, 33, 1, 5, 3},
            {1, 130, 300, 32, 40}, {1, 20, 1100, 12, 33}, {8, 50, 50, 64, 64}};
  }
  /// One of these sizes; MatMul0 is its first node.
  static void make_attention(ModelMaker& maker, const Ints& size) {
    Value* q = maker.input({size[0], size[1], size[3]});
    Value* k = maker.input({size[0], size[3], size[2]});
    Value* v = maker.input({size[0], size[2], size[4]});
    Value* scores =
        maker.op("Div", {maker.op("MatMul", {q, k}), maker.constant(Tensor::scalar(3.0f))});
    maker.output(maker.op("MatMul", {maker.op("Softmax", {scores}), v}));
  }

  /// Scores of two pictures, three heads, 6 queries and 18 keys, to which a mask is added.
  static void make_masked_attention(ModelMaker& maker, const Shape& mask_shape, bool mask_first) {
    Value* q = maker.input({2, 3, 6, 8});
    Value* k = maker.input({2, 3, 8, 18});
    Value* v = maker.input({2, 3, 18, 8});
    Value* mask = maker.input(mask_shape);
    Value* scores =
        maker.op("Mul", {maker.op("MatMul", {q, k}), maker.constant(Tensor::scalar(0.35f))});
    Value* sum = mask_first ? maker.op("Add", {mask, scores}) : maker.op("Add", {scores, mask});
    maker.output(maker.op("MatMul", {maker.op("Softmax", {sum}), v}));
  }

  ModelMaker maker_;
};

}  // namespace het::device_testing
