#!/usr/bin/env python3
"""What is on a picture: prints the objects and writes a PNG with their boxes.

    picture.py [PICTURE] [--model MODEL] [--model-proc DESCRIPTOR] [--device DEVICE] [--output PNG]

Without arguments it looks at street.jpg with the demo's detector.
"""

from __future__ import annotations

import argparse
import os
import sys

# One line about a bad file is enough; OpenCV reads it when it is loaded.
os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")

import cv2
import hetero

import demo_files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="?", default=str(demo_files.PICTURE), help="JPEG, PNG or what else OpenCV reads")
    parser.add_argument("--model", default=str(demo_files.DETECTOR), help="ONNX or OpenVINO IR")
    parser.add_argument("--model-proc", help="says what the model's results mean; by default the .json beside the model, if there is one")
    parser.add_argument("--device", default="CPU", help="CPU, GPU, HETERO:GPU,CPU ...")
    parser.add_argument("--output", default="found.png", help="the PNG to write")
    options = parser.parse_args()

    picture = cv2.imread(options.picture)
    if picture is None:
        sys.exit(f"picture.py: '{options.picture}' is not there or not a picture that OpenCV reads")
    descriptor = options.model_proc or demo_files.descriptor_of(options.model)
    model = hetero.VisionModel(options.model, device=options.device, model_proc=descriptor)
    for found in model(picture):
        x_min, y_min, x_max, y_max = map(int, found["box"])
        text = f"{found['label']} {found['score']:.2f}"
        print(f"{text} at {x_min},{y_min} to {x_max},{y_max}")
        cv2.rectangle(picture, (x_min, y_min), (x_max, y_max), (0, 255, 255), 2)
        corner = min(max(x_min, 0), picture.shape[1] - 110), max(y_min - 5, 12)
        cv2.putText(picture, text, corner, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 255, 255), 1, cv2.LINE_AA)
    if not cv2.imwrite(options.output, picture):
        sys.exit(f"picture.py: cannot write '{options.output}'")
    print(f"boxes drawn into {options.output}")


if __name__ == "__main__":
    try:
        main()
    except (hetero.HeteroError, cv2.error) as error:
        sys.exit(f"picture.py: {str(error).strip()}")
