#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuConv : public GpuTest {
 protected:
  /// Kernels that ran convolutions.
  static std::string kernels(const std::vector<ProfileRow>& rows) {
    std::string names;
    for (const ProfileRow& row : rows) {
      if (row.layer_type.rfind("Conv", 0) == 0) names += row.exec_type + " ";
    }
    return names;
  }

  /// Lines behind the head of the file of choices.
  static size_t stored_choices(const std::string& folder) {
    size_t lines = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().filename().string().rfind("choices-gpu-", 0) != 0) continue;
      std::ifstream stream(file.path());
      for (std::string line; std::getline(stream, line);) ++lines;
    }
    return lines > 0 ? lines - 1 : 0;
  }

  /// Which of several right kernels runs is a rule for each kind of device; these tests know one.
  static bool chooses_for_a_cpu() { return gpu::find_gpu(0, true)->is_cpu; }

  /// Weights with a spread that keeps results near 1.
  static Value* weights(ModelMaker& maker, const Shape& shape) {
    const auto inputs = static_cast<float>(element_count(shape) / shape[0]);
    return maker.random(shape, 1.0f / std::sqrt(inputs));
  }
};

constexpr float kHalfTolerance = 4e-3f;
const Properties kHalf = {{"INFERENCE_PRECISION_HINT", "f16"}};

TEST_F(GpuConv, ProductsOverPixels) {
  // Channels and pixels that fill no tile, and ones that do.
  for (const auto& [ic, oc, size] : {std::tuple{5, 3, 3}, {16, 17, 7}, {24, 24, 12}, {33, 64, 9}}) {
    ModelMaker maker;
    Value* x = maker.input({2, ic, size, size});
    maker.output(maker.op("Relu", {maker.conv(x, ic, oc)}));
    const std::string made = kernels(compare(maker.model()));
    if (chooses_for_a_cpu()) {
      EXPECT_EQ(made.rfind("multiply_", 0), 0u) << made;
    }
    compare(maker.model(), kHalfTolerance, kHalf);
  }
}

/// Copies that Concat nodes make.
size_t copies(const std::vector<ProfileRow>& rows) {
  return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const ProfileRow& row) {
    return row.layer_type == "Concat" && row.status == ProfileStatus::Executed;
  }));
}

