"""Raw output of a detector as objects, for heteropython or gvapython: the tensors of heteroinference become regions.

    gst-launch-1.0 filesrc location=out/demo/scene.mp4 ! decodebin \
      ! heteroinference model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json \
      ! heteropython module=examples/python/gst/yolox_to_regions.py class=YoloxToRegions \
        kwarg='{"labels": ["car", "truck", "person", "bicycle", "ball"], "threshold": 0.5}' \
      ! heterometaconvert ! heterometapublish file-path=out/regions.json file-format=json-lines ! fakesink

heterodetect reads a YOLOX by itself; this is how a model is added that it does not read.
"""

from __future__ import annotations

import pathlib
import sys

from gstgva import VideoFrame

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from yolox_rows import YoloxRows


class YoloxToRegions:
    """labels: in the order of the model's classes; input_width, input_height: what the model takes, in pixels."""

    def __init__(self, labels: list[str], threshold: float = 0.5, input_width: int = 320, input_height: int = 192) -> None:
        self._labels = labels
        self._threshold = threshold
        self._input_size = input_width, input_height

    def process_frame(self, frame: VideoFrame) -> bool:
        picture = frame.video_info()
        width, height = self._input_size
        # The picture keeps its proportions and lies in the middle of the input. In pixels of the frame:
        scale = max(picture.width / width, picture.height / height)
        input_size = round(width * scale), round(height * scale)
        x_offset, y_offset = (input_size[0] - picture.width) / 2, (input_size[1] - picture.height) / 2
        rows = YoloxRows(self._input_size, input_size)
        for tensor in frame.tensors():
            if tensor.layer_name() != "detections":
                continue
            for found in rows.read(tensor.data().reshape(tensor.dims()), self._threshold):
                left, right = (min(max(x - x_offset, 0), picture.width) for x in found.box[::2])
                top, bottom = (min(max(y - y_offset, 0), picture.height) for y in found.box[1::2])
                if left < right and top < bottom:
                    frame.add_region(left, top, right - left, bottom - top, self._labels[found.class_id], found.score)
        return True
