/// Resize on device CPU, and the weighted sums that it is made of.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "devices/cpu/loops/weighing_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuResize : public CpuTest {
 protected:
  void resize_in_all_formats(float tolerance, const Properties& properties) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"}) {
        // Up and down; channels: none, too few and enough for a block.
        for (const auto& [down, across] : {std::pair{2.0f, 1.5f}, {0.6f, 3.0f}, {1.0f, 2.0f}}) {
          for (const int64_t channels : {3, 7, 16, 20}) {
            ModelMaker maker;
            Value* x = maker.input({2, channels, 5, 17});
            Value* last = maker.op("Transpose", {maker.input({2, 5, 17, channels})},
                                   make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
            Value* scales = maker.constant(Tensor::from<float>({4}, {1, 1, down, across}));
            for (Value* src : {x, maker.conv(x, channels, channels), last}) {
              const auto attributes = make_attributes(
                  {{"mode", mode}, {"coordinate_transformation_mode", coordinates}});
              maker.output(maker.op("Resize", {src, nullptr, scales}, attributes));
              // As it is kept between nodes.
              Value* kept = maker.op("Resize", {src, nullptr, scales}, attributes);
              maker.output(maker.op("Relu", {kept}));
              maker.output(maker.conv(kept, channels, 8));
            }
            for (const ProfileRow& row : compare(maker.model(), tolerance, properties)) {
              if (row.layer_type != "Resize") continue;
              EXPECT_EQ(row.exec_type.rfind("own_", 0), 0u);
            }
          }
        }
      }
    }
  }
};

TEST_F(CpuResize, InAllFormats) {
  resize_in_all_formats(1e-4f, {});
}

TEST_F(CpuResize, InAllFormatsAndBfloat16) {
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  resize_in_all_formats(0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

TEST_F(CpuResize, LargerPicturesThatAreShownAreResizedAsPlanes) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 9, 7}), 8, 21);
  Value* scales = maker.constant(Tensor::from<float>({4}, {1, 1, 8, 8}));
  maker.output(maker.op("Resize", {x, nullptr, scales}, make_attributes({{"mode", "linear"}})));
  size_t resized = 0;
  for (const ProfileRow& row : compare(maker.model())) {
    resized += row.layer_type == "Resize";
    if (row.layer_type != "Reorder") continue;
    EXPECT_EQ(row.node_name.find("Resize"), std::string::npos) << row.node_name;
  }
  EXPECT_EQ(resized, 1u);
}

// A position that is rounded up would move the rows that are to pass: only one axis is resized.
TEST_F(CpuResize, LeavesOtherAxesAlone) {
  for (const int64_t axis : {2, 3}) {
    for (const char* rounding : {"floor", "ceil"}) {
      ModelMaker maker;
      Value* sizes = maker.ints({9});
      maker.output(
          maker.op("Resize", {maker.input({2, 3, 5, 7}), nullptr, nullptr, sizes},
                   make_attributes({{"mode", "nearest"},
                                    {"coordinate_transformation_mode", "tf_half_pixel_for_nn"},
                                    {"nearest_mode", rounding},
                                    {"axes", Ints{axis}}})));
      const auto rows = compare(maker.model());
      EXPECT_EQ(implementation(rows, "Resize0"), "own_simd");
    }
  }
}

/// Values near 30, of which the second is NaN and the third infinite.
template <class T>
std::vector<T> some_values(size_t count) {
  std::mt19937 generator(count);
  std::normal_distribution<float> distribution(30.0f, 2.0f);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.emplace_back(distribution(generator));
  values[1] = T(std::numeric_limits<float>::quiet_NaN());
  values[2] = T(-std::numeric_limits<float>::infinity());
  return values;
}

/// `got` is what was stored of `want`.
template <class T>
void expect_stored(T got, double want) {
  const float value = static_cast<float>(got);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(value));
  } else if (std::isinf(want)) {
    EXPECT_EQ(value, static_cast<float>(want));
  } else {
    EXPECT_NEAR(value, want, (sizeof(T) == 2 ? std::abs(want) / 256 : 0.0) + 1e-4);
  }
}

constexpr float kNothing = -7.0f;

template <class From, class To>
void expect_rows(size_t count, size_t taps) {
  SCOPED_TRACE(testing::Message() << count << " values, " << taps << " taps, " << sizeof(From)
                                  << " and " << sizeof(To) << " bytes");
  const std::vector<From> src = some_values<From>(count + taps + 2);
  const std::vector<float> weights = {0.5f, -0.25f, 1.5f, 0.75f};
  std::vector<const From*> rows;
  for (size_t t = 0; t < taps; ++t) rows.push_back(src.data() + t);
  std::vector<To> got(count + 1, To(kNothing));
  cpu::weigh_rows(rows.data(), weights.data(), taps, count, got.data());
  for (size_t i = 0; i < count; ++i) {
    double want = 0.0;
    for (size_t t = 0; t < taps; ++t) {
      want += static_cast<double>(weights[t]) * static_cast<float>(src[t + i]);
    }
    expect_stored(got[i], want);
  }
  EXPECT_EQ(static_cast<float>(got[count]), kNothing);
}

template <class From, class To>
void expect_pixels(size_t lanes, size_t taps) {
  SCOPED_TRACE(testing::Message() << lanes << " lanes, " << taps << " taps, " << sizeof(From)
                                  << " and " << sizeof(To) << " bytes");
  constexpr size_t kPixels = 3;
  const std::vector<From> src = some_values<From>(5 * lanes);
  const std::vector<int32_t> index = {0, 1, 2, 3, 1, 0, 4, 4, 3, 2, 1, 0};
  const std::vector<float> weights = {0.5f, -0.25f, 1.5f,  0.75f, 1.0f,  0.125f,
                                      2.0f, -1.0f,  0.25f, 0.5f,  0.75f, 0.0625f};
  std::vector<To> got(kPixels * lanes + 1, To(kNothing));
  cpu::weigh_pixels(src.data(), index.data(), weights.data(), taps, kPixels, lanes, got.data());
  for (size_t i = 0; i < kPixels * lanes; ++i) {
    double want = 0.0;
    for (size_t t = 0; t < taps; ++t) {
      const size_t k = i / lanes * taps + t;
      const From value = src[static_cast<size_t>(index[k]) * lanes + i % lanes];
      want += static_cast<double>(weights[k]) * static_cast<float>(value);
    }
    expect_stored(got[i], want);
  }
  EXPECT_EQ(static_cast<float>(got[kPixels * lanes]), kNothing);
}

TEST(CpuWeighing, EqualsSumsInDouble) {
  cpu_testing::on_each_instruction_set([] {
    for (const size_t taps : {1, 2, 3, 4}) {
      for (const size_t count : {3, 4, 15, 16, 17, 50}) {
        expect_rows<float, float>(count, taps);
        expect_rows<BFloat16, float>(count, taps);
        expect_rows<float, BFloat16>(count, taps);
      }
      for (const size_t lanes : {8, 9, 15, 16, 17, 40}) {
        expect_pixels<float, float>(lanes, taps);
        expect_pixels<BFloat16, float>(lanes, taps);
        expect_pixels<float, BFloat16>(lanes, taps);
      }
    }
  });
}

}  // namespace
}  // namespace het
