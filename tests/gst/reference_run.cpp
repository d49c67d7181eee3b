#include "reference_run.h"

#include <fmt/format.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>

#include "pipeline_run.h"
#include "test_files.h"

namespace het::gst_test {
namespace {

using test::MatchCounts;
using test::ReferenceObject;

/// The objects of a frame, read as an application would do it: with GStreamer's own API.
std::vector<ReferenceObject> objects_of(GstBuffer* buffer, int width, int height,
                                        ReferenceLabels labels) {
  std::vector<ReferenceObject> objects;
  gpointer state = nullptr;
  GstMeta* meta = nullptr;
  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != nullptr) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const GstStructure* params = gst_video_region_of_interest_meta_get_param(region, "detection");
    double x_min = 0.0, x_max = 0.0, y_min = 0.0, y_max = 0.0, confidence = 0.0;
    int label_id = -1;
    EXPECT_TRUE(params &&
                gst_structure_get(params, "x_min", G_TYPE_DOUBLE, &x_min, "x_max", G_TYPE_DOUBLE,
                                  &x_max, "y_min", G_TYPE_DOUBLE, &y_min, "y_max", G_TYPE_DOUBLE,
                                  &y_max, "confidence", G_TYPE_DOUBLE, &confidence, "label_id",
                                  G_TYPE_INT, &label_id, nullptr));
    const std::string label = labels == ReferenceLabels::Ids ? std::to_string(label_id)
                                                             : g_quark_to_string(region->roi_type);
    objects.push_back({label, static_cast<float>(confidence), static_cast<float>(x_min * width),
                       static_cast<float>(y_min * height), static_cast<float>(x_max * width),
                       static_cast<float>(y_max * height)});
  }
  return objects;
}

/// What the elements report is clipped to the picture; the reference is not.
std::vector<ReferenceObject> clipped(std::vector<ReferenceObject> objects, int width, int height) {
  for (ReferenceObject& object : objects) {
    object.x_min = std::clamp(object.x_min, 0.0f, static_cast<float>(width));
    object.x_max = std::clamp(object.x_max, 0.0f, static_cast<float>(width));
    object.y_min = std::clamp(object.y_min, 0.0f, static_cast<float>(height));
    object.y_max = std::clamp(object.y_max, 0.0f, static_cast<float>(height));
  }
  return objects;
}

/// A JPEG as OpenCV reads it, since the references were made from such pictures and decoders
/// differ: written as PNG, gone with it. Other files are themselves.
class ReadByOpenCv {
 public:
  explicit ReadByOpenCv(const std::string& file) : file_(file) {
    const std::string extension = std::filesystem::path(file).extension();
    if (extension != ".jpg" && extension != ".jpeg") return;
    std::string folder = testing::TempDir() + "reference-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder " + folder);
    folder_ = folder;
    file_ = folder + "/picture.png";
    EXPECT_TRUE(cv::imwrite(file_, cv::imread(file, cv::IMREAD_COLOR))) << file;
  }
  ~ReadByOpenCv() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  ReadByOpenCv(const ReadByOpenCv&) = delete;
  ReadByOpenCv& operator=(const ReadByOpenCv&) = delete;

  const std::string& file() const { return file_; }
  /// Into the colours that the file has.
  std::string decoder() const { return folder_.empty() ? "decodebin" : "pngdec"; }

 private:
  std::string file_;
  std::string folder_;
};

}  // namespace

std::map<int, Analysed> analyse(const std::string& file, const std::string& detector,
                                const std::vector<int>& frames, ReferenceLabels labels) {
  std::map<int, Analysed> found;
  const ReadByOpenCv read(file);
  PipelineRun run(
      fmt::format("filesrc location={} ! {} ! identity name=pick ! {} ! "
                  "fakesink name=sink sync=false",
                  read.file(), read.decoder(), detector));
  // Both callbacks run on threads of their own, so each has a counter of its own.
  run.keep_buffers("pick", [&frames, number = 0](GstBuffer*) mutable {
    const int current = number++;
    return frames.empty() || std::binary_search(frames.begin(), frames.end(), current);
  });
  run.on_buffer("sink", [&, arrived = 0](GstBuffer* buffer) mutable {
    const int number = frames.empty() ? arrived : frames.at(static_cast<size_t>(arrived));
    ++arrived;
    GstCaps* caps = run.caps("sink");
    GstVideoInfo info;
    gst_video_info_from_caps(&info, caps);
    gst_caps_unref(caps);
    found[number] = {info.width, info.height, objects_of(buffer, info.width, info.height, labels)};
  });
  EXPECT_EQ(run.play(600).problem(), "") << file;
  return found;
}

MatchCounts compare(const std::string& where, const std::vector<ReferenceObject>& reference,
                    const Analysed& frame, float found_iou) {
  return test::match_objects(where, clipped(reference, frame.width, frame.height), frame.objects,
                             found_iou);
}

void print(const std::string& title, const MatchCounts& counts) {
  fmt::print("{}: {} of {} found ({:.1f} %), {} more than the reference has ({:.1f} %)\n", title,
             counts.found, counts.wanted, 100.0 * counts.found_share(), counts.extra,
             100.0 * counts.extra_share());
  for (const std::string& miss : counts.misses) fmt::print("  {}\n", miss);
}

MatchCounts compare_pictures(const std::string& model, const std::string& detector,
                             const test::PictureObjects& reference, ReferenceLabels labels,
                             float found_iou) {
  MatchCounts counts;
  for (const auto& [picture, objects] : reference) {
    const auto file = shared_file("images/" + picture);
    EXPECT_TRUE(file) << picture;
    if (!file) continue;
    auto found = analyse(*file, detector, {}, labels);
    EXPECT_EQ(found.size(), 1u) << picture;
    counts += compare(model + " " + picture, objects, found[0], found_iou);
  }
  print(model + ", pictures", counts);
  return counts;
}

MatchCounts compare_videos(const std::string& model, const std::string& detector,
                           const test::VideoObjects& reference, ReferenceLabels labels,
                           float found_iou) {
  MatchCounts counts;
  for (const auto& [video, frames] : reference) {
    const auto file = shared_file("videos/" + video);
    EXPECT_TRUE(file) << video;
    if (!file) continue;
    std::vector<int> numbers;
    for (const auto& [number, objects] : frames) numbers.push_back(number);
    auto found = analyse(*file, detector, numbers, labels);
    for (const auto& [number, objects] : frames) {
      EXPECT_TRUE(found.contains(number)) << video << " has no frame " << number;
      counts += compare(fmt::format("{} {} frame {}", model, video, number), objects, found[number],
                        found_iou);
    }
  }
  print(model + ", videos", counts);
  return counts;
}

}  // namespace het::gst_test
