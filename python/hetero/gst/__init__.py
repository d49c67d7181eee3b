"""Metadata and pixels of GStreamer's buffers: in probes, at an appsink, before an appsrc, and in scripts of the element heteropython.

    from hetero.gst import VideoFrame

    def process_frame(frame: VideoFrame) -> bool:
        for region in frame.regions():
            print(region.label(), region.confidence(), region.rect())
        return True

The classes have the methods of DL Streamer's gstgva, and read and write what heterodetect and the others attach, whether as
GstVideoRegionOfInterestMeta or as GstAnalyticsRelationMeta. Needs the GStreamer plugin hetero; numpy for pixels and values of tensors, and
PyGObject for what gives or takes objects of GStreamer.
"""

from __future__ import annotations

from hetero.gst import _gst
from hetero.gst.probes import GST_PAD_PROBE_INFO_BUFFER, TRANSFORM_IP_BUFFER
from hetero.gst.region_of_interest import Rect, RegionOfInterest
from hetero.gst.tensor import Tensor
from hetero.gst.video_frame import VideoFrame

_gst._set_classes(VideoFrame, RegionOfInterest, Tensor, Rect)

__all__ = ["GST_PAD_PROBE_INFO_BUFFER", "Rect", "RegionOfInterest", "TRANSFORM_IP_BUFFER", "Tensor", "VideoFrame"]
