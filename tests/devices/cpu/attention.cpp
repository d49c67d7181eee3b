// Attention: MatMul, Softmax, MatMul as one kernel that reads its operands where they lie.
#include <limits>
#include <optional>

#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/strided_view.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/attention_testing.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuAttention : public device_testing::AttentionTest<CpuTest> {
 protected:
  /// How often the fused kernel ran; results are those of REF.
  size_t attentions(float tolerance = 2e-5f) {
    const auto rows = compare(maker_.model(), tolerance);
    size_t count = 0;
    for (const ProfileRow& row : rows) {
      count += row.status == ProfileStatus::Executed && row.exec_type.starts_with("own_attention");
    }
    return count;
  }
};

TEST_F(CpuAttention, OneProductForQueriesKeysAndValues) {
  make_packed_attention();
  const std::unique_ptr<Model> prepared = maker_.model().clone();
  ASSERT_TRUE(prepare_model(*prepared).ok());
  EXPECT_EQ("\n" + print_model(*prepared), R"(
input x0 : float32[5,1,12]
MatMul0_y = MatMul(x0, c0=float32[12,36]) : float32[5,1,36]
Reshape1_y = Reshape(MatMul0_y, c1=[5,1,3,12]) : float32[5,1,3,12]
Transpose2_y = Transpose(Reshape1_y) {perm=[2,0,1,3]} : float32[3,5,1,12]
Gather3_y = Gather(Transpose2_y, c2=0) {axis=0} : float32[5,1,12]
Reshape4_y = Reshape(Gather3_y, c3=[5,3,4]) : float32[5,3,4]
Transpose5_y = Transpose(Reshape4_y) {perm=[1,0,2]} : float32[3,5,4]
Reshape6_y = Reshape(Transpose5_y, c4=[1,3,5,4]) : float32[1,3,5,4]
Mul7_y = Mul(Reshape6_y, c5=0.5) : float32[1,3,5,4]
Gather8_y = Gather(Transpose2_y, c6=1) {axis=0} : float32[5,1,12]
Reshape9_y = Reshape(Gather8_y, c7=[5,3,4]) : float32[5,3,4]
Transpose10_y = Transpose(Reshape9_y) {perm=[1,0,2]} : float32[3,5,4]
Reshape11_y = Reshape(Transpose10_y, c8=[1,3,5,4]) : float32[1,3,5,4]
Transpose12_y = Transpose(Reshape11_y) {perm=[0,1,3,2]} : float32[1,3,4,5]
Mul13_y = Mul(Transpose12_y, c9=0.25) : float32[1,3,4,5]
MatMul14_y = MatMul(Mul7_y, Mul13_y) : float32[1,3,5,5]
Softmax15_y = Softmax(MatMul14_y) {axis=-1} : float32[1,3,5,5]
Gather16_y = Gather(Transpose2_y, c10=2) {axis=0} : float32[5,1,12]
Reshape17_y = Reshape(Gather16_y, c11=[5,3,4]) : float32[5,3,4]
Transpose18_y = Transpose(Reshape17_y) {perm=[1,0,2]} : float32[3,5,4]
Reshape19_y = Reshape(Transpose18_y, c12=[1,3,5,4]) : float32[1,3,5,4]
MatMul20_y = MatMul(Softmax15_y, Reshape19_y) : float32[1,3,5,4]
Transpose21_y = Transpose(MatMul20_y) {perm=[2,0,1,3]} : float32[5,1,3,4]
Reshape22_y = Reshape(Transpose21_y, c13=[5,1,12]) : float32[5,1,12]
output y0 = Reshape22_y
)");
  ASSERT_TRUE(fuse_attention(*prepared).ok());
  prepared->remove_unused();
  ASSERT_TRUE(prepared->sort().ok());
  EXPECT_EQ("\n" + print_model(*prepared), R"(
input x0 : float32[5,1,12]
MatMul0_y = MatMul(x0, c0=float32[12,36]) : float32[5,1,36]
Transpose21_y_2 = het.Attention(MatMul0_y, MatMul0_y, MatMul0_y) {columns=4 depth=4 factor=0.125 key_offset=12 key_strides=[12,4,1,36] output_strides=[12,4,12,1] query_offset=0 query_strides=[12,4,36,1] shape=[1,3,5,5] value_factor=1 value_offset=24 value_strides=[12,4,36,1] zero_without_keys=0} : float32[5,1,3,4]
Reshape22_y = Reshape(Transpose21_y_2, c13=[5,1,12]) : float32[5,1,12]
output y0 = Reshape22_y
)");
  EXPECT_EQ(attentions(), 1U);
}

