#include "tests/devices/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuPool : public GpuTest {
 protected:
  static Attributes window(const Ints& kernel, const Ints& strides, const Ints& pads) {
    return make_attributes({{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}});
  }
};

TEST_F(GpuPool, ChannelsThatFillNoVector) {
  for (const int64_t channels : {1, 3, 8, 21}) {
    for (const Properties& properties :
         {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
      ModelMaker maker;
      Value* x = maker.input({2, channels, 13, 10});
      Attributes attributes = window({3, 2}, {2, 1}, {1, 0, 1, 1});
      maker.output(maker.op("MaxPool", {x}, attributes));
      maker.output(maker.op("LpPool", {x}, attributes));
      maker.output(maker.op("AveragePool", {x}, attributes));
      attributes.set("count_include_pad", int64_t{1});
      attributes.set("ceil_mode", int64_t{1});
      maker.output(maker.op("AveragePool", {x}, attributes));
      compare(maker.model(), properties.empty() ? 2e-6f : 1e-3f, properties);
    }
  }
}

TEST_F(GpuPool, MeansOfLargePicturesInParts) {
  for (const Properties& properties :
       {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
    ModelMaker maker;
    for (const Shape& shape : {Shape{1, 3, 120, 97}, Shape{2, 40, 7, 7}, Shape{1, 9, 500}}) {
      Value* x = maker.op("Abs", {maker.input(shape)});
      maker.output(maker.op("GlobalAveragePool", {x}));
      maker.output(maker.op("GlobalMaxPool", {x}));
    }
    compare(maker.model(), properties.empty() ? 2e-6f : 1e-3f, properties);
  }
}

TEST_F(GpuPool, PlacesOfMaxima) {
  for (const int64_t order : {0, 1}) {
    ModelMaker maker;
    Value* x = maker.op("Round", {maker.input({2, 3, 9, 8})});
    Attributes attributes = window({3, 3}, {2, 2}, {1, 1, 1, 1});
    attributes.set("storage_order", order);
    for (Value* output : maker.split("MaxPool", {x}, 2, attributes)) maker.output(output);
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuPool, BytesStayBytes) {
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    ModelMaker maker;
    Value* x = maker.input({1, 19, 8, 8}, type);
    maker.output(maker.op("MaxPool", {x}, window({3, 3}, {2, 2}, {1, 1, 1, 1})));
    compare(maker.model(), 0.0f);
  }
}

}  // namespace
}  // namespace het::gpu_testing
