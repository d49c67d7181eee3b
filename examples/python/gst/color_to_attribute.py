"""Raw output of a classifier as an attribute of each object, for heteropython or gvapython.

    gst-launch-1.0 filesrc location=out/demo/scene.mp4 ! decodebin \
      ! heterodetect model=pipelines/demo/models/scene_detector.onnx model-proc=pipelines/demo/models/scene_detector.json \
      ! heteroinference inference-region=roi-list model=pipelines/demo/models/scene_attributes.onnx \
      ! heteropython module=examples/python/gst/color_to_attribute.py \
      ! heterometaconvert ! heterometapublish file-path=out/colors.json file-format=json-lines ! fakesink

What is added looks as if heteroclassify had added it: heterowatermark draws it, heterometaconvert writes it.
"""

from __future__ import annotations

from gstgva import VideoFrame

COLORS = ("red", "green", "blue", "yellow", "white")


def process_frame(frame: VideoFrame) -> bool:
    for region in frame.regions():
        for tensor in region.tensors():
            if tensor.layer_name() != "color":
                continue
            scores = tensor.data()
            best = int(scores.argmax())
            attribute = region.add_tensor("classification")
            attribute["attribute_name"] = "color"
            attribute["label_id"] = best
            attribute["confidence"] = float(scores[best])
            attribute.set_label(COLORS[best])
    return True
