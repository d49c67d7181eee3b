#!/usr/bin/python3
"""Objects of each frame, read in Python. Arguments: a gst-launch description with, after the detector, an element called "sink"
(fakesink name=sink). Reads GstVideoRegionOfInterestMeta and, on GStreamer 1.26 and newer, GstAnalyticsRelationMeta."""
import ctypes
import sys

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402
try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GstAnalytics
except ValueError:
    GstAnalytics = None  # GStreamer before 1.24

LIBRARY = ctypes.CDLL("libgstreamer-1.0.so.0")
ITERATE = LIBRARY.gst_buffer_iterate_meta_filtered
ITERATE.restype = ctypes.c_void_p
ITERATE.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]


class RegionHead(ctypes.Structure):
    """The beginning of GstVideoRegionOfInterestMeta."""
    _fields_ = [("flags", ctypes.c_int), ("meta_type", ctypes.c_void_p), ("roi_type", ctypes.c_uint32), ("id", ctypes.c_int)]


def regions(buffer):
    """PyGObject has no way to iterate over a buffer's metadata, so GStreamer's function tells the ids."""
    api, cursor = hash(GstVideo.video_region_of_interest_meta_api_get_type()), ctypes.c_void_p()
    while address := ITERATE(hash(buffer), ctypes.byref(cursor), api):
        yield GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, RegionHead.from_address(address).id)


def detections(buffer):
    """The objects of GstAnalyticsRelationMeta: label, confidence and box."""
    meta = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    for index in range(GstAnalytics.relation_get_length(meta) if meta else 0):
        found, detection = meta.get_od_mtd(index)
        if found:
            _, x, y, width, height, confidence = detection.get_location()
            yield GLib.quark_to_string(detection.get_obj_type()), confidence, x, y, width, height


def print_objects(_pad, probe):
    if GstAnalytics is not None:
        for label, confidence, x, y, width, height in detections(probe.get_buffer()):
            print(f"{label} {confidence:.2f} at {x},{y} size {width}x{height}", flush=True)
    for region in regions(probe.get_buffer()):
        detection = region.get_param("detection")
        if detection is not None:
            print(f"{GLib.quark_to_string(region.roi_type)} {detection.get_double('confidence').value:.2f} "
                  f"at {region.x},{region.y} size {region.w}x{region.h}", flush=True)
    return Gst.PadProbeReturn.OK


Gst.init(None)
pipeline = Gst.parse_launch(" ".join(sys.argv[1:]))
pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, print_objects)
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message.type == Gst.MessageType.ERROR:
    sys.exit(message.parse_error().gerror.message)
