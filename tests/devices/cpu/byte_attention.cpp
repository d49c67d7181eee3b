// Attention whose operands are bytes, and whose weights are rounded to them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "devices/cpu/loops/attention_loops.h"
#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/attention_testing.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/devices/int8_testing.h"
#include "tests/guarded_memory.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuByteAttention : public device_testing::Int8Test<CpuTest> {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    if (!cpu::computes_int8()) GTEST_SKIP() << "no AVX2: quantised models compute in float";
  }

  Value* transpose(Value* x, const Ints& order) {
    return maker_.op("Transpose", {x}, make_attributes({{"perm", order}}));
  }
  Value* softmax(Value* x) {
    return maker_.op("Softmax", {x}, make_attributes({{"axis", int64_t{-1}}}));
  }
  Value* without_nan(Value* x) {
    return maker_.op("Where", {maker_.op("IsNaN", {x}), scale(0.0f), x});
  }
  Value* zero_of(ElementType type, int value) {
    return maker_.constant(type == ElementType::Int8 ? Tensor::scalar(static_cast<int8_t>(value))
                                                     : Tensor::scalar(static_cast<uint8_t>(value)));
  }
  Value* rounded(Value* x, float step, ElementType type, int zero_point) {
    Value* q = maker_.op("QuantizeLinear", {x, scale(step), zero_of(type, zero_point)});
    return maker_.op("DequantizeLinear", {q, scale(step), zero_of(type, zero_point)});
  }
  /// Heads of a byte input [1, tokens, heads * 16], as exporters have them.
  Value* heads(int64_t tokens, ElementType type, int zero_point, const Ints& order) {
    Value* x = maker_.op("DequantizeLinear", {maker_.input({1, tokens, 48}, type), scale(0.02f),
                                              zero_of(type, zero_point)});
    return transpose(maker_.op("Reshape", {x, maker_.ints({1, tokens, 3, 16})}), order);
  }
  /// Rows of heads as tokens again.
  void output_tokens(Value* y, int64_t tokens) {
    maker_.output(maker_.op("Reshape", {transpose(y, {0, 2, 1, 3}), maker_.ints({1, tokens, 48})}));
  }

  /// The implementation of the one fused kernel; results are those of REF.
  std::string attention(float tolerance, const Properties& properties = {}) {
    std::string found;
    for (const auto& row : compare_steps(tolerance, properties)) {
      if (row.status != ProfileStatus::Executed || !row.exec_type.starts_with("own_attention")) {
        continue;
      }
      EXPECT_TRUE(found.empty());
      found = row.exec_type;
    }
    return found;
  }
};

/// One step of a weight changes a result by so much at most.
constexpr float kOneStep = 0.02f * 255.0f / 200.0f;

TEST_F(CpuByteAttention, AllTypesAndZeroPoints) {
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    const int half = type == ElementType::Int8 ? 0 : 128;
    for (const int zero_point : {half, half - 20, half + 50}) {
      for (const bool guards : {false, true}) {
        SCOPED_TRACE(testing::Message() << to_string(type) << ' ' << zero_point);
        maker_ = ModelMaker();
        Value* q = heads(37, type, zero_point, {0, 2, 1, 3});
        Value* k = heads(45, type, zero_point, {0, 2, 3, 1});
        Value* v = heads(45, type, zero_point, {0, 2, 1, 3});
        Value* scores = maker_.op("Mul", {maker_.op("MatMul", {q, k}), scale(0.3f)});
        Value* weights = softmax(maker_.op("Add", {scores, maker_.random({37, 45})}));
        if (guards) weights = without_nan(weights);
        weights = rounded(weights, 1.0f / 200.0f, type, type == ElementType::Int8 ? -128 : 0);
        output_tokens(maker_.op("MatMul", {weights, v}), 37);
        EXPECT_TRUE(attention(2 * kOneStep).ends_with("_int8"));
      }
    }
  }
}

