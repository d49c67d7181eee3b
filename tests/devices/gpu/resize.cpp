#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuResize : public GpuTest {
 protected:
  static Value* channels_last(ModelMaker& maker, Value* x) {
    return maker.op("MaxPool", {x}, make_attributes({{"kernel_shape", Ints{1, 1}}}));
  }
  static Value* resize(ModelMaker& maker, Value* x, const Ints& sizes, const std::string& mode,
                       const std::string& coordinates = "half_pixel") {
    return maker.op(
        "Resize", {x, nullptr, nullptr, maker.ints(sizes)},
        make_attributes({{"mode", mode}, {"coordinate_transformation_mode", coordinates}}));
  }
};

TEST_F(GpuResize, EveryModeInBothFormats) {
  for (const Properties& properties :
       {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      ModelMaker maker;
      Value* x = maker.input({2, 21, 5, 7});
      for (Value* from : {x, channels_last(maker, x)}) {
        maker.output(resize(maker, from, {2, 21, 10, 14}, mode));
        maker.output(resize(maker, from, {2, 21, 9, 4}, mode, "align_corners"));
        maker.output(resize(maker, from, {2, 21, 5, 20}, mode, "asymmetric"));
      }
      compare(maker.model(), properties.empty() ? 2e-6f : 2e-3f, properties);
    }
  }
}

TEST_F(GpuResize, ChannelsAndOtherDimensions) {
  ModelMaker maker;
  Value* x = maker.input({1, 6, 5, 7});
  Value* last = channels_last(maker, x);
  maker.output(resize(maker, last, {1, 9, 8, 7}, "linear"));
  maker.output(resize(maker, last, {1, 3, 5, 7}, "nearest"));
  maker.output(resize(maker, maker.input({8, 5}), {3, 9}, "linear"));
  compare(maker.model(), 2e-6f);
}

TEST_F(GpuResize, CropsGetTheGivenValueOutside) {
  for (const char* mode : {"nearest", "linear"}) {
    ModelMaker maker;
    Value* x = maker.input({1, 10, 6, 6});
    Value* roi = maker.constant(
        Tensor::from<float>({8}, std::vector<float>{0, 0, -0.3f, 0.2f, 1, 1, 0.8f, 1.4f}));
    Attributes attributes =
        make_attributes({{"mode", std::string(mode)},
                         {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                         {"extrapolation_value", 7.5f}});
    for (Value* from : {x, channels_last(maker, x)}) {
      maker.output(maker.op("Resize", {from, roi, nullptr, maker.ints({1, 10, 9, 8})}, attributes));
    }
    compare(maker.model(), 2e-6f);
  }
}

TEST_F(GpuResize, InterpolationOverFourDimensionsIsRefused) {
  ModelMaker maker;
  maker.output(resize(maker, maker.input({2, 3, 4, 5}), {3, 4, 5, 6}, "linear"));
  const auto compiled = device_->compile_model(maker.model(), {}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message().find("more than three neighbouring dimensions"),
            std::string::npos);
}

TEST_F(GpuResize, GridsPickPixelsOfEveryMode) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      ModelMaker maker;
      Value* x = maker.input({2, 11, 6, 9});
      maker.output(maker.op(
          "GridSample", {x, maker.input({2, 4, 5, 2})},
          make_attributes({{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}})));
      compare(maker.model(), 2e-5f);
    }
  }
}

}  // namespace
}  // namespace het::gpu_testing
