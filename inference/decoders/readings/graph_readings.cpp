#include "inference/decoders/readings/graph_readings.h"

#include "inference/decoders/readings/see.h"

namespace het {

std::vector<Reading> readings_of_graph(const DecoderConfig& entry, const Model& model,
                                       const std::vector<Port>& inputs,
                                       const std::vector<Port>& outputs,
                                       const std::vector<size_t>& selected) {
  std::vector<Reading> readings;
  const GraphView graph{entry, model, inputs, outputs, selected, readings};
  // The surest signs first: what an operator or a set of shapes says alone decides.
  for (const auto see : {see_detection_output, see_region_yolo, see_boxes_and_labels,
                         see_structures, see_yolo_rows, see_boxes_and_scores, see_fastestdet,
                         see_anomalies, see_pixels, see_embedding, see_classes}) {
    see(graph);
    if (!readings.empty()) break;
  }
  return readings;
}

}  // namespace het
