"""Modules of PyGObject, imported when they are needed: not every interpreter can have them."""

from __future__ import annotations

from typing import Any


def gst_video() -> Any:
    """GstVideo, which also makes PyGObject know its types."""
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import GstVideo
    return GstVideo
