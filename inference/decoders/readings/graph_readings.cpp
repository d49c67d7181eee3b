#include "inference/decoders/readings/graph_readings.h"

#include <algorithm>

#include "inference/decoders/readings/see.h"

namespace het {

std::vector<Reading> readings_of_graph(const DecoderConfig& entry, const Model& model,
                                       const std::vector<Port>& inputs,
                                       const std::vector<Port>& outputs,
                                       const std::vector<size_t>& selected) {
  std::vector<Reading> readings;
  const GraphView graph{entry, model, inputs, outputs, selected, readings};
  // The surest signs first: what an operator or a set of shapes says alone decides.
  for (const auto see :
       {see_known_names, see_media_pipe,       see_movenet,     see_simcc,
        see_head_pose,   see_detection_output, see_region_yolo, see_boxes_and_labels,
        see_faces,       see_suppressed,       see_lines,       see_structures,
        see_yolo_rows,   see_boxes_and_scores, see_fastestdet,  see_anomalies,
        see_maskformer,  see_heat_maps,        see_pixels,      see_picture,
        see_text,        see_embedding,        see_classes}) {
    see(graph);
    if (!readings.empty()) break;
  }
  return readings;
}

std::vector<std::string> likely_converters(const Model& model, const std::vector<Port>& inputs,
                                           const std::vector<Port>& outputs) {
  if (outputs.size() != 1) return {};
  const Port& port = outputs.front();
  const Shape& shape = port.desc.shape;
  const InputSize input = picture_input_size(inputs);
  const bool softmax = is_made_by(model, port, "Softmax") || is_made_by(model, port, "LogSoftmax");
  if (shape.size() == 3 && softmax) return {"paddle_ocr_ctc", "attention_text"};
  if (vector_length(port, inputs)) return {"label", "embedding"};
  if (shape.size() != 4) return {};
  const bool is_smaller = shape[2] < input.height && shape[3] < input.width;
  if (shape[1] == 1 && !is_smaller) return {"semantic_segmentation", "depth_estimation"};
  if (shape[1] == 3 && !is_smaller) return {"picture", "semantic_segmentation"};
  if (shape[2] > 1 && shape[1] > 4 && is_smaller)
    return {"semantic_segmentation", "keypoints_hrnet"};
  return {};
}

DecoderConfig completed_by_graph(const DecoderConfig& entry, const Model& model,
                                 const std::vector<Port>& inputs,
                                 const std::vector<Port>& outputs) {
  DecoderConfig complete = entry;
  const bool scored = std::ranges::any_of(outputs, [&](const Port& port) {
    return is_made_by(model, port, "Softmax") || is_made_by(model, port, "Sigmoid") ||
           !vector_length(port, inputs);
  });
  if (complete.method == "max" && !scored) complete.method = "softmax";
  return complete;
}

}  // namespace het
