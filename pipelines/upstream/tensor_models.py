#!/usr/bin/env python3
"""Writes the demo's detector with the outputs of other families: tensor_models.py FOLDER.

yolo_v8.onnx               RGB 0..1 [1,3,192,320] -> output0 [1,9,1260]: centre, size in pixels; a score per class
yolo_v8_segmentation.onnx  RGB 0..1 [1,3,320,320] -> output0 [1,14,2100], the same with five mask weights;
                           output1 [1,5,80,80], prototypes. A square, as GStreamer's decoder takes the height of
                           the prototypes for their width
ssd.onnx                   RGB bytes [1,192,320,3] -> detection_boxes, _classes (from 1), _scores, num_detections,
                           as TensorFlow's Object Detection API names them, suppressed in the graph
labels.txt                 a line per class

The weights are those of the demo's scene_detector.onnx. Needs the package onnx.
"""
import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

DEMO = Path(__file__).resolve().parent.parent / "demo"
sys.path.insert(0, str(DEMO))

from sprites import CLASSES  # noqa: E402

DETECTOR = DEMO / "models" / "scene_detector.onnx"
OPSET = 13
WIDTH, HEIGHT = 320, 192  # the detector's
STRIDES = (8, 16, 32)
MASK_STRIDE = 4
MASK_SIDE = WIDTH // MASK_STRIDE
MASK_DISTANCE = 0.25  # between colours in RGB 0..1: nearer than this to the colour at the box's centre is in the mask
MASK_SCALE = 100.0  # of the logits
SCORE_THRESHOLD, IOU_THRESHOLD, MAX_OUTPUT_BOXES_PER_CLASS = 0.3, 0.45, 20


