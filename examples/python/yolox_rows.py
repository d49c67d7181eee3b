"""Rows of a YOLOX model as objects, in numpy: what VisionModel does by itself, for programs that read tensors."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy

STRIDES = (8, 16, 32)
OVERLAP = 0.45


class Found(NamedTuple):
    """One object."""

    class_id: int
    score: float
    box: tuple[float, float, float, float]
    """x_min, y_min, x_max, y_max in pixels of the picture."""


class YoloxRows:
    """Reads rows [1, cells, 5 + classes]: centre and size of the box, whether there is an object, scores of the classes.

    input_size: width and height of the model's input in pixels; picture_size: of the picture that was stretched to it.
    """

    def __init__(self, input_size: tuple[int, int], picture_size: tuple[int, int]) -> None:
        width, height = input_size
        cells, strides = [], []
        for stride in STRIDES:
            y, x = numpy.mgrid[: height // stride, : width // stride]
            cells.append(numpy.stack([x.ravel(), y.ravel()], axis=1))
            strides.append(numpy.full((y.size, 1), stride))
        self._cells = numpy.concatenate(cells)
        self._strides = numpy.concatenate(strides)
        self._scale = numpy.array(picture_size) / input_size

    def read(self, rows: numpy.ndarray, threshold: float) -> list[Found]:
        """Objects whose score is at least the threshold, best first. Raises ValueError for rows of another model."""
        if rows.ndim != 3 or rows.shape[:2] != (1, len(self._cells)) or rows.shape[2] < 6:
            raise ValueError(f"[1, {len(self._cells)}, 5 + classes] is what a YOLOX gives for this input, not {list(rows.shape)}")
        class_scores = rows[0, :, 5:] * rows[0, :, 4:5]
        class_ids, scores = class_scores.argmax(axis=1), class_scores.max(axis=1)
        good = scores >= threshold
        class_ids, scores = class_ids[good], scores[good]
        centres = (rows[0, good, :2] + self._cells[good]) * self._strides[good] * self._scale
        sizes = numpy.exp(rows[0, good, 2:4]) * self._strides[good] * self._scale
        corners = numpy.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)
        # Far from each other, objects of different classes do not suppress each other.
        apart = numpy.concatenate([centres - sizes / 2 + class_ids[:, None] * 1e5, sizes], axis=1)
        kept = numpy.array(cv2.dnn.NMSBoxes(apart.tolist(), scores.tolist(), threshold, OVERLAP), dtype=int).ravel()
        found = []
        for i in kept:
            x_min, y_min, x_max, y_max = corners[i].tolist()
            found.append(Found(int(class_ids[i]), float(scores[i]), (x_min, y_min, x_max, y_max)))
        return found
