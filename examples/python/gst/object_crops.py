"""Writes a picture of each object into a folder of its label, for heteropython or gvapython: the largest one that was seen of it.

    gst-launch-1.0 filesrc location=out/demo/scene.mp4 ! decodebin ! videoconvert ! video/x-raw,format=NV12 \
      ! heterodetect model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json ! heterotrack \
      ! heteropython module=examples/python/gst/object_crops.py class=ObjectCrops kwarg='{"folder": "out/crops"}' ! fakesink

The ids are heterotrack's: out/crops/car/2.png. Objects without an id are left out.
"""

from __future__ import annotations

import pathlib
import re

import cv2
from bgr_pixels import bgr_copy
from gstgva import VideoFrame


class ObjectCrops:
    """folder: is made if it is not there."""

    def __init__(self, folder: str) -> None:
        self._folder = pathlib.Path(folder)
        self._largest: dict[pathlib.Path, int] = {}

    def process_frame(self, frame: VideoFrame) -> bool:
        image = None
        for region in frame.regions():
            if region.object_id() is None:
                continue
            x, y, width, height = region.rect()
            # A box may leave the picture, and nothing may be left of it.
            left, top = max(x, 0), max(y, 0)
            right, bottom = min(x + width, frame.video_info().width), min(y + height, frame.video_info().height)
            area = max(right - left, 0) * max(bottom - top, 0)
            # Labels are the model's: none may lead out of the folder.
            path = self._folder / (re.sub(r"[^\w-]", "_", region.label()) or "_") / f"{region.object_id()}.png"
            if area <= self._largest.get(path, 0):
                continue
            self._largest[path] = area
            if image is None:
                image = bgr_copy(frame)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not cv2.imwrite(str(path), image[top:bottom, left:right]):
                raise OSError(f"cannot write {path}")
        return True