TEST_F(GpuConv, ChannelsAreWrittenWhereTheyAreJoined) {
  // Parts that fill no vector, products and windows, with a tail; [2, 8, 9, 7] pictures.
  for (const bool pooled : {false, true}) {
    ModelMaker maker;
    Value* x = maker.input({2, 8, 9, 7});
    std::vector<Value*> parts{maker.op("Relu", {maker.conv(x, 8, 5)}), maker.conv(x, 8, 13, 3),
                              maker.conv(x, 8, 3)};
    if (pooled) {
      parts.insert(parts.begin() + 1,
                   maker.op("MaxPool", {x},
                            make_attributes({{"kernel_shape", Ints{3, 3}}, {"pads", Ints(4, 1)}})));
    }
    Value* joined = maker.op("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
    maker.output(maker.op("MaxPool", {joined}, make_attributes({{"kernel_shape", Ints{2, 2}}})));
    maker.output(joined);
    const size_t copied = copies(compare(maker.model()));
    if (chooses_for_a_cpu()) {
      EXPECT_EQ(copied, pooled ? 1u : 0u);
    }
    compare(maker.model(), kHalfTolerance, kHalf);
  }
}

TEST_F(GpuConv, WinogradWritesWhereChannelsAreJoined) {
  ModelMaker maker;
  Value* x = maker.input({2, 64, 27, 30});
  const std::vector<Value*> parts = {maker.conv(x, 64, 5), maker.conv(x, 64, 48, 3),
                                     maker.op("Relu", {maker.conv(x, 64, 32, 3)})};
  maker.output(maker.op("Concat", parts, make_attributes({{"axis", int64_t{1}}})));
  const std::vector<ProfileRow> rows = compare(maker.model());
  if (chooses_for_a_cpu()) {
    EXPECT_EQ(copies(rows), 0u);
  }
  EXPECT_NE(kernels(rows).find("winograd"), std::string::npos);
}

TEST_F(GpuConv, ChannelsThatOthersReadAreCopied) {
  ModelMaker maker;
  Value* x = maker.input({1, 8, 9, 7});
  const Attributes channels = make_attributes({{"axis", int64_t{1}}});
  // Read by another node, read twice, joined along a row, one that is a sum.
  Value* shared = maker.conv(x, 8, 4);
  maker.output(maker.op("Concat", {shared, maker.conv(x, 8, 4)}, channels));
  maker.output(maker.op("Relu", {shared}));
  Value* twice = maker.conv(x, 8, 6, 3);
  maker.output(maker.op("Concat", {twice, twice}, channels));
  maker.output(maker.op("Concat", {maker.conv(x, 8, 4), maker.conv(x, 8, 4)},
                        make_attributes({{"axis", int64_t{3}}})));
  maker.output(maker.op("Concat", {maker.op("Add", {maker.conv(x, 8, 8), x}), x}, channels));
  EXPECT_EQ(copies(compare(maker.model())), 4u);
}

TEST_F(GpuConv, WindowsWithStrideDilationAndUnevenPads) {
  ModelMaker maker;
  Value* x = maker.input({2, 32, 11, 14});
  Value* w = weights(maker, {20, 32, 3, 2});
  maker.output(maker.op(
      "Conv", {x, w, maker.random({20})},
      make_attributes(
          {{"strides", Ints{2, 1}}, {"dilations", Ints{1, 3}}, {"pads", Ints{0, 2, 3, 1}}})));
  EXPECT_EQ(kernels(compare(maker.model())).rfind("conv_", 0), 0u);
  compare(maker.model(), kHalfTolerance, kHalf);
}

TEST_F(GpuConv, SumAndActivationsAreFused) {
  ModelMaker maker;
  Value* x = maker.input({1, 19, 6, 7});
  Value* other = maker.input({1, 12, 6, 7});
  Value* y = maker.op("Add", {maker.conv(x, 19, 12, 3), other});
  maker.output(maker.op("Sigmoid", {y}));
  const auto rows = compare(maker.model());
  EXPECT_EQ(count_type(rows, "Elementwise") + count_type(rows, "Add"), 0u);
  compare(maker.model(), kHalfTolerance, kHalf);
}

TEST_F(GpuConv, FirstLayersReadCopies) {
  // Windows of up to 32 elements side by side, else the picture with its padding.
  for (const int64_t channels : {1, 3, 16}) {
    ModelMaker maker;
    Value* x = maker.input({2, channels, 19, 21});
    Value* w = weights(maker, {10, channels, 5, 4});
    maker.output(maker.op("Conv", {x, w},
                          make_attributes({{"strides", Ints{2, 3}}, {"pads", Ints{1, 2, 3, 0}}})));
    const std::string made = kernels(compare(maker.model()));
    if (chooses_for_a_cpu()) {
      EXPECT_EQ(made, channels == 1 ? "gather " : "pad ");
    }
    compare(maker.model(), kHalfTolerance, kHalf);
  }
}

TEST_F(GpuConv, CopiesOfPicturesWithChannelsLast) {
  for (const int64_t channels : {3, 12}) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({1, 40, 9, 9}), 40, channels, 3);
    maker.output(maker.conv(x, channels, 8, 3));
    const std::string wanted = channels == 3 ? "gather" : "pad";
    const std::string made = kernels(compare(maker.model()));
    if (chooses_for_a_cpu()) {
      EXPECT_NE(made.find(wanted), std::string::npos) << made;
    }
  }
}

