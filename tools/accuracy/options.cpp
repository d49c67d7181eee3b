#include "tools/accuracy/options.h"

namespace het {

Status check(const AccuracyOptions& options) {
  if (!options.from_detections.empty() && options.paths.size() != 1) {
    return error(StatusCode::InvalidArgument,
                 "--from-detections takes the dataset alone and no model, not {} files or folders",
                 options.paths.size());
  }
  if (options.from_detections.empty() && options.paths.size() < 2) {
    return error(StatusCode::InvalidArgument,
                 "a model and a dataset are wanted, or --from-detections FILE and a dataset; there "
                 "is only '{}'",
                 options.paths.front());
  }
  if (!options.from_detections.empty()) {
    for (const auto& [is_given, name] : {std::pair(!options.detections.empty(), "--detections"),
                                         std::pair(!options.state.empty(), "--state"),
                                         std::pair(!options.types.empty(), "--types")}) {
      if (!is_given) continue;
      return error(StatusCode::InvalidArgument, "{} is for models, and --from-detections runs none",
                   name);
    }
  }
  const std::vector<int>& limits = options.limits;
  if (limits.size() != 3 || limits[0] < 1 || limits[1] <= limits[0] || limits[2] <= limits[1]) {
    return error(StatusCode::InvalidArgument,
                 "--max-dets takes three rising numbers, such as 1,10,100");
  }
  if (!options.metric.empty() && options.metric != "coco" && options.metric != "voc") {
    return error(StatusCode::InvalidArgument, "--metric takes coco or voc, not '{}'",
                 options.metric);
  }
  return {};
}

}  // namespace het
