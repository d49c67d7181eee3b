"""Objects of a frame."""

from __future__ import annotations

from collections import namedtuple

from hetero.gst import _gst

Rect = namedtuple("Rect", "x y w h")
Rect.__doc__ = "A place in a picture: x, y of its upper left corner, w, h."


class RegionOfInterest(_gst.RegionOfInterest):
    """An object of a frame, or another region of it, with the tensors that elements and scripts have attached to it.

    VideoFrame.regions() and VideoFrame.add_region() give them. Place, label and ids are those of that moment.
    """

    __slots__ = ()