TEST_F(CpuByteAttention, WeightsThatAreNotRounded) {
  Value* q = heads(37, ElementType::UInt8, 120, {0, 2, 1, 3});
  Value* k = heads(45, ElementType::Int8, 3, {0, 2, 3, 1});
  Value* v = heads(45, ElementType::UInt8, 120, {0, 2, 1, 3});
  output_tokens(maker_.op("MatMul", {softmax(maker_.op("MatMul", {q, k})), v}), 37);
  EXPECT_TRUE(attention(1e-4f).ends_with("_int8"));
}

TEST_F(CpuByteAttention, FloatsBesideBytes) {
  for (const char* precision : {"f32", "bf16"}) {
    if (precision == std::string("bf16") &&
        !(cpu::has_bfloat16() && cpu::has_bfloat16_attention())) {
      continue;
    }
    SCOPED_TRACE(precision);
    const bool narrow = precision == std::string("bf16");
    const Properties properties{{"INFERENCE_PRECISION_HINT", precision}};
    // Rounded weights times floats.
    maker_ = ModelMaker();
    Value* q = maker_.input({2, 3, 21, 16});
    Value* k = maker_.input({2, 3, 16, 33});
    Value* v = maker_.input({2, 3, 33, 16});
    Value* weights = rounded(softmax(maker_.op("MatMul", {q, k})), 0.004f, ElementType::UInt8, 0);
    maker_.output(maker_.op("MatMul", {weights, v}));
    const std::string floats = attention(narrow ? 0.1f : 0.02f, properties);
    EXPECT_TRUE(floats.starts_with("own_attention")) << floats;
    EXPECT_EQ(floats.find("_int8"), std::string::npos) << floats;
    EXPECT_EQ(floats.ends_with("_bf16"), narrow) << floats;
    // Floats times bytes, and the other way round.
    maker_ = ModelMaker();
    q = maker_.input({1, 3, 21, 16});
    k = heads(33, ElementType::UInt8, 120, {0, 2, 3, 1});
    v = heads(33, ElementType::UInt8, 120, {0, 2, 1, 3});
    weights = rounded(softmax(maker_.op("MatMul", {q, k})), 0.004f, ElementType::UInt8, 0);
    maker_.output(maker_.op("MatMul", {weights, v}));
    const std::string mixed = attention(narrow ? 0.1f : 0.04f, properties);
    EXPECT_NE(mixed.find("_int8"), std::string::npos) << mixed;
    EXPECT_EQ(mixed.ends_with("_bf16"), narrow) << mixed;
  }
}

/// Somebody else wants the rounded weights.
TEST_F(CpuByteAttention, LeavesWhatIsRead) {
  Value* q = heads(37, ElementType::UInt8, 120, {0, 2, 1, 3});
  Value* k = heads(45, ElementType::UInt8, 120, {0, 2, 3, 1});
  Value* v = heads(45, ElementType::UInt8, 120, {0, 2, 1, 3});
  Value* weights = rounded(softmax(maker_.op("Mul", {maker_.op("MatMul", {q, k}), scale(0.01f)})),
                           0.004f, ElementType::UInt8, 0);
  maker_.output(maker_.op("Neg", {weights}));
  output_tokens(maker_.op("MatMul", {weights, v}), 37);
  EXPECT_EQ(attention(0.04f), "");
}

/// QuantizeLinear stores NaN, of a row without keys, as zero.
TEST_F(CpuByteAttention, RowsWithoutKeys) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int zero_point : {0, 30}) {
    maker_ = ModelMaker();
    Value* q = heads(5, ElementType::UInt8, 120, {0, 2, 1, 3});
    Value* k = heads(7, ElementType::UInt8, 120, {0, 2, 3, 1});
    Value* v = heads(7, ElementType::UInt8, 120, {0, 2, 1, 3});
    Tensor mask = Tensor::from<float>({5, 7}, std::vector<float>(35, 0.0f));
    for (size_t i = 14; i < 21; ++i) mask.values<float>()[i] = -kInfinity;
    Value* sum = maker_.op("Add", {maker_.op("MatMul", {q, k}), maker_.constant(mask)});
    Value* weights = rounded(softmax(sum), 0.004f, ElementType::UInt8, zero_point);
    output_tokens(maker_.op("MatMul", {weights, v}), 5);
    EXPECT_TRUE(attention(0.04f).ends_with("_int8"));
  }
}

