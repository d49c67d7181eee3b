#include <algorithm>
#include <array>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/points/heat_map_peak.h"

namespace het {
namespace {

constexpr int64_t kRadius = 5;  // of the filter: transformers' kernel_size of 11
constexpr double kDeviation = 0.8;
constexpr double kLeast = 0.001;
constexpr double kMost = 50.0;
constexpr double kEpsilon = 1.1920928955078125e-07;  // of float32

/// A heat map, rows x columns.
struct HeatMap {
  std::span<const float> values;
  int64_t rows = 0;
  int64_t columns = 0;

  /// Mirrored beyond its edges, the places at the edge twice.
  double at(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(mirrored(row, rows) * columns + mirrored(column, columns))];
  }
  static int64_t mirrored(int64_t index, int64_t count) {
    const int64_t place = ((index % (2 * count)) + 2 * count) % (2 * count);
    return place < count ? place : 2 * count - 1 - place;
  }
};

std::array<double, 2 * kRadius + 1> gaussian() {
  std::array<double, 2 * kRadius + 1> weights{};
  double sum = 0.0;
  for (int64_t i = -kRadius; i <= kRadius; ++i) {
    const double distance = static_cast<double>(i) / kDeviation;
    sum += weights[static_cast<size_t>(i + kRadius)] = std::exp(-0.5 * distance * distance);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// The logarithm of the filtered map around a place, [row][column] from one before it to one behind
/// it; beyond the edges of the map, that of the edge.
using Around = std::array<std::array<double, 3>, 3>;

Around logarithm_around(const HeatMap& map, int64_t row, int64_t column) {
  static const std::array<double, 2 * kRadius + 1> kWeights = gaussian();
  Around found{};
  for (int64_t y = 0; y < 3; ++y) {
    const int64_t middle_row = std::clamp<int64_t>(row + y - 1, 0, map.rows - 1);
    for (int64_t x = 0; x < 3; ++x) {
      const int64_t middle_column = std::clamp<int64_t>(column + x - 1, 0, map.columns - 1);
      double sum = 0.0;
      for (int64_t i = -kRadius; i <= kRadius; ++i) {
        double line = 0.0;
        for (int64_t j = -kRadius; j <= kRadius; ++j)
          line += kWeights[static_cast<size_t>(j + kRadius)] *
                  map.at(middle_row + i, middle_column + j);
        sum += kWeights[static_cast<size_t>(i + kRadius)] * line;
      }
      found[static_cast<size_t>(y)][static_cast<size_t>(x)] =
          std::log(std::clamp(sum, kLeast, kMost));
    }
  }
  return found;
}

/// Where the peak of a Gaussian lies whose largest place is this one: by the first and second
/// derivatives of its logarithm.
Point refined(const HeatMap& map, int64_t row, int64_t column) {
  const Around l = logarithm_around(map, row, column);
  const double dx = 0.5 * (l[1][2] - l[1][0]);
  const double dy = 0.5 * (l[2][1] - l[0][1]);
  const double dxx = l[1][2] - 2.0 * l[1][1] + l[1][0] + kEpsilon;
  const double dyy = l[2][1] - 2.0 * l[1][1] + l[0][1] + kEpsilon;
  const double dxy =
      0.5 * (l[2][2] - l[1][2] - l[2][1] + 2.0 * l[1][1] - l[1][0] - l[0][1] + l[0][0]);
  const double determinant = dxx * dyy - dxy * dxy;
  const Point place{static_cast<float>(column), static_cast<float>(row)};
  const Point moved{static_cast<float>(place.x - (dyy * dx - dxy * dy) / determinant),
                    static_cast<float>(place.y - (dxx * dy - dxy * dx) / determinant)};
  return std::isfinite(moved.x) && std::isfinite(moved.y) ? moved : place;
}

Point refined_place(std::span<const float> values, size_t rows, size_t columns, size_t best) {
  const HeatMap map{values, static_cast<int64_t>(rows), static_cast<int64_t>(columns)};
  const Point place =
      refined(map, static_cast<int64_t>(best / columns), static_cast<int64_t>(best % columns));
  return {place.x / static_cast<float>(std::max<size_t>(columns - 1, 1)),
          place.y / static_cast<float>(std::max<size_t>(rows - 1, 1))};
}

/// One heat map per point, [batch, points, rows, columns], as transformers reads VitPose's
/// (VitPoseImageProcessor.post_process_pose_estimation): a point lies near the place where its map
/// is largest, as the derivatives tell (DARK, arXiv 1910.06278); the first and the last column of a
/// map lie at the edges of the picture, and so do rows (UDP, arXiv 1911.07524). Its confidence is
/// the largest value. Points at or below the threshold (0) were not found.
Result<std::unique_ptr<Decoder>> create_keypoints_vitpose(const DecoderConfig& config,
                                                          const std::vector<Port>&,
                                                          const std::vector<Port>& outputs) {
  return create_peak_decoder(config, outputs, refined_place);
}

}  // namespace

HET_REGISTRATION void register_keypoints_vitpose_decoder(DecoderRegistry& registry) {
  registry.add({"keypoints_vitpose",
                {"format", "threshold", "point_names", "point_connections"},
                create_keypoints_vitpose});
}

}  // namespace het
