// Attention: MatMul, Softmax, MatMul as products that read their operands where they lie.
#include "tests/devices/attention_testing.h"
#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuAttention : public AttentionTest<GpuTest> {
 protected:
  static size_t attentions(const std::vector<ProfileRow>& rows) {
    return count_type(rows, "Attention");
  }
};

TEST_F(GpuAttention, OneProductForQueriesKeysAndValues) {
  make_packed_attention();
  const auto rows = compare(maker_.model());
  EXPECT_EQ(attentions(rows), 1U);
  EXPECT_EQ(count_type(rows, "Transpose"), 0U);
}

TEST_F(GpuAttention, Sizes) {
  for (const Ints& size : attention_sizes()) {
    ModelMaker maker;
    make_attention(maker, size);
    EXPECT_EQ(attentions(compare(maker.model())), 1U) << het::to_string(size);
    compare(maker.model(), 5e-3f, {{"INFERENCE_PRECISION_HINT", "f16"}});
  }
}

TEST_F(GpuAttention, MasksAreAddedAlongTheScores) {
  for (const Shape& shape : {Shape{2, 3, 6, 18}, Shape{6, 18}, Shape{2, 1, 1, 18}, Shape{6, 1}}) {
    for (const bool first : {false, true}) {
      ModelMaker maker;
      make_masked_attention(maker, shape, first);
      EXPECT_EQ(attentions(compare(maker.model())), 1U) << het::to_string(shape);
    }
  }
}

}  // namespace
}  // namespace het::gpu_testing
