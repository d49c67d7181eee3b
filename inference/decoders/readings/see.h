#pragma once

#include "inference/decoders/readings/graph_view.h"

namespace het {

// Recognisers: each adds the readings that it sees to those of the graph.

/// Published models by the names of their outputs.
void see_known_names(const GraphView& graph);

// Objects.
void see_detection_output(const GraphView& graph);
void see_region_yolo(const GraphView& graph);
void see_boxes_and_labels(const GraphView& graph);
void see_faces(const GraphView& graph);
void see_boxes_and_scores(const GraphView& graph);
void see_suppressed(const GraphView& graph);
void see_structures(const GraphView& graph);
void see_fastestdet(const GraphView& graph);
void see_yolo_rows(const GraphView& graph);

// Faces, hands and bodies.
void see_media_pipe(const GraphView& graph);
void see_movenet(const GraphView& graph);
void see_simcc(const GraphView& graph);
void see_head_pose(const GraphView& graph);

// Lines.
void see_lines(const GraphView& graph);

// Maps over the picture.
void see_pixels(const GraphView& graph);
void see_maskformer(const GraphView& graph);
void see_heat_maps(const GraphView& graph);
void see_picture(const GraphView& graph);
void see_anomalies(const GraphView& graph);

// Vectors.
void see_text(const GraphView& graph);
void see_embedding(const GraphView& graph);
void see_classes(const GraphView& graph);

}  // namespace het