/// A matrix of bytes [rows, columns] whose memory ends with it.
class ByteMatrix {
 public:
  ByteMatrix(int64_t rows, int64_t columns, bool turned, ElementType type, unsigned seed)
      : row_(turned ? 1 : columns), column_(turned ? rows : 1), type_(type) {
    Tensor content = *Tensor::allocate({ElementType::UInt8, {rows * columns}});
    std::mt19937 generator(seed);
    for (uint8_t& byte : content.values<uint8_t>()) {
      // Many are at a limit.
      const unsigned number = generator() % 512;
      byte = number < 256 ? static_cast<uint8_t>(number) : number % 2 == 0 ? 127 : 128;
      if (type == ElementType::UInt8 && number >= 384) byte = number % 2 == 0 ? 0 : 255;
    }
    content_ = guarded_copy(content);
  }
  int at(int64_t i, int64_t j) const {
    const uint8_t byte = content_.values<uint8_t>()[static_cast<size_t>(i * row_ + j * column_)];
    return type_ == ElementType::Int8 ? static_cast<int8_t>(byte) : byte;
  }
  cpu::AttentionMatrix matrix(int32_t zero) const {
    return {content_.bytes(), type_, row_, column_, zero};
  }

 private:
  int64_t row_, column_;
  ElementType type_;
  Tensor content_;
};

struct ByteCase {
  int64_t rows, depth, keys, columns;
  bool turned;
  ElementType type;
  int zero;  ///< of all operands
  int weights_zero;
};

constexpr float kFactor = 1e-5f;
constexpr float kWeightsScale = 1.0f / 240.0f;

/// attend() with integers.
std::vector<float> attended(const ByteCase& c, ElementType product, bool emulates_quads,
                            const ByteMatrix& query, const ByteMatrix& key,
                            const ByteMatrix& value) {
  cpu::AttentionShape shape;
  shape.depth = c.depth;
  shape.keys = c.keys;
  shape.columns = c.columns;
  shape.factor = kFactor;
  shape.scores_product = shape.values_product = product;
  if (product == ElementType::Int8) {
    const bool is_signed = c.type == ElementType::Int8;
    shape.query_zero = c.zero + (is_signed ? 128 : 0);
    shape.key_zero = shape.value_zero = c.zero - (is_signed ? 0 : 128);
  }
  shape.weights_scale = kWeightsScale;
  shape.weights_zero = c.weights_zero;
  shape.emulates_quads = emulates_quads;
  const auto memory = [](size_t count) {
    return guarded_copy(*Tensor::allocate({ElementType::UInt8, {static_cast<int64_t>(count)}}));
  };
  const Tensor keys = memory(attention_keys_bytes(shape));
  const Tensor values = memory(attention_values_bytes(shape));
  const Tensor scratch = memory(attention_scratch_bytes(shape));
  pack_attention_keys(shape, key.matrix(c.zero), keys.bytes());
  pack_attention_values(shape, value.matrix(c.zero), values.bytes());
  std::vector<float> result(static_cast<size_t>(c.rows * c.columns));
  for (int64_t first = 0; first < c.rows; first += cpu::attention_rows()) {
    cpu::AttentionBlock block;
    block.rows = std::min(cpu::attention_rows(), c.rows - first);
    block.query = query.matrix(c.zero);
    block.query.first += first * block.query.row;
    block.keys = keys.bytes();
    block.values = values.bytes();
    block.scratch = scratch.bytes();
    block.output = reinterpret_cast<std::byte*>(result.data() + first * c.columns);
    block.output_row = c.columns;
    attend(shape, block);
  }
  return result;
}