TEST_F(CpuAttention, SizesAndThreads) {
  for (const Ints& size : attention_sizes()) {
    ModelMaker maker;
    make_attention(maker, size);
    for (const char* threads : {"1", "2", "5"}) {
      const auto rows = compare(maker.model(), 2e-5f, {{"INFERENCE_NUM_THREADS", threads}});
      EXPECT_TRUE(implementation(rows, "MatMul0").starts_with("own_attention"))
          << to_string(size) << ": " << implementation(rows, "MatMul0");
    }
  }
}

TEST_F(CpuAttention, MasksOfAllShapes) {
  for (const Ints& shape : {Ints{2, 3, 6, 18}, Ints{3, 6, 18}, Ints{2, 1, 1, 18}, Ints{6, 1},
                            Ints{18}, Ints{1}, Ints{1, 1, 6, 18}}) {
    for (const bool first : {false, true}) {
      ModelMaker maker;
      make_masked_attention(maker, shape, first);
      const auto rows = compare(maker.model());
      EXPECT_TRUE(implementation(rows, "MatMul0").starts_with("own_attention"))
          << to_string(shape) << ": " << implementation(rows, "MatMul0");
    }
  }
}

TEST_F(CpuAttention, MaskedKeysDoNotCount) {
  Value* q = maker_.input({1, 4, 8});
  Value* k = maker_.input({1, 8, 20});
  Value* v = maker_.input({1, 20, 8});
  Tensor mask = Tensor::from<float>({1, 1, 20}, std::vector<float>(20, 0.0f));
  for (size_t i = 5; i < 20; ++i) {
    mask.values<float>()[i] = -std::numeric_limits<float>::infinity();
  }
  Value* sum = maker_.op("Add", {maker_.op("MatMul", {q, k}), maker_.constant(mask)});
  maker_.output(maker_.op("MatMul", {softmax(sum), v}));
  EXPECT_EQ(attentions(), 1U);
}

TEST_F(CpuAttention, PixelsAsTokens) {
  // Channels first: queries, keys and values are parts of one convolution, read across rows.
  Value* x = maker_.input({1, 6, 4, 5});
  Value* all = reshape(maker_.conv(x, 6, 48), {1, 2, 24, 20});
  const auto parts = maker_.split("Split", {all, maker_.ints({8, 8, 8})}, 3,
                                  make_attributes({{"axis", int64_t{2}}}));
  Value* scores = maker_.op("MatMul", {transpose(parts[0], {0, 1, 3, 2}), parts[1]});
  Value* y = maker_.op("MatMul", {softmax(scores), transpose(parts[2], {0, 1, 3, 2})});
  maker_.output(reshape(transpose(y, {0, 1, 3, 2}), {1, 16, 4, 5}));
  EXPECT_EQ(attentions(), 1U);
}

TEST_F(CpuAttention, LeavesWhatIsSomethingElse) {
  Value* q = maker_.input({2, 4, 8});
  Value* k = maker_.input({2, 8, 6});
  Value* v = maker_.input({2, 6, 4});
  Value* scores = maker_.op("MatMul", {q, k});
  maker_.output(maker_.op("MatMul", {softmax(scores), v}));
  maker_.output(scores);  // somebody else wants the scores
  Value* weights = softmax(maker_.op("MatMul", {q, k}));
  maker_.output(maker_.op("MatMul", {weights, v}));
  maker_.output(weights);  // or the weights
  Value* columns =
      maker_.op("Softmax", {maker_.op("MatMul", {q, k})}, make_attributes({{"axis", int64_t{1}}}));
  maker_.output(maker_.op("MatMul", {columns, v}));
  Value* one = maker_.input({1, 6, 4});  // one value matrix for all
  maker_.output(maker_.op("MatMul", {softmax(maker_.op("MatMul", {q, k})), one}));
  EXPECT_EQ(attentions(), 0U);
}

