/// DepthToSpace and SpaceToDepth on device CPU, and transposed convolutions that become one.

#include <memory>
#include <string>
#include <vector>

#include "devices/cpu/onednn/onednn.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuDepthToSpace : public CpuTest {
 protected:
  /// Sources that lie as planes, in blocks and with the channels last; block sizes of 2 and 3.
  void move_in_all_formats(float tolerance, const Properties& properties) {
    for (const char* type : {"DepthToSpace", "SpaceToDepth"}) {
      for (const char* mode : {"DCR", "CRD"}) {
        for (const int64_t block : {2, 3}) {
          for (const int64_t c : {3, 16, 20}) {
            SCOPED_TRACE(testing::Message() << type << " " << mode << " " << block << " " << c);
            const bool to_space = type == std::string("DepthToSpace");
            const int64_t channels = to_space ? c * block * block : c;
            const int64_t height = to_space ? 3 : 3 * block;
            const int64_t width = to_space ? 5 : 2 * block;
            const int64_t moved = to_space ? c : c * block * block;
            ModelMaker maker;
            Value* x = maker.input({2, channels, height, width});
            Value* last = maker.op("Transpose", {maker.input({2, height, width, channels})},
                                   make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
            auto attributes = make_attributes({{"blocksize", block}});
            attributes.set("mode", std::string(mode));
            for (Value* src : {x, maker.conv(x, channels, channels), last}) {
              maker.output(maker.op(type, {src}, attributes));
              // As it is kept between nodes.
              maker.output(maker.conv(maker.op(type, {src}, attributes), moved, 8));
            }
            const auto rows = compare(maker.model(), tolerance, properties);
            EXPECT_EQ(count_type(rows, type), 6u);
            for (const ProfileRow& row : rows) EXPECT_NE(row.exec_type, "ref") << row.node_name;
          }
        }
      }
    }
  }

  /// How many nodes are left of the type behind the passes; the device must compute what REF does.
  size_t left_of(const std::string& type, const Model& model) {
    const std::unique_ptr<Model> prepared = model.clone();
    EXPECT_TRUE(prepare_model(*prepared).ok());
    EXPECT_TRUE(run_rewrites(*prepared, {split_conv_transpose}).ok());
    compare(model, 5e-5f);
    return static_cast<size_t>(std::ranges::count_if(
        prepared->nodes(), [&](const auto& node) { return node->op_type() == type; }));
  }
};

TEST_F(CpuDepthToSpace, AllFormats) {
  move_in_all_formats(2e-5f, {});
}

TEST_F(CpuDepthToSpace, AllFormatsAndBfloat16) {
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  move_in_all_formats(0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

TEST_F(CpuDepthToSpace, OtherTypes) {
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    ModelMaker maker;
    Value* x = maker.input({1, 8, 3, 2}, type);
    maker.output(maker.op("DepthToSpace", {x}, make_attributes({{"blocksize", int64_t{2}}})));
    EXPECT_EQ(count_type(compare(maker.model()), "DepthToSpace"), 1u);
  }
}

TEST_F(CpuDepthToSpace, WindowsSideBySideAreProductsOfPixels) {
  for (const int64_t side : {2, 3}) {
    for (const int64_t oc : {1, 5, 16}) {
      for (const bool has_bias : {false, true}) {
        SCOPED_TRACE(testing::Message() << side << " " << oc);
        ModelMaker maker;
        Value* x = maker.conv(maker.input({2, 6, 4, 5}), 6, 24);
        std::vector<Value*> inputs = {x, maker.random({24, oc, side, side}, 0.3f)};
        if (has_bias) inputs.push_back(maker.random({oc}));
        const auto strides = make_attributes({{"strides", Ints{side, side}}});
        // With a tail, and as it is.
        maker.output(maker.op("Sigmoid", {maker.op("ConvTranspose", inputs, strides)}));
        maker.output(maker.conv(maker.op("ConvTranspose", inputs, strides), oc, 8, 3));
        EXPECT_EQ(left_of("ConvTranspose", maker.model()), 0u);
        EXPECT_EQ(count_type(compare(maker.model(), 5e-5f), "ConvTranspose"), 0u);
      }
    }
  }
}

TEST_F(CpuDepthToSpace, OtherWindowsStay) {
  const std::vector<Attributes> others = {
      make_attributes({{"strides", Ints{1, 1}}}),
      make_attributes({{"strides", Ints{2, 1}}}),
      make_attributes({{"strides", Ints{3, 3}}}),
      make_attributes({{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 0, 0}}}),
      make_attributes({{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 1}}}),
      make_attributes({{"strides", Ints{2, 2}}, {"dilations", Ints{2, 2}}}),
      make_attributes({{"strides", Ints{2, 2}}, {"group", int64_t{2}}}),
  };
  for (const Attributes& attributes : others) {
    ModelMaker maker;
    maker.output(maker.op("ConvTranspose",
                          {maker.input({1, 4, 5, 6}), maker.random({4, 3, 2, 2}), nullptr},
                          attributes));
    EXPECT_EQ(left_of("ConvTranspose", maker.model()), 1u);
  }
  // Weights that the model computes, and a sum: where it is added is another place.
  ModelMaker maker;
  maker.output(maker.op("ConvTranspose", {maker.input({1, 4, 5, 6}), maker.input({4, 3, 2, 2})},
                        make_attributes({{"strides", Ints{2, 2}}})));
  EXPECT_EQ(left_of("ConvTranspose", maker.model()), 1u);
  ModelMaker summed;
  Value* y = summed.op("ConvTranspose", {summed.input({1, 4, 5, 6}), summed.random({4, 3, 2, 2})},
                       make_attributes({{"strides", Ints{2, 2}}}));
  summed.output(summed.op("Add", {y, summed.input({1, 3, 10, 12})}));
  compare(summed.model());
}

}  // namespace
}  // namespace het
