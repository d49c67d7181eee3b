#include "inference/ops/detection/het_region.h"

#include <algorithm>
#include <cmath>

#include "inference/ops/double_values.h"

namespace het {

Result<std::vector<Region>> read_regions(const Tensor& rois, int64_t images) {
  HET_ASSIGN(const std::vector<double> values, to_double_vector(rois));
  std::vector<Region> regions;
  for (size_t i = 0; i + 5 <= values.size(); i += 5) {
    const double image = values[i];
    if (image == -1) break;
    if (!(image >= 0 && image < static_cast<double>(images))) {
      return error(StatusCode::InvalidArgument,
                   "region {} belongs to image {}, but the batch has {} images", i / 5, image,
                   images);
    }
    const auto coordinate = [&](size_t k) {
      const double value = values[i + k];
      return std::isnan(value) ? 0.0 : std::clamp(value, -1e9, 1e9);
    };
    regions.push_back(
        {static_cast<int64_t>(image), coordinate(1), coordinate(2), coordinate(3), coordinate(4)});
  }
  return regions;
}

}  // namespace het
