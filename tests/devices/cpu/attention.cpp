// Attention: MatMul, Softmax, MatMul as one kernel that reads its operands where they lie.
#include <cmath>
#include <limits>
#include <optional>

#include "devices/cpu/loops/attention_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/strided_view.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/attention_testing.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/guarded_memory.h"

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

TEST_F(CpuAttention, RowsWithoutKeysThatExportersZero) {
  // Where(IsNaN(weights), 0, weights): a row of -infinity, and one of NaN.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Value* q = maker_.input({1, 2, 3, 8});
  Value* k = maker_.input({1, 2, 8, 20});
  Value* v = maker_.input({1, 2, 20, 8});
  Value* mask = maker_.input({3, 20});
  Value* weights = softmax(maker_.op("Add", {maker_.op("MatMul", {q, k}), mask}));
  Value* chosen = maker_.op("Where", {maker_.op("IsNaN", {weights}), scalar(0.0f), weights});
  maker_.output(maker_.op("MatMul", {chosen, v}));
  EXPECT_EQ(attentions(), 1U);
  Tensor masks = cpu_testing::random_tensor({3, 20}, 3);
  for (size_t i = 0; i < 20; ++i) masks.values<float>()[20 + i] = -kInfinity;
  masks.values<float>()[47] = std::numeric_limits<float>::quiet_NaN();
  const auto compiled = compile(maker_.model());
  ASSERT_NE(compiled, nullptr);
  const auto outputs = infer(*compiled, {cpu_testing::random_tensor({1, 2, 3, 8}, 1),
                                         cpu_testing::random_tensor({1, 2, 8, 20}, 2),
                                         cpu_testing::random_tensor({1, 2, 20, 8}, 4), masks});
  for (size_t i = 0; i < 48; ++i) {
    const float value = outputs[0].values<float>()[i];
    EXPECT_EQ(value == 0.0f, i % 24 >= 8) << i << ": " << value;
    EXPECT_LT(std::abs(value), 10.0f) << i;
  }
}

TEST_F(CpuAttention, OtherChoicesThanZeroStay) {
  Value* q = maker_.input({2, 4, 8});
  Value* k = maker_.input({2, 8, 6});
  Value* v = maker_.input({2, 6, 4});
  Value* weights = softmax(maker_.op("MatMul", {q, k}));
  Value* test = maker_.op("IsNaN", {weights});
  maker_.output(maker_.op("MatMul", {maker_.op("Where", {test, scalar(0.5f), weights}), v}));
  EXPECT_EQ(attentions(), 0U);
}

TEST_F(CpuAttention, MasksOfWindows) {
  // Two pictures of three windows: a bias of each head, then a mask of each window.
  Value* q = maker_.input({6, 2, 5, 8});
  Value* k = maker_.input({6, 2, 8, 5});
  Value* v = maker_.input({6, 2, 5, 8});
  Value* scores = maker_.op("Mul", {maker_.op("MatMul", {q, k}), scalar(0.3f)});
  Value* biased = maker_.op("Add", {scores, maker_.random({1, 2, 5, 5})});
  Value* masked =
      maker_.op("Add", {reshape(biased, {2, 3, 2, 5, 5}), maker_.random({1, 3, 1, 5, 5})});
  maker_.output(maker_.op("MatMul", {softmax(reshape(masked, {6, 2, 5, 5})), v}));
  EXPECT_EQ(attentions(), 1U);
}

TEST_F(CpuAttention, MasksThatAreNoConstantsAreAddedOneByOne) {
  Value* q = maker_.input({2, 5, 8});
  Value* k = maker_.input({2, 8, 5});
  Value* v = maker_.input({2, 5, 8});
  Value* biased = maker_.op("Add", {maker_.op("MatMul", {q, k}), maker_.input({5, 5})});
  Value* masked = maker_.op("Add", {biased, maker_.random({2, 1, 5})});
  maker_.output(maker_.op("MatMul", {softmax(masked), v}));
  EXPECT_EQ(attentions(), 0U);
}

TEST_F(CpuAttention, ProductsOfColumns) {
  // Values times turned weights, as detectors write attention over pixels.
  Value* all = maker_.input({2, 3, 20, 35});
  const auto parts = maker_.split("Split", {all, maker_.ints({8, 8, 4})}, 3,
                                  make_attributes({{"axis", int64_t{2}}}));
  Value* weights = softmax(maker_.op("MatMul", {transpose(parts[0], {0, 1, 3, 2}), parts[1]}));
  Value* y = maker_.op("MatMul", {parts[2], transpose(weights, {0, 1, 3, 2})});
  maker_.output(reshape(y, {2, 12, 5, 7}));
  EXPECT_EQ(attentions(), 1U);
}

