"""Modules of PyGObject, imported when they are needed: not every interpreter can have them."""

from __future__ import annotations

import importlib
from typing import Any


def gst_video() -> Any:
    """GstVideo, which also makes PyGObject know its types."""
    # By importlib, as type checkers know of none of these.
    gi = importlib.import_module("gi")
    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    return importlib.import_module("gi.repository.GstVideo")
