"""Writes what is known about the objects of each frame into a file, for heteropython or gvapython.

    gst-launch-1.0 filesrc location=out/demo/scene.mp4 ! decodebin \
      ! heterodetect model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json \
      ! heteroclassify model=pipelines/demo/models/scene_attributes.onnx model-proc=pipelines/demo/models/scene_attributes.json \
      ! heteropython module=examples/python/gst/attribute_log.py class=AttributeLog \
        kwarg='{"log_file": "out/attributes.jsonl", "threshold": 0.8}' \
      ! fakesink

The object of the class lives from the start of the pipeline to its stop, and with it the file that it holds open.
"""

from __future__ import annotations

import json

from gstgva import VideoFrame


class AttributeLog:
    """log_file: gets a JSON line for each frame with objects; threshold: attributes of lower confidence are left out."""

    def __init__(self, log_file: str, threshold: float = 0.5) -> None:
        self._file = open(log_file, "w", encoding="utf-8")
        self._threshold = threshold
        self._frames = 0

    def __del__(self) -> None:
        # The file is missing where it could not be opened.
        if hasattr(self, "_file"):
            self._file.close()

    def process_frame(self, frame: VideoFrame) -> bool:
        objects = []
        for region in frame.regions():
            told = {"label": region.label()}
            for tensor in region.tensors():
                if not tensor.is_detection() and tensor.label() and (tensor.confidence() or 0) >= self._threshold:
                    told[tensor["attribute_name"] or tensor.name()] = tensor.label()
            objects.append(told)
        if objects:
            self._file.write(json.dumps({"frame": self._frames, "objects": objects}) + "\n")
        self._frames += 1
        return True
