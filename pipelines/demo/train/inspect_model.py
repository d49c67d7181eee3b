"""Runs an exported ONNX model with onnxruntime, as the tests of the training do."""
import numpy as np
import onnxruntime

from detector_and_classifier import STRIDES


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def grid(width, height):
    """Cell columns, rows and strides in the order of the output's rows."""
    cells = []
    for stride in STRIDES:
        rows, columns = np.mgrid[0:height // stride, 0:width // stride]
        cells.append(np.stack([columns.ravel(), rows.ravel(), np.full(rows.size, stride)], 1))
    return np.concatenate(cells).astype(np.float32)


def decode(output, cells, threshold=0.1, nms=0.45):
    """Boxes [x1, y1, x2, y2], scores and labels of one picture's raw output."""
    scores = output[:, 4:5] * output[:, 5:]
    labels = scores.argmax(1)
    scores = scores.max(1)
    keep = scores > threshold
    output, cells, scores, labels = output[keep], cells[keep], scores[keep], labels[keep]
    centre = (output[:, :2] + cells[:, :2]) * cells[:, 2:]
    half = np.exp(output[:, 2:4]) * cells[:, 2:] / 2
    boxes = np.concatenate([centre - half, centre + half], 1)
    kept = []
    for i in np.argsort(-scores):
        low = np.maximum(boxes[i, :2], boxes[kept, :2])
        high = np.minimum(boxes[i, 2:], boxes[kept, 2:])
        shared = np.prod(np.maximum(high - low, 0), 1)
        areas = np.prod(boxes[kept, 2:] - boxes[kept, :2], 1)
        union = np.prod(boxes[i, 2:] - boxes[i, :2]) + areas - shared
        if not np.any((shared / union > nms) & (labels[kept] == labels[i])):
            kept.append(i)
    return boxes[kept], scores[kept], labels[kept]
