"""How many objects of each label there were, every so many frames, for heteropython or gvapython.

    gst-launch-1.0 filesrc location=out/demo/scene.mp4 ! decodebin \
      ! heterodetect model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json \
      ! heteropython module=examples/python/gst/count_objects.py class=Count kwarg='{"every": 10}' ! fakesink
"""

from __future__ import annotations

import collections

from gstgva import VideoFrame


class Count:
    def __init__(self, every: int = 30) -> None:
        self.every = every
        self.frames = 0
        self.labels: collections.Counter[str] = collections.Counter()

    def process_frame(self, frame: VideoFrame) -> None:
        self.frames += 1
        self.labels.update(region.label() for region in frame.regions())
        if self.frames % self.every == 0:
            print(f"{self.frames} frames:", ", ".join(f"{count} {label}" for label, count in sorted(self.labels.items())) or "no objects")
