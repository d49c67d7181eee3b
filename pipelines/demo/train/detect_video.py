#!/usr/bin/env python3
"""Runs both exported models over a video with onnxruntime, without the plugin.

    detect_video.py --video scene.mp4 --output detections.json

writes the lines that evaluate.py reads, to tell a fault of the models from a
fault of the pipeline.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np

from inspect_model import decode, grid, session

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from sprites import ATTRIBUTES, CLASSES  # noqa: E402

MODELS = Path(__file__).resolve().parent.parent / "models"


def decoded(path, width, height):
    """The frames of an MP4 (H.264), by way of NV12."""
    pipeline = (f"filesrc location={path} ! qtdemux ! h264parse ! avdec_h264 ! videoconvert ! video/x-raw,format=NV12 "
                "! videoconvert ! video/x-raw,format=BGR ! fdsink fd=1")
    process = subprocess.Popen(["gst-launch-1.0", "-q"] + pipeline.split(), stdout=subprocess.PIPE)
    while len(data := process.stdout.read(width * height * 3)) == width * height * 3:
        yield np.frombuffer(data, np.uint8).reshape(height, width, 3)
    if process.wait() != 0:
        sys.exit(f"detect_video.py: gst-launch-1.0 ended with status {process.returncode}")


def pixels(picture, width, height):
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR)
    return {"images": small.transpose(2, 0, 1)[None].astype(np.float32)}


def describe(box, score, label, frame, classifier):
    height, width = frame.shape[:2]
    x1, y1 = max(0.0, float(box[0])), max(0.0, float(box[1]))
    x2, y2 = min(1.0, float(box[2])), min(1.0, float(box[3]))
    left, top = int(x1 * width), int(y1 * height)
    crop = frame[top:max(top + 1, round(y2 * height)), left:max(left + 1, round(x2 * width))]
    chances = classifier.run(None, pixels(crop, 32, 32))[0][0]
    corners = {"x_min": x1, "y_min": y1, "x_max": x2, "y_max": y2}
    return {"detection": {"bounding_box": corners, "confidence": float(score), "label": CLASSES[label],
                          "label_id": int(label)},
            "roi_type": CLASSES[label],
            "color": {"label": ATTRIBUTES[chances.argmax()], "confidence": float(chances.max())}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--video", required=True)
    parser.add_argument("--size", default="640x384")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--threshold", type=float, default=0.1)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    width, height = (int(v) for v in options.size.split("x"))
    detector, classifier = session(MODELS / "scene_detector.onnx"), session(MODELS / "scene_attributes.onnx")
    rows, columns = detector.get_inputs()[0].shape[2:]
    cells = grid(columns, rows)
    with open(options.output, "w", encoding="utf-8") as file:
        for index, frame in enumerate(decoded(options.video, width, height)):
            output = detector.run(None, pixels(frame, columns, rows))[0][0]
            boxes, scores, labels = decode(output, cells, options.threshold)
            boxes = boxes / np.array([columns, rows, columns, rows], np.float32)
            objects = [describe(b, s, k, frame, classifier) for b, s, k in zip(boxes, scores, labels)
                       if b[0] < 1 and b[1] < 1 and b[2] > 0 and b[3] > 0]
            json.dump({"objects": objects, "resolution": {"width": width, "height": height},
                       "timestamp": round(index * 1e9 / options.fps)}, file)
            file.write("\n")


if __name__ == "__main__":
    main()
