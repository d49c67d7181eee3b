"""Buffers that may be changed, in probes and in elements that are written in Python."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from hetero.gst import _gst


@contextlib.contextmanager
def GST_PAD_PROBE_INFO_BUFFER(info: Any) -> Iterator[Any]:
    """with GST_PAD_PROBE_INFO_BUFFER(info) as buffer: the Gst.Buffer of a probe, which may be changed.

    info.get_buffer() gives one that counts as used twice, so that it may only be read. A buffer that others use, too, is replaced by a
    copy that shares its memory. ValueError for a probe without a buffer.
    """
    buffer = _gst.probe_buffer(info)
    try:
        yield buffer
    finally:
        _gst.give_buffer_back(buffer)


@contextlib.contextmanager
def TRANSFORM_IP_BUFFER(buffer: Any) -> Iterator[Any]:
    """with TRANSFORM_IP_BUFFER(buffer): the Gst.Buffer that do_transform_ip() got may be changed.

    The element must keep the buffer meanwhile, and nobody else may use it.
    """
    is_lent = _gst.lend_buffer(buffer)
    try:
        yield buffer
    finally:
        if is_lent:
            _gst.give_buffer_back(buffer)
