#!/usr/bin/env python3
"""Frames of a pipeline as numpy arrays, with their objects: an appsink behind heterodetect.

    python3 examples/python/gst/appsink_numpy.py out/demo/scene.mp4

Prints a line for each frame: its objects, and how bright the picture is where each of them is.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp

from hetero.gst import RegionOfInterest, VideoFrame

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import demo_files

# The appsink holds at most four frames: a slow program holds back the pipeline, and no frame is lost.
PIPELINE = ("filesrc name=source ! decodebin ! videoconvert ! video/x-raw,format=BGR ! heterodetect name=detector ! "
            "appsink name=sink sync=false max-buffers=4")


def samples_of(pipeline: Gst.Pipeline) -> Iterator[Gst.Sample]:
    """Frames until the end of the video. RuntimeError with the message of an element that failed."""
    sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
    while True:
        # Not for ever: an error has to be seen, and Ctrl-C.
        sample = sink.try_pull_sample(100 * Gst.MSECOND)
        if sample is not None:
            yield sample
        elif message := bus.pop_filtered(Gst.MessageType.ERROR):
            raise RuntimeError(f"{message.src.get_name()}: {message.parse_error().gerror.message}")
        elif sink.is_eos():
            return


def describe(region: RegionOfInterest, image: numpy.ndarray) -> str:
    x, y, width, height = region.rect()
    inside = image[max(y, 0):y + height, max(x, 0):x + width]
    return f"{region.label()} {region.confidence():.2f} brightness {inside.mean():.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("video", help="what decodebin reads; ./demo.sh makes out/demo/scene.mp4")
    parser.add_argument("--model", default=str(demo_files.DETECTOR), help="ONNX or OpenVINO IR")
    parser.add_argument("--model-proc", help="says what the model's results mean; by default the .json beside the model, if there is one")
    parser.add_argument("--device", default="CPU", help="CPU, GPU, HETERO:GPU,CPU ...")
    options = parser.parse_args()

    Gst.init(None)
    pipeline: Any = Gst.parse_launch(PIPELINE)
    # Properties that are set take any text; in the description, blanks and quotes would have to be escaped.
    pipeline.get_by_name("source").set_property("location", options.video)
    detector = pipeline.get_by_name("detector")
    detector.set_property("model", options.model)
    detector.set_property("model-proc", options.model_proc or demo_files.descriptor_of(options.model))
    detector.set_property("device", options.device)
    frames = objects = 0
    begin = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        for sample in samples_of(pipeline):
            frame = VideoFrame(sample.get_buffer(), caps=sample.get_caps())
            # The buffer's own memory, height x width x 3: copy what is kept for longer than the block.
            with frame.data() as image:
                regions = frame.regions()
                print(f"frame {frames}: {', '.join(describe(region, image) for region in regions) or 'nothing'}")
            frames += 1
            objects += len(regions)
    finally:
        pipeline.set_state(Gst.State.NULL)
    print(f"{frames} frames, {objects} objects, {frames / (time.monotonic() - begin):.1f} frames/s")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"appsink_numpy.py: {error}")
