"""Objects of a frame."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from hetero.gst import _gst

_NumberT = TypeVar("_NumberT", int, float)


class Rect(NamedTuple, Generic[_NumberT]):
    """A place in a picture: x, y of its upper left corner, w, h."""

    x: _NumberT
    y: _NumberT
    w: _NumberT
    h: _NumberT


class RegionOfInterest(_gst.RegionOfInterest):
    """An object of a frame, or another region of it, with the tensors that elements and scripts have attached to it.

    VideoFrame.regions() and VideoFrame.add_region() give them. Place, label and ids are those of that moment.
    """

    __slots__ = ()