/// By the definition in double; weights are rounded as they are there.
std::vector<double> defined(const ByteCase& c, const ByteMatrix& query, const ByteMatrix& key,
                            const ByteMatrix& value) {
  std::vector<double> results;
  for (int64_t r = 0; r < c.rows; ++r) {
    std::vector<double> weights;
    for (int64_t k = 0; k < c.keys; ++k) {
      int64_t score = 0;
      for (int64_t i = 0; i < c.depth; ++i) {
        score += int64_t{query.at(r, i) - c.zero} * (key.at(i, k) - c.zero);
      }
      weights.push_back(static_cast<double>(score) * static_cast<double>(kFactor));
    }
    const double most = *std::ranges::max_element(weights);
    double sum = 0.0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (double& weight : weights) {
      const double byte = std::nearbyint(weight / sum / static_cast<double>(kWeightsScale));
      weight = std::min(byte + c.weights_zero, 255.0) - c.weights_zero;
    }
    for (int64_t j = 0; j < c.columns; ++j) {
      double result = 0.0;
      for (int64_t k = 0; k < c.keys; ++k) {
        result += weights[static_cast<size_t>(k)] * (value.at(k, j) - c.zero);
      }
      results.push_back(result * static_cast<double>(kWeightsScale));
    }
  }
  return results;
}

void expect_integers(const ByteCase& c) {
  const ByteMatrix query(c.rows, c.depth, c.turned, c.type, 1);
  const ByteMatrix key(c.depth, c.keys, !c.turned, c.type, 2);
  const ByteMatrix value(c.keys, c.columns, c.turned, c.type, 3);
  const std::vector<float> pairs = attended(c, ElementType::Int16, false, query, key, value);
  EXPECT_EQ(pairs, attended(c, ElementType::Int8, true, query, key, value)) << "emulated quads";
  if (cpu::attention_integers() == ElementType::Int8) {
    EXPECT_EQ(pairs, attended(c, ElementType::Int8, false, query, key, value)) << "quads";
  }
  // Few weights are so near to the middle of two steps that they are rounded the other way.
  const std::vector<double> wanted = defined(c, query, key, value);
  size_t others = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double distance = std::abs(static_cast<double>(pairs[i]) - wanted[i]);
    ASSERT_LE(distance, 3 * 256 * static_cast<double>(kWeightsScale)) << i;
    others += distance > 1e-3 ? 1 : 0;
  }
  EXPECT_LE(others, std::max<size_t>(wanted.size() / 20, static_cast<size_t>(c.columns)));
}

/// Sums are those of the integers, whatever multiplies them.
TEST(ByteAttentionLoops, AllWaysGiveTheSameIntegers) {
  bool has_run = false;
  cpu_testing::on_each_instruction_set([&] {
    if (cpu::attention_integers() == ElementType::Float32) return;
    has_run = true;
    for (const bool turned : {false, true}) {
      for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
        for (const auto& [rows, depth, keys, columns] :
             {std::tuple<int64_t, int64_t, int64_t, int64_t>{1, 1, 1, 1},
              {5, 16, 16, 16},
              {14, 33, 49, 32},
              {31, 64, 197, 70},
              {15, 300, 31, 5},
              {3, 34, 130, 17}}) {
          SCOPED_TRACE(to_string(Shape{rows, depth, keys, columns}));
          const int half = type == ElementType::UInt8 ? 128 : 0;
          expect_integers({rows, depth, keys, columns, turned, type, half, 0});
          expect_integers({rows, depth, keys, columns, turned, type, half - 100, 0});
          expect_integers({rows, depth, keys, columns, turned, type, half + 90, 7});
        }
      }
    }
  });
  if (!has_run) GTEST_SKIP() << "no SSE4: nothing multiplies bytes here";
}

}  // namespace
}  // namespace het
