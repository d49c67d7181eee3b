"""Saves frames in which something is found as JPEGs, for heteropython or gvapython.

    gst-launch-1.0 filesrc location=out/demo/scene.mp4 ! decodebin \
      ! heterodetect model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json \
      ! heteropython module=examples/python/gst/save_frames.py class=SaveFrames arg='["out/frames"]' \
        kwarg='{"every": 10, "labels": ["bicycle", "truck"]}' \
      ! fakesink

A picture is called after the number of its frame: out/frames/000010.jpg.
"""

from __future__ import annotations

import pathlib
from typing import Optional

import cv2
from bgr_pixels import bgr_copy
from gstgva import VideoFrame


class SaveFrames:
    """folder: is made if it is not there; every: at most one of so many frames is saved; labels: of the objects that count, or all."""

    def __init__(self, folder: str, every: int = 1, labels: Optional[list[str]] = None) -> None:
        self._folder = pathlib.Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._every = every
        self._labels = labels
        self._frames = 0
        self._next = 0

    def process_frame(self, frame: VideoFrame) -> bool:
        number = self._frames
        self._frames += 1
        if number < self._next or not any(self._labels is None or region.label() in self._labels for region in frame.regions()):
            return True
        self._next = number + self._every
        path = self._folder / f"{number:06}.jpg"
        if not cv2.imwrite(str(path), bgr_copy(frame)):
            raise OSError(f"cannot write {path}")
        return True