TEST_F(CpuAttention, InBfloat16BetweenProducts) {
  if (!cpu::has_bfloat16()) GTEST_SKIP() << cpu_testing::kNoBfloat16;
  ModelMaker maker;
  Value* x = maker.input({2, 9, 12});
  Value* all = maker.op("MatMul", {x, maker.random({12, 36}, 0.5f)});
  Value* split = maker.op("Reshape", {all, maker.ints({2, 9, 3, 3, 4})});
  Value* turned = maker.op("Transpose", {split}, make_attributes({{"perm", Ints{2, 0, 3, 1, 4}}}));
  const auto part = [&](int64_t index) {
    return maker.op("Gather", {turned, maker.constant(Tensor::scalar(index))},
                    make_attributes({{"axis", int64_t{0}}}));
  };
  Value* key = maker.op("Transpose", {part(1)}, make_attributes({{"perm", Ints{0, 1, 3, 2}}}));
  Value* weights = maker.op("Softmax", {maker.op("MatMul", {part(0), key})});
  Value* rows = maker.op("MatMul", {weights, part(2)});
  Value* back = maker.op("Transpose", {rows}, make_attributes({{"perm", Ints{0, 2, 1, 3}}}));
  Value* merged = maker.op("Reshape", {back, maker.ints({2, 9, 12})});
  maker.output(maker.op("MatMul", {merged, maker.random({12, 7}, 0.3f)}));
  const auto profile = compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}});
  EXPECT_EQ(count_type(profile, "Reorder"), 1U) << "of the input only";
  const auto narrow = std::ranges::count_if(profile, [](const ProfileRow& row) {
    return row.exec_type.starts_with("own_attention") && row.exec_type.ends_with("_bf16");
  });
  EXPECT_EQ(narrow, cpu::has_bfloat16_attention() ? 1 : 0);
}

TEST_F(CpuAttention, SizesInBfloat16) {
  if (!cpu::has_bfloat16()) GTEST_SKIP() << cpu_testing::kNoBfloat16;
  for (const Ints& size : attention_sizes()) {
    ModelMaker maker;
    make_attention(maker, size);
    for (const char* threads : {"1", "2", "5"}) {
      SCOPED_TRACE(to_string(size));
      compare(maker.model(), 0.05f,
              {{"INFERENCE_PRECISION_HINT", "bf16"}, {"INFERENCE_NUM_THREADS", threads}});
    }
  }
}

/// A matrix [rows, columns] somewhere in memory, as floats and as bfloat16.
class StoredMatrix {
 public:
  StoredMatrix(int64_t rows, int64_t columns, int64_t row, int64_t column, unsigned seed)
      : row_(row),
        column_(column),
        wide_(cpu_testing::random_tensor({(rows - 1) * row + (columns - 1) * column + 1}, seed)) {
    for (float& value : wide_.values<float>()) narrow_.emplace_back(value);
    // Both show the same numbers.
    for (size_t i = 0; i < narrow_.size(); ++i) {
      wide_.values<float>()[i] = static_cast<float>(narrow_[i]);
    }
  }
  void set(int64_t i, int64_t j, float value) {
    const auto at = static_cast<size_t>(i * row_ + j * column_);
    wide_.values<float>()[at] = value;
    narrow_[at] = BFloat16(value);
  }
  float at(int64_t i, int64_t j) const {
    return wide_.values<float>()[static_cast<size_t>(i * row_ + j * column_)];
  }
  cpu::AttentionMatrix as(ElementType type) const {
    const void* first = narrow_.data();
    if (type == ElementType::Float32) first = wide_.values<float>().data();
    return {static_cast<const std::byte*>(first), type, row_, column_};
  }

 private:
  int64_t row_, column_;
  Tensor wide_;
  std::vector<BFloat16> narrow_;
};

struct LoopCase {
  int64_t rows, depth, keys, columns;
  bool turned;  ///< no operand has its rows where they usually are
};

