#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

/// LSTM, GRU and RNN: sequences of 9 steps, 3 of them, 19 hidden units.
class GpuRecurrent : public GpuTest {
 protected:
  static constexpr int64_t kSteps = 9;
  static constexpr int64_t kBatch = 3;
  static constexpr int64_t kInput = 13;
  static constexpr int64_t kHidden = 19;

  static Model& cell(ModelMaker& maker, const std::string& type, int64_t gates,
                     const std::string& direction, Attributes attributes = {}) {
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    attributes.set("hidden_size", kHidden);
    attributes.set("direction", direction);
    const float scale = 0.3f;
    std::vector<Value*> inputs = {maker.input({kSteps, kBatch, kInput}),
                                  maker.random({directions, gates * kHidden, kInput}, scale),
                                  maker.random({directions, gates * kHidden, kHidden}, scale),
                                  maker.random({directions, 2 * gates * kHidden}, scale),
                                  nullptr,
                                  maker.input({directions, kBatch, kHidden})};
    if (type == "LSTM") inputs.push_back(maker.input({directions, kBatch, kHidden}));
    for (Value* value :
         maker.split(type, std::move(inputs), type == "LSTM" ? 3 : 2, std::move(attributes))) {
      maker.output(value);
    }
    return maker.model();
  }
};

TEST_F(GpuRecurrent, LstmInBothDirections) {
  ModelMaker maker;
  Model& model = cell(maker, "LSTM", 4, "bidirectional");
  compare(model);
  compare(model, 5e-3f, {{"INFERENCE_PRECISION_HINT", "f16"}});
}

TEST_F(GpuRecurrent, GruResetsBeforeOrAfterTheProduct) {
  for (const int64_t after : {0, 1}) {
    ModelMaker maker;
    compare(cell(maker, "GRU", 3, "reverse", make_attributes({{"linear_before_reset", after}})));
  }
}

TEST_F(GpuRecurrent, ActivationsAndClip) {
  ModelMaker maker;
  compare(cell(
      maker, "LSTM", 4, "forward",
      make_attributes({{"activations", std::vector<std::string>{"HardSigmoid", "Softsign", "Elu"}},
                       {"clip", 0.7f}})));
  ModelMaker plain;
  compare(cell(plain, "RNN", 1, "forward"));
}

TEST_F(GpuRecurrent, WeightsMustBeConstant) {
  ModelMaker maker;
  Value* r = maker.input({1, 4 * kHidden, kHidden});
  maker.output(maker.op(
      "LSTM", {maker.input({kSteps, kBatch, kInput}), maker.random({1, 4 * kHidden, kInput}), r},
      make_attributes({{"hidden_size", kHidden}})));
  const auto compiled = device_->compile_model(maker.model(), {}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message().find("weights are computed at run time"), std::string::npos)
      << compiled.error().message();
}

}  // namespace
}  // namespace het::gpu_testing
