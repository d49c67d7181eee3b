"""The stages of a pipeline as users of OpenVINO's and OpenCV's Python interfaces write them."""
import json

import cv2
import numpy
import openvino
from openvino.preprocess import ColorFormat, PrePostProcessor


def compile_for_pictures(model, precision, hint="THROUGHPUT"):
    """CompiledModel whose input takes 8 bit BGR pixels, channels last, of the model's size: (model, compiled)."""
    core = openvino.Core()
    read = core.read_model(model)
    steps = PrePostProcessor(read)
    steps.input(0).tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC")).set_color_format(ColorFormat.BGR)
    steps.input(0).model().set_layout(openvino.Layout("NCHW"))
    config = {"PERFORMANCE_HINT": hint}
    if precision:
        config["INFERENCE_PRECISION_HINT"] = precision
    return read, core.compile_model(steps.build(), "CPU", config)


class Detector:
    """Picture in, boxes out: models with DetectionOutput, and YOLOX."""

    def __init__(self, model, precision, threshold, hint="THROUGHPUT"):
        read, self.compiled = compile_for_pictures(model, precision, hint)
        self.is_yolox = len(read.outputs[0].get_partial_shape()) == 3
        _, self.height, self.width, _ = self.compiled.inputs[0].shape
        self.threshold = threshold
        if self.is_yolox:
            cells = [numpy.stack(numpy.meshgrid(numpy.arange(self.width // s), numpy.arange(self.height // s)), -1).reshape(-1, 2) for s in (8, 16, 32)]
            self.grid = numpy.concatenate(cells)
            self.stride = numpy.concatenate([numpy.full((len(c), 1), s) for c, s in zip(cells, (8, 16, 32))])

    def input(self, frame):
        """The tensor, and what objects() needs to find back to the frame."""
        height, width = frame.shape[:2]
        if not self.is_yolox:
            return cv2.resize(frame, (self.width, self.height))[None], (width, height)
        scale = min(self.width / width, self.height / height)
        small = cv2.resize(frame, (int(width * scale), int(height * scale)))
        padded = cv2.copyMakeBorder(small, 0, self.height - small.shape[0], 0, self.width - small.shape[1], cv2.BORDER_CONSTANT, value=(114, 114, 114))
        return padded[None], 1 / scale

    def objects(self, request, scale):
        """(boxes [N, 4] as corners in pixels, scores [N], classes [N])."""
        out = request.get_output_tensor(0).data
        if not self.is_yolox:
            rows = out.reshape(-1, 7)
            rows = rows[rows[:, 2] >= self.threshold]
            return rows[:, 3:] * (*scale, *scale), rows[:, 2].copy(), rows[:, 1].astype(int)
        rows = out[0]
        keep = rows[:, 4] >= self.threshold
        rows = rows[keep]
        classes = rows[:, 5:].argmax(1) if len(rows) else numpy.empty(0, int)
        scores = rows[:, 4] * rows[numpy.arange(len(rows)), 5 + classes]
        sure = scores >= self.threshold
        rows, scores, classes = rows[sure], scores[sure], classes[sure]
        centre = (rows[:, :2] + self.grid[keep][sure]) * self.stride[keep][sure] * scale
        size = numpy.exp(rows[:, 2:4]) * self.stride[keep][sure] * scale
        corners = numpy.concatenate([centre - size / 2, size], 1)
        kept = cv2.dnn.NMSBoxesBatched(corners.tolist(), scores.tolist(), classes.tolist(), self.threshold, 0.45) if len(corners) else []
        kept = numpy.asarray(kept, int)
        return numpy.concatenate([centre - size / 2, centre + size / 2], 1)[kept], scores[kept], classes[kept]


class Classifier:
    """Boxes of a frame in, one request each."""

    def __init__(self, model, precision):
        _, self.compiled = compile_for_pictures(model, precision)
        _, self.height, self.width, _ = self.compiled.inputs[0].shape

    def input(self, frame, box):
        """The tensor of a box; None where nothing of it is in the frame."""
        left, top, right, bottom = (int(v) for v in box)
        crop = frame[max(0, top):max(0, bottom), max(0, left):max(0, right)]
        return cv2.resize(crop, (self.width, self.height))[None] if crop.size else None

    def attributes(self, request):
        """The outputs by name, and of each the index of its largest value."""
        tensors = {port.get_any_name(): request.get_tensor(port).data.reshape(-1) for port in self.compiled.outputs}
        return {name: {"data": data.tolist(), "label_id": int(data.argmax())} for name, data in tensors.items()}


class Tracker:
    """Each box gets the id of the box of the last frames that it overlaps most, at least by `least`; best pairs first."""

    def __init__(self, least=0.3, patience=30):
        self.least, self.patience = least, patience
        self.boxes, self.ids, self.missed, self.next = numpy.empty((0, 4)), numpy.empty(0, int), numpy.empty(0, int), 1

    def ids_of(self, boxes):
        ids = numpy.zeros(len(boxes), int)
        if len(boxes) and len(self.boxes):
            low = numpy.maximum(boxes[:, None, :2], self.boxes[None, :, :2])
            high = numpy.minimum(boxes[:, None, 2:], self.boxes[None, :, 2:])
            common = numpy.prod(numpy.clip(high - low, 0, None), 2)
            areas = [numpy.prod(b[:, 2:] - b[:, :2], 1) for b in (boxes, self.boxes)]
            overlap = common / (areas[0][:, None] + areas[1][None] - common + 1e-9)
            for flat in numpy.argsort(-overlap, axis=None):
                new, old = divmod(int(flat), len(self.boxes))
                if overlap[new, old] < self.least:
                    break
                ids[new] = self.ids[old]
                overlap[new] = overlap[:, old] = 0
        fresh = ids == 0
        ids[fresh] = numpy.arange(self.next, self.next + fresh.sum())
        self.next += int(fresh.sum())
        lost = ~numpy.isin(self.ids, ids) & (self.missed < self.patience)
        self.boxes = numpy.concatenate([boxes, self.boxes[lost]])
        self.ids, self.missed = numpy.concatenate([ids, self.ids[lost]]), numpy.concatenate([numpy.zeros(len(ids), int), self.missed[lost] + 1])
        return ids


def json_line(number, shape, boxes, scores, classes, ids, attributes):
    """A frame's objects as one line of JSON, with what ours have in it."""
    height, width = shape[:2]
    objects = [{
        "detection": {"bounding_box": dict(zip(("x_min", "y_min", "x_max", "y_max"), (float(v) for v in box / (width, height, width, height)))),
                      "confidence": float(score), "label_id": int(label)},
        "x": int(box[0]), "y": int(box[1]), "w": int(box[2] - box[0]), "h": int(box[3] - box[1]), "id": int(identity), "tensors": tensors,
    } for box, score, label, identity, tensors in zip(boxes, scores, classes, ids, attributes)]
    return json.dumps({"timestamp": number, "resolution": {"width": width, "height": height}, "objects": objects}) + "\n"
