"""The name gstgva, for scripts that import it."""

from __future__ import annotations

import importlib.util
import sys
import types

import hetero.gst
from hetero.gst import probes, region_of_interest, tensor, video_frame


def install() -> None:
    """Makes `import gstgva` and its submodules work where DL Streamer is not installed; leaves everything alone where it is."""
    if "gstgva" in sys.modules or importlib.util.find_spec("gstgva") is not None:
        return
    util = types.ModuleType("gstgva.util", "What scripts take from gstgva.util.")
    for name in ("GST_PAD_PROBE_INFO_BUFFER", "TRANSFORM_IP_BUFFER"):
        setattr(util, name, getattr(probes, name))
    package = types.ModuleType("gstgva", hetero.gst.__doc__)
    package.__path__ = []
    for name in hetero.gst.__all__:
        setattr(package, name, getattr(hetero.gst, name))
    parts = {"util": util, "video_frame": video_frame, "region_of_interest": region_of_interest, "tensor": tensor}
    for name, module in parts.items():
        setattr(package, name, module)
        sys.modules[f"gstgva.{name}"] = module
    sys.modules["gstgva"] = package
