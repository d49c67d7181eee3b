"""A frame: its metadata and pixels."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator

from hetero.gst import _gst, gi_types, pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VideoFrame(_gst.VideoFrame):
    """VideoFrame(buffer, video_info=None, caps=None): a Gst.Buffer with its format.

    The format is told by a GstVideo.VideoInfo or Gst.Caps, in either place, or by the buffer's GstVideoMeta. Objects of the same buffer
    know of each other's changes. Metadata and pixels can be changed where nobody else uses the buffer; RuntimeError says so otherwise.
    """

    __slots__ = ()

    def video_info(self) -> Any:
        """The format as GstVideo.VideoInfo; None where it is not known."""
        gi_types.gst_video()
        return self._gi_info()

    def video_meta(self) -> Any:
        """The buffer's GstVideo.VideoMeta, or None."""
        return gi_types.gst_video().buffer_get_video_meta(self.buffer)

    @contextlib.contextmanager
    def data(self, flag: Any = 1) -> Iterator[NDArray[Any]]:
        """with frame.data() as image: the pixels as one numpy array of uint8.

        (height, width, 3 or 4) for RGB, BGR and those with a fourth value, (height * 3 / 2, width, 1) for NV12 and I420, (height, width, 1)
        for GRAY8; RuntimeError for others, which planes() shows. With flag=Gst.MapFlags.WRITE the pixels can be changed. An array that
        is kept after a call of heteropython must not be one of these.
        """
        may_write = bool(int(flag) & pixels.WRITE)
        planes = pixels.planes_of(self, may_write)
        image, is_copy = pixels.one_array(planes, self.format)
        try:
            yield image
        finally:
            if may_write and is_copy:
                pixels.write_back(image, planes)

    @contextlib.contextmanager
    def planes(self, flag: Any = 1) -> Iterator[list[NDArray[Any]]]:
        """with frame.planes() as planes: the planes as numpy arrays of uint8, or uint16 for deeper formats.

        Each is (rows, columns, values of a pixel), with the frame's own gaps between rows, and never a copy.
        """
        yield pixels.planes_of(self, bool(int(flag) & pixels.WRITE))

    @property
    def _VideoFrame__buffer(self) -> Any:
        # Scripts for gvapython reach for the buffer by this name, as gstgva has no other.
        return self.buffer
