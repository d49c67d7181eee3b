#include "tools/inspect/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "inference/base/new_file.h"

namespace het {
namespace {

/// Colours that lie far apart for neighbouring ids.
cv::Scalar colour_of(int id) {
  cv::Mat hue(1, 1, CV_8UC3, cv::Scalar((id * 47 + 15) % 180, 200, 255));
  cv::cvtColor(hue, hue, cv::COLOR_HSV2BGR);
  const auto& pixel = hue.at<cv::Vec3b>(0, 0);
  return {static_cast<double>(pixel[0]), static_cast<double>(pixel[1]),
          static_cast<double>(pixel[2])};
}

std::string name_of(const std::string& label, int id, float confidence) {
  return fmt::format("{} {:.2f}", label.empty() ? std::to_string(id) : label, confidence);
}

class Canvas {
 public:
  explicit Canvas(cv::Mat picture) : mat_(std::move(picture)) {
    scale_ = std::max(0.4, std::max(mat_.cols, mat_.rows) / 1200.0);
  }
  const cv::Mat& mat() const { return mat_; }

  void text(const std::string& line, cv::Point at, const cv::Scalar& colour) {
    int baseline = 0;
    const cv::Size size = cv::getTextSize(line, kFont, scale_, 1, &baseline);
    at.x = std::clamp(at.x, 0, std::max(0, mat_.cols - size.width));
    at.y = std::clamp(at.y, size.height, std::max(size.height, mat_.rows - baseline));
    cv::rectangle(mat_, {at.x, at.y - size.height}, {at.x + size.width, at.y + baseline}, colour,
                  cv::FILLED);
    cv::putText(mat_, line, at, kFont, scale_, {0, 0, 0}, 1, cv::LINE_AA);
  }

  void points(const Landmarks& landmarks, const cv::Scalar& colour) {
    for (const auto& [from, to] : landmarks.connections)
      cv::line(mat_, place(landmarks.points[static_cast<size_t>(from)]),
               place(landmarks.points[static_cast<size_t>(to)]), colour, thickness(), cv::LINE_AA);
    for (const Point& point : landmarks.points)
      cv::circle(mat_, place(point), thickness() + 1, colour, cv::FILLED, cv::LINE_AA);
  }

  void detection(const Detection& d) {
    const cv::Scalar colour = colour_of(d.label_id);
    const cv::RotatedRect box({(d.x_min + d.x_max) / 2, (d.y_min + d.y_max) / 2},
                              {d.x_max - d.x_min, d.y_max - d.y_min},
                              d.rotation * 180.0f / static_cast<float>(CV_PI));
    cv::Point2f corners[4];
    box.points(corners);
    for (int i = 0; i < 4; ++i)
      cv::line(mat_, corners[i], corners[(i + 1) % 4], colour, thickness(), cv::LINE_AA);
    if (!d.mask.empty()) {
      std::vector<uint8_t> inside(d.mask.values.size());
      std::ranges::transform(d.mask.values, inside.begin(),
                             [](float value) { return value >= 0.5f ? 255 : 0; });
      blend(cv::Mat(d.mask.height, d.mask.width, CV_8UC1, inside.data()),
            cv::Rect2f(d.x_min, d.y_min, d.x_max - d.x_min, d.y_max - d.y_min), colour);
    }
    points(d.landmarks, colour);
    text(name_of(d.label, d.label_id, d.confidence),
         {static_cast<int>(d.x_min), static_cast<int>(d.y_min)}, colour);
  }

  void segmentation(const Segmentation& map) {
    const cv::Rect2f box(map.x_min, map.y_min, map.x_max - map.x_min, map.y_max - map.y_min);
    std::vector<uint16_t> ids = map.class_ids;
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const uint16_t id : ids) {
      std::vector<uint8_t> inside(map.class_ids.size());
      std::ranges::transform(map.class_ids, inside.begin(),
                             [id](uint16_t other) { return other == id ? 255 : 0; });
      blend(cv::Mat(map.height, map.width, CV_8UC1, inside.data()), box, colour_of(id));
    }
  }

 private:
  static constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
  int thickness() const { return std::max(1, static_cast<int>(2 * scale_)); }
  static cv::Point place(const Point& point) {
    return {static_cast<int>(point.x), static_cast<int>(point.y)};
  }
  /// Half of the colour where `mask`, stretched over `box`, is set.
  void blend(const cv::Mat& mask, const cv::Rect2f& box, const cv::Scalar& colour) {
    const cv::Rect whole(0, 0, mat_.cols, mat_.rows);
    const cv::Rect wanted(static_cast<int>(box.x), static_cast<int>(box.y),
                          std::max(1, static_cast<int>(box.width)),
                          std::max(1, static_cast<int>(box.height)));
    const cv::Rect part = wanted & whole;
    if (part.empty() || wanted.width > 1 << 14 || wanted.height > 1 << 14) return;
    cv::Mat stretched;
    cv::resize(mask, stretched, wanted.size(), 0, 0, cv::INTER_NEAREST);
    const cv::Mat inside = stretched(part - wanted.tl());
    cv::Mat target = mat_(part);
    cv::Mat mixed;
    cv::addWeighted(target, 0.5, cv::Mat(target.size(), target.type(), colour), 0.5, 0, mixed);
    mixed.copyTo(target, inside);
  }

  cv::Mat mat_;
  double scale_ = 1.0;
};

}  // namespace

Status write_annotated_picture(const std::string& path, const std::string& picture,
                               const Results& results) {
  Canvas canvas(cv::imread(picture, cv::IMREAD_COLOR));
  for (const Segmentation& map : results.segmentations) canvas.segmentation(map);
  for (const Detection& detection : results.detections) canvas.detection(detection);
  for (const Keypoints& keypoints : results.keypoints)
    canvas.points(keypoints.landmarks, colour_of(1));
  int line = 1;
  for (const Classification& c : results.classifications)
    canvas.text(c.attribute + ": " + name_of(c.label, c.label_id, c.confidence), {4, 30 * line++},
                colour_of(c.label_id));
  std::vector<uint8_t> bytes;
  if (!cv::imencode(".png", canvas.mat(), bytes))
    return error(StatusCode::Internal, "cannot make a PNG of '{}'", picture);
  return write_new_file(path, std::string(bytes.begin(), bytes.end()));
}

}  // namespace het
