// Attention: MatMul, Softmax, MatMul as products that read their operands where they lie.
#include <limits>

#include "tests/devices/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuAttention : public GpuTest {
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
  static size_t attentions(const std::vector<ProfileRow>& rows) {
    return count_type(rows, "Attention");
  }

  ModelMaker maker_;
};

TEST_F(GpuAttention, OneProductForQueriesKeysAndValues) {
  // As PyTorch exports nn.MultiheadAttention: 5 tokens, 3 heads of 4.
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
  const auto rows = compare(maker_.model());
  EXPECT_EQ(attentions(rows), 1U);
  EXPECT_EQ(count_type(rows, "Transpose"), 0U);
}

TEST_F(GpuAttention, Sizes) {
  const std::vector<Ints> sizes = {{1, 7, 9, 16, 16},     {3, 1, 40, 8, 24},
                                   {2, 33, 1, 5, 3},      {1, 130, 300, 32, 40},
                                   {1, 20, 1100, 12, 33}, {8, 50, 50, 64, 64}};
  for (const Ints& size : sizes) {
    ModelMaker maker;
    Value* q = maker.input({size[0], size[1], size[3]});
    Value* k = maker.input({size[0], size[3], size[2]});
    Value* v = maker.input({size[0], size[2], size[4]});
    Value* scores =
        maker.op("Div", {maker.op("MatMul", {q, k}), maker.constant(Tensor::scalar(3.0f))});
    maker.output(maker.op("MatMul", {maker.op("Softmax", {scores}), v}));
    EXPECT_EQ(attentions(compare(maker.model())), 1U) << het::to_string(size);
    compare(maker.model(), 5e-3f, {{"INFERENCE_PRECISION_HINT", "f16"}});
  }
}

TEST_F(GpuAttention, MasksAreAddedAlongTheScores) {
  for (const Shape& shape : {Shape{2, 3, 6, 21}, Shape{6, 21}, Shape{2, 1, 1, 21}, Shape{6, 1}}) {
    ModelMaker maker;
    Value* q = maker.input({2, 3, 6, 8});
    Value* k = maker.input({2, 3, 8, 21});
    Value* v = maker.input({2, 3, 21, 10});
    Value* scores = maker.op("Add", {maker.op("MatMul", {q, k}), maker.input(shape)});
    maker.output(maker.op("MatMul", {maker.op("Softmax", {scores}), v}));
    EXPECT_EQ(attentions(compare(maker.model())), 1U) << het::to_string(shape);
  }
}

}  // namespace
}  // namespace het::gpu_testing
