#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace het {

/// A box in pixels of its picture, which may begin between two of them.
struct Box {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;

  double area() const { return width * height; }
};

/// Overlap of two boxes by the area of both together; where `is_crowd`, by that of `found` alone.
double overlap(const Box& found, const Box& truth, bool is_crowd);

struct Category {
  int64_t id = 0;
  std::string name;
};

/// An object as the dataset has it.
struct TruthBox {
  Box box;
  double area = 0.0;  ///< of the object, which may be less than the box's
  size_t category = 0;
  bool is_crowd = false;    ///< many objects; detections inside count neither way
  bool is_ignored = false;  ///< one object (VOC: difficult) that need not be found and may be
};

struct LabelledPicture {
  std::string id;      ///< as the dataset names it; unique
  int64_t number = 0;  ///< the same where it is a number (COCO)
  std::string file;
  int width = 0;  ///< as the dataset says; 0: it does not
  int height = 0;
  std::vector<TruthBox> truth;
  size_t category = 0;  ///< of the whole picture, in class folders
};

enum class DatasetKind : uint8_t { Coco, Voc, ClassFolders };

/// Pictures and what is to be found on them.
struct Dataset {
  DatasetKind kind = DatasetKind::Coco;
  std::string origin;  ///< the file or folder with the truth
  std::vector<Category> categories;
  std::vector<LabelledPicture> pictures;
};

/// "COCO", "VOC", "class folders"
const char* to_string(DatasetKind kind);

/// An object as a model or a results file has it.
struct FoundBox {
  Box box;
  double score = 0.0;
  size_t category = 0;
};

/// A category that the dataset lacks, among those that a model ranks.
inline constexpr int kNoCategory = -1;

/// What was found on one picture.
struct Found {
  std::vector<FoundBox> boxes;
  std::vector<int> ranking;  ///< of a classifier: categories, the best first
};

}  // namespace het
