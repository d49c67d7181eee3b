#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace het::test {

/// One object of expected/*_reference.json, or one that was found; the box in source pixels.
struct ReferenceObject {
  std::string label;
  float score = 0.0f;
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;
};

/// Objects by "picture file" or by "video file" and frame number.
using PictureObjects = std::map<std::string, std::vector<ReferenceObject>>;
using VideoObjects = std::map<std::string, std::map<int, std::vector<ReferenceObject>>>;

/// Detections of one model in onnx_reference.json ("yolox_nano.onnx"); empty when it has none.
/// Throws what the JSON library throws on a broken file: a test may fail so.
PictureObjects read_picture_reference(const std::string& path, const std::string& model);

/// Detections of one model ("yolox_nano", "yunet_n_320") in video_reference.json.
VideoObjects read_video_reference(const std::string& path, const std::string& model);

/// Detections of one IR model in ir_reference.json; labels are the ids.
struct IrObjects {
  PictureObjects pictures;
  VideoObjects videos;
};
/// By model file, relative to the folder of IR models.
std::map<std::string, IrObjects> read_ir_reference(const std::string& path);

/// Label ids of the best class of one classifier by picture; several where the reference scores
/// them equal, as saturated int8 scores often are.
std::map<std::string, std::set<int>> read_top_classes(const std::string& path,
                                                      const std::string& model);

/// What a comparison found, over any number of pictures.
struct MatchCounts {
  int wanted = 0;  ///< reference objects with score > 0.5
  int found = 0;   ///< of them, with the wanted overlap and the same label
  int given = 0;   ///< found objects with score > 0.5
  int extra = 0;   ///< of them, without any reference object (of any score) at IoU >= 0.5 and the
                   ///< same label
  std::vector<std::string> misses;  ///< one line each: what is missing or extra, and the nearest

  double found_share() const { return wanted == 0 ? 1.0 : static_cast<double>(found) / wanted; }
  double extra_share() const { return wanted == 0 ? 0.0 : static_cast<double>(extra) / wanted; }
  MatchCounts& operator+=(const MatchCounts& other);
};

/// Overlap from which on an object counts as found.
inline constexpr float kFoundIou = 0.9f;

/// Compares what was found in one picture with the reference; `where` names the picture in misses.
/// Every found object serves one reference object at most.
MatchCounts match_objects(const std::string& where, const std::vector<ReferenceObject>& reference,
                          const std::vector<ReferenceObject>& found, float found_iou = kFoundIou);

}  // namespace het::test