TEST_F(GpuConv, HugePaddingIsNotCopied) {
  // Outputs 0 and 1 of each dimension see padding only in most of their taps.
  for (const int64_t channels : {2, 4}) {
    ModelMaker maker;
    Value* x = maker.input({1, channels, 5, 5});
    maker.output(
        maker.op("Conv", {x, weights(maker, {4, channels, 3, 3})},
                 make_attributes({{"strides", Ints(2, 20000)}, {"pads", Ints(4, 20000)}})));
    const std::string first = kernels(compare(maker.model()));
    if (!chooses_for_a_cpu()) continue;
    EXPECT_EQ(first.rfind(channels == 2 ? "gather" : "conv_", 0), 0u) << first;
  }
}

TEST_F(GpuConv, DepthwiseInRowsOfAnyLength) {
  for (const int64_t width : {3, 8, 23}) {
    for (const int64_t stride : {1, 2}) {
      ModelMaker maker;
      Value* x = maker.input({2, 20, 6, width});
      Value* w = weights(maker, {20, 1, 3, 3});
      Value* y = maker.op(
          "Conv", {x, w, maker.random({20})},
          make_attributes(
              {{"group", int64_t{20}}, {"strides", Ints(2, stride)}, {"pads", Ints(4, 1)}}));
      maker.output(maker.op("Relu", {y}));
      EXPECT_EQ(kernels(compare(maker.model())).rfind("depthwise_", 0), 0u);
      compare(maker.model(), kHalfTolerance, kHalf);
    }
  }
}

TEST_F(GpuConv, GroupsOfFewChannelsAreMerged) {
  for (const auto& [group, ic, oc] : {std::tuple{8, 4, 4}, {6, 1, 2}, {3, 5, 7}, {2, 16, 16}}) {
    ModelMaker maker;
    Value* x = maker.input({1, group * ic, 7, 9});
    maker.output(maker.conv(x, group * ic, group * oc, 3, group));
    EXPECT_EQ(kernels(compare(maker.model())).find("general"), std::string::npos);
    compare(maker.model(), kHalfTolerance, kHalf);
  }
}

TEST_F(GpuConv, TransposedByPhases) {
  struct Case {
    int64_t kernel, stride, pad, dilation, group;
  };
  for (const Case& c : {Case{2, 2, 0, 1, 1},
                        {3, 2, 1, 1, 1},
                        {4, 2, 1, 1, 2},
                        {3, 3, 0, 2, 1},
                        {1, 2, 0, 1, 1},
                        {4, 4, 0, 3, 1}}) {
    ModelMaker maker;
    Value* x = maker.input({2, 12, 5, 6});
    Value* w = weights(maker, {12, 10, c.kernel, c.kernel});
    Value* y = maker.op("ConvTranspose", {x, w, maker.random({10 * c.group})},
                        make_attributes({{"strides", Ints(2, c.stride)},
                                         {"pads", Ints(4, c.pad)},
                                         {"dilations", Ints(2, c.dilation)},
                                         {"group", c.group}}));
    maker.output(maker.op("Relu", {y}));
    EXPECT_EQ(kernels(compare(maker.model())).rfind("conv_", 0), 0u);
    compare(maker.model(), kHalfTolerance, kHalf);
  }
}

