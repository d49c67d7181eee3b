"""What a VisionModel finds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

import numpy
from numpy.typing import DTypeLike, NDArray

from hetero._hetero import RawResults

__all__ = ["Classification", "Keypoints", "Landmarks", "NamedTensor", "Picture", "Segmentation", "VisionResult"]

_PACKED = numpy.dtype([("box", numpy.float32, (4,)), ("score", numpy.float32), ("label_id", numpy.int32)])


class Landmarks(NamedTuple):
    """Named points of an object."""

    points: NDArray[numpy.float32]
    """float32 [points, 2]: x and y in pixels of the picture."""
    names: list[str]
    """Empty or one per point."""
    scores: NDArray[numpy.float32]
    """float32 in 0..1; empty or one per point."""
    connections: list[tuple[int, int]]
    """Numbers of points that a line joins."""


class Classification(NamedTuple):
    """One attribute of the picture or region."""

    attribute: str
    label: str
    label_id: int
    """-1: the label is free text, such as a number that was read."""
    score: float


class Keypoints(NamedTuple):
    """The points of one body, hand or face."""

    format: str
    layer: str
    landmarks: Landmarks
    depths: list[float]
    score: float


class Segmentation(NamedTuple):
    """The class of each place of a part of the picture."""

    attribute: str
    layer: str
    box: tuple[float, float, float, float]
    """x_min, y_min, x_max, y_max in pixels of the picture, over which class_ids is stretched."""
    class_ids: NDArray[numpy.uint16]
    """uint16 [height, width]"""
    labels: list[str]


class NamedTensor(NamedTuple):
    """Values that the application reads itself: an embedding, a depth map, an output as it is."""

    attribute: str
    layer: str
    format: str
    values: NDArray[Any]


class Picture(NamedTuple):
    """A picture that the model made."""

    attribute: str
    format: str
    """GRAY8, RGB or BGR"""
    pixels: NDArray[numpy.uint8]


class VisionResult:
    """What was found on a picture. len() and iterating are those of the objects; the rest is made when it is asked for."""

    def __init__(self, raw: RawResults, labels: list[str]) -> None:
        self._raw = raw
        self._labels = labels

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._raw.width, self._raw.height

    @functools.cached_property
    def objects(self) -> NDArray[numpy.void]:
        """One row per object, a structured array.

        box: float32 [4], x_min, y_min, x_max, y_max in pixels of the picture, not clipped to it; score: float32 in 0..1; label_id: int32;
        object_id: int32, 0 until a Tracker has said who it is; label: text, empty without labels.
        """
        packed = numpy.frombuffer(self._raw.objects(), _PACKED)
        labels = self._raw.labels()
        width = max(map(len, labels), default=0)
        width = max(width, _longest(self._labels))
        rows = numpy.zeros(len(packed), [*_PACKED.descr, ("object_id", numpy.int32), ("label", f"U{max(width, 1)}")])
        for name in ("box", "score", "label_id"):
            rows[name] = packed[name]
        if labels:
            rows["label"] = labels
        return rows

    @property
    def boxes(self) -> NDArray[numpy.float32]:
        """float32 [objects, 4]"""
        return self.objects["box"]

    @property
    def scores(self) -> NDArray[numpy.float32]:
        """float32 [objects], in 0..1"""
        return self.objects["score"]

    @property
    def labels(self) -> NDArray[numpy.str_]:
        """Texts [objects], empty without labels."""
        return self.objects["label"]

    @functools.cached_property
    def landmarks(self) -> list[Landmarks]:
        """One per object, with no points where the model finds none."""
        return self._raw.landmarks()

    @functools.cached_property
    def masks(self) -> list[Optional[NDArray[numpy.float32]]]:
        """One per object: float32 [height, width], stretched over its box, at least 0.5 where the object is; None without."""
        return self._raw.masks()

    @functools.cached_property
    def rotations(self) -> list[float]:
        """One per object: radians, clockwise as seen, about the centre of its box."""
        return self._raw.rotations()

    @functools.cached_property
    def classifications(self) -> list[Classification]:
        """Of the picture or region."""
        return self._raw.classifications()

    @functools.cached_property
    def keypoints(self) -> list[Keypoints]:
        """Bodies, hands or faces by their points."""
        return self._raw.keypoints()

    @functools.cached_property
    def segmentations(self) -> list[Segmentation]:
        """Classes of places."""
        return self._raw.segmentations()

    @functools.cached_property
    def tensors(self) -> list[NamedTensor]:
        """Outputs that the application reads itself."""
        return self._raw.tensors()

    @functools.cached_property
    def pictures(self) -> list[Picture]:
        """Pictures that the model made."""
        return self._raw.pictures()

    def keep(self, chosen: NDArray[numpy.bool_]) -> None:
        """Leaves only the chosen objects, one truth value each, with their landmarks, masks and rotations."""
        if len(chosen) != len(self.objects):
            raise ValueError(f"there are {len(self.objects)} objects, and {len(chosen)} truth values were given: give one for each")
        indices = numpy.flatnonzero(chosen)
        self.landmarks = [self.landmarks[i] for i in indices]
        self.masks = [self.masks[i] for i in indices]
        self.rotations = [self.rotations[i] for i in indices]
        self.objects = self.objects[indices]

    def __array__(self, dtype: Optional[DTypeLike] = None, copy: Optional[bool] = None) -> NDArray[Any]:
        rows = self.objects if dtype is None else self.objects.astype(dtype)
        return rows.copy() if copy else rows

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[numpy.void]:
        return iter(self.objects)

    def __getitem__(self, index: Any) -> Any:
        return self.objects[index]

    def __repr__(self) -> str:
        parts = [f"{len(self)} objects"]
        for name in ("classifications", "keypoints", "segmentations", "tensors", "pictures"):
            count = len(getattr(self, name))
            if count:
                parts.append(f"{count} {name}")
        return f"<VisionResult: {', '.join(parts)}>"


def _longest(labels: list[str]) -> int:
    return max(map(len, labels), default=0)
