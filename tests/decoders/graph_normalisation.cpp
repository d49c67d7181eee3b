#include "inference/decoders/graph_normalisation.h"

#include <gtest/gtest.h>

#include "inference/decoders/known_normalisations.h"
#include "inference/decoders/picture_assumption.h"

namespace het {
namespace {

/// A picture and what is done to it, one node behind the other, before a convolution.
struct PictureGraph {
  Model model{"graph"};
  Value* last = model.add_input("picture", {ElementType::Float32, {1, 3, 8, 8}});

  PictureGraph& node(const std::string& type, const std::vector<float>& operand,
                     bool first = false) {
    std::vector<Value*> inputs{last};
    if (!operand.empty()) {
      const auto count = static_cast<int64_t>(operand.size());
      Value* constant = model.add_constant("c" + std::to_string(model.nodes().size()),
                                           Tensor::from<float>({count, 1, 1}, operand));
      inputs.insert(first ? inputs.begin() : inputs.end(), constant);
    }
    return append(type, std::move(inputs));
  }
  PictureGraph& append(const std::string& type, std::vector<Value*> inputs) {
    const std::string name = "n" + std::to_string(model.nodes().size());
    last = model.add_node(name, type, "", std::move(inputs), {name})->output();
    return *this;
  }
  PictureGraph& quantise(float scale, Tensor zero) {
    Value* s = model.add_constant("scale", Tensor::scalar(scale));
    Value* z = model.add_constant("zero", std::move(zero));
    return append("QuantizeLinear", {last, s, z});
  }
  std::optional<PixelEvidence> evidence() {
    append("Conv", {last, model.add_constant("w", Tensor::from<float>({1}, {0}))});
    model.add_output("out", last);
    return pixel_evidence(*model.inputs()[0].value);
  }
};

using Floats = std::vector<float>;

TEST(PixelEvidence, MeansAndScales) {
  struct Case {
    std::vector<std::pair<std::string, Floats>> nodes;
    float range_high;  ///< 0: nothing is told
    std::optional<ColorOrder> order;
  };
  const Floats mean{0.485f, 0.456f, 0.406f};
  const Floats std{0.229f, 0.224f, 0.225f};
  const std::vector<Case> cases{
      {{{"Sub", mean}, {"Div", std}}, 1.0f, ColorOrder::RGB},
      {{{"Identity", {}}, {"Div", {255.0f}}}, 255.0f, std::nullopt},
      {{{"Mul", {1.0f / 255.0f}}, {"Sub", mean}, {"Div", std}}, 255.0f, ColorOrder::RGB},
      {{{"Sub", {103.53f, 116.28f, 123.675f}}, {"Mul", {0.0174f, 0.0175f, 0.0171f}}},
       255.0f,
       ColorOrder::BGR},
      {{{"Add", {-104.0f, -117.0f, -123.0f}}}, 255.0f, ColorOrder::BGR},
      {{{"Mul", {2.0f}}, {"Sub", {1.0f}}}, 1.0f, std::nullopt},
      {{{"Div", {127.5f}}, {"Sub", {1.0f}}}, 255.0f, std::nullopt},
      {{}, 0.0f, std::nullopt},
      {{{"Relu", {}}, {"Div", {255.0f}}}, 0.0f, std::nullopt},
      {{{"Mul", {1e-6f}}}, 0.0f, std::nullopt},
      {{{"Div", {0.0f}}}, 0.0f, std::nullopt},
      {{{"Mul", {0.0f}}}, 0.0f, std::nullopt},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    PictureGraph graph;
    for (const auto& [type, operand] : cases[i].nodes) graph.node(type, operand);
    const auto evidence = graph.evidence();
    EXPECT_EQ(evidence ? evidence->range_high : 0.0f, cases[i].range_high) << i;
    if (evidence) {
      EXPECT_EQ(evidence->order, cases[i].order) << i;
    }
  }
}

TEST(PixelEvidence, ARangeThatWasQuantised) {
  const auto high_of = [](float scale, Tensor zero) {
    PictureGraph graph;
    const auto evidence = graph.quantise(scale, std::move(zero)).evidence();
    return evidence ? evidence->range_high / evidence->std[0] : 0.0f;
  };
  EXPECT_FLOAT_EQ(high_of(1.0f / 255.0f, Tensor::scalar<uint8_t>(0)), 1.0f);
  EXPECT_FLOAT_EQ(high_of(1.0f, Tensor::scalar<uint8_t>(0)), 255.0f);
  EXPECT_FLOAT_EQ(high_of(1.0f, Tensor::scalar<int8_t>(-128)), 255.0f);
  EXPECT_FLOAT_EQ(high_of(2.0f / 255.0f, Tensor::scalar<uint8_t>(128)), 2.0f);  // -1..1
  EXPECT_FLOAT_EQ(high_of(0.0187f, Tensor::scalar<uint8_t>(114)), 1.0f / kImageNetStd[0]);
  EXPECT_FLOAT_EQ(high_of(2.0f, Tensor::scalar<int8_t>(0)), 255.0f);
  EXPECT_FLOAT_EQ(high_of(0.0208f, Tensor::scalar<int8_t>(0)), 1.0f / kImageNetStd[0]);
  // Symmetric, 0..1 or -1..1; and nothing that pictures have.
  EXPECT_EQ(high_of(1.0f / 127.0f, Tensor::scalar<int8_t>(0)), 0.0f);
  EXPECT_EQ(high_of(7.0f, Tensor::scalar<uint8_t>(3)), 0.0f);
}

DecoderConfig read_by(const char* converter) {
  DecoderConfig config;
  config.converter = converter;
  return config;
}

TEST(PictureAssumption, FamiliesFixIt) {
  PictureGraph graph;
  graph.evidence();
  const Value& input = *graph.model.inputs()[0].value;
  const PictureAssumption yolo = assume_pictures(read_by("yolo_v8_seg"), graph.model, input);
  EXPECT_FALSE(yolo.is_guess);
  EXPECT_EQ(yolo.input.preprocess.color_order, ColorOrder::RGB);
  EXPECT_EQ(yolo.input.preprocess.range_high, 1.0f);
  EXPECT_EQ(yolo.input.preprocess.resize, ResizeMode::LetterboxCentre);
  DecoderConfig logits = read_by("label");
  logits.method = "softmax";
  const PictureAssumption classes = assume_pictures(logits, graph.model, input);
  EXPECT_FALSE(classes.is_guess);
  EXPECT_EQ(classes.input.preprocess.mean, kImageNetMean);
  EXPECT_TRUE(assume_pictures(read_by("label"), graph.model, input).is_guess);
  graph.model.metadata()["MO_version"] = "2021.4";
  const PictureAssumption converted = assume_pictures(read_by("label"), graph.model, input);
  EXPECT_FALSE(converted.is_guess);
  EXPECT_EQ(converted.input.preprocess, PreprocessDesc{});
}

TEST(PictureAssumption, TheGraphCorrectsTheFamily) {
  PictureGraph graph;
  graph.node("Div", {255.0f}).evidence();
  const PictureAssumption yolo =
      assume_pictures(read_by("yolo_v8"), graph.model, *graph.model.inputs()[0].value);
  EXPECT_EQ(yolo.input.preprocess.range_high, 255.0f);
  EXPECT_EQ(yolo.input.preprocess.color_order, ColorOrder::RGB);
  Model grey("grey");
  Value* pixels = grey.add_input("picture", {ElementType::Float32, {1, 1, 8, 8}});
  Value* scale = grey.add_constant("c", Tensor::scalar(255.0f));
  grey.add_output("y", grey.add_node("d", "Div", "", {pixels, scale}, {"d"})->output());
  EXPECT_FALSE(assume_pictures(read_by("paddle_ocr_ctc"), grey, *pixels).is_guess);
  // A range alone leaves the order of channels open.
  EXPECT_TRUE(
      assume_pictures(read_by("label"), graph.model, *graph.model.inputs()[0].value).is_guess);
}

}  // namespace
}  // namespace het
