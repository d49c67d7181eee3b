#!/usr/bin/env python3
"""The objects of each frame of a video, in order, with several requests in flight.

    video.py [VIDEO] [--model MODEL] [--device DEVICE] [--threshold SCORE] [--frames COUNT]

Without arguments it looks at the video that ./demo.sh makes. It uses tensors of the model itself, as programs for OpenVINO do: Core,
PrePostProcessor, AsyncInferQueue. The model is a YOLOX; what else VisionModel reads needs less: model.stream(frames).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import time
from collections.abc import Iterator

# One line about a bad file is enough; OpenCV reads it when it is loaded.
os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")

import cv2
import hetero
import numpy
from hetero.preprocess import PrePostProcessor, ResizeAlgorithm
from hetero.properties import hint

import demo_files
import yolox_rows

SCENE = demo_files.FOLDER.parent.parent / "out/demo/scene.mp4"


def frames_of(video: cv2.VideoCapture, most: int) -> Iterator[numpy.ndarray]:
    """Each frame has memory of its own, so that it may wait for its turn."""
    count = 0
    while count != most:
        is_read, frame = video.read()
        if not is_read:
            return
        count += 1
        yield frame


def compile_for_frames(path: str, device: str, width: int, height: int) -> hetero.CompiledModel:
    """The model, which takes frames as OpenCV has them: bytes, any size, channels last."""
    core = hetero.Core()
    steps = PrePostProcessor(core.read_model(path))
    steps.input().tensor().set_element_type(hetero.Type.u8).set_layout("NHWC").set_shape([1, height, width, 3])
    steps.input().preprocess().resize(ResizeAlgorithm.RESIZE_LINEAR)
    steps.input().model().set_layout("NCHW")
    return core.compile_model(steps.build(), device, {hint.performance_mode: hint.PerformanceMode.THROUGHPUT})


def labels_of(model: str) -> list[str]:
    descriptor = demo_files.descriptor_of(model)
    if descriptor is None:
        return []
    return list(json.loads(pathlib.Path(descriptor).read_text(encoding="utf-8"))["output_postproc"][0].get("labels", []))


def describe(found: yolox_rows.Found, labels: list[str]) -> str:
    label = labels[found.class_id] if found.class_id < len(labels) else f"class {found.class_id}"
    return f"{label} {found.score:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("video", nargs="?", default=str(SCENE), help="what OpenCV's VideoCapture opens")
    parser.add_argument("--model", default=str(demo_files.DETECTOR), help="a YOLOX, ONNX or OpenVINO IR")
    parser.add_argument("--device", default="CPU", help="CPU, GPU, HETERO:GPU,CPU ...")
    parser.add_argument("--threshold", type=float, default=0.5, help="scores below are left out")
    parser.add_argument("--frames", type=int, default=-1, help="look at so many only")
    options = parser.parse_args()
    if not 0 <= options.threshold <= 1:
        parser.error(f"--threshold {options.threshold} is not in 0..1")

    video = cv2.VideoCapture(options.video)
    if not video.isOpened():
        sys.exit(f"video.py: '{options.video}' is not there or not a video that OpenCV reads (./demo.sh makes out/demo/scene.mp4)")
    width, height = int(video.get(cv2.CAP_PROP_FRAME_WIDTH)), int(video.get(cv2.CAP_PROP_FRAME_HEIGHT))
    input_height, input_width = hetero.Core().read_model(options.model).input().shape[2:]
    rows = yolox_rows.YoloxRows((input_width, input_height), (width, height))
    labels = labels_of(options.model)
    compiled = compile_for_frames(options.model, options.device, width, height)

    ended: dict[int, numpy.ndarray] = {}
    shown = 0

    def keep(request: hetero.InferRequest, number: int) -> None:
        """On a thread of the device, in the order in which executions end; short, since the device waits for it."""
        ended[number] = request.get_output_tensor().data.copy()

    def show_those_in_order() -> None:
        nonlocal shown
        while shown in ended:
            found = rows.read(ended.pop(shown), options.threshold)
            print(f"frame {shown}: {', '.join(describe(one, labels) for one in found) or 'nothing'}")
            shown += 1

    queue = hetero.AsyncInferQueue(compiled)
    queue.set_callback(keep)
    begin = time.monotonic()
    for number, frame in enumerate(frames_of(video, options.frames)):
        # Waits until a request is idle. The frame is used where it lies: nobody else writes into it.
        queue.start_async(frame[numpy.newaxis], number, share_inputs=True)
        show_those_in_order()
    queue.wait_all()
    show_those_in_order()
    seconds = time.monotonic() - begin
    print(f"{shown} frames, {shown / seconds:.1f} frames/s with decoding, {len(queue)} requests on {options.device}")


if __name__ == "__main__":
    try:
        main()
    except (hetero.HeteroError, ValueError) as error:
        sys.exit(f"video.py: {error}")
