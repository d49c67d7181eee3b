#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

/// Priors on a grid with corners and variances, normalised.
Tensor grid_priors(int64_t priors) {
  Tensor tensor = *Tensor::allocate({ElementType::Float32, {1, 2, priors * 4}});
  float* prior = tensor.data<float>();
  for (int64_t i = 0; i < priors; ++i, prior += 4) {
    prior[0] = static_cast<float>(i % 60) * 0.015f;
    prior[1] = static_cast<float>(i / 60 % 60) * 0.015f;
    prior[2] = prior[0] + 0.08f;
    prior[3] = prior[1] + 0.05f;
  }
  std::fill(prior, prior + priors * 4, 0.1f);
  return tensor;
}

class GpuDetection : public GpuTest {
 protected:
  struct Case {
    int64_t priors, classes, top_k, keep_top_k, images;
    bool best_class_only;
  };
  static void build(ModelMaker& maker, const Case& c) {
    Value* logits = maker.input({c.images, c.priors * 4});
    // Scores of whole eighths, so that many are equal.
    Value* scores = maker.op(
        "Mul", {maker.op("Round", {maker.op("Mul", {maker.input({c.images, c.priors * c.classes}),
                                                    maker.constant(Tensor::scalar(4.0f))})}),
                maker.constant(Tensor::scalar(0.125f))});
    maker.output(
        maker.op("DetectionOutput", {logits, scores, maker.constant(grid_priors(c.priors))},
                 make_attributes({{"background_label_id", int64_t{0}},
                                  {"num_classes", c.classes},
                                  {"top_k", c.top_k},
                                  {"keep_top_k", Ints{c.keep_top_k}},
                                  {"code_type", std::string("caffe.PriorBoxParameter.CENTER_SIZE")},
                                  {"normalized", int64_t{1}},
                                  {"clip_after_nms", int64_t{1}},
                                  {"decrease_label_id", int64_t{c.best_class_only}},
                                  {"nms_threshold", 0.45f},
                                  {"confidence_threshold", 0.3f}}),
                 "het"));
  }
};

TEST_F(GpuDetection, SortsManyPriorsInRounds) {
  for (const Case& c : {Case{5000, 3, 200, 100, 2, false}, Case{3000, 2, -1, 60, 1, false},
                        Case{2500, 4, 300, 50, 2, true}, Case{400, 21, 400, 200, 1, false},
                        Case{90, 2, 400, 200, 1, false}}) {
    ModelMaker maker;
    build(maker, c);
    compare(maker.model(), 1e-5f);
  }
}

TEST_F(GpuDetection, BoxesStayFloatWhereOthersAreHalf) {
  ModelMaker maker;
  build(maker, {700, 2, 100, 40, 1, false});
  compare(maker.model(), 2e-3f, {{"INFERENCE_PRECISION_HINT", "f16"}});
}

TEST_F(GpuDetection, DecoderMergesRepetitions) {
  for (const int64_t merge : {0, 1}) {
    ModelMaker maker;
    Value* mask = maker.constant(Tensor::from<float>({40, 3}, std::vector<float>(120, 1.0f)));
    maker.output(maker.op("CTCGreedyDecoder", {maker.input({40, 3, 5}), mask},
                          make_attributes({{"ctc_merge_repeated", merge}}), "het"));
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuDetection, SequencesOfLengthsAreDecoded) {
  for (const int64_t merge : {0, 1}) {
    for (const char* type : {"int32", "int64"}) {
      ModelMaker maker;
      Value* lengths = maker.constant(Tensor::from<int32_t>({3}, {40, 0, 17}));
      Node* decoder = maker.model().add_node(
          "decoder", "CTCGreedyDecoderSeqLen", "het",
          {maker.input({3, 40, 5}), lengths, maker.ints({2})}, {"classes", "counts"},
          make_attributes({{"merge_repeated", merge},
                           {"classes_index_type", std::string(type)},
                           {"sequence_length_type", std::string(type)}}));
      maker.output(decoder->output(0));
      maker.output(decoder->output(1));
      // The last class is the blank.
      maker.output(maker.op("CTCGreedyDecoderSeqLen", {maker.input({3, 40, 4}), lengths},
                            make_attributes({{"merge_repeated", merge}}), "het"));
      compare(maker.model(), 0.0f);
    }
  }
}

TEST_F(GpuDetection, LargestElementsOfRegions) {
  ModelMaker maker;
  Value* x = maker.input({2, 5, 17, 13});
  // Inside, over the edge, outside, and with corners the wrong way round.
  Value* regions = maker.constant(Tensor::from<float>(
      {4, 5}, {0, 2, 3, 9, 11, 1, -4, 5, 30, 40, 0, 50, 60, 70, 80, 1, 9, 9, 3, 3}));
  maker.output(
      maker.op("MaxRoiPool", {x, regions}, make_attributes({{"pooled_shape", Ints{4, 3}}})));
  maker.output(maker.op("MaxRoiPool", {x, regions},
                        make_attributes({{"pooled_shape", Ints{2, 5}}, {"spatial_scale", 0.37f}})));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuDetection, CropsAreResized) {
  for (const char* mode : {"bilinear", "nearest"}) {
    ModelMaker maker;
    Value* x = maker.input({2, 5, 17, 13});
    Value* regions = maker.constant(Tensor::from<float>(
        {3, 4}, {0.0f, 0.0f, 1.0f, 1.0f, 0.9f, 0.1f, 0.2f, 0.7f, -0.2f, 0.3f, 0.6f, 1.3f}));
    Value* pictures = maker.constant(Tensor::from<int32_t>({3}, {0, 1, 1}));
    for (const Ints& size : {Ints{7, 5}, Ints{1, 9}, Ints{17, 13}}) {
      maker.output(
          maker.op("CropAndResize", {x, regions, pictures, maker.ints(size)},
                   make_attributes({{"mode", std::string(mode)}, {"extrapolation_value", -3.0f}}),
                   "com.microsoft"));
    }
    compare(maker.model(), 2e-6f);
  }
}

}  // namespace
}  // namespace het::gpu_testing
