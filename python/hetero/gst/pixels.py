"""Pixels of a frame as numpy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from hetero.gst import _gst

if TYPE_CHECKING:
    from numpy.typing import NDArray

WRITE = 2
"""Of Gst.MapFlags."""

PACKED = ("RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "xRGB", "xBGR", "ARGB", "ABGR", "GRAY8")
STACKED = ("NV12", "NV21", "I420", "YV12")


def planes_of(frame: _gst.VideoFrame, may_write: bool) -> list[NDArray[Any]]:
    """One array a plane, each of which keeps the frame mapped as long as it lives."""
    import numpy  # only where it is needed: some interpreters cannot have it
    return [numpy.asarray(plane) for plane in frame._map(may_write)]


def one_array(planes: list[NDArray[Any]], format: Optional[str]) -> tuple[NDArray[Any], bool]:
    """All planes as one array, and whether it is a copy of them."""
    import numpy
    if format in PACKED:
        return planes[0], False
    if format not in STACKED:
        raise RuntimeError(f"pixels of the format {format} are no single array: take them by planes(), or put videoconvert before")
    width = planes[0].shape[1]
    if sum(plane.size for plane in planes) % width != 0:
        raise RuntimeError(f"{format} of {width} x {planes[0].shape[0]} pixels is no single array: take it by planes()")
    base = planes[0].__array_interface__["data"][0]
    offset = 0
    for plane in planes:
        if not plane.flags.c_contiguous or plane.__array_interface__["data"][0] != base + offset:
            break
        offset += plane.size
    else:
        shape = (offset // width, width, 1)
        return numpy.lib.stride_tricks.as_strided(planes[0], shape, (width, 1, 1)), False
    return numpy.concatenate([plane.reshape(-1) for plane in planes]).reshape(-1, width, 1), True


def write_back(image: NDArray[Any], planes: list[NDArray[Any]]) -> None:
    """The pixels of one_array()'s copy into the frame."""
    rows = image.reshape(-1)
    start = 0
    for plane in planes:
        plane[...] = rows[start:start + plane.size].reshape(plane.shape)
        start += plane.size
