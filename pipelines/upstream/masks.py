#!/usr/bin/env python3
"""Runs a pipeline and writes the masks that reach its sink: masks.py OUTPUT.npy WIDTHxHEIGHT PIPELINE.

The pipeline ends in an element of the name "sink". Of each frame the result has a picture of bytes, 0 where no mask
is, else the number of the object. Needs GStreamer 1.28 with its introspection data.
"""
import sys

import cv2
import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
gi.require_version("GstAnalytics", "1.0")
from gi.repository import Gst, GstAnalytics, GstVideo  # noqa: E402


def paint(picture, mask, left, top, width, height):
    """Scales a mask to its place in the picture."""
    meta = GstVideo.buffer_get_video_meta(mask)
    mapped, data = mask.map(Gst.MapFlags.READ)
    if not mapped:
        raise RuntimeError("cannot map a mask")
    # Rows follow each other without gaps; the stride that 1.28.8's decoder tells is another (fixed after it).
    values = numpy.frombuffer(data.data, numpy.uint8, meta.width * meta.height).reshape(meta.height, meta.width)
    values = cv2.resize(values, (width, height), interpolation=cv2.INTER_NEAREST)
    mask.unmap(data)
    bottom, right = min(top + height, picture.shape[0]), min(left + width, picture.shape[1])
    first_row, first_column = max(top, 0), max(left, 0)
    part = values[first_row - top:bottom - top, first_column - left:right - left]
    place = picture[first_row:bottom, first_column:right]
    place[part != 0] = part[part != 0]


def masks_of(buffer, width, height):
    picture = numpy.zeros((height, width), numpy.uint8)
    meta = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    for number in range(GstAnalytics.relation_get_length(meta) if meta else 0):
        found, segmentation = meta.get_segmentation_mtd(number)
        if found:
            paint(picture, *segmentation.get_mask())
    return picture


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    width, height = (int(side) for side in sys.argv[2].split("x"))
    Gst.init(None)
    pipeline, pictures = Gst.parse_launch(sys.argv[3]), []

    def collect(_, info):
        pictures.append(masks_of(info.get_buffer(), width, height))
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, collect)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(f"masks.py: {message.parse_error()[0].message}: {sys.argv[3]}")
    numpy.save(sys.argv[1], numpy.stack(pictures))


if __name__ == "__main__":
    main()