TEST_F(CpuAttention, TheOperatorInAllItsForms) {
  const auto runs = [&](const std::vector<Shape>& shapes, const Attributes& attributes,
                        const std::optional<Tensor>& mask = {}) {
    ModelMaker maker;
    std::vector<Value*> inputs;
    for (const Shape& shape : shapes) inputs.push_back(maker.input(shape));
    if (mask) inputs.push_back(maker.constant(*mask));
    maker.output(maker.op("Attention", inputs, attributes));
    return implementation(compare(maker.model()), "Attention0").starts_with("own_attention");
  };
  const auto heads = [](int64_t q, int64_t kv, int64_t causal = 0) {
    return make_attributes({{"q_num_heads", q}, {"kv_num_heads", kv}, {"is_causal", causal}});
  };
  const std::vector<Shape> split = {{2, 3, 7, 8}, {2, 3, 11, 8}, {2, 3, 11, 5}};
  EXPECT_TRUE(runs(split, {}));
  EXPECT_TRUE(runs(split, make_attributes({{"is_causal", int64_t{1}}, {"scale", 0.7f}})));
  EXPECT_TRUE(runs({{2, 6, 7, 8}, {2, 2, 11, 8}, {2, 2, 11, 5}}, {})) << "groups of heads";
  EXPECT_TRUE(runs({{2, 7, 24}, {2, 11, 24}, {2, 11, 15}}, heads(3, 3)));
  EXPECT_TRUE(runs({{2, 7, 48}, {2, 11, 16}, {2, 11, 10}}, heads(6, 2, 1)));
  Tensor mask = cpu_testing::random_tensor({2, 1, 7, 11}, 3);
  for (size_t i = 0; i < 11; ++i) {
    mask.values<float>()[22 + i] = -std::numeric_limits<float>::infinity();
  }
  EXPECT_TRUE(runs(split, {}, mask)) << "a query without keys gives zeros";
  EXPECT_TRUE(runs({{2, 6, 7, 8}, {2, 2, 11, 8}, {2, 2, 11, 5}}, {},
                   cpu_testing::random_tensor({6, 1, 11}, 4)));
  // Left to the reference.
  EXPECT_FALSE(runs(split, {}, cpu_testing::random_tensor({7, 9}, 5))) << "forbids the last keys";
  EXPECT_FALSE(runs(split, make_attributes({{"softcap", 2.0f}})));
  EXPECT_FALSE(runs(split, make_attributes({{"left_window_size", int64_t{2}}})));
}

TEST_F(CpuAttention, ViewsEndWhereElementsWouldMove) {
  Value* x = maker_.input({4, 6});
  Value* turned = transpose(x, {1, 0});
  Value* flat = reshape(turned, {24});
  Value* rows = reshape(flat, {3, 8});
  maker_.output(transpose(rows, {1, 0}));
  ASSERT_TRUE(prepare_model(maker_.model()).ok());
  const StridedView view = strided_view(*maker_.model().outputs()[0].value);
  EXPECT_EQ(view.base->producer()->op_type(), "Reshape") << "a turned matrix is no row";
  EXPECT_EQ(view.strides, (Shape{1, 8}));
  Value* more = maker_.op("Mul", {x, maker_.constant(Tensor::from<float>({1, 1, 1}, {2.0f}))});
  maker_.model().set_desc(more, {ElementType::Float32, {1, 4, 6}});
  EXPECT_EQ(strided_view(*more).base, more) << "the product has a dimension more";
  const StridedView two = strided_view(*turned);
  EXPECT_EQ(two.base, x);
  EXPECT_EQ(two.strides, (Shape{1, 6}));
}

}  // namespace
}  // namespace het
