"""Pixels of a frame in OpenCV's order: what save_frames.py and object_crops.py write into files."""

from __future__ import annotations

import cv2
import numpy
from gstgva import VideoFrame

CONVERSIONS = {
    "RGB": cv2.COLOR_RGB2BGR,
    "BGRx": cv2.COLOR_BGRA2BGR,
    "BGRA": cv2.COLOR_BGRA2BGR,
    "RGBx": cv2.COLOR_RGBA2BGR,
    "RGBA": cv2.COLOR_RGBA2BGR,
    "NV12": cv2.COLOR_YUV2BGR_NV12,
    "I420": cv2.COLOR_YUV2BGR_I420,
}


def bgr_copy(frame: VideoFrame) -> numpy.ndarray:
    """Height x width x 3, in memory of its own, so that it may be kept. ValueError for a format that is not known here."""
    pixel_format = frame.video_info().finfo.name
    with frame.data() as image:
        if pixel_format == "BGR":
            return image.copy()
        if pixel_format not in CONVERSIONS:
            raise ValueError(f"{pixel_format} is not one of BGR, {', '.join(CONVERSIONS)}: put videoconvert before")
        return cv2.cvtColor(image, CONVERSIONS[pixel_format])