TEST_F(GpuConv, WinogradWhereItSavesTime) {
  ModelMaker maker;
  Value* x = maker.input({2, 64, 27, 30});
  Value* other = maker.input({2, 48, 27, 30});
  maker.output(maker.op("Relu", {maker.op("Add", {maker.conv(x, 64, 48, 3), other})}));
  EXPECT_EQ(kernels(compare(maker.model())).rfind("winograd", 0), 0u);
  const auto exact = compare(maker.model(), 3e-6f, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  EXPECT_EQ(kernels(exact).rfind("conv_", 0), 0u);
  compare(maker.model(), kHalfTolerance, kHalf);
}

TEST_F(GpuConv, MeasuredChoicesAreKept) {
  const std::string folder =
      testing::TempDir() + "het_gpu_conv_choices_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  ModelMaker maker;
  maker.output(maker.conv(maker.input({1, 64, 28, 28}), 64, 64, 3));
  compare(maker.model(), 2e-5f, {{"CACHE_DIR", folder}, {"DETERMINISTIC", "YES"}});
  EXPECT_EQ(stored_choices(folder), 0u);
  // Building kernels may take all the time at first; they are kept too.
  for (int i = 0; i < 5 && stored_choices(folder) == 0; ++i) {
    compare(maker.model(), 2e-5f, {{"CACHE_DIR", folder}});
  }
  EXPECT_EQ(stored_choices(folder), 1u);
  compare(maker.model(), 2e-5f, {{"CACHE_DIR", folder}});
  EXPECT_EQ(stored_choices(folder), 1u);
  std::filesystem::remove_all(folder);
}

TEST_F(GpuConv, AnythingElseRunsByDefinition) {
  ModelMaker maker;
  Value* x = maker.input({1, 4, 5, 6, 7});
  Value* y = maker.op("Conv", {x, weights(maker, {6, 2, 3, 3, 3})},
                      make_attributes({{"group", int64_t{2}}, {"pads", Ints(6, 1)}}));
  maker.output(maker.op("ConvTranspose", {y, weights(maker, {6, 2, 2, 2, 2})},
                        make_attributes({{"strides", Ints(3, 2)}})));
  EXPECT_EQ(kernels(compare(maker.model())), "conv_general conv_general ");
  compare(maker.model(), kHalfTolerance, kHalf);
}

TEST_F(GpuConv, WeightsMayBeComputed) {
  ModelMaker maker;
  Value* x = maker.input({1, 4, 7, 8});
  Value* w = maker.op("Tanh", {maker.input({6, 4, 3, 3})});
  maker.output(maker.op("Conv", {x, w, maker.input({6})}));
  EXPECT_EQ(kernels(compare(maker.model())), "conv_general ");
}

TEST_F(GpuConv, OneDimension) {
  ModelMaker maker;
  Value* x = maker.input({2, 40, 50});
  maker.output(maker.op("Conv", {x, weights(maker, {24, 40, 5})},
                        make_attributes({{"strides", Ints{2}}, {"pads", Ints{2, 1}}})));
  EXPECT_EQ(kernels(compare(maker.model())).rfind("conv_", 0), 0u);
}

TEST_F(GpuConv, RefusesDouble) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 4, 4}, ElementType::Float64);
  Value* w = maker.constant(*Tensor::allocate({ElementType::Float64, {2, 2, 1, 1}}));
  maker.output(maker.op("Conv", {x, w}));
  const auto compiled = device_->compile_model(maker.model(), {}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().message().find("convolutions in float64"), std::string::npos)
      << compiled.error().message();
}

TEST_F(GpuConv, DeformedWindows) {
  for (const char* domain : {"", "het"}) {
    for (const int64_t group : {1, 2}) {
      ModelMaker maker;
      Value* x = maker.input({2, 12, 9, 8});
      Value* weights = maker.random({6, 12 / group, 3, 2});
      // Offsets take positions out of the picture on all sides.
      Value* offsets =
          maker.op("Mul", {maker.input({2, 36, 5, 8}), maker.constant(Tensor::scalar(4.0f))});
      Value* mask = maker.op("Sigmoid", {maker.input({2, 18, 5, 8})});
      const Attributes attributes = make_attributes({{"group", group},
                                                     {"offset_group", int64_t{3}},
                                                     {"strides", Ints{2, 1}},
                                                     {"dilations", Ints{1, 2}},
                                                     {"pads", Ints{1, 1, 1, 1}}});
      maker.output(maker.op("DeformConv", {x, weights, offsets, maker.random({6}), mask},
                            attributes, domain));
      maker.output(maker.op("DeformConv", {x, weights, offsets}, attributes, domain));
      compare(maker.model());
    }
  }
}

}  // namespace
}  // namespace het::gpu_testing
