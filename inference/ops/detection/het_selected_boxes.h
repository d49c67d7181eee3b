#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/op.h"

namespace het {

/// What MulticlassNms and MatrixNms share: inputs, attributes and the form of their results.
/// boxes [n, boxes, 4] and scores [n, classes, boxes]; or, with `counts` (input 2), boxes
/// [classes, boxes, 4] and scores [classes, boxes] of all images behind each other.
struct SelectedBoxesRules {
  enum class Order { None, Class, Score };
  Order order = Order::None;
  bool across_batch = false;
  float score_threshold = 0;
  int64_t nms_top_k = -1;   ///< candidates per class; -1: all
  int64_t keep_top_k = -1;  ///< boxes per image; -1: all
  int64_t background = -1;
  float border = 0;  ///< what is added to widths and heights: 1 where coordinates are pixels
};

/// Checks inputs and attributes and sets the outputs: [boxes, 6], [boxes, 1], [images].
Status infer_selected_boxes(InferContext& context);

SelectedBoxesRules read_selected_boxes_rules(const Attributes& attributes);

/// The boxes and scores of one class of one image.
struct ClassBoxes {
  int64_t image = 0;
  int64_t label = 0;
  const float* boxes = nullptr;   ///< rows of 4
  const float* scores = nullptr;  ///< null where the image has no boxes
  int64_t count = 0;
  int64_t first_index = 0;  ///< of the first box, as output 1 counts
  int64_t index_step = 1;   ///< to the next box

  int64_t index(int64_t i) const { return first_index + i * index_step; }

  BoxSides<float> box(int64_t i) const {
    return {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]};
  }
};

/// Candidates of a class by descending score, of equal ones the first: those above the threshold,
/// at most nms_top_k.
std::vector<int64_t> candidates(const ClassBoxes& boxes, const SelectedBoxesRules& rules,
                                bool threshold_counts);

struct SelectedBox {
  int64_t image = 0;
  int64_t label = 0;
  int64_t index = 0;
  float score = 0;
  BoxSides<float> box;
};

/// Calls `select(class_boxes)` for every class but the background, keeps keep_top_k of every image,
/// orders them and writes the outputs.
Status write_selected_boxes(EvaluateContext& context, const SelectedBoxesRules& rules,
                            std::vector<SelectedBox> (*select)(const ClassBoxes&,
                                                               const SelectedBoxesRules&,
                                                               const Attributes&));

}  // namespace het
