#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace het {

/// A box that a decoder considers, in pixels of the model's input picture.
struct Candidate {
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;
  float score = 0.0f;
  int label_id = 0;
  int64_t row = 0;        ///< where the decoder found it, to look up more about it afterwards
  float rotation = 0.0f;  ///< radians about the box's centre, clockwise as seen on the picture
};

/// The box of this centre and size.
Candidate centred_candidate(float centre_x, float centre_y, float width, float height, float score,
                            int label_id, int64_t row = 0);

/// True where `label` is a class number: whole numbers from 0 on come as floats in many outputs.
bool is_label_id(float label);

/// Boxes that enter the suppression at most: the ones with the highest scores. Bounds the time that
/// a broken model or a threshold of 0 can cost.
inline constexpr size_t kMaxCandidates = 10000;

/// Area of the intersection divided by the area of the union; 0 where either box has no area.
float intersection_over_union(const Candidate& a, const Candidate& b);

/// Candidates with finite score and box, the best first, at most kMaxCandidates; equal scores keep
/// their order.
std::vector<Candidate> sorted_by_score(std::vector<Candidate> candidates);

/// How much two boxes share, 0..1.
using Overlap = float (*)(const Candidate& a, const Candidate& b);

/// Greedy non-maximum suppression within each class: sorted_by_score() without the boxes that
/// overlap a better kept one of the same label_id by more than `iou_threshold`.
std::vector<Candidate> non_maximum_suppression(std::vector<Candidate> candidates,
                                               float iou_threshold,
                                               Overlap overlap = intersection_over_union);

/// The same at once: a box goes where any better one of its class overlaps it by `iou_threshold` or
/// more, also one that goes itself. What Ultralytics does with turned boxes ("Fast NMS" of YOLACT,
/// arXiv 1904.02689).
std::vector<Candidate> fast_suppression(std::vector<Candidate> candidates, float iou_threshold,
                                        Overlap overlap);

}  // namespace het
