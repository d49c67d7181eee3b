"""The published way of reading regions without an extension, as DL Streamer's Python module goes it: GStreamer's C functions by ctypes, from a
probe. Reads what frame_callbacks.py reads: place, label, and the confidence in the params of the detection.
"""
import ctypes

from gi.repository import GLib, Gst, GstVideo


class Region(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_int), ("info", ctypes.c_void_p), ("roi_type", ctypes.c_uint), ("id", ctypes.c_int), ("parent_id", ctypes.c_int),
                ("x", ctypes.c_uint), ("y", ctypes.c_uint), ("w", ctypes.c_uint), ("h", ctypes.c_uint), ("params", ctypes.c_void_p)]


gst = ctypes.CDLL("libgstreamer-1.0.so.0")
video = ctypes.CDLL("libgstvideo-1.0.so.0")
gst.gst_buffer_iterate_meta_filtered.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
gst.gst_buffer_iterate_meta_filtered.restype = ctypes.c_void_p
gst.gst_structure_get_double.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_double)]
video.gst_video_region_of_interest_meta_get_param.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
video.gst_video_region_of_interest_meta_get_param.restype = ctypes.c_void_p


api = hash(GstVideo.video_region_of_interest_meta_api_get_type())


def probe(pad, info):
    buffer = info.get_buffer()
    state = ctypes.c_void_p()
    while True:
        meta = gst.gst_buffer_iterate_meta_filtered(hash(buffer), ctypes.byref(state), api)
        if not meta:
            return Gst.PadProbeReturn.OK
        region = ctypes.cast(meta, ctypes.POINTER(Region)).contents
        region.x, region.y, region.w, region.h
        GLib.quark_to_string(region.roi_type)
        detection = video.gst_video_region_of_interest_meta_get_param(meta, b"detection")
        confidence = ctypes.c_double()
        if detection:
            gst.gst_structure_get_double(detection, b"confidence", ctypes.byref(confidence))
