#!/usr/bin/env python3
"""object_crops.py with boxes that leave the picture and labels that would lead out of the folder. Usage: crops_at_borders.py FOLDER_OF_EXAMPLE"""
import importlib.util
import pathlib
import sys
import tempfile

for module in ("gi", "cv2", "numpy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: this Python has no {module}")
        sys.exit(77)

import cv2  # noqa: E402
import gi  # noqa: E402
import numpy  # noqa: E402

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

Gst.init(None)
from hetero.gst import VideoFrame, _gstgva  # noqa: E402

_gstgva.install()
sys.path.insert(0, sys.argv[1])
import object_crops  # noqa: E402

WIDTH, HEIGHT = 64, 48


def frame_of(image, regions):
    """A frame with these pixels and regions (label, id, x, y, w, h)."""
    buffer = Gst.Buffer.new_wrapped(image.tobytes())
    for label, _, *box in regions:
        GstVideo.buffer_add_video_region_of_interest_meta(buffer, label, *box)
    frame = VideoFrame(buffer, caps=Gst.Caps.from_string(f"video/x-raw,format=BGR,width={WIDTH},height={HEIGHT},framerate=1/1"))
    for region, (_, number, *_) in zip(frame.regions(), regions, strict=True):
        if number is not None:
            region.set_object_id(number)
    return frame


def main():
    image = numpy.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=numpy.uint8)
    frame = frame_of(image, [
        ("car", 1, 0, 0, 10, 8), ("car", 2, 60, 40, 30, 30), ("car", 3, 10, 10, 200, 5), ("car", 4, 70, 10, 5, 5), ("car", 5, 10, 10, 0, 0),
        ("../../a", 6, 5, 5, 3, 3), ("car", None, 1, 1, 9, 9), ("..", 7, 1, 2, 3, 4)])
    with tempfile.TemporaryDirectory() as folder:
        crops = object_crops.ObjectCrops(folder)
        if not crops.process_frame(frame):
            sys.exit("the frame is dropped")
        told = {str(path.relative_to(folder)): cv2.imread(str(path)) for path in sorted(pathlib.Path(folder).rglob("*.png"))}
    wanted = {"car/1.png": image[:8, :10], "car/2.png": image[40:, 60:], "car/3.png": image[10:15, 10:], "______a/6.png": image[5:8, 5:8],
              "__/7.png": image[2:6, 1:4]}
    print({name: crop.shape for name, crop in told.items()})
    if told.keys() != wanted.keys() or any(not numpy.array_equal(told[name], crop) for name, crop in wanted.items()):
        sys.exit(f"wanted are {[(name, crop.shape) for name, crop in wanted.items()]}")


if __name__ == "__main__":
    main()