class Graph:
    """The detector's graph without its last node, and what is appended to it."""

    def __init__(self, byte_values=False, square=False):
        """With an input of RGB bytes, channels last, or else of RGB 0..1 in planes. Of a square the detector sees the
        rows in the middle, which a letterbox leaves to the demo's pictures; the other cells have scores of 0."""
        self.height = WIDTH if square else HEIGHT
        model = onnx.load(str(DETECTOR))
        *detector, last = model.graph.node
        first, self.nodes, self.weights = detector[0], [], list(model.graph.initializer)
        self.rows = last.input[0]  # [1,10,N]: dx, dy, log w, log h, objectness, a score per class
        self.read_rgb(first.input[1], 1.0 if byte_values else 255.0)
        if byte_values:
            self.input = helper.make_tensor_value_info("input_tensor", TensorProto.UINT8, [1, self.height, WIDTH, 3])
            self.picture = self.add("Transpose", [self.add("Cast", ["input_tensor"], to=TensorProto.FLOAT)],
                                    perm=[0, 3, 1, 2])
        else:
            self.input = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, self.height, WIDTH])
            self.picture = "images"
        first.input[0] = self.picture
        border = (self.height - HEIGHT) // 2
        if square:
            rows = [self.constant([end], numpy.int64) for end in (border, border + HEIGHT, 2)]
            first.input[0] = self.add("Slice", [self.picture, *rows])
        strides = iter(STRIDES)
        for node in detector:
            if square and node.op_type == "Reshape":  # of a stride's map to its rows
                cells = border // next(strides)
                pads = self.constant([0, 0, cells, 0, 0, 0, cells, 0], numpy.int64)
                node.input[0] = self.add("Pad", [node.input[0], pads])
            self.nodes.append(node)

    def read_rgb(self, name, scale):
        """Turns the first convolution's weights, for BGR 0..255, into those for RGB 0..255/scale."""
        index = next(i for i, weight in enumerate(self.weights) if weight.name == name)
        values = numpy_helper.to_array(self.weights[index])[:, ::-1] * numpy.float32(scale)
        self.weights[index] = numpy_helper.from_array(numpy.ascontiguousarray(values), name)

    def add(self, operator, inputs, count=1, **attributes):
        """Appends a node; returns its output's name, or their names."""
        outputs = [f"{operator.lower()}_{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return outputs[0] if count == 1 else outputs

    def name(self, value, name):
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def constant(self, values, dtype=numpy.float32):
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.array(values, dtype), name))
        return name

    def decode(self):
        """Boxes in pixels and scores of all N cells: centre [1,2,N], size [1,2,N], scores [1,5,N]."""
        cells, strides = [], []
        for stride in STRIDES:
            x, y = numpy.meshgrid(*(numpy.arange(side // stride, dtype=numpy.float32) for side in (WIDTH, self.height)))
            cells.append(numpy.stack([x.ravel(), y.ravel()]))
            strides.append(numpy.full((1, x.size), stride, numpy.float32))
        cell, stride = (self.constant(numpy.concatenate(parts, 1)[None]) for parts in (cells, strides))
        sizes = self.constant([2, 2, 1, len(CLASSES)], numpy.int64)
        place, size, objectness, classes = self.add("Split", [self.rows, sizes], 4, axis=1)
        centre = self.add("Mul", [self.add("Add", [place, cell]), stride])
        size = self.add("Mul", [self.add("Exp", [size]), stride])
        return centre, size, self.add("Mul", [objectness, classes])

    def cells(self):
        return sum((WIDTH // stride) * (self.height // stride) for stride in STRIDES)

    def save(self, path, outputs, metadata):
        """Outputs by name with their shapes; every value is float32."""
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()]
        graph = helper.make_graph(self.nodes, path.stem, [self.input], values, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=7,
                                  producer_name="gst-hetero demo")
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


def as_ultralytics(task, graph):
    """What Ultralytics' exporter writes beside the graph."""
    return {"task": task, "names": str(dict(enumerate(CLASSES))), "imgsz": f"[{graph.height}, {WIDTH}]", "stride": "32"}


def yolo_v8(path):
    graph = Graph()
    graph.name(graph.add("Concat", list(graph.decode()), axis=1), "output0")
    graph.save(path, {"output0": [1, 4 + len(CLASSES), graph.cells()]}, as_ultralytics("detect", graph))


def mask_weights(graph, colours, centre):
    """Weights [1,5,N] of the planes R, G, B, R^2 + G^2 + B^2 and 1, whose sum is positive where a pixel's colour p
    is nearer than the distance d to the colour c at the box's centre: d^2 - |p - c|^2 = 2 c p - |p|^2 + d^2 - |c|^2."""
    cell = graph.add("Clip", [graph.add("Floor", [graph.add("Div", [centre, graph.constant(MASK_STRIDE)])]),
                              graph.constant(0), graph.constant(MASK_SIDE - 1)])
    place = graph.add("ReduceSum", [graph.add("Mul", [cell, graph.constant([[[1], [MASK_SIDE]]])]),
                                    graph.constant([0, 1], numpy.int64)], keepdims=0)
    flat = graph.add("Reshape", [colours, graph.constant([1, 3, -1], numpy.int64)])
    colour = graph.add("Gather", [flat, graph.add("Cast", [place], to=TensorProto.INT64)], axis=2)
    channels = graph.constant([1], numpy.int64)
    square = graph.add("ReduceSum", [graph.add("Mul", [colour, colour]), channels], keepdims=1)
    one = graph.add("Sub", [graph.constant(MASK_SCALE * MASK_DISTANCE ** 2),
                            graph.add("Mul", [square, graph.constant(MASK_SCALE)])])
    minus = graph.add("Sub", [graph.add("Mul", [square, graph.constant(0)]), graph.constant(MASK_SCALE)])
    return graph.add("Concat", [graph.add("Mul", [colour, graph.constant(2 * MASK_SCALE)]), minus, one], axis=1)


def yolo_v8_segmentation(path):
    graph = Graph(square=True)
    centre, size, scores = graph.decode()
    colours = graph.add("AveragePool", [graph.picture], kernel_shape=[MASK_STRIDE] * 2, strides=[MASK_STRIDE] * 2)
    square = graph.add("ReduceSum", [graph.add("Mul", [colours, colours]), graph.constant([1], numpy.int64)], keepdims=1)
    ones = graph.constant(numpy.ones((1, 1, MASK_SIDE, MASK_SIDE)))
    graph.name(graph.add("Concat", [colours, square, ones], axis=1), "output1")
    weights = mask_weights(graph, colours, centre)
    graph.name(graph.add("Concat", [centre, size, scores, weights], axis=1), "output0")
    graph.save(path, {"output0": [1, 4 + len(CLASSES) + 5, graph.cells()], "output1": [1, 5, MASK_SIDE, MASK_SIDE]},
               as_ultralytics("segment", graph))


def ssd(path):
    graph = Graph(byte_values=True)
    centre, size, scores = graph.decode()
    half = graph.add("Mul", [size, graph.constant(0.5)])
    relative = graph.constant([[[1 / WIDTH], [1 / HEIGHT]]])
    corners = [graph.add("Mul", [graph.add(operator, [centre, half]), relative])
               for operator in ("Sub", "Add")]  # x, y each
    halves = [graph.add("Split", [corner, graph.constant([1, 1], numpy.int64)], 2, axis=1) for corner in corners]
    boxes = graph.add("Transpose", [graph.add("Concat", [halves[0][1], halves[0][0], halves[1][1], halves[1][0]], axis=1)],
                      perm=[0, 2, 1])
    boxes = graph.add("Clip", [boxes, graph.constant(0), graph.constant(1)])
    chosen = graph.add("NonMaxSuppression", [boxes, scores, graph.constant([MAX_OUTPUT_BOXES_PER_CLASS], numpy.int64),
                                             graph.constant([IOU_THRESHOLD]), graph.constant([SCORE_THRESHOLD])])
    found = graph.add("GatherND", [scores, chosen])
    number = graph.add("Shape", [found])
    found, order = graph.add("TopK", [found, number], 2)  # all of them, the best first
    chosen = graph.add("Gather", [chosen, order], axis=0)
    _, label, cell = graph.add("Split", [chosen, graph.constant([1, 1, 1], numpy.int64)], 3, axis=1)
    batch, flat = graph.constant([0], numpy.int64), graph.constant([-1], numpy.int64)
    cell, label = (graph.add("Reshape", [values, flat]) for values in (cell, label))
    graph.name(graph.add("Gather", [boxes, cell], axis=1), "detection_boxes")
    label = graph.add("Add", [graph.add("Cast", [label], to=TensorProto.FLOAT), graph.constant(1)])
    graph.name(graph.add("Unsqueeze", [label, batch]), "detection_classes")
    graph.name(graph.add("Unsqueeze", [found, batch]), "detection_scores")
    graph.name(graph.add("Cast", [number], to=TensorProto.FLOAT), "num_detections")
    graph.save(path, {"detection_boxes": [1, "objects", 4], "detection_classes": [1, "objects"],
                      "detection_scores": [1, "objects"], "num_detections": [1]}, {})


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for write in (yolo_v8, yolo_v8_segmentation, ssd):
        write(folder / f"{write.__name__}.onnx")
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in CLASSES), encoding="utf-8")


if __name__ == "__main__":
    main()
