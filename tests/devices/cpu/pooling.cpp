/// Maxima of pictures in the formats that our own loops take.

#include <limits>
#include <string_view>

#include "devices/cpu/loops/max_pool_loops.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuMaxPool : public CpuTest {
 protected:
  struct Window {
    Ints kernel, strides, pads;
    int64_t ceil_mode = 0;
  };
  /// With and without padding, rows of less than four windows, of four and of some more.
  static std::vector<Window> windows() {
    return {{{2, 2}, {2, 2}, {0, 0, 0, 0}},    {{3, 3}, {2, 2}, {1, 1, 1, 1}},
            {{3, 3}, {2, 2}, {0, 0, 0, 0}, 1}, {{3, 2}, {2, 1}, {0, 1, 2, 0}, 1},
            {{5, 5}, {1, 3}, {2, 2, 2, 2}},    {{1, 4}, {1, 5}, {0, 0, 0, 0}}};
  }

  /// Adds every window over x.
  static size_t add_windows(ModelMaker& maker, Value* x) {
    for (const Window& window : windows()) {
      maker.output(maker.op("MaxPool", {x},
                            make_attributes({{"kernel_shape", window.kernel},
                                             {"strides", window.strides},
                                             {"pads", window.pads},
                                             {"ceil_mode", window.ceil_mode}})));
    }
    return windows().size();
  }
  /// And the maximum of the picture.
  static size_t add_outputs(ModelMaker& maker, Value* x) {
    maker.output(maker.op("GlobalMaxPool", {x}));
    return add_windows(maker, x) + 1;
  }

  static size_t count_own(const std::vector<ProfileRow>& rows) {
    return static_cast<size_t>(std::ranges::count_if(rows, [](const ProfileRow& row) {
      return row.layer_type.find("MaxPool") != std::string::npos && row.exec_type == "own_simd";
    }));
  }
};

TEST_F(CpuMaxPool, BlockedFloatsOnTeamsOfAnySize) {
  for (const int64_t channels : {8, 20, 43}) {
    for (const char* threads : {"1", "2", "3"}) {
      ModelMaker maker;
      Value* x = maker.conv(maker.input({2, 8, 13, 17}), 8, channels);
      const size_t count = add_outputs(maker, x);
      const auto rows = compare(maker.model(), 1e-5f, {{"INFERENCE_NUM_THREADS", threads}});
      EXPECT_EQ(count_own(rows), count);
    }
  }
}

TEST_F(CpuMaxPool, FloatsWithChannelsLast) {
  for (const int64_t channels : {3, 5, 20, 43}) {
    ModelMaker maker;
    Value* x = maker.op("Transpose", {maker.input({2, 13, 17, channels})},
                        make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
    const size_t count = add_outputs(maker, x);
    EXPECT_EQ(count_own(compare(maker.model(), 0.0f)), count);
  }
}

TEST_F(CpuMaxPool, Bytes) {
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    for (const int64_t channels : {5, 16, 43, 64, 150}) {
      ModelMaker maker;
      const size_t count = add_windows(maker, maker.input({2, channels, 13, 17}, type));
      const size_t own = count_own(compare(maker.model(), 0.0f));
      EXPECT_EQ(own, channels < 16 ? 0 : count) << to_string(type) << ' ' << channels;
    }
  }
}

TEST_F(CpuMaxPool, PaddingOfBlocksStaysZero) {
  // 20 channels: the convolution behind reads 4 more, of which all values may be negative.
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 9, 9}), 8, 20);
  Value* y = maker.op("MaxPool", {x},
                      make_attributes({{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}));
  maker.output(maker.conv(y, 20, 12));
  compare(maker.model(), 1e-5f);
}

TEST_F(CpuMaxPool, WindowsOfInfinities) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  cpu::MaxPoolShape shape;
  shape.c = 1;
  shape.ih = 1;
  shape.iw = 10;
  shape.oh = 1;
  shape.ow = 5;
  shape.kw = 2;
  shape.stride_x = 2;
  const std::vector<float> src = {-kInf, -kInf, -1.0f, -kInf, -2.0f,
                                  -3.0f, kInf,  1.0f,  -kInf, -kInf};
  std::vector<float> dst(5);
  cpu::max_pool_rows(shape, src.data(), 0, 1, dst.data());
  EXPECT_EQ(dst, (std::vector<float>{-kInf, -1.0f, -2.0f, kInf, -kInf}));
}

}  // namespace
}  // namespace het