/// attend() beside the definition in double, for all types.
void expect_attention(const LoopCase& c, bool with_specials, bool zero_for_nan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto stored = [&](int64_t rows, int64_t columns, bool turned, unsigned seed) {
    return turned ? StoredMatrix(rows, columns, 1, rows + 3, seed)
                  : StoredMatrix(rows, columns, columns + 5, 1, seed);
  };
  StoredMatrix query = stored(c.rows, c.depth, c.turned, 1);
  StoredMatrix key = stored(c.depth, c.keys, !c.turned, 2);
  StoredMatrix value = stored(c.keys, c.columns, c.turned, 3);
  Tensor mask = guarded_copy(cpu_testing::random_tensor({c.rows, c.keys}, 4));
  if (with_specials) {
    mask.values<float>()[0] = -kInfinity;
    for (int64_t i = 0; i < c.keys; ++i) {
      mask.values<float>()[static_cast<size_t>(c.keys + i)] = -kInfinity;
    }
    query.set(2, c.depth - 1, std::numeric_limits<float>::quiet_NaN());
    query.set(3, 0, kInfinity);
    value.set(0, c.columns - 1, kInfinity);
  }
  std::vector<double> wanted;
  for (int64_t r = 0; r < c.rows; ++r) {
    std::vector<double> weights;
    double most = -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < c.keys; ++k) {
      double score = 0.0;
      for (int64_t i = 0; i < c.depth; ++i) score += double{query.at(r, i)} * key.at(i, k);
      weights.push_back(score * 0.5 + mask.values<float>()[static_cast<size_t>(r * c.keys + k)]);
      most = std::isnan(weights.back()) ? most : std::max(most, weights.back());
    }
    double sum = 0.0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (double& weight : weights) {
      weight /= sum;
      if (zero_for_nan && std::isnan(weight)) weight = 0.0;
    }
    for (int64_t j = 0; j < c.columns; ++j) {
      double result = 0.0;
      for (int64_t k = 0; k < c.keys; ++k) {
        result += weights[static_cast<size_t>(k)] * value.at(k, j);
      }
      wanted.push_back(result * 2.0);
    }
  }
  constexpr ElementType kTypes[] = {ElementType::Float32, ElementType::BFloat16};
  for (const ElementType product : kTypes) {
    if (product == ElementType::BFloat16 && !cpu::has_bfloat16_attention()) continue;
    for (const ElementType from : kTypes) {
      for (const ElementType to : kTypes) {
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(product), to_string(from), to_string(to)));
        const cpu::AttentionShape shape{c.depth, c.keys,       c.columns, 0.5f,   2.0f,
                                        false,   zero_for_nan, product,   product};
        constexpr size_t kBehind = 64;  // nothing is written there
        const auto bytes = [](size_t count) {
          Tensor made =
              *Tensor::allocate({ElementType::UInt8, {static_cast<int64_t>(count + kBehind)}});
          std::ranges::fill(made.values<uint8_t>().last(kBehind), uint8_t{0xA5});
          return made;
        };
        Tensor keys = bytes(attention_keys_bytes(shape));
        Tensor values = bytes(attention_values_bytes(shape));
        Tensor scratch = bytes(attention_scratch_bytes(shape));
        pack_attention_keys(shape, key.as(from), keys.bytes());
        pack_attention_values(shape, value.as(from), values.bytes());
        for (Tensor* packed : {&keys, &values}) {
          const auto behind = packed->values<uint8_t>().last(kBehind);
          EXPECT_TRUE(std::ranges::all_of(behind, [](uint8_t byte) { return byte == 0xA5; }));
        }
        const int64_t row = c.columns + 2;
        std::vector<float> wide(static_cast<size_t>(c.rows * row), 77.0f);
        std::vector<BFloat16> narrow(wide.size(), BFloat16(77.0f));
        for (int64_t first = 0; first < c.rows; first += cpu::attention_rows()) {
          cpu::AttentionBlock block;
          block.rows = std::min(cpu::attention_rows(), c.rows - first);
          block.query = query.as(from);
          block.query.first += first * block.query.row * static_cast<int64_t>(byte_width(from));
          block.mask = mask.values<float>().data() + first * c.keys;
          block.mask_row = c.keys;
          block.mask_column = 1;
          block.keys = keys.bytes();
          block.values = values.bytes();
          block.scratch = scratch.bytes();
          block.output = to == ElementType::Float32
                             ? reinterpret_cast<std::byte*>(wide.data() + first * row)
                             : reinterpret_cast<std::byte*>(narrow.data() + first * row);
          block.output_type = to;
          block.output_row = row;
          attend(shape, block);
        }
        const bool is_exact = product == ElementType::Float32 && to == ElementType::Float32;
        for (int64_t r = 0; r < c.rows; ++r) {
          for (int64_t j = 0; j < row; ++j) {
            const auto at = static_cast<size_t>(r * row + j);
            const float got =
                to == ElementType::Float32 ? wide[at] : static_cast<float>(narrow[at]);
            if (j >= c.columns) {
              ASSERT_EQ(got, 77.0f) << "behind a row";
              continue;
            }
            const double expected = wanted[static_cast<size_t>(r * c.columns + j)];
            if (!std::isfinite(expected)) {
              ASSERT_EQ(std::isnan(got), std::isnan(expected)) << r << " " << j << " " << got;
              continue;
            }
            ASSERT_NEAR(got, expected, is_exact ? 3e-5 : 0.04) << r << " " << j;
          }
        }
      }
    }
  }
}

TEST(AttentionLoops, AllTypesAndOrders) {
  cpu_testing::on_each_instruction_set([] {
    for (const bool turned : {false, true}) {
      for (const LoopCase& c :
           {LoopCase{1, 1, 1, 1, turned}, LoopCase{5, 16, 16, 16, turned},
            LoopCase{14, 33, 49, 32, turned}, LoopCase{31, 64, 197, 70, turned},
            LoopCase{15, 300, 31, 5, turned}, LoopCase{4, 32, 1030, 17, turned}}) {
        SCOPED_TRACE(to_string(Shape{c.rows, c.depth, c.keys, c.columns}));
        expect_attention(c, false, false);
      }
    }
  });
}

TEST(AttentionLoops, NanAndInfinities) {
  cpu_testing::on_each_instruction_set([] {
    for (const bool zero_for_nan : {false, true}) {
      for (const int64_t keys : {7, 16, 33}) {
        expect_attention({5, 9, keys, 18, false}, true, zero_for_nan);
        expect_attention({5, 16, keys, 32, true}, true, zero_for_nan);
      }
    }
  });
}

}  // namespace
}  // namespace het
