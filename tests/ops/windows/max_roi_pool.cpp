#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

TEST(MaxRoiPool, LargestOfEachBin) {
  // Picture 0 ... 15; the region of rows 0 to 3 and columns 1 to 3 in 2 x 2 bins: 3 columns make
  // bins of 1.5, so both take the middle one.
  const OpCall call{"MaxRoiPool",
                    {make_ramp<float>({1, 1, 4, 4}), make_tensor<float>({1, 5}, {0, 1, 0, 3, 3})},
                    make_attributes({{"pooled_shape", Ints{2, 2}}})};
  expect_values<float>(run_op_single(call), {1, 1, 2, 2}, {6, 7, 14, 15});
}

TEST(MaxRoiPool, ScaleRoundsAndOutsideGivesZero) {
  const OpCall call{"MaxRoiPool",
                    {make_ramp<float>({2, 1, 2, 2}, 1),
                     make_tensor<float>({2, 5}, {1, 0, 0, 2.2, 2.2, 0, 40, 40, 50, 50})},
                    make_attributes({{"pooled_shape", Ints{1, 1}}, {"spatial_scale", 0.5f}})};
  expect_values<float>(run_op_single(call), {2, 1, 1, 1}, {8, 0});
}

/// As in MaxPool, wherever in the bin it lies; so do the other maxima over windows.
TEST(MaxRoiPool, NanIsTheLargest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const size_t place : {size_t{0}, size_t{1}, size_t{3}}) {
    std::vector<double> pixels{1, 2, 3, 4};
    pixels[place] = nan;
    const Tensor x = make_tensor<float>({1, 1, 2, 2}, pixels);
    const Tensor region = make_tensor<float>({1, 5}, {0, 0, 0, 1, 1});
    const std::vector<OpCall> calls{
        {"MaxRoiPool", {x, region}, make_attributes({{"pooled_shape", Ints{1, 1}}})},
        {"ROIPooling",
         {x, region},
         make_attributes({{"pooled_h", 1}, {"pooled_w", 1}, {"spatial_scale", 1.0f}}),
         1,
         "het"},
        {"AdaptiveMaxPool", {x, make_tensor<int64_t>({2}, {1, 1})}, {}, 1, "het"},
        {"RoiAlign",
         {x, make_tensor<float>({1, 4}, {0, 0, 2, 2}), make_tensor<int64_t>({1}, {0})},
         make_attributes({{"mode", "max"}, {"sampling_ratio", 2}})}};
    for (const OpCall& call : calls) {
      EXPECT_TRUE(std::isnan(run_op_single(call).values<float>()[0])) << call.type << " " << place;
    }
  }
}

TEST(MaxRoiPool, Refusals) {
  OpCall call{"MaxRoiPool",
              {make_ramp<float>({1, 1, 2, 2}), make_tensor<float>({1, 5}, {1, 0, 0, 1, 1})},
              make_attributes({{"pooled_shape", Ints{1, 1}}})};
  expect_op_error(call, "region 0 is of picture 1");
  call.attributes = make_attributes({{"pooled_shape", Ints{1}}});
  expect_op_error(call, "two sizes");
}

}  // namespace
}  // namespace het
