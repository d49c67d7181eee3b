#!/usr/bin/env python3
"""The installed hetero.gst and the element heteropython. Usage: python_pipeline.py MODELS PICTURE.

process_frame() runs in the element of a gst-launch-1.0 line and counts on; main() reads the frames of an appsink.
"""
import json
import pathlib
import re
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402
from hetero.gst import VideoFrame  # noqa: E402


def process_frame(frame):
    """Leaves a message with what it sees, and no other frame than the first."""
    labels = sorted(region.label() for region in frame.regions())
    with frame.data() as image:
        frame.add_message(json.dumps({"labels": labels, "height": image.shape[0]}))
    return frame.pts == 0


def detection(models, picture):
    model = models / "scene_detector.onnx"
    return (f"filesrc location={picture} ! jpegdec ! imagefreeze num-buffers=3 ! videoconvert ! video/x-raw,format=BGR "
            f"! heterodetect model={model} model-proc={model.with_suffix('.json')}")


def element(models, picture):
    line = f"{detection(models, picture)} ! heteropython module={__file__} ! heterometapublish file-path=messages.json file-format=json-lines ! fakesink"
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    told = [json.loads(text) for text in pathlib.Path("messages.json").read_text(encoding="utf-8").splitlines()]
    print("heteropython:", told)
    assert len(told) == 1 and "truck" in told[0]["labels"] and told[0]["height"] > 100, told
    return told[0]["labels"]


def appsink(models, picture):
    Gst.init(None)
    pipeline = Gst.parse_launch(f"{detection(models, picture)} ! appsink name=out sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("out").emit("try-pull-sample", 60 * Gst.SECOND)
    assert sample is not None, "no frame in 60 s"
    frame = VideoFrame(sample.get_buffer(), caps=sample.get_caps())
    labels = sorted(region.label() for region in frame.regions())
    print("appsink:", frame.format, frame.width, frame.height, labels)
    pipeline.set_state(Gst.State.NULL)
    return labels


def main():
    models, picture = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    inspected = subprocess.run(["gst-inspect-1.0", "heteropython"], check=True, capture_output=True, text=True).stdout
    print(re.search(r"Filename +(\S+)", inspected)[1])
    assert element(models, picture) == appsink(models, picture)


if __name__ == "__main__":
    main()
