#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

/// Priors on a grid, corners and variances as DetectionOutput wants them.
Tensor grid_priors(int64_t priors, bool with_variances, int64_t size) {
  Tensor tensor =
      *Tensor::allocate({ElementType::Float32, {1, with_variances ? 2 : 1, priors * size}});
  float* prior = tensor.data<float>();
  for (int64_t i = 0; i < priors; ++i, prior += size) {
    const float scale = size == 5 ? 300.0f : 1.0f;
    float* box = prior + size - 4;
    box[0] = static_cast<float>(i % 20) * 0.045f * scale;
    box[1] = static_cast<float>(i / 20) * 0.045f * scale;
    box[2] = box[0] + 0.2f * scale;
    box[3] = box[1] + 0.15f * scale;
  }
  if (with_variances) std::fill(prior, prior + priors * size, 0.1f);
  return tensor;
}

struct DetectionCase {
  int64_t classes, background, top_k, keep_top_k;
  const char* code;
  bool variance_in_target, normalized, share_location, clip;
  int64_t images;
};

class CpuDetection : public CpuTest {};

TEST_F(CpuDetection, DetectionOutputIsTheReferences) {
  constexpr int64_t kPriors = 333;
  for (const DetectionCase& c : {
           DetectionCase{2, 0, 100, 50, "caffe.PriorBoxParameter.CENTER_SIZE", false, true, true,
                         false, 1},
           DetectionCase{7, 0, 40, 60, "caffe.PriorBoxParameter.CENTER_SIZE", false, true, true,
                         true, 2},
           DetectionCase{5, -1, -1, 30, "caffe.PriorBoxParameter.CORNER", true, true, false, false,
                         1},
           DetectionCase{3, 1, 20, -1, "caffe.PriorBoxParameter.CORNER_SIZE", false, false, true,
                         false, 2},
           DetectionCase{2, 0, 5, 400, "caffe.PriorBoxParameter.CORNER", true, false, true, true,
                         1},
       }) {
    SCOPED_TRACE(c.code + std::to_string(c.classes));
    ModelMaker maker;
    const int64_t location_classes = c.share_location ? 1 : c.classes;
    Value* logits = maker.input({c.images, kPriors * location_classes * 4});
    // Scores of whole eighths, so that many are equal.
    Value* scores = maker.op(
        "Mul", {maker.op("Round", {maker.op("Mul", {maker.input({c.images, kPriors * c.classes}),
                                                    maker.constant(Tensor::scalar(4.0f))})}),
                maker.constant(Tensor::scalar(0.125f))});
    Value* priors =
        maker.constant(grid_priors(kPriors, !c.variance_in_target, c.normalized ? 4 : 5));
    Attributes attributes =
        make_attributes({{"background_label_id", c.background},
                         {"top_k", c.top_k},
                         {"keep_top_k", cpu_testing::Ints{c.keep_top_k}},
                         {"code_type", c.code},
                         {"variance_encoded_in_target", int64_t{c.variance_in_target}},
                         {"normalized", int64_t{c.normalized}},
                         {"share_location", int64_t{c.share_location}},
                         {"clip_before_nms", int64_t{c.clip}},
                         {"clip_after_nms", int64_t{c.clip}},
                         {"nms_threshold", 0.45f},
                         {"confidence_threshold", 0.1f}});
    if (!c.normalized) {
      attributes.set("input_width", int64_t{300});
      attributes.set("input_height", int64_t{300});
    }
    maker.output(maker.op("DetectionOutput", {logits, scores, priors}, attributes, "het"));
    const std::vector<ProfileRow> rows = compare(maker.model(), 1e-6f);
    EXPECT_EQ(implementation(rows, "DetectionOutput3"), "own_simd");
  }
}

TEST_F(CpuDetection, CtcTakesTheBestPath) {
  for (const int64_t merge : {0, 1}) {
    ModelMaker maker;
    // Few classes, so that repetitions and blanks are frequent; the mask ends sequence 1 early.
    Value* x = maker.input({40, 2, 3});
    std::vector<float> mask(80, 1.0f);
    mask[2 * 25 + 1] = 0.0f;
    Value* steps = maker.constant(Tensor::from<float>({40, 2}, mask));
    maker.output(maker.op("CTCGreedyDecoder", {x, steps},
                          make_attributes({{"ctc_merge_repeated", merge}}), "het"));
    const std::vector<ProfileRow> rows = compare(maker.model(), 0.0f);
    EXPECT_EQ(implementation(rows, "CTCGreedyDecoder0"), "own_simd");
  }
}

TEST_F(CpuDetection, NormalisationsInAllFormats) {
  for (const std::string format : {"plain", "blocked", "last"}) {
    for (const Shape& shape : {Shape{2, 20, 9, 7}, Shape{1, 20, 80, 70}, Shape{1, 20, 1, 1},
                               Shape{2, 24, 5, 7}, Shape{2, 48, 5, 7}}) {
      SCOPED_TRACE(to_string(shape) + " " + format);
      const int64_t channels = shape[1];
      ModelMaker maker;
      Value* src = maker.input(shape);
      if (format == "blocked") src = maker.conv(src, channels, channels);
      if (format == "last") {
        src = maker.op("Transpose", {maker.input({shape[0], shape[2], shape[3], channels})},
                       make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
      }
      // A mean far from 0 shows whether the variance is taken around it.
      src = maker.op("Add", {src, maker.constant(Tensor::scalar(30.0f))});
      Value* scale = maker.random({channels});
      Value* bias = maker.random({channels});
      Value* made = maker.op("InstanceNormalization", {src, scale, bias});
      Value* grouped = maker.op("GroupNormalization", {src, scale, bias},
                                make_attributes({{"num_groups", int64_t{4}}}));
      // A convolution reads the padding of blocks: it must still be 0.
      maker.output(maker.conv(made, channels, 4));
      maker.output(maker.op("Neg", {made}));
      maker.output(grouped);
      maker.output(maker.conv(grouped, channels, 4));
      const std::vector<ProfileRow> rows = compare(maker.model(), 1e-4f);
      const std::string number = format == "plain" ? "1" : "2";
      EXPECT_EQ(implementation(rows, "InstanceNormalization" + number), "own_simd");
      const std::string next = format == "plain" ? "2" : "3";
      EXPECT_EQ(implementation(rows, "GroupNormalization" + next), "own_simd");
    }
  }
}

TEST_F(CpuDetection, LayerNormalisation) {
  for (const int64_t axis : {-1, 1}) {
    for (const bool with_bias : {false, true}) {
      ModelMaker maker;
      const Shape row = axis == 1 ? Shape{6, 37} : Shape{37};
      std::vector<Value*> inputs = {maker.input({5, 6, 37}), maker.random(row)};
      if (with_bias) inputs.push_back(maker.random(row));
      maker.output(maker.op("LayerNormalization", inputs, make_attributes({{"axis", axis}})));
      const std::vector<ProfileRow> rows = compare(maker.model());
      EXPECT_EQ(implementation(rows, "LayerNormalization0"), "own_simd");
    }
  }
  // A scale per row is broadcast the other way: the reference runs it.
  ModelMaker maker;
  maker.output(maker.op("LayerNormalization", {maker.input({5, 6, 6}), maker.random({6, 1})}));
  EXPECT_EQ(implementation(compare(maker.model()), "LayerNormalization0"), "ref");
}

}  // namespace
}  // namespace het
