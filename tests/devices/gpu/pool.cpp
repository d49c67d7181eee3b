#include "tests/devices/gpu/gpu_testing.h"

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

TEST_F(GpuPool, AdaptiveBinsOverlap) {
  for (const Properties& properties :
       {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
    ModelMaker maker;
    for (const auto& [shape, size] : std::vector<std::pair<Shape, Ints>>{
             {{2, 3, 13, 10}, {5, 4}}, {{1, 2, 7}, {9}}, {{1, 2, 5, 6, 7}, {2, 6, 3}}}) {
      Value* x = maker.input(shape);
      maker.output(maker.op("AdaptiveAvgPool", {x, maker.ints(size)}, {}, "het"));
      maker.output(maker.op("AdaptiveMaxPool", {x, maker.ints(size)}, {}, "het"));
    }
    compare(maker.model(), properties.empty() ? 2e-6f : 1e-3f, properties);
  }
}

TEST_F(GpuPool, AdaptivePlacesAreThoseOfTheFirstMaxima) {
  for (const char* type : {"i32", "i64"}) {
    ModelMaker maker;
    Value* x = maker.op("Round", {maker.input({2, 3, 9, 8})});
    Node* pool = maker.model().add_node(
        "pool", "AdaptiveMaxPool", "het", {x, maker.ints({4, 3})}, {"largest", "places"},
        make_attributes({{"index_element_type", std::string(type)}}));
    maker.output(pool->output(0));
    maker.output(pool->output(1));
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuPool, UnpooledValuesGoBackToTheirPlaces) {
  ModelMaker maker;
  // Windows overlap, so places come twice.
  const Attributes attributes = window({3, 3}, {2, 2}, {0, 0, 0, 0});
  const auto pooled = maker.split("MaxPool", {maker.input({2, 3, 9, 11})}, 2, attributes);
  maker.output(maker.op("MaxUnpool", pooled, attributes));
  // A larger output, and other values, of which the last one counts.
  Value* values = maker.op("Add", {pooled[0], maker.random({2, 3, 4, 5})});
  maker.output(maker.op("MaxUnpool", {values, pooled[1], maker.ints({2, 3, 12, 13})}, attributes));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuPool, ColumnsBecomePictures) {
  struct Case {
    Shape columns;
    Ints image;
    Ints block;
    Attributes attributes;
  };
  ModelMaker maker;
  for (const Case& one :
       {Case{{2, 18, 30}, {7, 8}, {3, 3}, {}},
        Case{{1, 12, 12},
             {7, 8},
             {2, 3},
             make_attributes(
                 {{"strides", Ints{2, 2}}, {"dilations", Ints{1, 2}}, {"pads", Ints{1, 1, 0, 1}}})},
        Case{{1, 6, 7}, {9}, {3}, {}}, Case{{1, 16, 12}, {3, 4, 3}, {2, 2, 2}, {}}}) {
    maker.output(maker.op("Col2Im",
                          {maker.input(one.columns), maker.ints(one.image), maker.ints(one.block)},
                          one.attributes));
  }
  compare(maker.model(), 2e-6f);
}

}  // namespace
}  // namespace het::gpu_testing
